#include <afar/survey.hpp>

#include "core/note.hpp"
#include "primitives/opened.hpp"
#include "primitives/report.hpp"

#include <algorithm>
#include <utility>

namespace afar {
namespace {

using detail::report;

usage usage_of(spi::kind k) noexcept { return static_cast<usage>(k); }
static_assert(static_cast<int>(usage::mutex) == static_cast<int>(spi::kind::mutex));
static_assert(static_cast<int>(usage::leased_semaphore) == static_cast<int>(spi::kind::permits));
static_assert(static_cast<int>(usage::stock) == static_cast<int>(spi::kind::stock));

claimant shown(const spi::claimant& c) {
  auto says = detail::note::decode(c.note);
  return {.owner = c.owner.text(),
          .token = c.token,
          .shared = c.mode == spi::access::shared,
          .permits = c.permits,
          .since = c.since,
          .lease_left = c.lease_left,
          .host = std::move(says.host),
          .pid = says.pid,
          .user = std::move(says.user),
          .command = std::move(says.command),
          .label = std::move(says.label),
          .value = std::move(says.value),
          .lease = c.lease,
          .renewed = c.renewed,
          .renewals = c.renewals,
          .key = c.key};
}

past_hold shown(const spi::past_hold& p) {
  return {.token = p.token,
          .why = static_cast<loss_reason>(p.why),
          .held = p.held,
          .ago = p.ago,
          .host = p.host,
          .pid = p.pid};
}
static_assert(static_cast<int>(loss_reason::closed) == static_cast<int>(spi::loss::closed));

survey_entry shown(const spi::entry& e, std::size_t prefix) {
  survey_entry out;
  out.name = e.name.substr(prefix);
  out.kind = usage_of(e.kind);
  out.limit = e.limit;
  out.last_token = e.last_token;
  out.value = e.value;
  out.key = e.key;
  out.format = e.format;
  out.token_source = e.token_source;
  for (const auto& p : e.history) out.history.push_back(shown(p));
  for (const auto& h : e.holders) out.holders.push_back(shown(h));
  for (const auto& w : e.waiters) out.waiters.push_back(shown(w));
  return out;
}

// Of a survey, which has no one name, errors name the URL.
detail::core& core_of(const client& c) {
  if (!c.state()) throw lock_error(errc::closed, {}, "this client was never opened");
  return c.state()->get();
}

std::vector<survey_entry> survey_all(detail::core& core, std::string_view beginning,
                                     std::error_code* code) {
  const auto& prefix = core.options().prefix;
  const std::string wanted = prefix + std::string{beginning};
  std::vector<survey_entry> found;
  std::string cursor;
  do {
    detail::survey_request page;
    page.query.cursor = cursor;
    spi::survey_reply reply;
    auto s = core.usable();
    if (!s) s = core.survey(std::move(page), reply);
    report(s, core.options().url, code);
    if (s) return {};
    for (const auto& e : reply.entries)
      if (e.name.starts_with(wanted)) found.push_back(shown(e, prefix.size()));
    cursor = std::move(reply.cursor);
  } while (!cursor.empty());
  std::ranges::sort(found, {}, &survey_entry::name);
  return found;
}

// The entry as the engine gives it.
std::optional<spi::entry> look(detail::core& core, const std::string& name, std::error_code* code) {
  const std::string full = core.options().prefix + name;
  detail::survey_request request;
  request.query.name = full;
  spi::survey_reply reply;
  auto s = core.usable();
  if (!s) s = core.survey(std::move(request), reply);
  report(s, name, code);
  if (s || reply.entries.empty()) return std::nullopt;
  return std::move(reply.entries.front());
}

std::optional<survey_entry> inspect_one(const client& c, const std::string& name,
                                        std::error_code* code) {
  auto& core = core_of(c);
  detail::check_name(name);
  const auto found = look(core, name, code);
  if (!found) return std::nullopt;
  return shown(*found, core.options().prefix.size());
}

// `act(core, name, holder, done)` with whoever holds it with this token. False: nobody, or not `done`.
template <class Act>
bool at_holder(const client& c, const std::string& name, std::uint64_t token, std::error_code* code,
               Act act) {
  auto& core = core_of(c);
  detail::check_name(name);
  const auto found = look(core, name, code);
  if (!found) return false;
  const auto holder = std::ranges::find(found->holders, token, &spi::claimant::token);
  if (holder == found->holders.end()) return false;
  bool done = false;
  const spi::status s = act(core, *found, *holder, done);
  report(s, name, code);
  return !s && done;
}

bool break_hold(const client& c, const std::string& name, std::uint64_t token,
                std::error_code* code) {
  return at_holder(c, name, token, code,
                   [](auto& core, const spi::entry& e, const spi::claimant& victim, bool& done) {
                     auto reply = spi::release_reply::gone;
                     auto s = core.evict({e.kind, e.name}, victim.owner, victim.token, reply);
                     done = reply == spi::release_reply::released;
                     return s;
                   });
}

bool ask_holder(const client& c, const std::string& name, std::uint64_t token,
                std::error_code* code) {
  return at_holder(c, name, token, code,
                   [](auto& core, const spi::entry&, const spi::claimant& holder, bool& told) {
                     return core.ask_back(holder.key, told);
                   });
}

// What the constructors of primitives throw has to reach these twins as a code.
template <class Work>
auto caught(std::error_code& ec, Work work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (const std::system_error& e) {
    ec = e.code();
    return {};
  }
}

}  // namespace

std::string_view word(usage u) noexcept { return spi::word(static_cast<spi::kind>(u)); }

std::vector<survey_entry> survey(const client& c, std::string_view beginning) {
  return survey_all(core_of(c), beginning, nullptr);
}
std::vector<survey_entry> survey(const client& c, std::string_view beginning,
                                 std::error_code& ec) noexcept {
  return caught(ec, [&] { return survey_all(core_of(c), beginning, &ec); });
}

std::optional<survey_entry> inspect(const client& c, const std::string& name) {
  return inspect_one(c, name, nullptr);
}
std::optional<survey_entry> inspect(const client& c, const std::string& name,
                                    std::error_code& ec) noexcept {
  return caught(ec, [&] { return inspect_one(c, name, &ec); });
}

bool evict(const client& c, const std::string& name, std::uint64_t token) {
  return break_hold(c, name, token, nullptr);
}
bool evict(const client& c, const std::string& name, std::uint64_t token,
           std::error_code& ec) noexcept {
  return caught(ec, [&] { return break_hold(c, name, token, &ec); });
}

bool ask_back(const client& c, const std::string& name, std::uint64_t token) {
  return ask_holder(c, name, token, nullptr);
}
bool ask_back(const client& c, const std::string& name, std::uint64_t token,
              std::error_code& ec) noexcept {
  return caught(ec, [&] { return ask_holder(c, name, token, &ec); });
}

}  // namespace afar
