#include "engines/embedded/watch_table.hpp"

#include <algorithm>
#include <utility>

namespace afar::engines::embedded {

thread_local const ear* ear::calling_ = nullptr;

void ear::close() noexcept {
  closed_.store(true);
  const std::uint32_t own = calling_ == this ? 1 : 0;
  for (auto busy = calls_.load(); busy > own; busy = calls_.load()) calls_.wait(busy);
}

void watch_table::add(const std::shared_ptr<ear>& who, std::string_view key) {
  const std::size_t bucket = bucket_of(key);
  const std::lock_guard guard{mutex_};
  auto& list = watches_[bucket];
  const auto same =
      std::ranges::find_if(list, [&](const watch& w) { return w.who == who && w.key == key; });
  if (same != list.end())
    ++same->times;
  else
    list.push_back({std::string{key}, who});
  count_.fetch_add(1, std::memory_order_relaxed);
  heard_[bucket].fetch_add(1);
}

bool watch_table::lowered(std::size_t bucket, std::uint32_t by) noexcept {
  count_.fetch_sub(by, std::memory_order_relaxed);
  return heard_[bucket].fetch_sub(by) == by;
}

bool watch_table::remove(const ear* who, std::string_view key) noexcept {
  const std::size_t bucket = bucket_of(key);
  const std::lock_guard guard{mutex_};
  auto& list = watches_[bucket];
  const auto found = std::ranges::find_if(
      list, [&](const watch& w) { return w.who.get() == who && w.key == key; });
  if (found == list.end()) return false;
  if (--found->times == 0) list.erase(found);
  return lowered(bucket, 1);
}

std::vector<std::size_t> watch_table::remove_all(const ear* who) {
  std::vector<std::size_t> silent;
  const std::lock_guard guard{mutex_};
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    auto& list = watches_[bucket];
    std::uint32_t removed = 0;
    std::erase_if(list, [&](const watch& w) {
      if (w.who.get() != who) return false;
      removed += w.times;
      return true;
    });
    if (removed != 0 && lowered(bucket, removed)) silent.push_back(bucket);
  }
  return silent;
}

template <class Which>
void watch_table::deliver(std::size_t bucket, Which&& which) noexcept {
  if (!heard(bucket)) return;
  std::vector<std::pair<std::shared_ptr<ear>, std::string>> calls;
  {
    const std::lock_guard guard{mutex_};
    for (const watch& w : watches_[bucket])
      if (which(w)) calls.emplace_back(w.who, w.key);
  }
  for (const auto& [who, key] : calls) who->wake(key);
}

void watch_table::wake(std::size_t bucket, std::string_view key) noexcept {
  deliver(bucket, [&](const watch& w) { return w.key == key; });
}

void watch_table::wake_bucket(std::size_t bucket) noexcept {
  deliver(bucket, [](const watch&) { return true; });
}

}  // namespace afar::engines::embedded
