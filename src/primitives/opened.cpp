#include "primitives/opened.hpp"

#include <atomic>
#include <utility>

namespace afar::detail {
namespace {

struct leaked {
  std::shared_ptr<const void> what;
  leaked* next = nullptr;
};
std::atomic<leaked*> all_leaked{nullptr};  // reachable, so that leak checkers stay quiet

}  // namespace

std::shared_ptr<client_state> opened(const client& c, spi::kind kind, const std::string& name) {
  const auto& state = c.state();
  if (!state) throw lock_error(errc::closed, name, "this client was never opened");
  if (state->get().forked()) throw lock_error(errc::forked, name);
  check_name(name);
  const auto& about = state->get().about();
  if ((about.kinds & spi::bit(kind)) == 0)
    throw lock_error(errc::unsupported, name,
                     std::string{about.name} + " has no " + std::string{word(kind)} +
                         (about.why_not.empty() ? "" : ": ") + std::string{about.why_not});
  return state;
}

void leak(std::shared_ptr<const void> what) noexcept {
  auto* one = new leaked{std::move(what)};  // NOLINT: leaked on purpose
  one->next = all_leaked.load(std::memory_order_relaxed);
  while (!all_leaked.compare_exchange_weak(one->next, one, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

}  // namespace afar::detail
