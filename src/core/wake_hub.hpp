// Many waiters, one watch of the engine per key.
#pragma once

#include <afar/spi/engine.hpp>

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
    std::vector<std::shared_ptr<wait_op>> ops;
    bool established = false;  // the engine has answered; ops that came before wait for that
  };
  void established(const std::string& key, const spi::status&, bool recheck);

  core& core_;
  std::mutex m_;
  std::unordered_map<std::string, watched, hash, std::equal_to<>> keys_;
};

}  // namespace afar::detail
