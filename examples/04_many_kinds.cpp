// The rest of the family: what std has for threads, afar has for machines, under the same names.
// Each thread below stands for a program of its own, with a client of its own.
#include <afar/afar.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> failures = 0;
void expect(bool right, const char* what) {
  std::printf("%s %s\n", right ? "  ok  " : "WRONG ", what);
  if (!right) ++failures;
}

constexpr int programs = 4;
void run(const std::string& url, const std::function<void(afar::client&)>& program) {
  std::vector<std::jthread> all;
  for (int i = 0; i < programs; ++i)
    all.emplace_back([&] {
      afar::client client{url};
      program(client);
    });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string url = argc > 1 ? argv[1] : "local:";
  const std::string job = "/job " + std::to_string(::getpid());  // counters and latches outlive us
  afar::client here{url};

  // counter: std::atomic<int64_t>. Every addition counts exactly once.
  afar::counter hits{here, "hits" + job};
  run(url, [&](afar::client& c) { afar::counter{c, "hits" + job}.fetch_add(10); });
  expect(hits.load() == programs * 10, "counter: all additions arrived");
  hits.erase();  // nobody owns a counter, so nobody cleans it up but you

  // shared_mutex: one writer or many readers.
  afar::shared_mutex config{here, "config" + job};
  {
    std::shared_lock reading{config};
    run(url, [&](afar::client& c) {
      afar::shared_mutex same{c, "config" + job};
      expect(same.try_lock_shared(), "shared_mutex: another reader comes in");
    });  // destroying it unlocks
  }
  const std::scoped_lock writing{config};
  expect(config.token() != 0, "shared_mutex: the writer has it alone");

  // leased_semaphore: at most two at a time; permits of a program that dies come back by
  // themselves.
  std::atomic<int> inside = 0, most = 0;
  run(url, [&](afar::client& c) {
    afar::leased_semaphore desks{c, "desks" + job, 2};
    afar::hold desk = desks.acquire();
    if (++inside > most) most = inside.load();
    --inside;
  });
  expect(most >= 1 && most <= 2, "leased_semaphore: never more than two");

  // latch: wait until all have reported; barrier: wait for each other, round after round.
  afar::latch ready{here, "ready" + job, programs};
  run(url, [&](afar::client& c) {
    afar::latch{c, "ready" + job, programs}.count_down();
    afar::barrier rounds{c, "rounds" + job, programs};
    for (int round = 0; round < 3; ++round) rounds.arrive_and_wait();
  });
  expect(ready.try_wait(), "latch and barrier: everybody came");
  return failures;
}
