#include "engines/wrap/faulty_engine.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace afar::engines::wrap {

faulty_engine::faulty_engine(spi::host& up, const opener& open, const faults& f)
    : up_(up), faults_(f), dice_(f.seed), inner_(open(*this)), about_(inner_->about()) {
  about_.inline_steps = false;   // answers may be late
  about_.drive_listens = false;  // wakes are to pass through here
  about_.ordered = false;        // delays overtake each other
}

faulty_engine::~faulty_engine() { close(); }

const spi::traits& faulty_engine::about() const noexcept { return about_; }

// ---- dice ---------------------------------------------------------------------------------------

bool faulty_engine::happens(double chance) {
  return std::uniform_real_distribution<>{0, 1}(dice_) < chance;
}

faulty_engine::fate faulty_engine::draw() {
  std::lock_guard lock{dice_mutex_};
  fate f;
  f.refuse = happens(faults_.refuse);
  f.duplicate = happens(faults_.duplicate);
  f.drop = happens(faults_.drop);
  if (happens(faults_.delayed))
    f.delay = std::chrono::microseconds{
        std::uniform_int_distribution<std::int64_t>{1, faults_.delay.count() + 1}(dice_)};
  return f;
}

void faulty_engine::wake_somebody() {
  std::string key;
  {
    std::lock_guard lock{dice_mutex_};
    if (!happens(faults_.spurious) || watched_.empty()) return;
    key = watched_[std::uniform_int_distribution<std::size_t>{0, watched_.size() - 1}(dice_)];
  }
  later_.run_after({}, [this, key = std::move(key)] { up_.wake(key); });
}

// ---- steps --------------------------------------------------------------------------------------

template <class Reply>
void faulty_engine::answer(fate f, spi::done<Reply> done, spi::status s, Reply r) {
  if (f.drop) {
    s = {errc::unknown_outcome, "planted: the answer was dropped"};
    r = {};
  }
  if (f.delay.count() == 0) return done(std::move(s), std::move(r));
  later_.run_after(f.delay, [done = std::move(done), s = std::move(s), r = std::move(r)]() mutable {
    done(std::move(s), std::move(r));
  });
}

// `step(done)` runs the step on the inner engine. Requests stay valid until the last answer, so a
// second run may use them.
template <class Reply, class Step>
void faulty_engine::perform(spi::done<Reply> done, answer_of which, Step step) {
  const visits::guard open{visits_};
  if (!open) return done(errc::closed, Reply{});
  wake_somebody();
  const fate f = draw();
  if (f.refuse) {
    answer<Reply>({.delay = f.delay}, std::move(done), {errc::unavailable, "planted: refused"}, {});
    return;
  }
  if (!f.duplicate) {
    step([this, f, done = std::move(done)](spi::status s, Reply r) mutable {
      answer<Reply>(f, std::move(done), std::move(s), std::move(r));
    });
    return;
  }
  step([this, f, which, step, done = std::move(done)](spi::status s1, Reply r1) mutable {
    auto again = [this, f, which, s1 = std::move(s1), r1 = std::move(r1), done = std::move(done)](
                     spi::status s2, Reply r2) mutable {
      const bool first = which == answer_of::first_run;
      answer<Reply>(f, std::move(done), std::move(first ? s1 : s2), std::move(first ? r1 : r2));
    };
    step(std::move(again));
  });
}

void faulty_engine::acquire(spi::claim& c, spi::time_point by, spi::done<spi::acquire_reply> done) {
  perform(std::move(done), answer_of::second_run, [this, &c, by](spi::done<spi::acquire_reply> d) {
    inner_->acquire(c, by, std::move(d));
  });
}

void faulty_engine::release(const spi::claim& c, spi::time_point by,
                            spi::done<spi::release_reply> done) {
  perform(std::move(done), answer_of::first_run, [this, &c, by](spi::done<spi::release_reply> d) {
    inner_->release(c, by, std::move(d));
  });
}

void faulty_engine::change(const spi::cell_change& c, spi::time_point by,
                           spi::done<spi::cell_reply> done) {
  perform(std::move(done), answer_of::second_run,
          [this, &c, by](spi::done<spi::cell_reply> d) { inner_->change(c, by, std::move(d)); });
}

void faulty_engine::record(const spi::ledger_change& c, spi::time_point by,
                           spi::done<spi::ledger_reply> done) {
  perform(std::move(done), answer_of::second_run,
          [this, &c, by](spi::done<spi::ledger_reply> d) { inner_->record(c, by, std::move(d)); });
}

void faulty_engine::survey(const spi::survey_query& q, spi::time_point by,
                           spi::done<spi::survey_reply> done) {
  perform(std::move(done), answer_of::second_run,
          [this, &q, by](spi::done<spi::survey_reply> d) { inner_->survey(q, by, std::move(d)); });
}

void faulty_engine::evict(const spi::resource& what, const spi::owner_id& owner,
                          std::uint64_t token, spi::time_point by,
                          spi::done<spi::release_reply> done) {
  perform(std::move(done), answer_of::first_run,
          [this, what, owner, token, by](spi::done<spi::release_reply> d) {
            inner_->evict(what, owner, token, by, std::move(d));
          });
}

void faulty_engine::ask_back(std::string_view key, spi::time_point by, spi::done<bool> done) {
  perform(std::move(done), answer_of::first_run,
          [this, key = std::string{key}, by](spi::done<bool> d) {
            inner_->ask_back(key, by, std::move(d));
          });
}

void faulty_engine::examine(spi::time_point by, spi::done<std::vector<finding>> done) {
  perform(std::move(done), answer_of::second_run,
          [this, by](spi::done<std::vector<finding>> d) { inner_->examine(by, std::move(d)); });
}

void faulty_engine::collect(spi::time_point by, spi::done<std::uint64_t> done) {
  perform(std::move(done), answer_of::first_run,
          [this, by](spi::done<std::uint64_t> d) { inner_->collect(by, std::move(d)); });
}

void faulty_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  const visits::guard open{visits_};
  if (!open) return done(errc::closed, {});
  const fate f{.delay = draw().delay};
  {
    std::lock_guard lock{dice_mutex_};
    watched_.emplace_back(key);
  }
  inner_->watch(key, [this, f, done = std::move(done)](spi::status s, spi::watch_reply r) mutable {
    answer(f, std::move(done), std::move(s), r);
  });
}

void faulty_engine::unwatch(std::string_view key) noexcept {
  {
    std::lock_guard lock{dice_mutex_};
    std::erase(watched_, key);
  }
  inner_->unwatch(key);
}

// ---- renewals: every claim has its own fate -----------------------------------------------------

struct faulty_engine::renewal {
  struct slot {
    fate f;
    spi::status s;
    spi::renew_reply r;
  };
  spi::renewed each;
  spi::time_point by;
  std::vector<slot> slots;         // of all claims
  std::vector<spi::claim*> sent;   // those that are not refused
  std::vector<std::size_t> index;  // of the sent ones in slots
  std::atomic<std::size_t> missing{0};
  int rounds = 1;
};

void faulty_engine::renew(std::span<spi::claim* const> batch, spi::time_point by,
                          spi::renewed each) {
  const visits::guard open{visits_};
  auto all = std::make_shared<renewal>();
  all->each = std::move(each);
  all->by = by;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto& slot = all->slots.emplace_back();
    slot.f = draw();
    slot.s = {errc::unavailable, "planted: refused"};
    if (!open) slot = {.f = {}, .s = errc::closed, .r = {}};
    if (!open || slot.f.refuse) continue;
    all->sent.push_back(batch[i]);
    all->index.push_back(i);
    if (slot.f.duplicate) all->rounds = 2;
  }
  renew_round(all);
}

void faulty_engine::renew_round(const std::shared_ptr<renewal>& all) {
  if (all->sent.empty() || all->rounds-- == 0) return answer(all);
  all->missing = all->sent.size();
  inner_->renew(all->sent, all->by, [this, all](std::size_t i, spi::status s, spi::renew_reply r) {
    auto& slot = all->slots[all->index[i]];
    slot.s = std::move(s);
    slot.r = r;
    if (all->missing.fetch_sub(1) == 1) renew_round(all);
  });
}

// One thread answers for the whole batch, as engines do whose batch is one request.
void faulty_engine::answer(const std::shared_ptr<renewal>& all) {
  std::chrono::microseconds delay{};
  for (auto& slot : all->slots) {
    delay = std::max(delay, slot.f.delay);
    if (slot.f.drop && !slot.f.refuse)
      slot.s = {errc::unknown_outcome, "planted: the answer was dropped"};
  }
  auto tell = [all] {
    for (std::size_t i = 0; i < all->slots.size(); ++i)
      all->each(i, std::move(all->slots[i].s), all->slots[i].r);
  };
  if (delay.count() == 0) return tell();
  later_.run_after(delay, std::move(tell));
}

// ---- the rest -----------------------------------------------------------------------------------

bool faulty_engine::drive(spi::waiter& w, spi::time_point until) noexcept {
  return inner_->drive(w, until);
}

void faulty_engine::close() noexcept {
  if (closed_.exchange(true)) return;
  visits_->close();
  inner_->close();
  later_.close();
}

bool faulty_engine::message_lost() noexcept {
  const std::lock_guard lock{dice_mutex_};
  return happens(faults_.lose);
}

void faulty_engine::wake(std::string_view key) noexcept {
  if (!message_lost()) up_.wake(key);
}

void faulty_engine::wake_all() noexcept { up_.wake_all(); }
void faulty_engine::granted(const spi::owner_id& owner, std::uint64_t token, std::uint64_t last,
                            spi::milliseconds lease) noexcept {
  if (!message_lost()) up_.granted(owner, token, last, lease);
}
void faulty_engine::asked(const spi::owner_id& owner) noexcept { up_.asked(owner); }
void faulty_engine::session_lost() noexcept { up_.session_lost(); }

}  // namespace afar::engines::wrap
