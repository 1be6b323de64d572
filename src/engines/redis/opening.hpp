// Waits on a user's thread for the answers that make an engine open.
#pragma once

#include <afar/spi/engine.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

namespace afar::engines::redis {

// One answer that somebody else may give late, or never.
class opening {
 public:
  void answer(spi::status s) const {
    if (!state_->given.exchange(true)) state_->promise.set_value(std::move(s));
  }
  // Throws lock_error if the answer is a failure. For answers that are sure to come.
  void await(const std::string& printable) {
    if (const auto failed = told_.get()) throw lock_error{failed.code, printable, failed.detail};
  }
  // Likewise, or if there is none by then.
  void await(spi::time_point by, const std::string& printable) {
    const auto left = std::max<std::chrono::nanoseconds>(by - boot_clock::now(), least);
    if (told_.wait_for(left) != std::future_status::ready)
      throw lock_error{errc::unavailable, printable, "does not answer"};
    await(printable);
  }

 private:
  static constexpr std::chrono::milliseconds least{10};
  struct state {
    std::promise<spi::status> promise;
    std::atomic<bool> given{false};
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
  std::shared_future<spi::status> told_ = state_->promise.get_future().share();
};

}  // namespace afar::engines::redis
