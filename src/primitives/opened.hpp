// What all primitives ask of the client that they are made from, and how they leave it.
#pragma once

#include "core/client_state.hpp"

#include <afar/client.hpp>

#include <memory>
#include <string>

namespace afar::detail {

// The state of a client that can serve this kind and name. Throws lock_error: errc::closed for an
// empty client, errc::forked, errc::bad_argument for the name, errc::unsupported for the kind.
std::shared_ptr<client_state> opened(const client&, spi::kind, const std::string& name);

// Keeps something alive for ever: in a forked child destroying it would touch what is the parent's.
// Takes no lock.
void leak(std::shared_ptr<const void>) noexcept;

}  // namespace afar::detail
