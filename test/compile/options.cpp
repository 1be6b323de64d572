// Options may be named one by one, without warnings about the others.
#include <afar/afar.hpp>

using namespace std::chrono_literals;

namespace {

[[maybe_unused]] void some_options(afar::mutex& m, afar::stock& s, std::stop_token stop) {
  const afar::client_options by_lease{.lease = 5s};
  const afar::client_options by_prefix{.prefix = "app/", .require = afar::guarantee::fenced};
  const afar::hold a = m.acquire({.lease = 5s});
  const afar::hold b = m.acquire({.renew = afar::renewal::off});
  const afar::hold c = m.try_acquire_for(2s, {.stop = stop});
  s.set(1, {.per_buyer = 1});
  [[maybe_unused]] const afar::event e{.what = afar::event::kind::lost,
                                       .reason = afar::loss_reason::expired};
}

}  // namespace
