// afar::barrier: participants on several machines wait until all have arrived; then it starts anew.
#pragma once

#include <afar/detail/claimable.hpp>

namespace afar {

// Like std::barrier without completion function. A participant that gives up or dies before the
// barrier is full breaks this round: all others that wait get errc::broken, and the next arrival
// starts a new round. Everybody must name the same number (errc::wrong_use).
class AFAR_API barrier : private detail::claimable {
 public:
  barrier(const client& c, std::string name, std::uint32_t expected)
      : claimable(c, detail::claim_kind::barrier, std::move(name), expected) {}
  ~barrier() = default;

  using claimable::body;
  using claimable::name;

  // Blocks until `expected` have arrived. Throws lock_error: errc::broken, errc::lost (see errc), …
  void arrive_and_wait(std::stop_token stop = {}) {
    arrive(detail::deadline::forever(), std::move(stop), nullptr);
  }
  void arrive_and_wait(std::stop_token stop, std::error_code& ec) noexcept {
    arrive(detail::deadline::forever(), std::move(stop), &ec);
  }
  // False: not within that time; the round is then broken for the others.
  template <class Rep, class Period>
  bool arrive_and_wait_for(const std::chrono::duration<Rep, Period>& d) {
    return arrive(detail::deadline::after(d), {}, nullptr);
  }
  template <class Rep, class Period>
  bool arrive_and_wait_for(const std::chrono::duration<Rep, Period>& d,
                           std::error_code& ec) noexcept {
    return arrive(detail::deadline::after(d), {}, &ec);
  }

 private:
  bool arrive(detail::deadline, std::stop_token, std::error_code*);
};

}  // namespace afar
