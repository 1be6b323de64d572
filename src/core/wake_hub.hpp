// Many waiters, one watch of the engine per key: watch and unwatch of a key take turns.
#pragma once

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace afar::detail {

class core;
class wait_op;

class wake_hub {
 public:
  explicit wake_hub(core& c) : core_(c) {}
  wake_hub(const wake_hub&) = delete;
  wake_hub& operator=(const wake_hub&) = delete;

  // The op's watched(status, recheck) runs once the engine watches the key, possibly at once.
  void watch(const std::string& key, const std::shared_ptr<wait_op>&);
  void unwatch(const std::string& key, const wait_op*) noexcept;

  void wake(std::string_view key) noexcept;
  void wake_all() noexcept;

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept {
      return std::hash<std::string_view>{}(s);
    }
  };
  struct watched {
    enum class state : std::uint8_t {
      none,         // not watched, or the engine could not
      asking,       // told when the engine has answered
      established,  // told at once
      leaving       // the engine is told to stop; who comes meanwhile is asked for afterwards
    };
    std::vector<std::shared_ptr<wait_op>> ops;
    state is = state::none;
    std::uint64_t asked = 0;  // which question: a late answer to an earlier one is not believed
  };
  void ask(const std::string& key, std::uint64_t number);
  void answered(const std::string& key, std::uint64_t number, const spi::status&, bool recheck);

  core& core_;
  std::mutex m_;
  std::uint64_t questions_ = 0;
  std::unordered_map<std::string, watched, hash, std::equal_to<>> keys_;
};

}  // namespace afar::detail
