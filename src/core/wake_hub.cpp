#include "core/wake_hub.hpp"

#include "core/core.hpp"
#include "core/wait_op.hpp"

#include <algorithm>
#include <utility>

namespace afar::detail {

void wake_hub::watch(const std::string& key, const std::shared_ptr<wait_op>& op) {
  bool first = false;
  {
    const std::lock_guard lock(m_);
    auto& k = keys_[key];
    first = k.ops.empty();
    k.ops.push_back(op);
    if (!first && !k.established) return;  // told with the others
  }
  if (!first) return op->watched({}, true);
  core_.engine().watch(
      key, [this, keep = core_.shared_from_this(), key](const spi::status& s, spi::watch_reply r) {
        established(key, s, r.recheck);
      });
}

void wake_hub::established(const std::string& key, const spi::status& s, bool recheck) {
  std::vector<std::shared_ptr<wait_op>> ops;
  {
    const std::lock_guard lock(m_);
    const auto at = keys_.find(key);
    if (at == keys_.end()) return;
    at->second.established = !s;
    ops = at->second.ops;
  }
  for (const auto& op : ops) op->watched(s, recheck);
}

void wake_hub::unwatch(const std::string& key, const wait_op* op) noexcept {
  {
    const std::lock_guard lock(m_);
    const auto at = keys_.find(key);
    if (at == keys_.end()) return;
    std::erase_if(at->second.ops, [op](const auto& p) { return p.get() == op; });
    if (!at->second.ops.empty()) return;
    keys_.erase(at);
  }
  core_.engine().unwatch(key);
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
