#include "look.hpp"

#include "core/client_state.hpp"
#include "core/note.hpp"

#include <afar/error.hpp>

namespace afar::cli {
namespace {

detail::core& core_of(const client& c) { return c.state()->get(); }

void check(const spi::status& s, std::string_view name) {
  if (s) throw lock_error(s.code, std::string{name}, s.detail);
}

// An engine that does not answer at all must not hang a look at it.
detail::deadline patience() { return detail::deadline::after(std::chrono::seconds{10}); }

}  // namespace

std::string about_claimant::place() const {
  return (host.empty() ? "unknown" : host) + ":" + std::to_string(pid);
}

about_claimant about(const spi::claimant& c) {
  auto n = detail::note::decode(c.note);
  return {.host = std::move(n.host),
          .pid = n.pid,
          .user = std::move(n.user),
          .command = std::move(n.command),
          .label = std::move(n.label),
          .value = std::move(n.value)};
}

std::vector<spi::entry> look(const client& c, std::string_view name) {
  const auto& prefix = core_of(c).options().prefix;
  const std::string full = name.empty() ? std::string{} : prefix + std::string{name};
  std::vector<spi::entry> all;
  std::string cursor;
  do {
    detail::survey_request request;
    request.query.name = full;
    request.query.cursor = cursor;
    request.by = patience();
    spi::survey_reply reply;
    check(core_of(c).survey(std::move(request), reply), name);
    for (auto& e : reply.entries) {
      if (!e.name.starts_with(prefix)) continue;
      e.name.erase(0, prefix.size());
      all.push_back(std::move(e));
    }
    cursor = std::move(reply.cursor);
  } while (!cursor.empty());
  return all;
}

bool evict(const client& c, const spi::entry& e, const spi::claimant& who) {
  const std::string full = core_of(c).options().prefix + e.name;
  spi::release_reply reply{};
  check(core_of(c).evict({e.kind, full}, who.owner, who.token, reply), e.name);
  return reply == spi::release_reply::released;
}

}  // namespace afar::cli
