// Writes braces in names as %7B and %7D (and % as %25), so that all keys of a name are in one slot of
// a cluster. Names without them, nearly all, pass untouched.
#pragma once

#include <afar/spi/engine.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::redis {

std::string escaped(std::string_view name);
std::string unescaped(std::string_view key);

class escaped_names final : public spi::engine {
 public:
  explicit escaped_names(std::unique_ptr<spi::engine> inner) : inner_(std::move(inner)) {}

  const spi::traits& about() const noexcept override { return inner_->about(); }
  void acquire(spi::claim&, spi::time_point by, spi::done<spi::acquire_reply>) override;
  void renew(std::span<spi::claim* const>, spi::time_point by, spi::renewed each) override;
  void release(const spi::claim&, spi::time_point by, spi::done<spi::release_reply>) override;
  void change(const spi::cell_change&, spi::time_point by, spi::done<spi::cell_reply>) override;
  void record(const spi::ledger_change&, spi::time_point by, spi::done<spi::ledger_reply>) override;
  void survey(const spi::survey_query&, spi::time_point by, spi::done<spi::survey_reply>) override;
  void evict(const spi::resource&, const spi::owner_id&, std::uint64_t token, spi::time_point by,
             spi::done<spi::release_reply>) override;
  void watch(std::string_view key, spi::done<spi::watch_reply> done) override {
    inner_->watch(key, std::move(done));
  }
  void unwatch(std::string_view key) noexcept override { inner_->unwatch(key); }
  void examine(spi::time_point by, spi::done<std::vector<finding>> done) override {
    inner_->examine(by, std::move(done));
  }
  void collect(spi::time_point by, spi::done<std::uint64_t> done) override {
    inner_->collect(by, std::move(done));
  }
  bool drive(spi::waiter& w, spi::time_point until) noexcept override {
    return inner_->drive(w, until);
  }
  void nudge() noexcept override { inner_->nudge(); }
  void glance() noexcept override { inner_->glance(); }
  void close() noexcept override { inner_->close(); }

 private:
  const std::unique_ptr<spi::engine> inner_;
};

}  // namespace afar::engines::redis
