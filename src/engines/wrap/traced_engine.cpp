#include "engines/wrap/traced_engine.hpp"

#include "engines/wrap/trace_words.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace afar::engines::wrap {

trace_sink trace_to_stderr() {
  return [](std::string_view line) {
    const std::string whole = fmt::format("{}\n", line);  // one write, so that lines stay whole
    std::fwrite(whole.data(), 1, whole.size(), stderr);
  };
}

traced_engine::traced_engine(spi::host& up, const opener& open, trace_sink sink)
    : up_(up), sink_(std::move(sink)), inner_(open(*this)) {}

traced_engine::~traced_engine() = default;

const spi::traits& traced_engine::about() const noexcept { return inner_->about(); }

void traced_engine::print(const std::string& text) noexcept {
  const auto us =
      std::chrono::floor<std::chrono::microseconds>(boot_clock::now().time_since_epoch()).count();
  sink_(fmt::format("afar {}.{:06} {}", us / 1'000'000, us % 1'000'000, text));
}

std::uint64_t traced_engine::begin(std::string text) {
  const std::uint64_t step = ++steps_;
  print(fmt::format("#{} {}", step, text));
  return step;
}

void traced_engine::end(std::uint64_t step, spi::time_point begun, const spi::status& s,
                        std::string text) {
  if (s) text = fmt::format("failed: {} {}", s.code.message(), s.detail.str());
  const auto took = std::chrono::floor<std::chrono::microseconds>(boot_clock::now() - begun);
  print(fmt::format("#{} -> {} ({}us)", step, text, took.count()));
}

template <class Reply>
spi::done<Reply> traced_engine::traced(std::string text, spi::done<Reply> done) {
  const std::uint64_t step = begin(std::move(text));
  return [this, step, begun = boot_clock::now(), done = std::move(done)](spi::status s,
                                                                         Reply r) mutable {
    end(step, begun, s, in_words(r));
    done(std::move(s), std::move(r));
  };
}

void traced_engine::acquire(spi::claim& c, spi::time_point by, spi::done<spi::acquire_reply> done) {
  inner_->acquire(c, by, traced("acquire " + in_words(c), std::move(done)));
}

void traced_engine::renew(std::span<spi::claim* const> batch, spi::time_point by,
                          spi::renewed each) {
  const std::uint64_t step = begin(fmt::format("renew {} claims", batch.size()));
  for (const spi::claim* c : batch) print(fmt::format("#{} renew {}", step, in_words(*c)));
  inner_->renew(batch, by,
                [this, step, begun = boot_clock::now(), each = std::move(each)](
                    std::size_t i, spi::status s, spi::renew_reply r) mutable {
                  end(step, begun, s, fmt::format("[{}] {}", i, in_words(r)));
                  each(i, std::move(s), r);
                });
}

void traced_engine::release(const spi::claim& c, spi::time_point by,
                            spi::done<spi::release_reply> done) {
  inner_->release(c, by, traced("release " + in_words(c), std::move(done)));
}

void traced_engine::change(const spi::cell_change& c, spi::time_point by,
                           spi::done<spi::cell_reply> done) {
  inner_->change(c, by, traced("change " + in_words(c), std::move(done)));
}

void traced_engine::record(const spi::ledger_change& c, spi::time_point by,
                           spi::done<spi::ledger_reply> done) {
  inner_->record(c, by, traced("record " + in_words(c), std::move(done)));
}

void traced_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  inner_->watch(key, traced("watch " + quoted(key), std::move(done)));
}

void traced_engine::unwatch(std::string_view key) noexcept {
  print("unwatch " + quoted(key));
  inner_->unwatch(key);
}

void traced_engine::survey(const spi::survey_query& q, spi::time_point by,
                           spi::done<spi::survey_reply> done) {
  inner_->survey(q, by, traced("survey " + in_words(q), std::move(done)));
}

void traced_engine::evict(const spi::resource& what, const spi::owner_id& owner,
                          std::uint64_t token, spi::time_point by,
                          spi::done<spi::release_reply> done) {
  inner_->evict(what, owner, token, by,
                traced(fmt::format("evict {} {} token {}", in_words(what), owner.text(), token),
                       std::move(done)));
}

void traced_engine::ask_back(std::string_view key, spi::time_point by, spi::done<bool> done) {
  print(fmt::format("ask back {}", key));
  inner_->ask_back(key, by, std::move(done));
}

void traced_engine::examine(spi::time_point by, spi::done<std::vector<finding>> done) {
  print("examine");
  inner_->examine(by, std::move(done));
}

void traced_engine::collect(spi::time_point by, spi::done<std::uint64_t> done) {
  print("collect");
  inner_->collect(by, std::move(done));
}

bool traced_engine::drive(spi::waiter& w, spi::time_point until) noexcept {
  return inner_->drive(w, until);
}

void traced_engine::close() noexcept {
  print("close");
  inner_->close();
  print("closed");
}

void traced_engine::wake(std::string_view key) noexcept {
  print("wake " + quoted(key));
  up_.wake(key);
}

void traced_engine::wake_all() noexcept {
  print("wake all");
  up_.wake_all();
}

void traced_engine::granted(const spi::owner_id& owner, std::uint64_t token, std::uint64_t last,
                            spi::milliseconds lease) noexcept {
  print(fmt::format("granted {} token {} lease {}ms", owner.text(), token, lease.count()));
  up_.granted(owner, token, last, lease);
}

void traced_engine::asked(const spi::owner_id& owner) noexcept {
  print("asked " + owner.text());
  up_.asked(owner);
}

void traced_engine::session_lost() noexcept {
  print("session lost");
  up_.session_lost();
}

}  // namespace afar::engines::wrap
