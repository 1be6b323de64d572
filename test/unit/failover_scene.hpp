// A holder and waiters while the master dies. Asynchronous replication may forget the newest grants:
// a waiter may then be granted what the holder still believes to have. Such grants are counted and
// shown; their tokens grow all the same, so that a fence sees them.
#pragma once

#include "support/patience.hpp"
#include "support/waiting.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace afar::test {

class failover_scene {
 public:
  failover_scene(const std::string& url, std::string name)
      : name_(std::move(name)), holder_(url, options()) {
    for (std::size_t i = 0; i < waiters; ++i)
      clients_.push_back(std::make_unique<client>(url, options()));
  }

  // `kill` ends the master; `promoted` waits for another one.
  template <class Kill, class Promoted>
  void run(Kill kill, Promoted promoted) {
    hold held = mutex(holder_, name_).acquire();
    std::uint64_t last = held.token();
    std::vector<std::jthread> threads;  // who waits goes on, whatever fails here
    for (auto& c : clients_)
      threads.emplace_back([&] {
        const hold h = mutex(*c, name_).acquire();
        const std::lock_guard lock{m_};
        tokens_.push_back(h.token());
        if (released_ || !held.valid()) return;
        ++doubles_;
        std::cout << "granted " << ms(std::chrono::steady_clock::now() - killed_)
                  << " ms after the kill, while the first holder believes to have it for another "
                  << ms(held.valid_until() - boot_clock::now()) << " ms" << std::endl;
      });
    for (auto& c : clients_) EXPECT_TRUE(has_waited(*c));
    {
      const std::lock_guard lock{m_};
      killed_ = std::chrono::steady_clock::now();
    }
    kill();
    const bool taken_over = promoted();
    EXPECT_TRUE(taken_over);
    {
      const std::lock_guard lock{m_};
      released_ = true;
    }
    std::error_code lost;
    held.release(lost);
    EXPECT_TRUE(eventually([&] { return granted() == waiters; }, 5s)) << "after the promotion";
    for (auto& t : threads) t.join();
    for (const auto t : tokens_) {
      EXPECT_GT(t, last) << "tokens never go back";
      last = t;
    }
    std::cout << "double grants without a fence: " << doubles_
              << "; the holder's release: " << (lost ? lost.message() : "done") << std::endl;
  }

 private:
  static constexpr std::size_t waiters = 4;
  static client_options options() {
    client_options o;
    o.lease = 3s;
    o.patience = 60s;
    return o;
  }
  static long ms(std::chrono::nanoseconds d) { return static_cast<long>(d / 1ms); }
  std::size_t granted() {
    const std::lock_guard lock{m_};
    return tokens_.size();
  }

  const std::string name_;
  const client holder_;
  std::vector<std::unique_ptr<client>> clients_;
  std::mutex m_;
  std::vector<std::uint64_t> tokens_;
  std::chrono::steady_clock::time_point killed_;
  int doubles_ = 0;
  bool released_ = false;
};

}  // namespace afar::test
