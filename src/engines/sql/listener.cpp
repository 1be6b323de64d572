#include "engines/sql/listener.hpp"

#include "engines/sql/row.hpp"
#include "engines/sql/sockets.hpp"
#include "engines/sql/told_grant.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace afar::engines::sql {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t owner_size = sizeof(spi::owner_id);
constexpr auto dial_time = 3s;
constexpr auto look_time = 5s;
constexpr auto bell_patience = 1s;  // a look without a ring, in case one was lost
constexpr auto bell_pause = 1s;     // where the server grants no connection for it
constexpr auto upkeep_every = 5s;

spi::milliseconds poll_time() {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return spi::milliseconds{std::uniform_int_distribution<int>{30, 60}(random)};
}

// What a look shows of a name.
struct sight {
  std::int64_t rings = 0;
  std::string called = {};
  std::string owner = {};  // the exclusive holder
  records::direct_grant grant = {};
};

sight sight_of(const std::vector<field>& f) {
  sight s{.rings = f[1].number, .called = f[2].text, .owner = f[3].text};
  s.grant.owner = owner_of(s.owner);
  s.grant.token = static_cast<std::uint64_t>(f[4].number);
  s.grant.last_token = static_cast<std::uint64_t>(f[5].number);
  s.grant.lease = std::chrono::floor<spi::milliseconds>(std::chrono::microseconds{f[6].number});
  return s;
}

spi::owner_id owner_of_key(std::string_view key) {
  spi::owner_id owner;
  std::memcpy(&owner, key.data() + 1, owner_size);
  return owner;
}

}  // namespace

std::string claim_key(const spi::owner_id& owner, std::string_view name) {
  std::string key(1 + owner_size + name.size(), 'q');
  std::memcpy(key.data() + 1, &owner, owner_size);
  name.copy(key.data() + 1 + owner_size, name.size());
  return key;
}
std::string name_key(std::string_view name) { return std::string{"n"}.append(name); }
bool is_claim_key(std::string_view key) noexcept { return key.starts_with('q'); }
std::string_view name_of_key(std::string_view key) noexcept {
  return key.substr(is_claim_key(key) ? 1 + owner_size : 1);
}

// Looks with a connection of the lanes. One that the keeper gave up goes on all the same.
class listener::look_step final : public step {
 public:
  explicit look_step(std::shared_ptr<listener> ear)
      : step(boot_clock::now() + look_time), ear_(std::move(ear)) {}

  void perform(connection& on) noexcept override {
    if (begun_.exchange(true)) return;
    bool looked = false;
    try {
      ear_->look(on);
      looked = true;
    } catch (const failure&) {
    }
    ear_->look_is_over(looked);
  }
  void fail(const spi::status&) noexcept override {
    if (!begun_.exchange(true)) ear_->look_is_over(false);
  }

 private:
  const std::shared_ptr<listener> ear_;
  std::atomic<bool> begun_{false};
};

listener::listener(lanes::dialer d, bool bells, std::shared_ptr<visits> v, spi::host& up)
    : dial_(std::move(d)), may_ring_(bells), visits_(std::move(v)), up_(up) {}

void listener::start(std::function<void(std::shared_ptr<step>)> submit,
                     std::function<void(std::string)> again) {
  submit_ = std::move(submit);
  again_ = std::move(again);
  member_ = crew_.join(shared_from_this());
}

std::uint64_t listener::bell_soon() {
  const std::lock_guard lock{mutex_};
  wanted_ = may_ring_;
  return bell_.load();
}

std::uint64_t listener::bell() {
  if (!may_ring_) return 0;
  {
    const std::lock_guard lock{mutex_};
    wanted_ = true;
    if (closed_ || looking_ || connecting_ || bell_.load() != 0) return bell_.load();
    if (boot_clock::now() < dial_at_) return 0;
    looking_ = connecting_ = true;
  }
  connect();
  take_bell();
  look_is_over(true);
  request_look();  // of those who have waited without
  return bell_.load();
}

void listener::connect() {
  std::unique_ptr<connection> made;
  std::uint64_t bell = 0;
  try {
    const crew::away meanwhile{crew_};
    made = dial_(boot_clock::now() + dial_time);
    bell = made->open_bell();
  } catch (const failure&) {
    made.reset();
  } catch (const lock_error&) {
  }
  const std::lock_guard lock{mutex_};
  connecting_ = false;
  looked_.notify_all();
  dial_at_ = made && bell == 0 ? spi::time_point::max()  // and will not have one
                               : boot_clock::now() + bell_pause;
  if (closed_ || bell == 0) return;
  made_ = std::move(made);
  made_bell_ = bell;
}

// Apart from looks: on a busy machine it takes as long as a called claim is waited for, and they have
// something to do meanwhile.
void listener::connect_apart() {
  {
    const std::lock_guard lock{mutex_};
    if (closed_ || connecting_ || boot_clock::now() < dial_at_) return;
    connecting_ = true;
  }
  crew_.call(shared_from_this());
}

void listener::serve() noexcept {
  connect();
  request_look();
}

// True: there is a new one.
bool listener::take_bell() {
  const std::lock_guard lock{mutex_};
  if (!made_) return false;
  on_ = std::move(made_);
  armed_ = false;
  socket_ = on_->descriptor();
  bell_ = made_bell_;
  return true;
}

std::uint64_t listener::rings_heard() {
  const std::lock_guard lock{mutex_};
  return heard_;
}

void listener::expect(const std::string& key, std::int64_t rings, std::uint64_t heard,
                      std::uint64_t bell) {
  const std::lock_guard lock{mutex_};
  watched& w = keys_[key];
  w.rings = rings;
  w.heard = heard;
  w.bell = bell;
}

bool listener::watch(std::string_view key) {
  bool now = false;
  {
    const std::lock_guard lock{mutex_};
    const auto at = keys_.find(key);
    if (at == keys_.end()) return false;
    // Who watches already is woken when there is a new bell.
    if (is_claim_key(key) && at->second.bell != bell_.load()) return false;
    if (!std::exchange(at->second.active, true)) now = active_++ == 0;
    now |= at->second.heard != heard_;
  }
  if (now) request_look();
  return true;
}

void listener::watch_name(const std::string& key, std::int64_t rings) {
  {
    const std::lock_guard lock{mutex_};
    const auto at = keys_.find(key);
    if (at == keys_.end()) return;  // nobody wants it any more
    at->second.rings = rings;
  }
  watch(key);
}

void listener::forget(std::string_view key) noexcept {
  const std::lock_guard lock{mutex_};
  erase(key);
}

void listener::forget(const spi::owner_id& owner, std::string_view name) {
  const std::lock_guard lock{mutex_};
  if (!keys_.empty()) erase(claim_key(owner, name));
}

void listener::erase(std::string_view key) noexcept {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return;
  if (at->second.active) --active_;
  keys_.erase(at);
}

void listener::close() noexcept {
  std::unique_ptr<connection> last;
  std::unique_lock lock{mutex_};
  closed_ = true;
  if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  if (looked_.wait_for(lock, 1s, [&] { return !looking_ && !connecting_; })) {
    socket_ = -1;
    last = std::move(on_);
  }
  lock.unlock();
  last.reset();
  crew_.leave(member_);
}

// ---- when to look -------------------------------------------------------------------------------

void listener::request_look() {
  {
    const std::lock_guard lock{mutex_};
    if (closed_ || active_ == 0) return;
    look_at_ = boot_clock::now();
    if (std::exchange(looking_, true)) return;  // and then once more
  }
  submit_(std::make_shared<look_step>(shared_from_this()));
}

spi::time_point listener::attend(spi::time_point now) noexcept {
  {
    const std::lock_guard lock{mutex_};
    if (closed_ || active_ == 0 || looking_) return spi::time_point::max();
    if (now < look_at_) return look_at_;
  }
  request_look();
  return spi::time_point::max();
}

bool listener::begin_hearing() {
  const std::lock_guard lock{mutex_};
  return !closed_ && !std::exchange(looking_, true);
}

// Of a bell that says enough there is no need to look.
void listener::heard() noexcept {
  if (!begin_hearing()) return request_look();
  bool enough = false;
  try {
    if (armed_ && on_ && on_->update_rings()) enough = pass_on(on_->hear_bell());
  } catch (const failure&) {  // who looks finds out as well, and replaces it
  }
  look_is_over(true);
  if (!enough) request_look();
}

// False: somebody has to look.
bool listener::pass_on(const std::vector<std::string>& said) {
  {
    const std::lock_guard lock{mutex_};
    if (!said.empty()) ++heard_;
  }
  bool all = true;
  const visits::guard open{visits_};
  for (const std::string& text : said) {
    const auto g = grant_of(text);
    all = all && g;
    if (g && open) up_.granted(g->owner, g->token, g->last_token, g->lease);
  }
  return all;
}

void listener::look_is_over(bool looked) noexcept {
  const std::lock_guard lock{mutex_};
  looking_ = false;
  looked_.notify_all();
  if (closed_) return;
  pause_ = looked ? 0ms : std::clamp<spi::milliseconds>(pause_ * 2, 20ms, 1'000ms);
  const auto wait = !looked ? pause_ : bell_.load() != 0 ? bell_patience : poll_time();
  // Asked for again meanwhile: at once.
  if (!looked || look_at_ == spi::time_point::max()) look_at_ = boot_clock::now() + wait;
  if (active_ == 0) return;
  crew_.attend_by(look_at_);
  if (armed_) crew_.hear(member_, socket_);
}

// ---- the look -----------------------------------------------------------------------------------

void listener::look(connection& with) {
  {
    const std::lock_guard lock{mutex_};
    look_at_ = spi::time_point::max();
    if (closed_) return;
  }
  attend_bell();
  read_rings(with);
  upkeep();
}

// The bell is made ready before the look: a ring that comes later is then heard later.
void listener::attend_bell() {
  {
    const std::lock_guard lock{mutex_};
    if (!wanted_) return;
  }
  try {
    const bool again = !on_;
    if (again && !take_bell()) return connect_apart();
    if (armed_ && readable(on_->descriptor())) {
      armed_ = false;
      pass_on(on_->hear_bell());
    }
    if (!armed_) {
      on_->arm_bell();
      armed_ = true;
    }
    if (!again) return;
    upkeep_at_ = {};  // those who watch names say where they are heard
    if (const visits::guard open{visits_}) up_.wake_all();
  } catch (const failure&) {
    {
      const std::lock_guard lock{mutex_};
      socket_ = -1;
      bell_ = 0;
      ++heard_;
    }
    armed_ = false;
    on_.reset();
  }
}

std::vector<std::string> listener::active_names() {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> names;
  for (const auto& [key, w] : keys_)
    if (w.active) names.emplace_back(name_of_key(key));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void listener::read_rings(connection& with) {
  const std::vector<std::string> names = active_names();
  std::map<std::string, sight, std::less<>> seen;
  for (std::size_t first = 0; first < names.size(); first += names_per_look) {
    std::array<parameter, names_per_look> all;
    for (std::size_t i = 0; i < all.size(); ++i)  // the last one fills up
      all[i] = std::string_view{names[std::min(first + i, names.size() - 1)]};
    const answer a = with.run(statement::look, all);
    for (const auto& row : a.rows) seen[row[0].text] = sight_of(row);
  }
  std::vector<std::string> wake;
  std::vector<records::direct_grant> granted;
  {
    const std::lock_guard lock{mutex_};
    for (auto& [key, w] : keys_) {
      if (!w.active) continue;
      const auto at = seen.find(name_of_key(key));
      if (at == seen.end() || at->second.rings == w.rings) continue;
      const sight& now = at->second;
      const bool next = now.rings == std::exchange(w.rings, now.rings) + 1;
      const std::string owner = is_claim_key(key) ? owner_of_key(key).text() : std::string{};
      // The only ring since then was for another claim.
      if (next && !owner.empty() && !now.called.empty() && owner != now.called) continue;
      if (!owner.empty() && owner == now.owner)
        granted.push_back(now.grant);
      else
        wake.push_back(key);
    }
  }
  const visits::guard open{visits_};
  if (!open) return;
  for (const auto& g : granted) up_.granted(g.owner, g.token, g.last_token, g.lease);
  for (const auto& key : wake) up_.wake(key);
}

void listener::upkeep() {
  const auto now = boot_clock::now();
  if (now < upkeep_at_) return;
  upkeep_at_ = now + upkeep_every;
  std::vector<std::string> names;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [key, w] : keys_)
      if (w.active && !is_claim_key(key)) names.emplace_back(name_of_key(key));
  }
  for (auto& name : names) again_(std::move(name));
}

}  // namespace afar::engines::sql
