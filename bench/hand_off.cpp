// P9: how long a lock is on its way from one process to another that waits for it: from the call of
// unlock to the return of lock, in strict turns. The holder sleeps a moment before it unlocks, so that
// the other is certainly asleep in its call; afterwards it sleeps until the other has got the lock.
#include "board.hpp"
#include "clock.hpp"
#include "crew.hpp"
#include "place.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>

namespace bench {

namespace {

using namespace std::chrono_literals;

// One side of the game. Grant number n belongs to side n % 2.
template <class Lock, class Unlock>
void play(board& b, std::uint32_t side, std::uint32_t turns, Lock lock, Unlock unlock) {
  for (std::uint32_t n = side; n < turns; n += 2) {
    b.granted.wait_for(n);
    b.wanted.raise(n + 1);
    lock();
    const auto now = now_ns();
    b.nanoseconds[n] = n == 0 ? 0 : now - b.unlocked_at.load();
    b.granted.raise(n + 1);
    if (n + 1 < turns) b.wanted.wait_for(n + 2);
    sleep_for(200us);
    b.unlocked_at.store(now_ns());
    unlock();
  }
  b.granted.wait_for(turns);
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
  game(const scratch& folder, int core_a, int core_b)
      : board_(folder.file("board")),
        a_("hand_off", {folder.url(), folder.path(), std::to_string(core_a), "0"}),
        b_("hand_off", {folder.url(), folder.path(), std::to_string(core_b), "1"}) {}

  // The median in microseconds.
  double play_round(const std::string& with, std::uint32_t turns) {
    board_->reset();
    const std::string order = fmt::format("{} {}", with, turns);
    a_.tell(order);
    b_.tell(order);
    a_.hear();
    b_.hear();
    series all;
    for (std::uint32_t i = 2; i < turns; ++i)
      all.add(static_cast<double>(board_->nanoseconds[i]) / 1e3);
    p99_.add(all.quantile(0.99));
    return all.median();
  }
  double p99() const { return p99_.median(); }

 private:
  mapped_board board_;
  member a_;
  member b_;
  series p99_;
};

void measure(const options& o, report& out, const char* id, const char* placement, int core_a,
             int core_b, goal g) {
  const scratch folder;
  game together{folder, core_a, core_b};
  std::mt19937 random{std::random_device{}()};
  // A turn takes about 400 µs, most of it asleep.
  const auto turns = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(o.per_round() / 400us, 50, board::most_turns));
  series afar;
  series flock;
  together.play_round("afar", 20);
  together.play_round("flock", 20);
  for (int i = 0; i < o.rounds; ++i) {
    const bool afar_first = random() % 2 == 0;
    if (afar_first) afar.add(together.play_round("afar", turns));
    flock.add(together.play_round("flock", turns));
    if (!afar_first) afar.add(together.play_round("afar", turns));
  }
  out.add(compare(
      id, fmt::format("embedded, hand-off between 2 processes, p50 µs, {}; flock", placement), afar,
      flock, g));
}

}  // namespace

int hand_off_child(const arguments& a) {
  pin_to(std::stoi(a.at(2)));
  const auto side = static_cast<std::uint32_t>(std::stoul(a.at(3)));
  mapped_board b{a.at(1) + "/board"};
  const afar::client client{a.at(0)};
  afar::mutex m{client, "baton"};
  const file f{a.at(1) + "/baton"};
  for (std::string line; next_line(line);) {
    std::istringstream in{line};
    std::string with;
    std::uint32_t turns = 0;
    in >> with >> turns;
    if (with == "afar")
      play(*b, side, turns, [&] { m.lock(); }, [&] { m.unlock(); });
    else
      play(*b, side, turns, [&] { f.lock(); }, [&] { f.unlock(); });
    answer("done");
  }
  return 0;
}

void hand_off(const options& o, report& out) {
  const cores place = pick_cores();
  measure(o, out, "P9", "same", place.first, place.first, {goal_kind::at_most, 3});
  measure(o, out, "P9 split", "split", place.first, place.second, {});
}

}  // namespace bench
