#include "core/client_state.hpp"

#include "core/notifier.hpp"

#include <afar/spi/own_thread.hpp>

namespace afar::detail {

client_state::~client_state() {
  if (core_->forked()) {
    // The parent's connection and threads are not ours: neither close nor free anything.
    new std::shared_ptr<core>(std::move(core_));  // NOLINT: leaked on purpose
    return;
  }
  // Closing waits for afar's own threads, so it must not happen on one of them.
  if (spi::own_thread)
    notifier::shared().post([c = std::move(core_)] { c->close(); });
  else
    core_->close();
}

}  // namespace afar::detail
