#include "demo/worker.hpp"

#include <afar/client.hpp>
#include <afar/fence.hpp>
#include <afar/mutex.hpp>
#include <afar/stock.hpp>

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <random>
#include <stop_token>
#include <thread>

namespace afar::cli::demo {

namespace {

using namespace std::chrono_literals;

class employee {
 public:
  employee(const place& where, std::uint32_t worker, std::uint32_t life)
      : worker_(worker),
        life_(life),
        control_(where.control(), 0),
        record_(where.record(worker, life)),
        fence_(afar::fence::in_file(where.fence())),
        protected_(::open(where.protected_file().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)),
        client_(where.url, {.lease = demo::lease}),
        lock_(client_, where.lock_name()),
        stock_(client_, where.stock_name()),
        random_(std::random_device{}()) {}
  employee(const employee&) = delete;
  employee& operator=(const employee&) = delete;
  ~employee() { ::close(protected_); }

  demo::phase phase() const { return control_.head().phase; }

  // Takes the lock, works for about a millisecond, writes under the token, lets go.
  void take_a_turn() {
    do_now(doing::waiting);
    record_.note(act::asked);
    afar::hold hold = lock_.try_acquire_for(2s);
    if (hold.token() == 0) {
      record_.note(act::gave_up);
      do_now(doing::other);
      return;
    }
    const std::uint64_t token = hold.token();
    record_.note(act::granted, token, stamp(hold.valid_until()));
    head().granted++;
    head().token = token;
    do_now(doing::working);
    {
      std::stop_callback told{hold.lost(), [this, token] { record_.note(act::told_lost, token); }};
      std::this_thread::sleep_for(std::chrono::microseconds{500 + random_() % 1'000});
      do_now(doing::writing);
      // A careful program asks hold.valid() here. This one does not, so that the fence is what
      // protects the file, as it must when the pause comes right after the question.
      write(token);
    }
    record_.note(act::releasing, token, stamp(hold.valid_until()));
    do_now(doing::other);
  }

  // Buys one unit. False: nothing is left.
  bool buy() {
    const std::uint32_t order = orders_++;
    record_.note(act::ordering, 0, 0, order);
    std::error_code ec;
    const auto answer = stock_.take(1, order_id(worker_, life_, order), "anybody", ec);
    if (ec) {
      record_.note(act::failed, 0, 0, order);
      return true;
    }
    const bool taken = answer == afar::take_result::taken;
    record_.note(taken ? act::sold : act::sold_out, 0, 0, order);
    if (taken) head().sold++;
    return taken;
  }

 private:
  summary& head() const { return record_.head(); }
  void do_now(doing d) { head().state = d; }

  void write(std::uint64_t token) {
    const entry line{token, worker_, life_};
    const bool admitted = fence_.guard(token, [&] {
      if (::write(protected_, &line, sizeof line) != sizeof line) std::perror("protected file");
    });
    record_.note(admitted ? act::wrote : act::refused, token);
    if (!admitted) head().refused++;
  }

  const std::uint32_t worker_;
  const std::uint32_t life_;
  torture::mapped<control, char> control_;
  recorder record_;
  afar::fence fence_;
  int protected_;
  afar::client client_;
  afar::mutex lock_;
  afar::stock stock_;
  std::minstd_rand random_;
  std::uint32_t orders_ = 0;
};

}  // namespace

int work(const place& where, std::uint32_t worker, std::uint32_t life,
         std::chrono::nanoseconds between_orders) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives its supervisor
  std::signal(SIGINT, SIG_IGN);        // ^C is the supervisor's business
  try {
    employee me{where, worker, life};
    auto next_order = afar::boot_clock::now();
    bool left = true;
    for (phase p = me.phase(); p != phase::stop; p = me.phase()) {
      me.take_a_turn();
      // At a steady pace first; in the rush as fast as everybody can.
      if (p == phase::rush) {
        for (int i = 0; i < 20 && left; ++i) left = me.buy();
      } else if (afar::boot_clock::now() >= next_order) {
        me.buy();
        next_order += between_orders;
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker %u: %s\n", worker, error.what());
    return 1;
  }
}

}  // namespace afar::cli::demo
