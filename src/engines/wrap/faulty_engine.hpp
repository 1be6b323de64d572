// An engine with planted faults, for tests: what a network does to answers, without a network. Every
// fault is one that the contract allows, so a correct core notices nothing but time.
//
// A duplicated step is answered by its second run, as if an answer had been lost below the core.
// Except release and evict: their second run says "gone", which would be a lie about the first.
#pragma once

#include <afar/spi/engine.hpp>

#include "engines/visits.hpp"
#include "engines/wrap/delayer.hpp"
#include "engines/wrap/faults.hpp"
#include "engines/wrap/traced_engine.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::wrap {

class faulty_engine final : public spi::engine, private spi::host {
 public:
  faulty_engine(spi::host& up, const opener& open, const faults&);
  ~faulty_engine() override;

  const spi::traits& about() const noexcept override;

  void acquire(spi::claim&, spi::time_point by, spi::done<spi::acquire_reply>) override;
  void renew(std::span<spi::claim* const>, spi::time_point by, spi::renewed each) override;
  void release(const spi::claim&, spi::time_point by, spi::done<spi::release_reply>) override;
  void change(const spi::cell_change&, spi::time_point by, spi::done<spi::cell_reply>) override;
  void record(const spi::ledger_change&, spi::time_point by, spi::done<spi::ledger_reply>) override;
  void watch(std::string_view key, spi::done<spi::watch_reply>) override;  // only delayed
  void unwatch(std::string_view key) noexcept override;
  void survey(const spi::survey_query&, spi::time_point by, spi::done<spi::survey_reply>) override;
  void evict(const spi::resource&, const spi::owner_id&, std::uint64_t token, spi::time_point by,
             spi::done<spi::release_reply>) override;
  void ask_back(std::string_view key, spi::time_point by, spi::done<bool>) override;
  void examine(spi::time_point by, spi::done<std::vector<finding>>) override;
  void collect(spi::time_point by, spi::done<std::uint64_t>) override;
  bool drive(spi::waiter&, spi::time_point until) noexcept override;
  void nudge() noexcept override { inner_->nudge(); }
  void glance() noexcept override { inner_->glance(); }
  void close() noexcept override;

 private:
  // What happens to one step.
  struct fate {
    bool refuse = false;
    bool duplicate = false;
    bool drop = false;
    std::chrono::microseconds delay{};
  };
  enum class answer_of : std::uint8_t { first_run, second_run };
  struct renewal;

  void wake(std::string_view key) noexcept override;
  void wake_all() noexcept override;
  void granted(const spi::owner_id&, std::uint64_t token, std::uint64_t last,
               spi::milliseconds) noexcept override;
  void asked(const spi::owner_id&) noexcept override;
  void session_lost() noexcept override;
  void in_doubt() noexcept override { up_.in_doubt(); }

  bool happens(double chance);  // dice_mutex_ held
  bool message_lost() noexcept;
  fate draw();
  void wake_somebody();
  template <class Reply, class Step>
  void perform(spi::done<Reply>, answer_of, Step);
  template <class Reply>
  void answer(fate, spi::done<Reply>, spi::status, Reply);
  void renew_round(const std::shared_ptr<renewal>&);
  void answer(const std::shared_ptr<renewal>&);

  spi::host& up_;
  const faults faults_;
  const std::shared_ptr<visits> visits_ = std::make_shared<visits>();

  std::mutex dice_mutex_;  // guards dice_ and watched_
  std::mt19937_64 dice_;
  std::vector<std::string> watched_;

  std::atomic<bool> closed_{false};
  delayer later_;
  std::unique_ptr<spi::engine> inner_;
  spi::traits about_;  // the inner engine's, but not inline
};

}  // namespace afar::engines::wrap
