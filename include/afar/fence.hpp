// afar::fence: the check on the protected side. It remembers the largest token seen and refuses
// smaller ones, so that a holder that stalled past its lease cannot write over its successor.
#pragma once

#include <afar/detail/export.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace afar {

class client;

// Safe for concurrent use. A token that nobody checks protects nothing.
class AFAR_API fence {
 public:
  // In this process's memory: for a resource that lives in this process.
  fence();
  // In a file (mode 0600, made if missing; its folder must exist), shared by processes of one machine;
  // survives crashes of all of them, but is not flushed to disk against a crash of the machine. Throws
  // lock_error (errc::unavailable, errc::damaged, errc::denied), and so do the calls below.
  static fence in_file(const std::string& path);
  // In the counter of that name, on any engine; shared by machines and as lasting as what the engine
  // stores. Nobody else may change the counter. A write to the same server can be made one step with
  // the check: <afar/redis.hpp>. Throws what a counter throws, and so do the calls below.
  static fence in_counter(const client&, const std::string& name);

  fence(fence&&) noexcept;
  fence& operator=(fence&&) noexcept;
  ~fence();

  // True: `token` is at least as large as every one admitted before, and is now the largest. False: a
  // newer holder was here; do not write. 0 is never admitted.
  bool admit(std::uint64_t token);
  bool admit(std::uint64_t token, std::error_code&) noexcept;

  // Admits and, if admitted, runs `write` before any larger token can be admitted: check and write
  // are one step. Returns whether it ran. `write` must not use this fence (errc::deadlock), except
  // for largest(). Not in a counter (errc::unsupported): another machine could admit meanwhile.
  template <class Write>
  bool guard(std::uint64_t token, Write&& write) {
    require_guard();
    const entry inside{*this};
    if (!admit_entered(token)) return false;
    static_cast<Write&&>(write)();
    return true;
  }

  // The largest token admitted; 0: none.
  std::uint64_t largest() const;

  class impl;

 private:
  explicit fence(std::unique_ptr<impl>) noexcept;
  struct AFAR_API entry {
    explicit entry(fence&);
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry();
    fence& of;
  };
  bool admit_entered(std::uint64_t token);
  void require_guard() const;

  std::unique_ptr<impl> impl_;
};

}  // namespace afar
