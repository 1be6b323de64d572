// A majority of independent engines as one engine: it goes on while fewer than half of them fail, and
// needs no replication. It has claims only: a majority can agree on who holds a name, but not on the
// order of a line or on an integer that everybody changes.
#pragma once

#include "engines/quorum/voters.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace afar::engines::quorum {

// A wake is told when a majority of the voters has told it: sooner, a vote could not be won.
class wakes {
 public:
  explicit wakes(std::size_t majority) : majority_(majority) {}
  void watch(const std::string& key);
  void unwatch(const std::string& key);
  bool heard(std::string_view key, std::size_t voter);  // true: tell it

 private:
  const std::size_t majority_;
  std::mutex m_;
  std::map<std::string, std::uint32_t, std::less<>> heard_;  // a bit per voter
};

// The host of one voter.
class ear final : public spi::host {
 public:
  ear(spi::host& up, wakes& heard, std::size_t voter) : up_(up), heard_(heard), voter_(voter) {}
  void wake(std::string_view key) noexcept override {
    if (heard_.heard(key, voter_)) up_.wake(key);
  }
  void wake_all() noexcept override { up_.wake_all(); }
  void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
               spi::milliseconds) noexcept override {}
  void asked(const spi::owner_id& o) noexcept override { up_.asked(o); }
  void session_lost() noexcept override { up_.in_doubt(); }
  void in_doubt() noexcept override { up_.in_doubt(); }

 private:
  spi::host& up_;
  wakes& heard_;
  const std::size_t voter_;
};

class quorum_engine final : public spi::engine {
 public:
  // `open(i, host)`: the i-th of n voters, which may be away. Throws what it throws.
  using opener = detail::function<std::unique_ptr<spi::engine>(std::size_t, spi::host&)>;
  quorum_engine(std::string_view name, std::size_t n, spi::host& up, opener open);
  ~quorum_engine() override { close(); }
  quorum_engine(const quorum_engine&) = delete;
  quorum_engine& operator=(const quorum_engine&) = delete;

  const spi::traits& about() const noexcept override { return about_; }
  void acquire(spi::claim&, spi::time_point by, spi::done<spi::acquire_reply>) override;
  void renew(std::span<spi::claim* const>, spi::time_point by, spi::renewed each) override;
  void release(const spi::claim&, spi::time_point by, spi::done<spi::release_reply>) override;
  void change(const spi::cell_change&, spi::time_point by, spi::done<spi::cell_reply>) override;
  void record(const spi::ledger_change&, spi::time_point by, spi::done<spi::ledger_reply>) override;
  void watch(std::string_view key, spi::done<spi::watch_reply>) override;
  void unwatch(std::string_view key) noexcept override;
  void survey(const spi::survey_query&, spi::time_point by, spi::done<spi::survey_reply>) override;
  void evict(const spi::resource&, const spi::owner_id&, std::uint64_t token, spi::time_point by,
             spi::done<spi::release_reply>) override;
  void examine(spi::time_point by, spi::done<std::vector<finding>>) override;
  void collect(spi::time_point by, spi::done<std::uint64_t>) override;
  void close() noexcept override;

 private:
  std::size_t majority() const noexcept { return who_->size() / 2 + 1; }

  spi::traits about_;
  wakes wakes_;
  std::vector<std::unique_ptr<ear>> ears_;
  const voters_ptr who_ = std::make_shared<voters>();
  std::atomic<bool> closed_{false};
};

}  // namespace afar::engines::quorum
