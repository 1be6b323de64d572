// afar::election: one leader among candidates on several machines.
#pragma once

#include <afar/detail/claimable.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace afar {

// Who leads, as observers see it. Terms only grow.
struct leader {
  std::uint64_t term = 0;  // the fencing token of the leader's hold
  std::string value;       // what it proclaims
};

// A hold of the election is leadership: its token is the term, lost() tells its end.
class AFAR_API election : private detail::claimable {
 public:
  election(const client& c, std::string name)
      : claimable(c, detail::claim_kind::election, std::move(name)) {}
  ~election();

  using claimable::body;
  using claimable::name;

  // Blocks until this candidate leads, and proclaims `value` (at most 512 bytes). The hold is the
  // leadership; releasing it resigns.
  [[nodiscard]] hold campaign(std::string_view value = {}, acquire_options = {});
  [[nodiscard]] hold campaign(std::string_view value, acquire_options, std::error_code&) noexcept;
  // An empty hold: not within that time.
  template <class Rep, class Period>
  [[nodiscard]] hold try_campaign_for(const std::chrono::duration<Rep, Period>& d,
                                      std::string_view value = {}, acquire_options o = {}) {
    return run(value, detail::deadline::after(d), std::move(o), nullptr);
  }

  // Campaigns again and again; runs `reign` while this candidate leads, until `stop`. The token given
  // to `reign` stops when leadership is lost or `stop` is requested; the reign ends when it returns.
  void lead(std::stop_token stop, const std::function<void(hold&, std::stop_token)>& reign,
            std::string_view value = {});

  // Changes what the leader proclaims. errc::lost if it leads no longer.
  void proclaim(hold& leadership, std::string_view value);
  void proclaim(hold& leadership, std::string_view value, std::error_code&) noexcept;

  // Gives up leadership and waits for the answer; the same as leadership.release().
  void resign(hold& leadership) { leadership.release(); }
  void resign(hold& leadership, std::error_code& ec) noexcept { leadership.release(ec); }

  // Who leads now; empty: nobody.
  std::optional<leader> current() const;
  std::optional<leader> current(std::error_code&) const noexcept;

  // Calls `seen` on this thread with the present leader and with every later change that it notices
  // (terms in order, never back; a short reign may be missed), until `stop`.
  void observe(std::stop_token stop,
               const std::function<void(const std::optional<leader>&)>& seen) const;

 private:
  hold run(std::string_view value, detail::deadline, acquire_options, std::error_code*);
};

}  // namespace afar
