// P9 and, on Redis, P4: how long a lock is on its way from one process to another that sleeps in its lock call: from the
// call of unlock to the return of lock, in strict turns. The holder keeps it for a moment, so that the
// other falls asleep, and after the unlock sleeps itself until the other has got it.
//
// What the holder does in that moment decides: a core that idles or runs others meanwhile has cold
// caches afterwards. Kept warm is what hand-overs in a row cost; cold is what a single one costs.
#include "board.hpp"
#include "clock.hpp"
#include "crew.hpp"
#include "place.hpp"
#include "raw_redis.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace bench {

namespace {

using namespace std::chrono_literals;

// How often this thread has gone to sleep so far.
long sleeps() {
  rusage u{};
  ::getrusage(RUSAGE_THREAD, &u);
  return u.ru_nvcsw;
}

// Gives the other the time to fall asleep in its call.
void keep_it(const std::string& caches) {
  if (caches == "cold") return sleep_for(200us);
  for (const auto end = now_ns() + 30'000; now_ns() < end;) ::sched_yield();
}

struct rules {
  std::string with;  // afar, flock or retry
  std::uint32_t turns = 0;
  std::string caches;  // warm or cold
};

// One side of the game. Grant number n belongs to side n % 2. A grant that did not need a wake-up is
// no hand-over and counts as 0.
template <class Lock, class Unlock>
void play(board& b, std::uint32_t side, const rules& r, Lock lock, Unlock unlock) {
  for (std::uint32_t n = side; n < r.turns; n += 2) {
    b.granted.wait_for(n);
    b.wanted.raise(n + 1);
    const long before = sleeps();
    lock();
    const auto now = now_ns();
    b.nanoseconds[n] = n == 0 || sleeps() == before ? 0 : now - b.unlocked_at.load();
    b.granted.raise(n + 1);
    if (n + 1 < r.turns) b.wanted.wait_for(n + 2);
    keep_it(r.caches);
    b.unlocked_at.store(now_ns());
    unlock();
  }
  b.granted.wait_for(r.turns);
}

class file {
 public:
  explicit file(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT, 0600)) {}
  ~file() { ::close(fd_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  void lock() const { ::flock(fd_, LOCK_EX); }
  void unlock() const { ::flock(fd_, LOCK_UN); }

 private:
  int fd_;
};

class game {
 public:
  game(const scratch& folder, const std::string& url, int core_a, int core_b)
      : board_(folder.file("board")),
        a_("hand_off", {url, folder.path(), std::to_string(core_a), "0"}),
        b_("hand_off", {url, folder.path(), std::to_string(core_b), "1"}) {}

  // The median in microseconds.
  double play_round(const rules& r) {
    board_->reset();
    const std::string order = fmt::format("{} {} {}", r.with, r.turns, r.caches);
    a_.tell(order);
    b_.tell(order);
    a_.hear();
    b_.hear();
    series all;
    for (std::uint32_t i = 2; i < r.turns; ++i)
      if (board_->nanoseconds[i] != 0) all.add(static_cast<double>(board_->nanoseconds[i]) / 1e3);
    if (2 * all.size() < r.turns) throw std::runtime_error("most locks were got without a wait");
    return all.median();
  }

 private:
  mapped_board board_;
  member a_;
  member b_;
};

struct setting {
  const char* id;
  std::string what;
  const char* peer;  // as rules::with
  int core_a;
  int core_b;
  std::string caches;
  goal wanted = {};
};

void measure(const options& o, report& out, const setting& at, const scratch& folder,
             const std::string& url) {
  game together{folder, url, at.core_a, at.core_b};
  std::mt19937 random{std::random_device{}()};
  const auto a_turn = at.caches == "cold" || at.peer == std::string_view{"retry"} ? 400us : 60us;
  const auto turns = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(o.per_round() / a_turn, 50, board::most_turns));
  series afar;
  series peer;
  const auto with = [&](const char* what) { return together.play_round({what, turns, at.caches}); };
  with("afar");  // warm
  with(at.peer);
  for (int i = 0; i < o.rounds; ++i) {
    const bool afar_first = random() % 2 == 0;
    if (afar_first) afar.add(with("afar"));
    peer.add(with(at.peer));
    if (!afar_first) afar.add(with("afar"));
  }
  out.add(compare(at.id, at.what, afar, peer, at.wanted));
}

void measure_embedded(const options& o, report& out, const char* placement, setting at) {
  const scratch folder;
  at.what = fmt::format("embedded, hand-off between 2 processes, p50 µs, {}, {}; flock", placement,
                        at.caches);
  measure(o, out, at, folder, folder.url());
}

void measure_redis(const options& o, report& out, const char* placement, int server_core,
                   setting at) {
  const scratch folder;
  const redis_host server{server_core};
  at.what = fmt::format("Redis, hand-off between 2 processes, p50 µs, {}, {}; subscription + retry",
                        placement, at.caches);
  measure(o, out, at, folder, server.url());
}

}  // namespace

int hand_off_child(const arguments& a) {
  pin_to(std::stoi(a.at(2)));
  const auto side = static_cast<std::uint32_t>(std::stoul(a.at(3)));
  mapped_board b{a.at(1) + "/board"};
  const afar::client client{a.at(0)};
  afar::mutex m{client, "baton"};
  const file f{a.at(1) + "/baton"};
  std::optional<hash_lock> h;
  for (std::string line; next_line(line);) {
    std::istringstream in{line};
    rules r;
    in >> r.with >> r.turns >> r.caches;
    if (r.with == "retry" && !h) h.emplace(a.at(0), "baton of retries");
    if (r.with == "afar")
      play(*b, side, r, [&] { m.lock(); }, [&] { m.unlock(); });
    else if (h)
      play(*b, side, r, [&] { h->lock(); }, [&] { h->unlock(); });
    else
      play(*b, side, r, [&] { f.lock(); }, [&] { f.unlock(); });
    answer("done");
  }
  return 0;
}

void hand_off(const options& o, report& out) {
  const cores c = pick_cores();
  const goal wanted{goal_kind::at_most, 3};
  measure_embedded(o, out, "same", {"P9", "", "flock", c.first, c.first, "warm", wanted});
  measure_embedded(o, out, "same", {"P9 cold", "", "flock", c.first, c.first, "cold"});
  measure_embedded(o, out, "split", {"P9 split", "", "flock", c.first, c.second, "warm"});
}

void redis_hand_off(const options& o, report& out) {
  const cores c = pick_cores();
  const goal wanted{goal_kind::at_most, 1.1};
  measure_redis(o, out, "same", c.first, {"P4", "", "retry", c.first, c.first, "warm", wanted});
  measure_redis(o, out, "split", c.second,
                {"P4 hand-off split", "", "retry", c.first, c.first, "warm"});
}

}  // namespace bench
