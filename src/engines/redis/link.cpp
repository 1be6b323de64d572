#include "engines/redis/link.hpp"

#include "engines/redis/failure.hpp"

#include <afar/detail/fault.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t window = 8;
constexpr auto right_behind = 10us;
constexpr int often = 8;
constexpr std::size_t most_requests = 100'000;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

timespec as_timespec(std::chrono::nanoseconds d) noexcept {
  return {.tv_sec = static_cast<time_t>(d.count() / 1'000'000'000),
          .tv_nsec = static_cast<long>(d.count() % 1'000'000'000)};
}

}  // namespace

link::link(std::shared_ptr<io> thread, std::shared_ptr<directory> to, std::shared_ptr<visits> v,
           events e)
    : io_(std::move(thread)),
      to_(std::move(to)),
      visits_(std::move(v)),
      events_(std::move(e)),
      nudge_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      retry_(io_->context()),
      tick_(io_->context()) {}

link::~link() { ::close(nudge_); }

// ---- sending ------------------------------------------------------------------------------------

bool link::full() const noexcept {
  return sent_.size() + waiting_.size() >= most_requests || out_.size() >= most_bytes;
}

void link::submit(std::unique_ptr<request> r) {
  const visits::guard open{visits_};  // a broken connection fails others' requests here
  lock l{m_};
  if (closed_ || !open || full()) {
    spi::status why = closed_ || !open
                          ? spi::status{errc::closed}
                          : spi::status{errc::unavailable, "too many requests are under way"};
    l.unlock();
    return r->fail(std::move(why));
  }
  if (r->only_over != 0 && (!up_ || r->only_over != serial_)) {
    l.unlock();
    return r->fail({errc::unknown_outcome, "the connection broke"});
  }
  call_tick();
  if (!up_ && events_.impatient && failure_) {
    spi::status why = failure_;
    l.unlock();
    return r->fail(std::move(why));
  }
  earliest_ = std::min(earliest_, r->by);
  if (!up_) {
    waiting_.push_back(std::move(r));
    return;
  }
  if (slow_ && reader_ == reader::nobody) {  // it may be one that nobody will wait for
    slow_ = false;
    arm();
  }
  lingering_ = lingers(*r);
  send(std::move(r), false);
  if (lingering_) return;
  flush(l);
  // What counts is how soon the caller comes back, not how long the system took to send: on a core that
  // it shares with the server, that is the server's turn too.
  if (released_at_ != none) released_at_ = boot_clock::now();
}

// Who takes and frees locks in a tight loop asks again before the server has seen the release. Both in
// one piece cost the server one wake-up less, and us a call.
bool link::lingers(const request& r) {
  const bool follows = released_at_ != none;
  if (!follows && !r.may_linger) return false;
  const auto now = boot_clock::now();
  if (follows) quick_ = now - released_at_ < right_behind ? quick_ + 1 : 0;
  released_at_ = r.may_linger ? now : none;
  return r.may_linger && in_tight_loop();
}

bool link::in_tight_loop() const noexcept { return quick_ >= often; }

void link::send(std::unique_ptr<request> r, bool whole_script) {
  if (sent_.empty()) progress_ = boot_clock::now();
  // The first time whole: sent again because the server did not know it, it would come after what was
  // asked for later (traits::ordered).
  if (r->code && known_.insert(r->code).second) whole_script = true;
  if (r->asking) {  // counts for the next command only; nobody waits for its answer
    append(out_, {"ASKING"});
    ++out_count_;
    sent_.push_back(nullptr);
  }
  if (r->sent_over) *r->sent_over = {shared_from_this(), serial_};
  r->write_to(out_, whole_script, connected_at_);
  ++out_count_;
  sent_.push_back(std::move(r));
}

void link::flush(lock& l) {
  if (writing_) return;
  writing_ = true;
  while (up_ && (gone_ < going_.size() || (!out_.empty() && batches_.size() < window))) {
    if (gone_ == going_.size()) {
      going_.clear();
      going_.swap(out_);
      gone_ = 0;
      batches_.push_back(std::exchange(out_count_, 0));
    }
    l.unlock();
    AFAR_FAULT("redis.link.before_send");
    const auto n = wire_->send(std::string_view{going_}.substr(gone_));
    const int error = errno;
    AFAR_FAULT("redis.link.sent");
    l.lock();
    if (n >= 0) {
      gone_ += static_cast<std::size_t>(n);
    } else if (error == EAGAIN || error == EWOULDBLOCK) {
      // The server does not read. A caller must not wait for that: the engine's thread goes on.
      asio::post(io_->context(), [self = shared_from_this()] { self->await_writable(); });
      return;  // still writing_
    } else if (error != EINTR && up_) {
      lost(l, {errc::unknown_outcome, std::generic_category().message(error)});
    }
  }
  writing_ = false;
}

// ---- reading ------------------------------------------------------------------------------------

bool link::read_answers(bool waits) {
  const visits::guard open{visits_};
  if (!open) return false;
  std::array<char, 16384> bytes;
  const auto n = wire_->receive(bytes, waits);
  const int error = errno;
  auto& replies = replies_;
  replies.clear();
  spi::status failure;
  if (n > 0) {
    decode_->feed({bytes.data(), static_cast<std::size_t>(n)});
    for (reply r; decode_->next(r);) replies.push_back(std::move(r));
    if (decode_->broken()) failure = {errc::unknown_outcome, "a hostile answer: " + decode_->why()};
  } else if (n == 0) {
    failure = {errc::unknown_outcome, "the server has closed the connection"};
  } else if (error != EAGAIN && error != EWOULDBLOCK && error != EINTR) {
    failure = {errc::unknown_outcome, std::generic_category().message(error)};
  }
  auto& answered = answered_;
  answered.clear();
  {
    lock l{m_};
    if (!up_) return false;  // lost meanwhile, with all that was in sent_
    if (replies.size() > sent_.size()) {
      failure = {errc::unknown_outcome, "a hostile answer: nobody has asked"};
      replies.resize(sent_.size());
    }
    match(replies, answered);
    if (!failure) flush(l);
    if (failure && up_) lost(l, std::move(failure));
  }
  bool demoted = false;
  for (auto& [r, answer] : answered) {
    AFAR_FAULT("redis.link.answered");
    if (answer.failed()) {
      demoted = demoted || answer.text.starts_with("READONLY");
      if (events_.elsewhere && events_.elsewhere(r, answer)) continue;
    }
    r->answer(std::move(answer));
  }
  answered.clear();  // they hold what asked, which may hold us
  if (demoted) redial("the server has become a replica");
  return n > 0;
}

void link::match(std::vector<reply>& replies, answers& answered) {
  if (!replies.empty()) progress_ = boot_clock::now();
  for (std::size_t left = replies.size(); left > 0 && !batches_.empty();) {
    const std::size_t taken = std::min(left, batches_.front());
    left -= taken;
    batches_.front() -= taken;
    if (batches_.front() == 0) batches_.pop_front();
  }
  for (reply& answer : replies) {
    auto r = std::move(sent_.front());
    sent_.pop_front();
    if (!r) continue;
    // Certainly not done: the server has forgotten the script, or never knew it.
    if (answer.failed() && r->code && answer.text.starts_with("NOSCRIPT"))
      send(std::move(r), true);
    else
      answered.emplace_back(std::move(r), std::move(answer));
  }
}

bool link::drive(spi::waiter& w, spi::time_point until, beside* too) noexcept {
  lock l{m_};
  if (std::exchange(lingering_, false)) flush(l);
  if (up_ && reader_ == reader::nobody && !closed_) {
    lead(w, until, too, l);
    return false;
  }
  parked_.push_back(&w);
  l.unlock();
  w.park_until(until);
  l.lock();
  std::erase(parked_, &w);
  return false;
}

void link::lead(spi::waiter& w, spi::time_point until, beside* too, lock& l) noexcept {
  reader_ = reader::caller;
  leader_ = std::this_thread::get_id();
  pollfd sources[3] = {{fd_, POLLIN, 0}, {nudge_, POLLIN, 0}, {-1, POLLIN, 0}};
  bool soon = true;  // an answer came a moment ago
  bool lent = false;
  while (up_ && !closed_) {
    soon = soon && !sent_.empty();
    if (w.ready()) break;
    const auto now = boot_clock::now();
    if (now >= until) break;
    l.unlock();
    // To wait in recv() saves a call, but nobody can nudge us meanwhile: only for a moment.
    if (soon && wire_->can_wait() && until - now > 4 * read_time) {
      soon = read_answers(true);
      l.lock();
      continue;
    }
    const timespec most = as_timespec(std::min<std::chrono::nanoseconds>(until - now, 1s));
    if (too && !std::exchange(lent, true)) too->lend();
    const auto line = too ? too->line() : nullptr;
    sources[2].fd = line ? line->descriptor() : -1;
    ::ppoll(sources, 3, &most, nullptr);
    if (line && sources[2].revents != 0) too->hear_now(*line);
    if (sources[1].revents != 0) {
      std::uint64_t count = 0;
      (void)!::read(nudge_, &count, sizeof count);
    }
    if (sources[0].revents != 0) soon = read_answers(false);
    l.lock();
  }
  if (lent) too->give_back();
  leader_ = std::thread::id{};
  leave(l);
}

// Somebody who still waits goes on; if nobody does, the engine's thread reads what is still to come. Who
// has been answered is on his way already, and may not come back for long.
void link::leave(lock&) noexcept {
  reader_ = reader::nobody;
  const auto next = std::ranges::find_if_not(parked_, &spi::waiter::ready);
  if (next != parked_.end())
    (*next)->notify();
  else if (!sent_.empty())
    arm();
}

void link::nudge() noexcept {
  const std::thread::id leader = leader_;
  if (leader == std::thread::id{} || leader == std::this_thread::get_id()) return;
  const std::uint64_t one = 1;
  (void)!::write(nudge_, &one, sizeof one);
}

// ---- ends ---------------------------------------------------------------------------------------

void link::lost(lock& l, spi::status why) {
  up_ = false;
  wire_->shut();  // whoever sleeps on it wakes; closed later (inv 3)
  auto failed = std::exchange(sent_, {});
  out_.clear();
  out_count_ = 0;
  batches_.clear();
  failure_ = {errc::unavailable, why.detail};
  asio::post(io_->context(), [self = shared_from_this()] { self->retry_.cancel(); });
  l.unlock();
  for (auto& r : failed)
    if (r) r->fail(why);
  if (events_.trouble) events_.trouble();
  l.lock();
}

void link::redial(const std::string& why) noexcept {
  const visits::guard open{visits_};
  lock l{m_};
  if (open && up_) lost(l, {errc::unknown_outcome, why});
}

std::deque<std::unique_ptr<request>> link::give_back() noexcept {
  std::deque<std::unique_ptr<request>> unsent;
  std::deque<std::unique_ptr<request>> failed;
  {
    const lock l{m_};
    if (std::exchange(closed_, true)) return unsent;
    if (up_) wire_->shut();
    up_ = false;
    unsent.swap(waiting_);
    failed.swap(sent_);
    for (spi::waiter* w : parked_) w->notify();
  }
  for (auto& r : failed)
    if (r) r->fail({errc::unknown_outcome, "the server has lost its place"});
  end();
  return unsent;
}

void link::close() noexcept {
  std::deque<std::unique_ptr<request>> failed[2];
  {
    const lock l{m_};
    if (std::exchange(closed_, true)) return;
    if (up_) wire_->shut();
    failed[0].swap(sent_);
    failed[1].swap(waiting_);
    up_ = false;
    for (spi::waiter* w : parked_) w->notify();
  }
  for (auto& all : failed)
    for (auto& r : all)
      if (r) r->fail(errc::closed);
  end();
}

void link::end() noexcept {
  asio::post(io_->context(), [self = shared_from_this()] {
    self->retry_.cancel();
    self->tick_.cancel();
    if (self->next_wire_) self->next_wire_->close();
  });
}

}  // namespace afar::engines::redis
