// The engine's own thread: ends steps at their deadlines, gives up leases that nobody renews, replaces
// expired sessions. libzookeeper's threads do none of that, and must not be blocked.
#pragma once

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace afar::engines::zookeeper {

class keeper {
 public:
  using job = detail::function<void()>;

  keeper();
  ~keeper() { stop(); }
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;

  void at(spi::time_point, job);
  void soon(job j) { at({}, std::move(j)); }
  // What is left runs on the caller's thread; after that, nothing. The session is closed before: whatever
  // a job sends fails at once.
  void stop() noexcept;

 private:
  struct entry {
    spi::time_point when;
    std::uint64_t number;  // of those of one moment, the first comes first
    job j;
  };
  static bool later(const entry& a, const entry& b) noexcept {
    return a.when != b.when ? a.when > b.when : a.number > b.number;
  }
  void run();

  std::mutex m_;
  std::condition_variable changed_;
  std::vector<entry> jobs_;  // a heap: every step adds one, and a tree would allocate for each
  std::uint64_t last_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

// The answer of one step. It is given once, at the latest when the step's time is over.
template <class Reply>
class pledge {
 public:
  explicit pledge(spi::done<Reply> d) : done_(std::move(d)) {}

  void give(spi::status s, Reply r = {}) {
    if (!given_.exchange(true)) std::exchange(done_, nullptr)(std::move(s), std::move(r));
  }
  // Nobody waits any more: what was begun may be finished, nothing else begun.
  bool given() const noexcept { return given_.load(); }

 private:
  std::atomic<bool> given_{false};
  spi::done<Reply> done_;
};

template <class Reply>
std::shared_ptr<pledge<Reply>> pledged(keeper& k, spi::time_point by, spi::done<Reply> done) {
  auto p = std::make_shared<pledge<Reply>>(std::move(done));
  k.at(by, [weak = std::weak_ptr{p}] {
    if (const auto late = weak.lock()) late->give({errc::timed_out, "the server does not answer"});
  });
  return p;
}

}  // namespace afar::engines::zookeeper
