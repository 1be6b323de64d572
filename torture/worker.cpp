#include "torture/worker.hpp"

#include "torture/plan.hpp"
#include "torture/record.hpp"

#include <afar/client.hpp>
#include <afar/counter.hpp>
#include <afar/election.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/fence.hpp>
#include <afar/leased_semaphore.hpp>
#include <afar/mutex.hpp>
#include <afar/recursive_mutex.hpp>
#include <afar/shared_mutex.hpp>
#include <afar/stock.hpp>

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace afar::torture {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

// The library's own word on when it lets go and when it knows of a loss.
class library_log final : public observer {
 public:
  library_log(const plan& p, const recorder& to) : record_(to) {
    for (std::size_t i = 0; i < p.objects.size(); ++i)
      objects_.emplace(p.objects[i].name, static_cast<std::uint16_t>(i));
  }
  void on(const afar::event& e) noexcept override {
    if (e.what != afar::event::kind::lost && e.what != afar::event::kind::releasing) return;
    const auto found = objects_.find(e.name);
    if (found == objects_.end()) return;
    const bool lost = e.what == afar::event::kind::lost;
    record_.note({.what = lost ? act::told_lost : act::releasing,
                  .object = found->second,
                  .at = stamp(e.at),
                  .token = e.token});
  }

 private:
  const recorder& record_;
  std::map<std::string, std::uint16_t, std::less<>> objects_;
};

// What the threads of a process share.
struct workplace {
  workplace(const plan& p, const std::string& url, std::uint32_t w, std::uint32_t l)
      : todo(p),
        worker(w),
        life(l),
        record(p.record(w, l)),
        protected_file(::open(p.protected_file().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)),
        locks(url, {.lease = p.lease, .observer = std::make_shared<library_log>(p, record)}) {
    for (std::size_t i = 0; i < p.objects.size(); ++i)
      fences.push_back(afar::fence::in_file(p.fence(i)));
  }
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;
  ~workplace() { ::close(protected_file); }

  const plan& todo;
  const std::uint32_t worker;
  const std::uint32_t life;
  const recorder record;
  const int protected_file;
  std::vector<afar::fence> fences;
  client locks;
};

class hand {
 public:
  hand(workplace& at, std::uint16_t thread)
      : at_(at),
        thread_(thread),
        dice_(at.todo.seed ^ (at.worker * 7919ULL + at.life * 104729ULL + thread)) {
    for (const object& o : at.todo.objects) kits_.push_back(make(o));
  }

  void take_a_turn() {
    const auto i = static_cast<std::uint16_t>(dice_() % at_.todo.objects.size());
    object_ = i;
    kit& k = kits_[i];
    switch (at_.todo.objects[i].sort) {
      case sort::mutex:
        return hold_it(1, [&](auto t, auto& ec) { return k.plain->try_acquire_for(t, {}, ec); });
      case sort::fair_mutex:
        return hold_it(1, [&](auto t, auto& ec) { return k.fair->try_acquire_for(t, {}, ec); });
      case sort::recursive_mutex:
        return go_deep(*k.recursive);
      case sort::shared_mutex:
        return share(*k.shared);
      case sort::leased_semaphore:
        return take_permits(*k.some);
      case sort::election:
        return lead(*k.election);
      case sort::counter:
        return count(*k.counter);
      case sort::stock:
        return buy(*k.stock);
    }
  }

 private:
  struct kit {
    std::unique_ptr<mutex> plain;
    std::unique_ptr<fair_mutex> fair;
    std::unique_ptr<recursive_mutex> recursive;
    std::unique_ptr<shared_mutex> shared;
    std::unique_ptr<leased_semaphore> some;
    std::unique_ptr<afar::election> election;
    std::unique_ptr<afar::counter> counter;
    std::unique_ptr<afar::stock> stock;
  };

  kit make(const object& o) const {
    kit k;
    switch (o.sort) {
      case sort::mutex:
        k.plain = std::make_unique<mutex>(at_.locks, o.name);
        break;
      case sort::fair_mutex:
        k.fair = std::make_unique<fair_mutex>(at_.locks, o.name);
        break;
      case sort::recursive_mutex:
        k.recursive = std::make_unique<recursive_mutex>(at_.locks, o.name);
        break;
      case sort::shared_mutex:
        k.shared = std::make_unique<shared_mutex>(at_.locks, o.name);
        break;
      case sort::leased_semaphore:
        k.some = std::make_unique<leased_semaphore>(at_.locks, o.name, permits);
        break;
      case sort::election:
        k.election = std::make_unique<afar::election>(at_.locks, o.name);
        break;
      case sort::counter:
        k.counter = std::make_unique<afar::counter>(at_.locks, o.name);
        break;
      case sort::stock:
        k.stock = std::make_unique<afar::stock>(at_.locks, o.name);
        break;
    }
    return k;
  }

  // ---- what is recorded ---------------------------------------------------------------------------

  void note(fact f) const {
    f.object = object_;
    f.thread = thread_;
    at_.record.note(f);
  }
  void be(doing d) const { at_.record.head().threads[thread_] = d; }
  bool chance(unsigned percent) { return dice_() % 100 < percent; }

  // ---- locks --------------------------------------------------------------------------------------

  std::chrono::milliseconds patience() {
    const auto n = dice_() % 10;
    return n < 6 ? 200ms : n < 9 ? 1'000ms : 20ms;
  }

  template <class Acquire>
  void hold_it(std::uint32_t weight, Acquire acquire) {
    const auto time = patience();
    be(doing::waiting);
    note({.what = act::asked,
          .until = now() + std::chrono::nanoseconds{time}.count(),
          .weight = weight});
    std::error_code ec;
    hold h = acquire(time, ec);
    if (h.token() == 0) {
      note({.what = act::gave_up, .value = ec.value()});
      return be(doing::other);
    }
    const std::uint64_t token = h.token();
    begin(token, h.valid_until(), weight);
    const bool mine_alone = weight == at_.todo.objects[object_].capacity();
    spend(token, mine_alone, [&] { return h.valid(); }, [&] { return h.valid_until(); });
    note({.what = act::done, .token = token});
    be(doing::releasing);
    if (chance(50)) h.release(ec);
    h = {};
    be(doing::other);
  }

  void begin(std::uint64_t token, boot_clock::time_point until, std::uint32_t weight) {
    note({.what = act::granted, .until = stamp(until), .token = token, .weight = weight});
    at_.record.head().granted++;
    be(doing::working);
  }

  // Time under the lock: mostly none, now and then longer than the lease, so that it is renewed.
  template <class Valid, class Until>
  void spend(std::uint64_t token, bool mine_alone, Valid valid, Until until) {
    const auto n = dice_() % 1000;
    const auto lease = static_cast<std::uint64_t>(microseconds{at_.todo.lease}.count());
    std::uint64_t us = 0;
    if (n >= 900) us = dice_() % 1'000;
    if (n >= 980) us = dice_() % 10'000;
    if (n >= 999) us = dice_() % (2 * lease);
    const auto end = boot_clock::now() + microseconds{us};
    bool gone = false;
    while (!gone) {
      const auto left = end - boot_clock::now();
      if (left <= 0ns) break;
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, 5ms));
      gone = !still(token, valid, until, gone);
    }
    // Half of them do not ask before they write, so that the fence is what protects; as when a pause
    // comes right after the question. It is aimed at.
    if (mine_alone && chance(20)) {  // a fence is for one holder at a time
      if (chance(50)) {
        gone = !still(token, valid, until, gone);
      } else {
        be(doing::about_to_write);
        std::this_thread::sleep_for(100us);
      }
      write(token);
    }
    still(token, valid, until, gone);
  }

  // Stamped before the question: what is valid later was valid then.
  template <class Valid, class Until>
  bool still(std::uint64_t token, Valid valid, Until until, bool was_gone) {
    const auto asked = now();
    const bool yes = valid();
    if (yes && was_gone) broke(broken_here::valid_after_loss, token);
    if (yes) note({.what = act::valid, .at = asked, .until = stamp(until()), .token = token});
    return yes;
  }

  void write(std::uint64_t token) {
    const entry line{token, object_};
    const bool admitted = at_.fences[object_].guard(token, [&] {
      if (::write(at_.protected_file, &line, sizeof line) != sizeof line)
        std::perror("protected file");
    });
    note({.what = admitted ? act::wrote : act::refused, .token = token});
    if (!admitted) at_.record.head().refused++;
  }

  void broke(broken_here what, std::uint64_t token) const {
    note({.what = act::broke, .token = token, .value = static_cast<std::int64_t>(what)});
  }

  void share(shared_mutex& m) {
    if (chance(30))
      hold_it(alone, [&](auto t, auto& ec) { return m.try_acquire_for(t, {}, ec); });
    else
      hold_it(1, [&](auto t, auto& ec) { return m.try_acquire_shared_for(t, {}, ec); });
  }

  void take_permits(leased_semaphore& some) {
    const auto n = static_cast<std::uint32_t>(1 + dice_() % permits);
    hold_it(n, [&](auto t, auto& ec) { return some.try_acquire_for(t, n, {}, ec); });
  }

  void lead(afar::election& e) {
    hold_it(1, [&](auto t, auto& ec) {
      try {
        return e.try_campaign_for(t);
      } catch (const lock_error& failed) {
        ec = failed.code();
        return hold{};
      }
    });
  }

  void go_deep(recursive_mutex& m) {
    const auto time = patience();
    be(doing::waiting);
    note(
        {.what = act::asked, .until = now() + std::chrono::nanoseconds{time}.count(), .weight = 1});
    std::error_code ec;
    if (!m.try_lock_for(time, ec)) {
      note({.what = act::gave_up, .value = ec.value()});
      return be(doing::other);
    }
    const std::uint64_t token = m.token();
    // It does not tell until when; what counts is what valid() said.
    begin(token, boot_clock::time_point{}, 1);
    const auto valid = [&] { return m.valid(); };
    const auto until = [] { return boot_clock::time_point{}; };
    still(token, valid, until, false);
    std::uint32_t depth = 1;
    while (depth < 3 && m.try_lock(ec)) ++depth;
    if (depth > 1 && m.token() != token && m.valid()) broke(broken_here::another_token, token);
    if (m.depth() != depth) broke(broken_here::wrong_depth, token);
    spend(token, true, valid, until);
    note({.what = act::done, .token = token});
    be(doing::releasing);
    for (; depth > 0; --depth) m.unlock();
    be(doing::other);
  }

  // ---- values -------------------------------------------------------------------------------------

  void count(afar::counter& c) {
    note({.what = act::changing, .value = ++changes_});
    std::error_code ec;
    const std::int64_t before = c.fetch_add(1, ec);
    note(ec ? fact{.what = act::unknown, .value = changes_}
            : fact{.what = act::changed, .value = before});
  }

  void buy(afar::stock& s) {
    note({.what = act::changing, .value = ++changes_});
    std::error_code ec;
    const auto sold = s.take(1, order_id(at_.worker, at_.life, thread_, changes_), "anybody", ec);
    note(ec ? fact{.what = act::unknown, .value = changes_}
            : fact{.what = act::changed, .value = sold == take_result::taken});
  }

  workplace& at_;
  const std::uint16_t thread_;
  std::minstd_rand dice_;
  std::vector<kit> kits_;
  std::uint16_t object_ = 0;
  std::int64_t changes_ = 0;
};

// Notes when this process did not run: who does not run cannot return in time.
void watch_the_clock(const std::stop_token& stop, const recorder& record) {
  auto last = now();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(5ms);
    const auto t = now();
    if (t - last > 8'000'000) record.note({.what = act::stalled, .at = t, .until = last});
    last = t;
  }
}

}  // namespace

int work(const std::string& folder, const std::string& url, std::uint32_t worker,
         std::uint32_t life) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives its director
  std::signal(SIGINT, SIG_IGN);        // ^C is the director's business
  const plan todo = plan::load(folder);
  const mapped<control, char> orders{todo.control(), 0};
  // A server that is away at this moment is no reason to give up.
  for (;;) try {
      if (orders.head().phase == phase::stop) return 0;
      workplace here{todo, url, worker, life};
      std::jthread clock{[&](const std::stop_token& stop) { watch_the_clock(stop, here.record); }};
      std::vector<std::jthread> threads;
      threads.reserve(todo.threads);
      for (std::uint16_t t = 0; t < static_cast<std::uint16_t>(todo.threads); ++t)
        threads.emplace_back([&, t] {
          hand me{here, t};
          while (orders.head().phase == phase::work) me.take_a_turn();
        });
      threads.clear();
      return 0;
    } catch (const lock_error& error) {
      if (error.code() == errc::unavailable || error.code() == errc::timed_out) continue;
      std::fprintf(stderr, "worker %u: %s\n", worker, error.what());
      return 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "worker %u: %s\n", worker, error.what());
      return 1;
    }
}

}  // namespace afar::torture
