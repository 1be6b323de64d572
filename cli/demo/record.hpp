// What one process did, in a file that outlives it: events are stored through a shared mapping, so
// that nothing is lost when the process is killed. Stamps are of afar::boot_clock, one clock for all
// processes of a machine. `asked` and `releasing` are stored before the request leaves, `granted`
// after the answer: only so is a belief interval never longer than the belief.
#pragma once

#include <afar/boot_clock.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace afar::cli::demo {

enum class act : std::uint32_t {
  none,       // a slot that was claimed by a process that died before it filled it
  asked,      // wants the lock
  granted,    // token; until: when the belief ends if nothing is renewed
  gave_up,    // did not get it in time
  told_lost,  // token
  wrote,      // token; the fence let it through
  refused,    // token; the fence refused the write
  releasing,  // token; until, as it was before the release
  ordering,   // order
  sold,       // order
  sold_out,   // order
  failed      // order; not known whether it was sold
};

struct event {
  std::atomic<act> what{act::none};  // stored last: it publishes the rest
  std::uint32_t order = 0;
  std::int64_t at = 0;
  std::int64_t until = 0;
  std::uint64_t token = 0;
};

inline std::int64_t stamp(afar::boot_clock::time_point t) { return t.time_since_epoch().count(); }
inline std::int64_t now() { return stamp(afar::boot_clock::now()); }

// What a process is about at this moment; for whoever aims at it.
enum class doing : std::uint32_t { starting, waiting, working, writing, other };

// The beginning of a record file.
struct summary {
  std::atomic<doing> state{doing::starting};
  std::atomic<std::uint32_t> used{0};
  std::atomic<std::uint32_t> granted{0};
  std::atomic<std::uint32_t> refused{0};
  std::atomic<std::uint32_t> sold{0};
  std::atomic<std::uint64_t> token{0};  // of the hold that it works under
};

// A file mapped as an array of T behind one Head; created with room for `count`, all zero.
template <class Head, class T>
class mapped {
 public:
  mapped() = default;
  mapped(const std::string& path, std::uint32_t count) : count_(count) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), path);
    void* at = MAP_FAILED;
    if (::ftruncate(fd, static_cast<off_t>(size())) == 0)
      at = ::mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int error = errno;
    ::close(fd);
    if (at == MAP_FAILED) throw std::system_error(error, std::generic_category(), path);
    base_ = static_cast<char*>(at);
  }
  mapped(mapped&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), count_(other.count_) {}
  mapped& operator=(mapped&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~mapped() {
    if (base_) ::munmap(base_, size());
  }

  // The types are made of atomics and integers for which all zero is the initial value.
  Head& head() const { return *std::launder(reinterpret_cast<Head*>(base_)); }
  T& operator[](std::uint32_t i) const {
    return std::launder(reinterpret_cast<T*>(base_ + front))[i];
  }
  std::uint32_t count() const { return count_; }

 private:
  static constexpr std::size_t front = 4096;
  std::size_t size() const { return front + std::size_t{count_} * sizeof(T); }

  char* base_ = nullptr;
  std::uint32_t count_ = 0;
};

// Safe for concurrent use; one file per process.
class recorder {
 public:
  static constexpr std::uint32_t room = 1 << 18;  // sparse: what is not used costs nothing

  recorder() = default;
  explicit recorder(const std::string& path) : file_(path, room) {}

  summary& head() const { return file_.head(); }

  void note(act what, std::uint64_t token = 0, std::int64_t until = 0, std::uint32_t order = 0) {
    const std::uint32_t i = head().used.fetch_add(1);
    if (i >= room) return;  // seen by events(): the record is then incomplete
    event& e = file_[i];
    e.at = now();
    e.token = token;
    e.until = until;
    e.order = order;
    e.what.store(what, std::memory_order_release);
  }

 private:
  mapped<summary, event> file_;

  friend class history;
};

// One event, read back.
struct fact {
  act what = act::none;
  std::uint32_t order = 0;
  std::int64_t at = 0;
  std::int64_t until = 0;
  std::uint64_t token = 0;
};

// A record as others read it, while it grows or after its process is gone.
class history {
 public:
  history() = default;
  explicit history(const std::string& path) : record_(path) {}

  const summary& head() const { return record_.head(); }
  bool complete() const { return head().used <= recorder::room; }

  std::vector<fact> events() const {
    std::vector<fact> all;
    const std::uint32_t used = std::min<std::uint32_t>(head().used, recorder::room);
    for (std::uint32_t i = 0; i < used; ++i) {
      const event& e = record_.file_[i];
      const act what = e.what.load(std::memory_order_acquire);
      if (what != act::none) all.push_back({what, e.order, e.at, e.until, e.token});
    }
    return all;
  }

 private:
  recorder record_;
};

}  // namespace afar::cli::demo
