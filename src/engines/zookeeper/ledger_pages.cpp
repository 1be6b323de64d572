#include "engines/zookeeper/ledger_pages.hpp"

#include "engines/zookeeper/names.hpp"
#include "engines/zookeeper/stored.hpp"

#include <fmt/format.h>

#include <charconv>

namespace afar::engines::zookeeper {
namespace {

// Blank-separated words; what does not fit reads as zero.
class words {
 public:
  explicit words(std::string_view text) : rest_(text) {}
  bool empty() const noexcept { return rest_.empty(); }
  std::string_view rest() const noexcept { return rest_; }
  std::string_view next() {
    const auto blank = std::min(rest_.find(' '), rest_.size());
    const auto w = rest_.substr(0, blank);
    rest_.remove_prefix(std::min(blank + 1, rest_.size()));
    return w;
  }
  template <class T>
  T number(int base = 10) {
    T n{};
    const auto w = next();
    std::from_chars(w.data(), w.data() + w.size(), n, base);
    return n;
  }
  std::optional<spi::calendar_time> date() {
    if (rest_.starts_with('-')) return next(), std::nullopt;
    return spi::calendar_time{spi::milliseconds{number<std::int64_t>()}};
  }

 private:
  std::string_view rest_;
};

std::string date_text(const std::optional<spi::calendar_time>& t) {
  return t ? std::to_string(t->time_since_epoch().count()) : "-";
}

// The rules count in time points; here they are milliseconds of the servers' wall clock.
std::int64_t in_ms(spi::time_point t) {
  return std::chrono::floor<spi::milliseconds>(t.time_since_epoch()).count();
}
spi::time_point from_ms(std::int64_t ms) { return spi::time_point{spi::milliseconds{ms}}; }

std::string head_text(const records::ledger_head& h) {
  std::string out =
      fmt::format("{}{} {} {} {} {} {}", stock_magic, h.remaining, h.reserved, h.taken, h.per_buyer,
                  date_text(h.open.opens), date_text(h.open.closes));
  for (const auto& [op, after] : h.restocks)
    out += fmt::format(" {:x} {:x} {:x} {}", op.client_high, op.client_low, op.number, after);
  return out;
}

records::ledger_head read_head(std::string_view text) {
  words in{text.substr(stock_magic.size())};
  records::ledger_head h;
  h.remaining = in.number<std::int64_t>();
  h.reserved = in.number<std::int64_t>();
  h.taken = in.number<std::int64_t>();
  h.per_buyer = in.number<std::uint32_t>();
  h.open.opens = in.date();
  h.open.closes = in.date();
  while (!in.empty()) {
    spi::owner_id op;
    op.client_high = in.number<std::uint64_t>(16);
    op.client_low = in.number<std::uint64_t>(16);
    op.number = in.number<std::uint64_t>(16);
    h.restocks.emplace_back(op, in.number<std::int64_t>());
  }
  return h;
}

}  // namespace

void ledger_pages::know(const std::string& path, const answer& a) {
  page& p = pages_[path];
  p.stored = a.ok() ? std::optional{a.text} : std::nullopt;
  if (path == path_) head_version_ = a.ok() ? a.stat.version : -1;
}

void ledger_pages::know_due(const answer& a) {
  due_stored_.emplace(a.names.begin(), a.names.end());
}

void ledger_pages::start_run() {
  for (auto& [path, p] : pages_) p.text = p.stored;
  if (due_stored_) due_ = *due_stored_;
  erased_ = false;
}

ledger_pages::page& ledger_pages::read(const std::string& path) {
  const auto at = pages_.find(path);
  if (at == pages_.end()) throw unread{path};
  return at->second;
}

std::string ledger_pages::order_node(std::string_view id) const {
  return path_ + "/orders/" + escaped(id);
}
// A buyer may have no name; a node must.
std::string ledger_pages::buyer_node(std::string_view buyer) const {
  return path_ + "/buyers/b" + escaped(buyer);
}
std::string ledger_pages::due_node(spi::time_point t, std::string_view id) const {
  return fmt::format("{:020}-{}", in_ms(t), escaped(id));
}

std::vector<request> ledger_pages::changes() const {
  std::vector<request> out;
  for (const auto& [path, p] : pages_) {
    if (p.text == p.stored && path != path_) continue;
    const int version = path == path_ ? head_version_ : -1;
    if (p.text == p.stored) {
      if (p.text) out.insert(out.begin(), ask::check(path, version));
    } else if (!p.text) {
      out.push_back(ask::remove(path, version));
    } else if (p.stored) {
      out.push_back(ask::set(path, *p.text, version));
    } else {
      out.push_back(ask::create(path, *p.text, node_mode::persistent));
    }
  }
  if (!due_stored_) return out;
  for (const std::string& d : due_)
    if (!due_stored_->contains(d))
      out.push_back(ask::create(due_folder() + '/' + d, {}, node_mode::persistent));
  for (const std::string& d : *due_stored_)
    if (!due_.contains(d)) out.push_back(ask::remove(due_folder() + '/' + d));
  return out;
}

std::optional<records::ledger_head> ledger_pages::head() {
  const page& p = read(path_);
  if (!p.text || !p.text->starts_with(stock_magic)) return std::nullopt;
  return read_head(*p.text);
}

void ledger_pages::put_head(const records::ledger_head& h) { read(path_).text = head_text(h); }

std::optional<records::order> ledger_pages::find(std::string_view id) {
  const page& p = read(order_node(id));
  if (!p.text) return std::nullopt;
  words in{*p.text};
  records::order o;
  o.state = static_cast<records::order_state>(in.number<std::uint8_t>());
  o.amount = in.number<std::int64_t>();
  o.expires = from_ms(in.number<std::int64_t>());
  o.buyer = in.rest();
  return o;
}

void ledger_pages::put(std::string_view id, const records::order& o) {
  read(order_node(id)).text = fmt::format("{} {} {} {}", static_cast<unsigned>(o.state), o.amount,
                                          in_ms(o.expires), o.buyer);
}

std::int64_t ledger_pages::units_of(std::string_view buyer) {
  const page& p = read(buyer_node(buyer));
  return p.text ? words{*p.text}.number<std::int64_t>() : 0;
}

void ledger_pages::put_units(std::string_view buyer, std::int64_t units) {
  page& p = read(buyer_node(buyer));
  if (units == 0)
    p.text.reset();
  else
    p.text = std::to_string(units);
}

void ledger_pages::put_deadline(spi::time_point t, std::string_view id) {
  if (!due_stored_) throw unread{due_folder()};
  due_.insert(due_node(t, id));
}

void ledger_pages::erase_deadline(spi::time_point t, std::string_view id) {
  if (!due_stored_) throw unread{due_folder()};
  due_.erase(due_node(t, id));
}

std::optional<std::pair<spi::time_point, std::string>> ledger_pages::first_deadline() {
  if (!due_stored_) throw unread{due_folder()};
  if (due_.empty()) return std::nullopt;
  const std::string& first = *due_.begin();
  const auto dash = first.find('-');
  words in{std::string_view{first}.substr(0, dash)};
  return std::pair{from_ms(in.number<std::int64_t>()),
                   unescaped(std::string_view{first}.substr(dash + 1)).value_or("")};
}

}  // namespace afar::engines::zookeeper
