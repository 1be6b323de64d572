// Whether a mutex is worth keeping after unlock(), learned from what became of it before. Reads no clock and
// has no lock: the local line, which owns it, guards it.
#pragma once

#include <afar/boot_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace afar::detail {

class stickiness {
 public:
  using time_point = boot_clock::time_point;
  using milliseconds = std::chrono::milliseconds;

  static constexpr std::uint32_t fewest_tokens = 64;
  static constexpr std::uint32_t worth_it =
      8;  // times: less than that saves nothing if others want it
  static constexpr milliseconds first_pause{20};
  static constexpr int most_doublings = 7;  // 2.5 s

  // A user lets it go, whether it is kept or not.
  void let_go(time_point now) noexcept { let_go_at_ = now; }
  time_point let_go_at() const noexcept { return let_go_at_; }

  // How many tokens to reserve, so that it can be taken again as often; 0: it is not worth keeping, because
  // this client does not lock it again and again, or others want it as often.
  std::uint32_t worth(time_point now, milliseconds linger, std::uint32_t most) const noexcept {
    if (now < off_until_ || let_go_at_ == time_point{} || now - let_go_at_ > linger) return 0;
    return std::min(tokens_, most);
  }

  // What was worth keeping is given back, taken again so often; asked: because another client wants it.
  void given_back(std::uint32_t times, bool asked, time_point now) noexcept {
    const auto twice = std::min<std::uint64_t>(std::uint64_t{times} * 2, most_tokens);
    tokens_ = std::max(fewest_tokens, static_cast<std::uint32_t>(twice));
    if (!asked || times >= worth_it) {
      in_vain_ = 0;
      return;
    }
    off_until_ = now + first_pause * (1 << in_vain_);
    in_vain_ = std::min(in_vain_ + 1, most_doublings);
  }

 private:
  static constexpr std::uint32_t most_tokens = 1U << 30;

  time_point let_go_at_{};
  time_point off_until_{};
  std::uint32_t tokens_ = fewest_tokens;
  int in_vain_ = 0;  // in a row
};

}  // namespace afar::detail
