#include "simulator/taker.hpp"

#include "simulator/actors.hpp"

namespace afar::test {

bool taker::lives() const { return scene_.where.alive(client_.machine()); }

void taker::live() {
  auto& w = scene_.where;
  if (scene_.ending) return;
  w.after(w.between(0ns, 100ms), client_.machine(), [this] { take(); });
}

detail::cell_request taker::change_by(std::int64_t n) const {
  detail::cell_request r;
  r.name = name_;
  r.change = {.what = {spi::kind::semaphore, {}},
              .action = spi::cell_action::add,
              .operand = n,
              .initial = scene_.what.takeable,
              .min = 0,
              .max = scene_.what.takeable,
              .id = {}};
  return r;
}

void taker::take() {
  auto& w = scene_.where;
  if (scene_.ending || !client_.has_core() || !lives()) return;
  auto r = change_by(-1);
  open_wish o{.name = scene_.what.names.size(), .machine = client_.machine()};
  r.goal = detail::cell_request::until::applied;
  // Not for ever: one that could not be put back is missing for good.
  r.by = detail::deadline::after(w.chance(600) ? w.between(1ms, 300ms) : w.between(1s, 3s));
  o.due = r.by.at;
  stop_ = std::stop_source{};
  r.stop = stop_.get_token();
  w.note("wants to take one");
  ++scene_.counted.calls;
  wish_ = scene_.kept.asks(o);
  cancel_ = 0;
  if (w.chance(200))
    cancel_ = w.after(w.between(0ns, 300ms), client_.machine(), [this] {
      if (!lives()) return;
      scene_.kept.hurries(*wish_, boot_clock::now());
      stop_.request_stop();
    });
  client_.core().start_change(std::move(r),
                              [this](const spi::status& s, const spi::cell_reply&) { taken(s); });
}

void taker::taken(const spi::status& s) {
  auto& w = scene_.where;
  if (!lives()) return;
  w.cancel(cancel_);
  if (!wish_) return w.fail("a call ended twice");
  scene_.kept.ends(*std::exchange(wish_, std::nullopt));
  w.note(s ? "takes none" : "takes one", static_cast<std::uint64_t>(s.code.value()));
  if (s) return live();
  ++scene_.counted.taken;
  scene_.kept.takes();
  w.after(w.between(0ns, 100ms), client_.machine(), [this] { put_back(); });
}

void taker::put_back() {
  if (!lives()) return;
  scene_.kept.puts_back();
  scene_.where.note("puts one back");
  client_.core().start_change(change_by(1), [this](const spi::status& s, const spi::cell_reply& r) {
    if (!lives()) return;
    scene_.where.note("has put one back", static_cast<std::uint64_t>(s.code.value()),
                      r.applied ? 1 : 0);
    scene_.kept.put_back(s ? std::nullopt : std::optional{r.applied});
    live();
  });
}

}  // namespace afar::test
