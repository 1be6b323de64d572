// Which keys the engines of this process watch, by doorbell bucket. Wakes are delivered without a
// lock held, and never to a host that has closed.
#pragma once

#include "engines/embedded/keys.hpp"

#include <afar/spi/engine.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace afar::engines::embedded {

// One engine's host, as long as it may be called.
class ear {
 public:
  explicit ear(spi::host& up) noexcept : up_(up) {}

  void wake(std::string_view key) noexcept {
    call([&] { up_.wake(key); });
  }
  void session_lost() noexcept {
    call([&] { up_.session_lost(); });
  }
  // Returns when no call is under way any more, but for the one that this thread is in.
  void close() noexcept;

 private:
  template <class Call>
  void call(Call&& c) noexcept {
    const ear* outer = std::exchange(calling_, this);
    calls_.fetch_add(1);
    if (!closed_.load()) c();
    calls_.fetch_sub(1);
    if (closed_.load()) calls_.notify_all();
    calling_ = outer;
  }

  static thread_local const ear* calling_;  // whom this thread calls just now

  spi::host& up_;
  std::atomic<bool> closed_{false};
  std::atomic<std::uint32_t> calls_{0};
};

class watch_table {
 public:
  void add(const std::shared_ptr<ear>&, std::string_view key);
  // True if the bucket has none left.
  bool remove(const ear*, std::string_view key) noexcept;
  // Removes all of one engine's; returns the buckets that have none left.
  std::vector<std::size_t> remove_all(const ear*);

  // How many watches there are in this process: read without a lock, where an answer that is a
  // moment old costs one needless or one late look.
  std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  bool heard(std::size_t bucket) const noexcept {
    return heard_[bucket].load(std::memory_order_seq_cst) != 0;
  }

  void wake(std::size_t bucket, std::string_view key) noexcept;
  void wake_bucket(std::size_t bucket) noexcept;

 private:
  struct watch {
    std::string key;
    std::shared_ptr<ear> who;
    std::uint32_t times = 1;
  };
  template <class Which>
  void deliver(std::size_t bucket, Which&& which) noexcept;
  bool lowered(std::size_t bucket, std::uint32_t by) noexcept;

  std::atomic<std::size_t> count_{0};
  std::array<std::atomic<std::uint32_t>, bucket_count> heard_{};
  std::mutex mutex_;
  std::array<std::vector<watch>, bucket_count> watches_;
};

}  // namespace afar::engines::embedded
