#include <afar/election.hpp>

#include "core/note.hpp"
#include "primitives/claim_body.hpp"
#include "primitives/report.hpp"

#include <algorithm>
#include <utility>

namespace afar {
namespace {

using detail::claim_body;
using detail::report;

spi::status check_value(std::string_view value) {
  if (value.size() <= detail::longest_value) return {};
  return {errc::bad_argument, "a value of " + std::to_string(value.size()) + " bytes; up to " +
                                  std::to_string(detail::longest_value) + " can be proclaimed"};
}

// Who the leader is, as every claim says it, and what it proclaims.
std::string note_with(const claim_body& body, std::string_view value) {
  auto note = detail::note::decode(body.owner().options().note);
  note.value = value;
  return note.encode();
}

std::optional<leader> leader_in(const spi::survey_reply& reply) {
  if (reply.entries.empty() || reply.entries.front().holders.empty()) return std::nullopt;
  const auto& first = reply.entries.front().holders.front();
  return leader{first.token, detail::note::decode(first.note).value};
}

detail::survey_request who_leads(const claim_body& body) {
  detail::survey_request r;
  r.query.name = body.line()->what().name;
  r.query.kind = spi::kind::election;
  r.query.most = 1;
  return r;
}

std::optional<leader> ask(const claim_body& body, std::error_code* code) {
  spi::survey_reply reply;
  const auto s = body.owner().survey(who_leads(body), reply);
  report(s, body.name(), code);
  return s ? std::nullopt : leader_in(reply);
}

void rewrite(const claim_body& body, hold& leadership, std::string_view value,
             std::error_code* code) {
  const auto& state = leadership.state();
  auto s = check_value(value);
  if (!s && !state)
    s = {errc::not_owner, "the hold is empty"};
  else if (!s && state->line() != body.line())
    s = {errc::bad_argument, "the hold is not of this election"};
  if (!s) s = body.owner().usable();
  if (!s) s = body.owner().rewrite_note(*state, note_with(body, value));
  report(s, body.name(), code);
}

// What an observer has seen. A survey that was overtaken on its way may show an older term.
class view {
 public:
  bool news(const std::optional<leader>& now) const {
    if (!looked_) return true;
    if (!now) return last_.has_value();
    if (now->term < newest_) return false;
    return !last_ || last_->term != now->term || last_->value != now->value;
  }
  const std::optional<leader>& take(std::optional<leader> now) {
    looked_ = true;
    if (now) newest_ = std::max(newest_, now->term);
    last_ = std::move(now);
    return last_;
  }

 private:
  bool looked_ = false;
  std::optional<leader> last_;
  std::uint64_t newest_ = 0;
};

}  // namespace

election::~election() = default;

hold election::run(std::string_view value, detail::deadline by, acquire_options o,
                   std::error_code* code) {
  auto s = check_value(value);
  hold got;
  if (!s)
    got = body_->give(
        body_->acquire({.by = by, .options = std::move(o)}, note_with(*body_, value), s));
  report_wait(s, by, name(), code);
  return got;
}

hold election::campaign(std::string_view value, acquire_options o) {
  return run(value, detail::deadline::forever(), std::move(o), nullptr);
}
hold election::campaign(std::string_view value, acquire_options o, std::error_code& ec) noexcept {
  return run(value, detail::deadline::forever(), std::move(o), &ec);
}

void election::lead(std::stop_token stop, const std::function<void(hold&, std::stop_token)>& reign,
                    std::string_view value) {
  report(check_value(value), name(), nullptr);
  while (!stop.stop_requested()) {
    spi::status s;
    hold leadership =
        body_->give(body_->acquire({.options = {.stop = stop}}, note_with(*body_, value), s));
    if (s.code == errc::cancelled) return;
    report(s, name(), nullptr);

    std::stop_source end;
    const auto request = [&end] { end.request_stop(); };
    const std::stop_callback on_stop{stop, request};
    const std::stop_callback on_loss{leadership.lost(), request};
    reign(leadership, end.get_token());
  }
}

void election::proclaim(hold& leadership, std::string_view value) {
  rewrite(*body_, leadership, value, nullptr);
}
void election::proclaim(hold& leadership, std::string_view value, std::error_code& ec) noexcept {
  rewrite(*body_, leadership, value, &ec);
}

std::optional<leader> election::current() const { return ask(*body_, nullptr); }
std::optional<leader> election::current(std::error_code& ec) const noexcept {
  return ask(*body_, &ec);
}

void election::observe(std::stop_token stop,
                       const std::function<void(const std::optional<leader>&)>& seen) const {
  view known;
  while (!stop.stop_requested()) {
    auto request = who_leads(*body_);
    // By value: a request that is given up may be answered after this call has ended.
    request.enough = [known, line = body_->line()](const spi::survey_reply& r) {
      return known.news(leader_in(r));
    };
    request.stop = stop;
    spi::survey_reply reply;
    const auto s = body_->owner().survey(std::move(request), reply);
    if (s.code == errc::cancelled) return;
    report(s, name(), nullptr);
    seen(known.take(leader_in(reply)));
  }
}

}  // namespace afar
