// afar as one of the peers (peers/README.md), so that it is measured as they are: in a process of its own, by the same
// clock, with the same orders.
#include "clock.hpp"
#include "crew.hpp"
#include "rows.hpp"
#include "series.hpp"

#include <fmt/format.h>
#include <afar/asio.hpp>
#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {

namespace {

struct order {
  std::string url;
  std::size_t workers = 1;
  double seconds = 0;
  std::size_t names = 1;
  std::int64_t lease = 0;  // milliseconds
};

order order_of(const std::string& line) {
  std::istringstream in{line};
  order o;
  if (!(in >> o.url >> o.workers >> o.seconds >> o.names >> o.lease))
    throw std::runtime_error("an order makes no sense: " + line);
  return o;
}

using waits = std::vector<double>;  // microseconds

waits work(afar::mutex& m, bool awaited, std::int64_t end) {
  waits mine;
  auto now = now_ns();
  do {
    if (awaited) {
      m.acquire().release();
    } else {
      m.lock();
      m.unlock();
    }
    const auto then = std::exchange(now, now_ns());
    mine.push_back(static_cast<double>(now - then) / 1e3);
  } while (now < end);
  return mine;
}

asio::awaitable<void> visit(const afar::mutex& m, waits& mine, std::int64_t end) {
  auto now = now_ns();
  do {
    co_await afar::async_acquire(m, asio::use_awaitable);
    const auto then = std::exchange(now, now_ns());
    mine.push_back(static_cast<double>(now - then) / 1e3);
  } while (now < end);
}

class worker_crowd {
 public:
  worker_crowd(const order& o, std::string how)
      : how_(std::move(how)),
        client_(o.url, {.lease = std::chrono::milliseconds(o.lease)}),
        begin_(static_cast<std::ptrdiff_t>(o.workers) + 1),
        end_(static_cast<std::ptrdiff_t>(o.workers) + 1) {
    for (std::size_t i = 0; i < o.workers; ++i)
      mutexes_.emplace_back(client_, fmt::format("orders/{}", i % o.names));
    if (how_ == "coroutines") return;
    for (std::size_t i = 0; i < o.workers; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  ~worker_crowd() {
    parts_ = nullptr;
    if (!threads_.empty()) begin_.arrive_and_wait();
  }
  worker_crowd(const worker_crowd&) = delete;
  worker_crowd& operator=(const worker_crowd&) = delete;

  std::vector<waits> run(std::int64_t end) {
    std::vector<waits> parts(mutexes_.size());
    how_ == "coroutines" ? run_coroutines(parts, end) : run_threads(parts, end);
    return parts;
  }
  // What was let go has come free: the next peer's keys may be of another type, and then it fails.
  void settle() {
    for (afar::mutex& m : mutexes_) m.acquire().release();
  }

 private:
  // The threads stay between the measurements, as those of a pool do.
  void run_threads(std::vector<waits>& parts, std::int64_t end) {
    parts_ = &parts;
    end_time_ = end;
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
  }
  void serve(std::size_t i) {
    for (;;) {
      begin_.arrive_and_wait();
      if (!parts_) return;
      (*parts_)[i] = work(mutexes_[i], how_ == "awaited", end_time_);
      end_.arrive_and_wait();
    }
  }
  void run_coroutines(std::vector<waits>& parts, std::int64_t end) {
    asio::io_context loop{1};
    for (std::size_t i = 0; i < parts.size(); ++i)
      asio::co_spawn(loop, visit(mutexes_[i], parts[i], end), asio::detached);
    loop.run();
  }

  const std::string how_;
  afar::client client_;
  std::deque<afar::mutex> mutexes_;
  std::barrier<> begin_;
  std::barrier<> end_;
  std::vector<waits>* parts_ = nullptr;  // null when it begins: no more work
  std::int64_t end_time_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace

int peer_child(const arguments& a) {
  std::unique_ptr<worker_crowd> all;
  for (std::string line; next_line(line);) {
    const order o = order_of(line);
    if (!all) all = std::make_unique<worker_crowd>(o, a.at(0));
    const auto start = now_ns();
    const auto parts = all->run(start + static_cast<std::int64_t>(o.seconds * 1e9));
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    all->settle();
    waits together;
    for (const waits& part : parts) together.insert(together.end(), part.begin(), part.end());
    const series s{std::move(together)};
    answer(fmt::format(
        R"({{"pairs": {}, "seconds": {:.6f}, "p50": {:.3f}, "p99": {:.3f}, "version": ""}})",
        s.size(), seconds, s.median(), s.quantile(0.99)));
  }
  return 0;
}

}  // namespace bench
