#include "core/settings.hpp"

#include "core/note.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace afar::detail {
namespace {

constexpr std::array<std::pair<std::string_view, guarantee>, 4> guarantees{{
    {"fifo", guarantee::fifo},
    {"fenced", guarantee::fenced},
    {"survives_restart", guarantee::survives_restart},
    {"survives_failover", guarantee::survives_failover},
}};

std::string text_of(milliseconds d) {
  const auto count = d.count();
  if (count != 0 && count % 3'600'000 == 0) return std::to_string(count / 3'600'000) + "h";
  if (count != 0 && count % 1'000 == 0) return std::to_string(count / 1'000) + "s";
  return std::to_string(count) + "ms";
}
std::string text_of(std::uint32_t n) { return std::to_string(n); }

std::string lease_range() {
  return "a lease is " + text_of(shortest_lease) + " to " + text_of(longest_lease);
}

bool lease_allowed(milliseconds lease) { return lease >= shortest_lease && lease <= longest_lease; }

// Where a setting came from decides which error its fault is.
template <class T>
struct chosen {
  T value{};
  errc fault = errc::bad_argument;
};

class chooser {
 public:
  explicit chooser(spi::url& where) : where_(where) {}

  // The option of the struct, else that of the URL (taken out of it in any case), else nothing.
  template <class T, class Parse>
  std::optional<chosen<T>> choose(std::string_view key, const std::optional<T>& own, Parse parse) {
    where_.client_options.emplace_back(key);
    const auto in_url = where_.options.extract(std::string{key});
    if (own) return chosen<T>{*own, errc::bad_argument};
    if (in_url.empty()) return {};
    return chosen<T>{parse(key, std::string_view{in_url.mapped()}), errc::bad_url};
  }

  template <class T>
  T within(std::string_view key, const chosen<T>& c, T least, T most) const {
    if (c.value >= least && c.value <= most) return c.value;
    fail(c.fault, std::string{key} + "=" + text_of(c.value) + ": " + text_of(least) + " to " +
                      text_of(most) + " is allowed");
  }

  [[noreturn]] void fail(errc e, std::string_view why) const {
    throw lock_error(e, where_.printable, why);
  }

 private:
  spi::url& where_;
};

std::string as_it_is(std::string_view, std::string_view text) { return std::string{text}; }

guarantee parse_guarantees(std::string_view key, std::string_view text) {
  auto wanted = guarantee::none;
  while (!text.empty()) {
    const auto one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto known = std::find_if(guarantees.begin(), guarantees.end(),
                                    [&](const auto& g) { return g.first == one; });
    if (known == guarantees.end()) {
      throw lock_error(errc::bad_url, std::string{key},
                       "\"" + std::string{one} +
                           "\" is none of fifo, fenced, survives_restart, survives_failover");
    }
    wanted = wanted | known->second;
  }
  return wanted;
}

}  // namespace

settings make_settings(const client_options& options, spi::url& where) {
  settings out;
  chooser from{where};
  if (const auto c = from.choose("lease", options.lease, parse_duration)) {
    out.lease = from.within("lease", *c, shortest_lease, longest_lease);
  }
  if (const auto c = from.choose("margin", options.margin, parse_duration)) {
    // More than half would leave less time to work than to wait.
    out.margin = from.within("margin", *c, milliseconds{0}, out.lease / 2);
  }
  if (const auto c = from.choose("patience", options.patience, parse_duration)) {
    out.patience = from.within("patience", *c, milliseconds{0}, longest_patience);
  }
  if (const auto c = from.choose("handoff", options.handoff, parse_number)) {
    out.handoff = from.within("handoff", *c, std::uint32_t{0}, most_handoffs);
  }
  if (const auto c = from.choose("sticky", options.sticky, parse_duration)) {
    out.sticky = from.within("sticky", *c, milliseconds{0}, longest_linger);
  }
  if (auto c = from.choose("prefix", options.prefix, as_it_is)) {
    if (c->value.size() > longest_prefix) {
      from.fail(c->fault, "prefix: at most " + std::to_string(longest_prefix) +
                              " bytes are allowed, not " + std::to_string(c->value.size()));
    }
    out.prefix = std::move(c->value);
  }
  if (const auto c = from.choose("require", options.require, parse_guarantees)) {
    out.require = c->value;
  }
  const auto label = from.choose("label", options.label, as_it_is);
  auto self = note::of_this_process(label ? label->value : std::string{});
  if (auto c = from.choose("command", options.command, as_it_is))
    self.command = std::move(c->value);
  out.note = self.encode();
  out.observer = options.observer;
  out.url = where.printable;
  return out;
}

void check_name(std::string_view name) {
  if (!name.empty() && name.size() <= longest_name) return;
  throw lock_error(errc::bad_argument, std::string{name},
                   "a name has 1 to " + std::to_string(longest_name) + " bytes, not " +
                       std::to_string(name.size()));
}

void check_lease(milliseconds lease, std::string_view name) {
  if (lease_allowed(lease)) return;
  throw lock_error(errc::bad_argument, std::string{name},
                   lease_range() + ", not " + text_of(lease));
}

void check_guarantees(guarantee wanted, const spi::traits& engine, std::string_view url) {
  const auto offered = (engine.fifo ? guarantee::fifo : guarantee::none) |
                       (engine.fenced ? guarantee::fenced : guarantee::none) |
                       (engine.survives_restart ? guarantee::survives_restart : guarantee::none) |
                       (engine.survives_failover ? guarantee::survives_failover : guarantee::none);
  std::string missing;
  for (const auto& [name, one] : guarantees) {
    if (!has(wanted, one) || has(offered, one)) continue;
    missing += (missing.empty() ? "" : ", ") + std::string{name};
  }
  if (missing.empty()) return;
  throw lock_error(errc::unsupported, std::string{url},
                   "the " + std::string{engine.name} + " engine does not offer " + missing);
}

void check_sticky(milliseconds wanted, const spi::traits& engine, std::string_view url) {
  if (wanted == milliseconds{0} || engine.sticky_block > 0) return;
  std::string why = "the " + std::string{engine.name} + " engine has no sticky leases";
  if (!engine.why_not_sticky.empty()) why += ": " + std::string{engine.why_not_sticky};
  throw lock_error(errc::unsupported, std::string{url}, why);
}

}  // namespace afar::detail
