// The steps as requests: which script, which keys, which arguments. Claims have two layouts, afar's
// own and Redisson's; cells, ledgers and barriers one.
#pragma once

#include "engines/redis/request.hpp"

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace afar::engines::redis {

// How a client's claims are told about.
struct telling {
  std::string channel = {};  // where it hears of its grants
  bool announces = false;    // see layout::watchers_channel
};

// One request for the claims [first, first + claims.size()) of a batch of which nothing has changed since they
// were renewed; `again` renews one that it could not keep, or says why. Null: it is not so.
using renew_again = detail::function<void(spi::claim&, std::size_t i)>;
using keep_step = std::unique_ptr<request> (*)(std::span<spi::claim* const> claims,
                                               std::size_t first, std::shared_ptr<spi::renewed>,
                                               spi::time_point by, renew_again again);

struct claim_steps {
  std::unique_ptr<request> (*acquire)(spi::claim&, const telling&, spi::time_point by,
                                      spi::done<spi::acquire_reply>);
  std::unique_ptr<request> (*release)(const spi::claim&, const telling&, spi::time_point by,
                                      spi::done<spi::release_reply>);
  std::unique_ptr<request> (*evict)(const spi::resource&, const spi::owner_id&, std::uint64_t token,
                                    const telling&, spi::time_point by,
                                    spi::done<spi::release_reply>);
  std::unique_ptr<request> (*renew)(std::span<spi::claim* const>, std::size_t first,
                                    std::shared_ptr<spi::renewed>, spi::time_point by);
  keep_step keep;  // null: there is none
  void (*survey)(request&, std::string_view name, std::string_view family);
};
extern const claim_steps afar_steps;
extern const claim_steps redisson_steps;
// As ?layout= says. Throws std::invalid_argument, which the registry turns into errc::bad_url.
const claim_steps& steps_of(const spi::url&);

// afar's layout.
std::unique_ptr<request> acquire_request(spi::claim&, const telling&, spi::time_point by,
                                         spi::done<spi::acquire_reply>);
std::unique_ptr<request> release_request(const spi::claim&, const telling&, spi::time_point by,
                                         spi::done<spi::release_reply>);
std::unique_ptr<request> evict_request(const spi::resource&, const spi::owner_id&,
                                       std::uint64_t token, const telling&, spi::time_point by,
                                       spi::done<spi::release_reply>);
// One request for the claims [first, first + claims.size()) of a batch.
std::unique_ptr<request> renew_request(std::span<spi::claim* const> claims, std::size_t first,
                                       std::shared_ptr<spi::renewed> each, spi::time_point by);

std::unique_ptr<request> change_request(const spi::cell_change&, spi::time_point by,
                                        spi::done<spi::cell_reply>);
std::unique_ptr<request> record_request(const spi::ledger_change&, spi::time_point by,
                                        spi::done<spi::ledger_reply>);

// How long a silent waiter keeps its place.
spi::milliseconds waiter_lease(const spi::claim&) noexcept;

}  // namespace afar::engines::redis
