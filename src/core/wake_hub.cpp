#include "core/wake_hub.hpp"

#include "core/core.hpp"
#include "core/wait_op.hpp"

#include <algorithm>
#include <utility>

namespace afar::detail {

void wake_hub::watch(const std::string& key, const std::shared_ptr<wait_op>& op) {
  using state = watched::state;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(m_);
    auto& k = keys_[key];
    k.ops.push_back(op);
    if (k.is == state::asking || k.is == state::leaving) return;  // told with the others
    if (k.is == state::none) {
      k.is = state::asking;
      number = k.asked = ++questions_;
    }
  }
  if (number == 0) return op->watched({}, true);
  ask(key, number);
}

void wake_hub::ask(const std::string& key, std::uint64_t number) {
  core_.engine().watch(
      key, [this, keep = core_.shared_from_this(), key, number](
               const spi::status& s, spi::watch_reply r) { answered(key, number, s, r.recheck); });
}

void wake_hub::answered(const std::string& key, std::uint64_t number, const spi::status& s,
                        bool recheck) {
  std::vector<std::shared_ptr<wait_op>> ops;
  {
    const std::lock_guard lock(m_);
    const auto at = keys_.find(key);
    if (at == keys_.end() || at->second.asked != number) return;
    if (at->second.is != watched::state::asking) return;
    at->second.is = s ? watched::state::none : watched::state::established;
    ops = at->second.ops;
  }
  for (const auto& op : ops) op->watched(s, recheck);
}

void wake_hub::unwatch(const std::string& key, const wait_op* op) noexcept {
  using state = watched::state;
  {
    const std::lock_guard lock(m_);
    const auto at = keys_.find(key);
    if (at == keys_.end()) return;
    auto& k = at->second;
    std::erase_if(k.ops, [op](const auto& p) { return p.get() == op; });
    if (!k.ops.empty() || k.is == state::leaving) return;
    if (k.is == state::none) {
      keys_.erase(at);
      return;
    }
    k.is = state::leaving;
  }
  core_.engine().unwatch(key);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(m_);
    const auto at = keys_.find(key);  // nobody else removes what is leaving
    if (at->second.ops.empty()) {
      keys_.erase(at);
      return;
    }
    at->second.is = state::asking;
    number = at->second.asked = ++questions_;
  }
  ask(key, number);
}

void wake_hub::wake(std::string_view key) noexcept {
  std::vector<std::shared_ptr<wait_op>> ops;
  {
    const std::lock_guard lock(m_);
    const auto at = keys_.find(key);
    if (at == keys_.end()) return;
    ops = at->second.ops;
  }
  for (const auto& op : ops) op->wake();
}

void wake_hub::wake_all() noexcept {
  std::vector<std::shared_ptr<wait_op>> ops;
  {
    const std::lock_guard lock(m_);
    for (const auto& [key, k] : keys_) ops.insert(ops.end(), k.ops.begin(), k.ops.end());
  }
  for (const auto& op : ops) op->wake();
}

}  // namespace afar::detail
