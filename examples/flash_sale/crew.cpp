#include "crew.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <thread>
#include <vector>

namespace sale {
namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr auto longest_run = 15min;
constexpr int most_restarts = 200;
constexpr auto stall_time = lease + 500ms;

// One clock for all processes.
std::int64_t now_us() {
  const auto now = clock_type::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

void raise_to(std::atomic<std::int64_t>& to, std::int64_t value) {
  std::int64_t seen = to.load();
  while (seen < value && !to.compare_exchange_weak(seen, value)) {
  }
}

// The n-th thread of all. Thread n and the one half-way round the table serve the same buyers in the
// same order: that is where the two clicks of a buyer meet.
class clerk {
 public:
  clerk(const settings& s, counter_desk& desk, int n, int generation, board& b)
      : s_(s),
        desk_(desk),
        shop_(desk),
        n_(static_cast<std::size_t>(n)),
        generation_(generation),
        board_(b),
        step_(s.processes * s.threads / clicks) {}

  void work() {
    ++board_.ready;
    while (!board_.open) std::this_thread::sleep_for(100us);
    const int first = static_cast<int>(n_) % step_;
    for (int i = board_.next[n_]; first + i * step_ < s_.buyers; ++i) {
      if (replaced() || !desk_.mine()) throw overtaken{"this worker was replaced"};
      board_.next[n_] = i;
      serve(first + i * step_);
    }
    board_.next[n_] = s_.buyers;
  }

 private:
  bool replaced() const {
    return board_.generation[static_cast<std::size_t>(desk_.worker)] != generation_;
  }
  void serve(int buyer) {
    const std::int64_t asked = now_us();
    const outcome said = shop_.buy(buyer);
    const std::int64_t took = std::max<std::int64_t>(1, now_us() - asked);
    const auto step = static_cast<std::size_t>(8 * std::log2(static_cast<double>(took)));
    ++board_.took[std::min(step, board_.took.size() - 1)];
    ++board_.said[static_cast<std::size_t>(said)];
    if (said == outcome::bought) raise_to(board_.last_order_us, now_us());
    board_.refused += std::exchange(shop_.refused, 0);
  }

  const settings& s_;
  counter_desk& desk_;
  shop shop_;
  const std::size_t n_;
  const int generation_;
  board& board_;
  const int step_;
};

// 0: every buyer of this process was served. 1: start another one.
int work(const settings& s, way w, int number, int generation, board& b) {
  std::atomic<int> rc = 0;
  const auto failed = [&](const std::exception& e) {
    if (++b.unanswered < 4)
      std::fprintf(stderr, "a worker of \"%s\" failed: %s\n", word(w), e.what());
    rc = 1;
  };
  try {
    counter_desk desk{s.p, w, number};
    std::vector<std::jthread> all;
    for (int t = 0; t < s.threads; ++t)
      all.emplace_back([&, t] {
        try {
          clerk{s, desk, number * s.threads + t, generation, b}.work();
        } catch (const overtaken&) {
          rc = 1;  // as it should be
        } catch (const std::exception& e) {
          failed(e);
        }
      });
    all.clear();
  } catch (const overtaken&) {
    rc = 1;
  } catch (const std::exception& e) {
    failed(e);
  }
  return rc;
}

// Keeps one process of each number at work until all are done.
class crew {
 public:
  crew(const settings& s, way w, board& b) : s_(s), way_(w), board_(b) {}
  ~crew() {
    for (const worker& w : all_) {
      ::kill(w.pid, SIGKILL);
      ::waitpid(w.pid, nullptr, 0);
    }
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  run_result run() {
    for (int i = 0; i < s_.processes; ++i) start(i);
    while (!all_.empty()) {
      if (clock_type::now() - start_ > longest_run) throw std::runtime_error{"the sale hangs"};
      if (!board_.open && board_.ready >= s_.processes * s_.threads) {
        board_.opened_us = now_us();
        board_.open = true;
      }
      reap();
      disturb();
      std::this_thread::sleep_for(500us);
    }
    const auto since_opened = [&](std::int64_t us) {
      return static_cast<double>(us - board_.opened_us) / 1e6;
    };
    result_.seconds = since_opened(now_us());
    result_.orders_after = since_opened(board_.last_order_us);
    return result_;
  }

 private:
  struct worker {
    pid_t pid = 0;
    int number = 0;
    bool replaced = false;
    clock_type::time_point goes_on = clock_type::time_point::max();
  };

  void start(int number) {
    if (++starts_ > s_.processes + most_restarts) throw std::runtime_error{"workers keep failing"};
    const int generation = ++board_.generation[static_cast<std::size_t>(number)];
    std::fflush(stdout);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error{"cannot start a worker"};
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(::getppid() == parent ? work(s_, way_, number, generation, board_) : 1);
    }
    all_.push_back({pid, number});
  }

  // Whoever did not finish is replaced, unless that was done before.
  void reap() {
    std::vector<int> again;
    std::erase_if(all_, [&](const worker& w) {
      int status = 0;
      if (::waitpid(w.pid, &status, WNOHANG) != w.pid) return false;
      const bool finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      if (!finished && !w.replaced) again.push_back(w.number);
      return true;
    });
    for (const int number : again) start(number);
  }

  // While the vouchers are selling, at even distances: that is when it hurts.
  void disturb() {
    for (worker& w : all_)
      if (w.goes_on <= clock_type::now()) {
        w.goes_on = clock_type::time_point::max();
        ::kill(w.pid, SIGCONT);
      }
    const int done = result_.killed + result_.stalled;
    const int due = s_.kills + s_.stalls;
    const auto sold = board_.said[static_cast<std::size_t>(outcome::bought)].load();
    if (done == due || all_.empty() || sold < s_.p.units * (done + 1) / (due + 2)) return;
    worker& victim = all_[random_() % all_.size()];
    if (victim.replaced) return;  // another time
    if (result_.stalled < s_.stalls) {
      ++result_.stalled;
      ::kill(victim.pid, SIGSTOP);
      victim.replaced = true;
      victim.goes_on = clock_type::now() + stall_time;
      start(victim.number);  // the reference is void from here on
    } else {
      ++result_.killed;
      ::kill(victim.pid, SIGKILL);
    }
  }

  const settings& s_;
  const way way_;
  board& board_;
  const clock_type::time_point start_ = clock_type::now();
  std::vector<worker> all_;
  int starts_ = 0;
  run_result result_;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace

std::int64_t board::answers() const {
  std::int64_t n = 0;
  for (const auto& s : said) n += s;
  return n;
}

double board::p99_ms() const {
  std::int64_t all = 0;
  for (const auto& n : took) all += n;
  std::int64_t seen = 0;
  std::size_t step = 0;
  for (; step < took.size(); ++step) {
    seen += took[step];
    if (seen * 100 >= all * 99) break;
  }
  return std::exp2(static_cast<double>(step + 1) / 8) / 1'000;
}

run_result serve_all(const settings& s, way w, board& b) { return crew{s, w, b}.run(); }

}  // namespace sale
