#include "engines/embedded/embedded_engine.hpp"

#include "engines/embedded/examine.hpp"
#include "engines/embedded/steps.hpp"

#include <thread>
#include <utility>
#include <vector>

namespace afar::engines::embedded {

namespace {

// Tokens are counted up per name and cost nothing, but a block that is not used up lets them run
// ahead of the clock, and then an idle name is remembered for longer.
constexpr std::uint32_t token_block = 64;

}  // namespace

embedded_engine::embedded_engine(std::shared_ptr<store> s, spi::host& up)
    : store_(std::move(s)), ear_(std::make_shared<ear>(up)) {
  about_.name = "embedded";
  about_.token_block = token_block;
  about_.inline_steps = true;
  about_.drive_listens = true;
  about_.mutex_is_writer = true;
  about_.try_time =
      spi::milliseconds{50};  // a step is microseconds, unless a process is stopped in it
  about_.survives_restart = store_->where().durable();
  store_->attach(ear_);
}

embedded_engine::~embedded_engine() {
  // In a forked child nothing is closed, unlocked or joined: it is all the parent's.
  if (store_->forked()) {
    new std::shared_ptr<store>(std::move(store_));  // NOLINT: leaked on purpose
    return;
  }
  close();
  // The last operation of a client may end on the bell thread, which cannot wait for itself.
  if (store_->bell().on_bell_thread())
    std::thread{[last = std::move(store_)]() mutable { last.reset(); }}.detach();
}

void embedded_engine::close() noexcept {
  if (store_->forked() || closed_.exchange(true)) return;
  store_->detach(ear_);
  store_->bell().unwatch_all(ear_.get());
  ear_->close();
}

void embedded_engine::acquire(spi::claim& c, spi::time_point by,
                              spi::done<spi::acquire_reply> then) {
  spi::acquire_reply reply;
  spi::status failed = closed();
  if (!failed) failed = embedded::acquire(*store_, c, by, reply);
  then(std::move(failed), std::move(reply));
}

void embedded_engine::renew(std::span<spi::claim* const> claims, spi::time_point by,
                            spi::renewed each) {
  std::vector<spi::renew_reply> replies(claims.size());
  std::vector<spi::status> failures(claims.size(), closed());
  if (!closed_.load(std::memory_order_relaxed))
    embedded::renew(*store_, claims, by, replies, failures);
  for (std::size_t i = 0; i < claims.size(); ++i) each(i, std::move(failures[i]), replies[i]);
}

void embedded_engine::release(const spi::claim& c, spi::time_point by,
                              spi::done<spi::release_reply> then) {
  auto reply = spi::release_reply::gone;
  spi::status failed = closed();
  if (!failed) failed = embedded::release(*store_, c, by, reply);
  then(std::move(failed), reply);
}

void embedded_engine::change(const spi::cell_change& ch, spi::time_point by,
                             spi::done<spi::cell_reply> then) {
  spi::cell_reply reply;
  spi::status failed = closed();
  if (!failed) failed = embedded::change(*store_, ch, by, reply);
  then(std::move(failed), std::move(reply));
}

void embedded_engine::record(const spi::ledger_change& ch, spi::time_point by,
                             spi::done<spi::ledger_reply> then) {
  spi::ledger_reply reply;
  spi::status failed = closed();
  if (!failed) failed = embedded::record(*store_, ch, by, reply);
  then(std::move(failed), reply);
}

void embedded_engine::survey(const spi::survey_query& query, spi::time_point by,
                             spi::done<spi::survey_reply> then) {
  spi::survey_reply reply;
  spi::status failed = closed();
  if (!failed) failed = embedded::survey(*store_, query, by, reply);
  then(std::move(failed), std::move(reply));
}

void embedded_engine::evict(const spi::resource& what, const spi::owner_id& owner,
                            std::uint64_t token, spi::time_point by,
                            spi::done<spi::release_reply> then) {
  auto reply = spi::release_reply::gone;
  spi::status failed = closed();
  if (!failed) failed = embedded::evict(*store_, what, owner, token, by, reply);
  then(std::move(failed), reply);
}

void embedded_engine::examine(spi::time_point by, spi::done<std::vector<finding>> then) {
  std::vector<finding> found;
  spi::status failed = closed();
  if (!failed)
    failed = caught([&]() -> spi::status {
      found = embedded::examine(*store_, by);
      return {};
    });
  then(std::move(failed), std::move(found));
}

void embedded_engine::collect(spi::time_point by, spi::done<std::uint64_t> then) {
  std::uint64_t records = 0;
  spi::status failed = closed();
  if (!failed) failed = store_->collect(by, records);
  then(std::move(failed), records);
}

void embedded_engine::watch(std::string_view key, spi::done<spi::watch_reply> then) {
  spi::status failed = closed();
  if (store_->forked()) failed = errc::forked;
  const bool recheck = failed || store_->bell().watch(ear_, key);
  then(std::move(failed), spi::watch_reply{.recheck = recheck});
}

void embedded_engine::unwatch(std::string_view key) noexcept {
  if (!store_->forked()) store_->bell().unwatch(ear_.get(), key);
}

bool embedded_engine::drive(spi::waiter& w, spi::time_point until) noexcept {
  return store_->forked() ? spi::engine::drive(w, until) : store_->bell().drive(w, until);
}

}  // namespace afar::engines::embedded
