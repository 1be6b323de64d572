#include "engines/memory/memory_engine.hpp"

#include "engines/records/barrier.hpp"

#include <utility>

namespace afar::engines::memory {
namespace {

constexpr spi::traits memory_traits{
    .name = "memory", .token_block = 64, .inline_steps = true, .mutex_is_writer = true};

// One step: work under the store's lock, then wake the others, then answer. `ear` by value: the
// engine may be closed and gone when the answer returns.
template <class Reply, class Work>
void perform(std::shared_ptr<listener> ear, spi::done<Reply>& done, Work&& work) {
  visits::guard open{std::move(ear)};
  if (!open) return done(errc::closed, Reply{});
  wakes out;
  Reply reply{};
  spi::status s = work(reply, out);
  out.deliver();
  done(std::move(s), std::move(reply));
}

}  // namespace

memory_engine::memory_engine(std::shared_ptr<memory_store> store, spi::host& up)
    : store_(std::move(store)), ear_(std::make_shared<listener>(up)) {}

memory_engine::~memory_engine() { close(); }

const spi::traits& memory_engine::about() const noexcept { return memory_traits; }

void memory_engine::acquire(spi::claim& a, spi::time_point, spi::done<spi::acquire_reply> done) {
  perform(ear_, done, [&](spi::acquire_reply& r, wakes& out) {
    spi::status s = store_->acquire(a, r, out);
    if (!s) records::note_wait(a, r);
    return s;
  });
}

void memory_engine::renew(std::span<spi::claim* const> batch, spi::time_point, spi::renewed each) {
  const visits::guard open{ear_};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!open) {
      each(i, errc::closed, {});
      continue;
    }
    wakes out;
    const spi::renew_reply reply = store_->renew(*batch[i], out);
    out.deliver();
    each(i, {}, reply);
  }
}

void memory_engine::release(const spi::claim& a, spi::time_point,
                            spi::done<spi::release_reply> done) {
  perform(ear_, done, [&](spi::release_reply& r, wakes& out) {
    r = store_->release(a, out);
    return spi::status{};
  });
}

void memory_engine::change(const spi::cell_change& ch, spi::time_point,
                           spi::done<spi::cell_reply> done) {
  perform(ear_, done, [&](spi::cell_reply& r, wakes& out) { return store_->change(ch, r, out); });
}

void memory_engine::record(const spi::ledger_change& ch, spi::time_point,
                           spi::done<spi::ledger_reply> done) {
  perform(ear_, done, [&](spi::ledger_reply& r, wakes& out) { return store_->record(ch, r, out); });
}

void memory_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  perform(ear_, done, [&](spi::watch_reply& r, wakes&) {
    r.recheck = store_->watch(key, ear_);
    return spi::status{};
  });
}

void memory_engine::unwatch(std::string_view key) noexcept { store_->unwatch(key, *ear_); }

void memory_engine::survey(const spi::survey_query& q, spi::time_point,
                           spi::done<spi::survey_reply> done) {
  perform(ear_, done, [&](spi::survey_reply& r, wakes&) {
    r = store_->survey(q);
    return spi::status{};
  });
}

void memory_engine::evict(const spi::resource& what, const spi::owner_id& owner,
                          std::uint64_t token, spi::time_point,
                          spi::done<spi::release_reply> done) {
  perform(ear_, done, [&](spi::release_reply& r, wakes& out) {
    r = store_->evict(what, owner, token, out);
    return spi::status{};
  });
}

void memory_engine::close() noexcept {
  ear_->close();
  store_->forget(*ear_);
}

std::unique_ptr<spi::engine> open_memory(const spi::url& where, spi::host& up, spi::time_point) {
  return std::make_unique<memory_engine>(memory_store::of(where.path), up);
}

}  // namespace afar::engines::memory
