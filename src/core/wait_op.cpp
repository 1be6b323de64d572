#include "core/wait_op.hpp"

#include "core/core.hpp"
#include "core/run_queue.hpp"

#include <utility>

namespace afar::detail {

thread_local wait_op::answer_here* wait_op::attempting_ = nullptr;

wait_op::wait_op(std::shared_ptr<core> c, const wait_machine::limits& l, std::stop_token stop)
    : core_(std::move(c)), machine_(l), stop_(std::move(stop)) {}

// One that ended by an exception has not finished.
wait_op::~wait_op() {
  if (place_.listed) core_->delist(*this);
}

void wait_op::will_block() noexcept {
  blocking_ = true;
  caller_ = std::this_thread::get_id();
  handling_ = true;  // this thread, until it has its answer
}

void wait_op::run(beginning first, arrival arriving) {
  if (auto e = begin(std::move(first), arriving)) handle(*e);
  if (!reported_) heed_stop();
  while (!reported_) {
    if (pending_.load(std::memory_order_acquire))
      handle_posted();
    else
      sleep();
  }
  // The operation may go on to withdraw itself, from now on on the threads that bring its answers.
  {
    const std::lock_guard lock(m_);
    blocking_ = false;
    handling_ = false;
    if (events_.empty()) return;
    handling_ = true;
  }
  handle_posted();
}

// The blocked caller, until something has happened.
void wait_op::sleep() {
  const auto until = machine_.wake_at();
  bool rung = false;
  answer_here here{this};
  if (!waits_for_engine()) {
    sleeper_.park_until(until);
  } else {
    driving_.store(true, std::memory_order_seq_cst);
    const auto outer = std::exchange(attempting_, &here);
    if (!sleeper_.ready()) rung = core_->engine().drive(sleeper_, until);
    attempting_ = outer;
    driving_.store(false, std::memory_order_relaxed);
  }
  // An answer does not wait for what was posted meanwhile; a ring does: it may be our own client's, which
  // closes.
  if (here.answer) {
    if (rung) wake();
    perform(on_answer(here.answer->status, std::move(here.answer->answer)));
  } else if (rung && sleeper_.ready())
    wake();
  else if (rung)
    perform(machine_.on_wake());
  else if (boot_clock::now() >= until)
    post({.what = event::kind::timer});
}

void wait_op::start(beginning first, arrival arriving) {
  {
    const std::lock_guard lock(m_);
    handling_ = true;
  }
  if (auto e = begin(std::move(first), arriving)) post(std::move(*e));
  heed_stop();
  run_queue::run([self = shared_from_this()] { self->handle_posted(); });
}

std::optional<wait_op::event> wait_op::begin(beginning first, arrival& arriving) {
  core_->enlist(*this);
  arriving.end();
  if (!first.asked) return event{.what = event::kind::start};
  machine_.start();
  if (!first.answer) return std::nullopt;
  return event{.what = event::kind::attempt,
               .status = std::move(first.answer->status),
               .answer = std::move(first.answer->answer)};
}

void wait_op::heed_stop() {
  if (stop_.stop_possible()) on_stop_.emplace(stop_, stop_handler{this});
}

void wait_op::wake() { post({.what = event::kind::wake}); }
void wait_op::close() { post({.what = event::kind::close}); }
void wait_op::withdrawn() { post({.what = event::kind::withdrawn}); }
void wait_op::resume_soon() { post({.what = event::kind::resume}); }

void wait_op::watched(const spi::status& s, bool recheck) {
  post({.what = event::kind::watch, .status = s, .recheck = recheck});
}

void wait_op::pushed_grant(std::uint64_t token, std::uint64_t last_token,
                           std::chrono::milliseconds lease) {
  post({.what = event::kind::grant, .token = token, .last_token = last_token, .lease = lease});
}

void wait_op::answered(spi::status s, attempted a) {
  if (attempting_ != nullptr && attempting_->of == this) {
    attempting_->answer.emplace(first_answer{std::move(s), std::move(a)});
    return;
  }
  post({.what = event::kind::attempt, .status = std::move(s), .answer = std::move(a)});
}

void wait_op::post(event e) {
  {
    const std::lock_guard lock(m_);
    events_.push_back(std::move(e));
    pending_.store(true, std::memory_order_seq_cst);
    if (blocking_) {
      // Under the mutex: the caller may leave as soon as it has seen the event.
      sleeper_.notify();
      // A wake that the driving thread itself delivers needs no nudge.
      if (driving_.load(std::memory_order_seq_cst) && std::this_thread::get_id() != caller_)
        core_->engine().nudge();
      return;
    }
    if (handling_) return;
    handling_ = true;
  }
  run_queue::run([self = shared_from_this()] { self->handle_posted(); });
}

// Only the thread that set handling_ (or the blocked caller) is here.
void wait_op::handle_posted() {
  auto& batch = batch_;
  for (;;) {
    {
      const std::lock_guard lock(m_);
      if (events_.empty()) {
        pending_.store(false, std::memory_order_relaxed);
        if (!blocking_) handling_ = false;
        break;
      }
      batch.swap(events_);
    }
    for (auto& e : batch)
      if (!over_) handle(e);
    batch.clear();
    if (blocking_ && reported_) break;
    if (!blocking_ && !over_) set_timer();
  }
}

void wait_op::handle(event& e) {
  switch (e.what) {
    case event::kind::start:
      return perform(machine_.start());
    case event::kind::attempt:
      return perform(on_answer(e.status, std::move(e.answer)));
    case event::kind::watch:
      return perform(machine_.on_watch(e.status, e.recheck, boot_clock::now()));
    case event::kind::wake:
      return perform(machine_.on_wake());
    case event::kind::timer:
      timer_ = 0;
      timer_at_ = spi::time_point::max();
      return perform(machine_.on_timer(boot_clock::now()));
    case event::kind::stop:
      return perform(machine_.on_stop(errc::cancelled, boot_clock::now()));
    case event::kind::close:
      return perform(machine_.on_stop(errc::closed, boot_clock::now()));
    case event::kind::grant:
      return perform(machine_.takes_grant() && adopt(e.token, e.last_token, e.lease)
                         ? machine_.on_granted()
                         : machine_.on_wake());
    case event::kind::withdrawn:
      return perform(machine_.on_withdrawn());
    case event::kind::resume:
      return resume() ? void() : perform(machine_.on_wake());
  }
}

void wait_op::perform(wait_machine::action a) {
  using action = wait_machine::action;
  for (;;) switch (a) {
      case action::none:
      case action::sleep:
        return;
      case action::attempt:
        if (const auto next = attempt_now()) {
          a = *next;
          continue;
        }
        return;
      case action::watch:
        before_watch();
        a = watch_now();
        continue;
      case action::withdraw:
        return withdraw();
      case action::report:
        return report_once();
      case action::finish:
        return finish();
    }
}

// What to do next, if the answer came at once.
std::optional<wait_machine::action> wait_op::attempt_now() {
  answer_here here{this};
  const auto outer = std::exchange(attempting_, &here);
  attempt(machine_.attempt_by(boot_clock::now()));
  attempting_ = outer;
  if (!here.answer) return std::nullopt;
  return on_answer(here.answer->status, std::move(here.answer->answer));
}

wait_machine::action wait_op::on_answer(const spi::status& s, attempted a) {
  if (s) counters::up(core_->stats().retried);
  return machine_.on_attempt(s, std::move(a), boot_clock::now());
}

wait_machine::action wait_op::watch_now() {
  if (!watching_.empty()) core_->hub().unwatch(watching_, this);
  watching_.clear();
  // A blocked caller of such an engine listens while it sleeps.
  const bool listens_itself = blocking_ && core_->about().drive_listens;
  if (listens_itself || machine_.watch_key().empty())
    return machine_.on_watch({}, false, boot_clock::now());
  watching_ = machine_.watch_key();
  core_->hub().watch(watching_, shared_from_this());
  return wait_machine::action::none;
}

void wait_op::report_once() {
  if (std::exchange(reported_, true)) return;
  on_stop_.reset();
  report(machine_.result());
}

void wait_op::finish() {
  over_ = true;
  if (timer_ != 0) timers::shared().cancel(std::exchange(timer_, 0));
  if (!watching_.empty()) core_->hub().unwatch(watching_, this);
  core_->delist(*this);
  report_once();
}

// Only operations that nobody blocks on need a timer; a blocked caller keeps its own time.
void wait_op::set_timer() {
  const auto at = machine_.wake_at();
  if (at == timer_at_) return;
  if (timer_ != 0) timers::shared().cancel(std::exchange(timer_, 0));
  timer_at_ = at;
  if (at == spi::time_point::max()) return;
  // Strong: between two attempts nothing else may keep the operation alive.
  timer_ = timers::shared().at(
      at, [self = shared_from_this()] { self->post({.what = event::kind::timer}); });
}

}  // namespace afar::detail
