// Cancels and timeouts that race with grants, by the thousand: whichever wins, nothing stays behind.
// AFAR_CANCELS: how many (20,000).
#include "actor.hpp"
#include "scene.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/asio.hpp>
#include <afar/mutex.hpp>

#include <gtest/gtest.h>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace afar::test {
namespace {

using std::chrono::microseconds;

long storm_size() { return setting("AFAR_CANCELS", 20'000) / slowness; }

struct outcomes {
  std::atomic<long> granted = 0;
  std::atomic<long> timed_out = 0;
  std::atomic<long> cancelled = 0;
  std::atomic<long> other = 0;

  void count(const std::error_code& ec) {
    if (!ec)
      ++granted;
    else if (ec == errc::timed_out)
      ++timed_out;
    else if (ec == errc::cancelled)
      ++cancelled;
    else
      ++other;
  }
  long all() const { return granted + timed_out + cancelled + other; }
  void print(const char* what) const {
    std::printf("%s: %ld granted, %ld timed out, %ld cancelled\n", what, granted.load(),
                timed_out.load(), cancelled.load());
  }
};

// Asks another thread to stop a wait after a random moment, again and again.
class stopper {
 public:
  stopper() : thread_([this](const std::stop_token& end) { run(end); }) {}
  stopper(const stopper&) = delete;
  stopper& operator=(const stopper&) = delete;
  ~stopper() {
    thread_.request_stop();
    ++rounds_;
    rounds_.notify_one();
  }

  std::stop_token begin() {
    std::stop_source fresh;
    source_.store(std::make_shared<std::stop_source>(fresh));
    ++rounds_;
    rounds_.notify_one();
    return fresh.get_token();
  }

 private:
  void run(const std::stop_token& end) {
    std::minstd_rand random{7};
    for (unsigned seen = 0; !end.stop_requested();) {
      rounds_.wait(seen);
      seen = rounds_;
      const auto until = boot_clock::now() + microseconds{random() % 200};
      while (boot_clock::now() < until) std::this_thread::yield();
      if (const auto source = source_.load()) source->request_stop();
    }
  }

  std::atomic<std::shared_ptr<std::stop_source>> source_;
  std::atomic<unsigned> rounds_ = 0;
  std::jthread thread_;
};

class cancel_storm : public ::testing::Test {
 protected:
  static constexpr int names = 3;
  static std::string name(unsigned long i) { return "x" + std::to_string(i % names); }

  void SetUp() override {
    // Threads that the process keeps once it has used afar belong to the baseline.
    const client warm = stage.client();
    {
      const hold h = mutex{warm, "warm"}.acquire({.lease = 1s});
    }
    mutex busy{warm, "warm"};
    const hold h = busy.acquire();
    EXPECT_FALSE(mutex(stage.client(), "warm").try_lock_for(10ms));
  }

  void expect_nothing_left() {
    for (unsigned i = 0; i < names; ++i) {
      EXPECT_TRUE(stage.becomes(name(i), 0, 0)) << name(i);
      const client fresh = stage.client();
      mutex m{fresh, name(i)};
      EXPECT_TRUE(m.try_lock()) << name(i) << " is not free";
    }
  }

  // Calls `storm` between two looks at what this process has open.
  template <class Storm>
  void run(const char* what, Storm storm) {
    const std::size_t files = open_files();
    const std::size_t threads = running_threads();
    outcomes sums;
    storm(sums);
    sums.print(what);
    EXPECT_EQ(sums.other, 0);
    EXPECT_GE(sums.all(), storm_size());
    EXPECT_GT(sums.granted, 0);
    EXPECT_GT(sums.cancelled, 0);
    expect_nothing_left();
    EXPECT_TRUE(eventually([&] { return open_files() <= files; }))
        << open_files() << " > " << files;
    EXPECT_TRUE(eventually([&] { return running_threads() <= threads; }))
        << running_threads() << " > " << threads;
  }

  scene stage;
};

TEST_F(cancel_storm, by_threads_leaves_nothing_behind) {
  run("threads", [&](outcomes& sums) {
    constexpr int threads = 6;
    actor rival{stage};  // another process wants one of the names too
    rival.send("guarded x0 " + stage.path("number") + " 2000");
    const std::vector<client> clients{stage.client(), stage.client()};
    in_parallel(threads, [&](int number) {
      const auto me = static_cast<unsigned>(number);
      std::minstd_rand random{me + 1};
      stopper stop;
      for (long left = storm_size() / threads + 1; left > 0; --left) {
        mutex m{clients[random() % clients.size()], name(random())};
        std::error_code ec;
        hold got;
        if (random() % 2 == 0)
          got = m.try_acquire_for(microseconds{1 + random() % 300}, {}, ec);
        else
          got = m.acquire({.stop = stop.begin()}, ec);
        sums.count(ec);
        if (got && random() % 4 == 0) std::this_thread::yield();
      }
    });
    EXPECT_GT(sums.timed_out, 0);
    EXPECT_EQ(rival.answer(), "ok");
  });
}

// One chain of asynchronous acquisitions; each is cancelled by a timer unless it is quicker.
class chain : public std::enable_shared_from_this<chain> {
 public:
  chain(asio::io_context& loop, std::vector<client> clients, unsigned seed, long turns,
        outcomes& sums)
      : timer_(loop), clients_(std::move(clients)), random_(seed), left_(turns), sums_(sums) {}

  void next() {
    if (left_-- == 0) return;
    // The primitive is gone before the wait is over; that is allowed.
    mutex m{clients_[random_() % clients_.size()], "x" + std::to_string(random_() % 3)};
    auto self = shared_from_this();
    timer_.expires_after(microseconds{random_() % 300});
    timer_.async_wait([self](std::error_code ec) {
      if (!ec) self->signal_.emit(asio::cancellation_type::terminal);
    });
    auto done = [self](std::error_code ec, hold got) {
      self->sums_.count(ec);
      self->timer_.cancel();
      got = {};
      self->next();
    };
    async_acquire(m,
                  asio::bind_cancellation_slot(
                      signal_.slot(), asio::bind_executor(timer_.get_executor(), std::move(done))));
  }

 private:
  asio::steady_timer timer_;
  asio::cancellation_signal signal_;
  std::vector<client> clients_;
  std::minstd_rand random_;
  long left_;
  outcomes& sums_;
};

TEST_F(cancel_storm, by_asio_leaves_nothing_behind) {
  run("asio", [&](outcomes& sums) {
    constexpr unsigned chains = 32;
    const std::vector<client> clients{stage.client(), stage.client()};
    asio::io_context loop;
    for (unsigned i = 0; i < chains; ++i)
      std::make_shared<chain>(loop, clients, i + 1, storm_size() / chains + 1, sums)->next();
    loop.run();
  });
}

}  // namespace
}  // namespace afar::test
