#include "simulator/world.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace afar::test {
namespace {

world* running_world = nullptr;

constexpr std::int64_t million = 1'000'000;
// Clocks of machines run at rates that differ by less than the margin of a lease, a hundredth of it.
constexpr std::int64_t most_ppm = 4'000;

}  // namespace

world::world(std::uint64_t seed, record r) : dice_(seed), record_(r) {
  assert(running_world == nullptr);
  running_world = this;
  dice_ = draw() ^ 0xafa5U;  // else the streams of neighbours overlap
}

world::~world() {
  forget_events();
  running_world = nullptr;
}

world& world::current() { return *running_world; }
bool world::running() noexcept { return running_world != nullptr; }

// splitmix64
std::uint64_t world::draw() noexcept {
  dice_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = dice_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// ---- events -------------------------------------------------------------------------------------

world::id world::at(time t, machine m, detail::function<void()> f) {
  const id number = next_++;
  const key k{std::max(t, now_), static_cast<std::uint32_t>(draw()), number};
  if (!alive(m)) return number;
  events_.emplace(k, event{m, std::move(f)});
  keys_.emplace(number, k);
  return number;
}

bool world::cancel(id number) noexcept {
  const auto k = keys_.find(number);
  if (k == keys_.end()) return false;
  const auto gone = events_.extract(k->second);  // destroyed last: it may cancel others
  keys_.erase(k);
  return true;
}

bool world::step() {
  if (events_.empty()) return false;
  auto next = events_.extract(events_.begin());
  now_ = next.key().at;
  const auto where = next.mapped().where;
  if (paused(where)) {
    // What came meanwhile is looked at in any order: threads get their turns as they come.
    next.key().at = resumed(where) + between(0ns, 500us);
    next.key().tie = static_cast<std::uint32_t>(draw());
    keys_[next.key().number] = next.key();
    events_.insert(std::move(next));
    return true;
  }
  keys_.erase(next.key().number);
  if (!alive(where)) return true;
  ++depth_;
  as(where, [&] { next.mapped().what(); });
  --depth_;
  if (after_each_) after_each_();
  if (failed() && rescue_) std::exchange(rescue_, nullptr)();
  return true;
}

void world::forget_events() {
  keys_.clear();
  for (auto all = std::exchange(events_, {}); !all.empty();) all = std::exchange(events_, {});
}

// ---- machines -----------------------------------------------------------------------------------

world::machine world::add_machine() {
  machines_.push_back({.offset = between(1'000s, 1'000'000s),
                       .ppm = static_cast<std::int64_t>(below(2 * most_ppm + 1)) - most_ppm});
  return machines_.size() - 1;
}

void world::pause(machine m, nanoseconds d) {
  machines_[m].paused_until = std::max(machines_[m].paused_until, now_ + d);
}

std::vector<detail::function<void()>> world::kill(machine m) {
  machines_[m].dead = true;
  std::vector<detail::function<void()>> gone;
  for (auto e = events_.begin(); e != events_.end();) {
    if (e->second.where != m) {
      ++e;
      continue;
    }
    gone.reserve(events_.size());
    gone.push_back(std::move(e->second.what));
    keys_.erase(e->first.number);
    e = events_.erase(e);
  }
  return gone;
}

boot_clock::time_point world::clock(machine m) const {
  const auto& b = machines_[m];
  return boot_clock::time_point{b.offset + now_ + nanoseconds{now_.count() * b.ppm / million}};
}

world::time world::when(machine m, boot_clock::time_point t) const {
  if (t <= clock(m)) return now_;
  if (t - clock(m) > 24h) return time::max();  // nobody lives to see it
  const auto shown = (t.time_since_epoch() - machines_[m].offset).count();
  const auto rate = million + machines_[m].ppm;
  return nanoseconds{shown / rate * million + shown % rate * million / rate + 2};  // never early
}

// ---- what happened ------------------------------------------------------------------------------

void world::mix(std::uint64_t n) noexcept {
  digest_ = (digest_ ^ n) * 0x100000001b3U;
  digest_ ^= digest_ >> 29U;
}

void world::note(std::string_view what, std::uint64_t a, std::uint64_t b) {
  mix(static_cast<std::uint64_t>(now_.count()));
  mix(acting_);
  for (const char c : what) mix(static_cast<unsigned char>(c));
  mix(a);
  mix(b);
  if (record_ == record::digest) return;
  char line[160];
  const auto who = acting_ == nowhere ? std::string("-") : "client " + std::to_string(acting_);
  const int n = std::snprintf(
      line, sizeof line, "%12.6f  %-9s %.*s %llu %llu\n", static_cast<double>(now_.count()) / 1e9,
      who.c_str(), static_cast<int>(what.size()), what.data(), static_cast<unsigned long long>(a),
      static_cast<unsigned long long>(b));
  text_.append(line, static_cast<std::size_t>(std::min<int>(n, sizeof line - 1)));
}

void world::fail(std::string why) {
  note(why);
  if (failure_.empty()) failure_ = std::move(why);
}

}  // namespace afar::test
