#include "simulator/actors.hpp"

#include "simulator/simulated_engine.hpp"

#include <afar/observer.hpp>

#include <utility>

namespace afar::test {
namespace {

// The library's own view of what happens goes into the record, too.
class note_taker final : public observer {
 public:
  explicit note_taker(world& w) : world_(w) {}
  void on(const event& e) noexcept override {
    switch (e.what) {
      case event::kind::acquired:
        return world_.note("has it", e.token);
      case event::kind::refused:
        return world_.note("did not get it", static_cast<std::uint64_t>(e.code.value()));
      case event::kind::renewed:
        return world_.note("has renewed it", e.token);
      case event::kind::lost:
        return world_.note("has lost it", e.token, static_cast<std::uint64_t>(e.reason));
      case event::kind::released:
      case event::kind::release_failed:
        return world_.note("has given it back", e.token,
                           static_cast<std::uint64_t>(e.code.value()));
      case event::kind::asking:
      case event::kind::releasing:
      case event::kind::misused:
        return;
    }
  }

 private:
  world& world_;
};

}  // namespace

// ---- user ---------------------------------------------------------------------------------------

void user::live() {
  auto& w = scene_.where;
  if (scene_.ending) return;
  if (in_burst())
    --burst_;
  else if (scene_.what.sticky > 0ms && w.chance(300))
    burst_ = 3 + w.below(20);
  if (in_burst()) return void(w.after(w.between(0ns, 1ms), client_.machine(), [this] { ask(); }));
  const auto pause = w.chance(300) ? w.between(0ns, 400ms) : w.between(0ns, 10ms);
  w.after(pause, client_.machine(), [this] { ask(); });
}

void user::choose_deadline(detail::claim_request& r, open_wish& o) {
  auto& w = scene_.where;
  const auto now = boot_clock::now();
  if (w.chance(200)) {
    r.by = detail::deadline::no_wait();
    o.due = now + client_.core().about().try_time;
  } else if (w.chance(500)) {
    r.by = detail::deadline::after(w.between(1ms, 900ms));
    o.due = r.by.at;
  } else {
    r.by = detail::deadline::forever();
    o.due = boot_clock::time_point::max();
  }
}

detail::claim_request user::make_request(open_wish& o) {
  auto& w = scene_.where;
  o.name = in_burst() ? 0 : w.below(scene_.what.names.size());
  o.machine = client_.machine();
  const auto& n = scene_.what.names[o.name];
  detail::claim_request r;
  r.line = client_.core().line(n.kind, n.text);
  r.limit = n.limit;
  if (n.kind == spi::kind::shared_mutex && w.chance(600)) r.mode = spi::access::shared;
  if (n.kind == spi::kind::permits) r.permits = 1 + static_cast<std::uint32_t>(w.below(n.limit));
  // Nobody is told when a lease runs out: who waits finds out when he looks again, a second later.
  const bool plain = scene_.what.calm || in_burst();
  if (!plain && w.chance(200)) r.lease = spi::milliseconds{50 + w.below(1'000)};
  if (!plain && w.chance(250)) r.renew = renewal::off;
  choose_deadline(r, o);
  return r;
}

void user::ask() {
  if (scene_.ending || !client_.has_core() || !scene_.where.alive(client_.machine())) return;
  open_wish o;
  auto r = make_request(o);
  stop_ = std::stop_source{};
  r.stop = stop_.get_token();
  mode_ = r.mode;
  permits_ = r.permits;
  ++scene_.counted.calls;
  const auto patience = o.due == boot_clock::time_point::max() ? 0ns : o.due - boot_clock::now();
  scene_.where.note(r.mode == spi::access::shared ? "wants to share" : "wants", o.name,
                    static_cast<std::uint64_t>(patience.count()));
  wish_ = scene_.kept.asks(o);
  plan_to_cancel();
  // One at a time: who blocks goes on only when those that began to block after him have ended.
  if (!scene_.where.inside() && scene_.where.chance(200)) return wait_for_it(std::move(r));
  client_.core().start_acquire(std::move(r), [this](const spi::status& s, detail::hold_ptr h) {
    answered(s, std::move(h));
  });
}

// On a thread of its own, which lends itself to the engine.
void user::wait_for_it(detail::claim_request r) {
  scene_.where.note("blocks");
  ++scene_.counted.blocked;
  scene_.where.rescue_by([this] { stop_.request_stop(); });
  spi::status s;
  auto h = client_.core().acquire(std::move(r), s);
  scene_.where.rescue_by(nullptr);
  answered(s, std::move(h));
}

void user::plan_to_cancel() {
  auto& w = scene_.where;
  cancelled_ = false;
  cancel_ = 0;
  if (!w.chance(200)) return;
  cancel_ = w.after(w.between(0ns, 500ms), client_.machine(), [this] {
    if (!scene_.where.alive(client_.machine())) return;
    cancelled_ = true;
    scene_.where.note("does not want any more");
    scene_.kept.hurries(*wish_, boot_clock::now());
    stop_.request_stop();
  });
}

void user::answered(const spi::status& s, detail::hold_ptr h) {
  auto& w = scene_.where;
  if (!w.alive(client_.machine())) return;
  w.cancel(cancel_);
  if (!wish_) return w.fail("a call ended twice");
  const auto wish = *std::exchange(wish_, std::nullopt);
  const bool ordinary = s.code == errc::timed_out || s.code == errc::cancelled || client_.over() ||
                        s.code == errc::closed;
  if (h == nullptr && !s) w.fail("neither a hold nor an error");
  if (s && scene_.what.calm && !ordinary) w.fail("failed without a reason");
  if (s.code == errc::cancelled && !cancelled_) w.fail("cancelled by nobody");
  if (h) {
    ++scene_.counted.grants;
    held_ = scene_.kept.gets({.name = wish->name,
                              .machine = client_.machine(),
                              .hold = h,
                              .lost = h->lost(),
                              .mode = mode_,
                              .permits = permits_,
                              .owner = h->claim().owner},
                             *wish);
  } else {
    ++scene_.counted.given_up;
  }
  scene_.kept.ends(wish);
  if (!h) return live();
  begin_to_hold();
}

nanoseconds user::time_to_hold() {
  auto& w = scene_.where;
  if (in_burst()) return w.between(0ns, 1ms);
  if (w.chance(600)) return w.between(0ns, 20ms);
  return w.chance(700) ? w.between(0ns, 300ms) : w.between(0ns, 3 * scene_.what.lease);
}

void user::begin_to_hold() {
  auto& w = scene_.where;
  if (w.chance(150)) return let_go();  // still inside of the library's call
  w.after(time_to_hold(), client_.machine(), [this] { let_go(); });
}

void user::let_go() {
  if (!held_) return;
  auto& w = scene_.where;
  const auto held = *std::exchange(held_, std::nullopt);
  const auto h = held->hold;
  if (scene_.kept.told(*held)) ++scene_.counted.lost;
  // So long before its end nothing but a release can have ended it.
  const bool sure = h->valid() && h->valid_until() - boot_clock::now() > 50ms;
  scene_.kept.gives_back(held);
  w.note("gives it back", h->token());
  h->end([this, sure](const spi::status& s) {
    if (scene_.what.calm && sure && s) scene_.where.fail("a good hold was not given back");
  });
  if (w.alive(client_.machine()) && !client_.over()) live();
}

// ---- client -------------------------------------------------------------------------------------

client::client(scene& s) : scene_(s), machine_(s.where.add_machine()) {
  s.where.as(machine_, [this] { open(); });
}

void client::open() {
  detail::settings s;
  s.lease = scene_.what.lease;
  s.handoff = scene_.what.handoff;
  if (scene_.where.chance(700)) s.sticky = scene_.what.sticky;
  s.url = "simulated:";
  s.observer = std::make_shared<note_taker>(scene_.where);
  core_ = std::make_shared<detail::core>(s, [this](spi::host& h) {
    way_ = std::make_shared<channel>(scene_.where, scene_.what.way, scene_.server, h);
    return std::make_unique<simulated_engine>(way_, simulated_engine::traits_of(scene_.what.way));
  });
  weak_ = core_;
  users_.reserve(scene_.what.users);
  for (std::size_t i = 0; i < scene_.what.users; ++i)
    users_.push_back(std::make_unique<user>(scene_, *this));
  for (const auto& u : users_) u->live();
  if (scene_.what.takeable == 0) return;
  taker_ = std::make_unique<taker>(scene_, *this);
  taker_->live();
}

// What a process has is gone with it. Here its memory has to be freed: the core is told that it closes, and
// nothing of that leaves the machine.
void client::crash() {
  if (std::exchange(over_, true)) return;
  scene_.where.note("dies", machine_);
  auto rest = scene_.where.kill(machine_);
  scene_.where.as(machine_, [&] {
    way_->end();
    for (const auto& u : users_) u->let_go();
    scene_.kept.dies(machine_);
    for (auto& f : rest) f();  // timers whose callbacks the core needs to come to an end
    rest.clear();
    drop();
  });
  if (leaks()) scene_.where.fail("a core that died is still there");
}

void client::close() {
  if (std::exchange(over_, true)) return;
  scene_.where.note("closes");
  drop();
}

void client::drop() {
  for (const auto& u : users_) u->let_go();
  core_->close();
  for (const auto& u : users_) u->let_go();  // granted while it closed
  scene_.counted.reused += core_->stats().read().reused;
  core_.reset();
}

}  // namespace afar::test
