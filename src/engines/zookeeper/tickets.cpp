#include "engines/zookeeper/tickets.hpp"

#include "engines/zookeeper/names.hpp"

#include <fmt/format.h>

#include <charconv>

namespace afar::engines::zookeeper {

tickets::tickets(const target& to) : beginning_(tickets_folder(to) + '/' + new_guid() + '-') {}

ticket tickets::borrow() {
  const std::lock_guard lock{m_};
  if (!free_.empty()) {
    ticket t = std::move(free_.back());
    free_.pop_back();
    return t;
  }
  made_.push_back(beginning_ + std::to_string(made_.size()));
  return {.path = made_.back()};
}

void tickets::give_back(ticket t) {
  const std::lock_guard lock{m_};
  free_.push_back(std::move(t));
}

std::vector<std::string> tickets::all() {
  const std::lock_guard lock{m_};
  return made_;
}

std::optional<change_memory> tickets::known(const spi::op_id& id) {
  const std::lock_guard lock{m_};
  const auto at = changes_.find(id.owner);
  if (at == changes_.end()) return std::nullopt;
  return at->second;
}

void tickets::remember(const spi::op_id& id, change_memory what) {
  const std::lock_guard lock{m_};
  // Those that are settled are never asked for again.
  for (auto at = changes_.begin(); at != changes_.end() && at->first.number < id.settled;) {
    if (at->second.written_on) free_.push_back(std::move(*at->second.written_on));
    at = changes_.erase(at);
  }
  changes_[id.owner] = std::move(what);
}

std::string tickets::text(const spi::op_id& id, const spi::cell_reply& r) {
  return fmt::format("{} {} {} {}", id.owner.text(), r.exists ? 1 : 0, r.value, r.before);
}

std::optional<spi::cell_reply> tickets::read(std::string_view text, const spi::op_id& id) {
  const std::string head = id.owner.text() + ' ';
  if (!text.starts_with(head)) return std::nullopt;
  text.remove_prefix(head.size());
  const auto next = [&] {
    std::int64_t n = 0;
    const auto got = std::from_chars(text.data(), text.data() + text.size(), n);
    text.remove_prefix(static_cast<std::size_t>(got.ptr - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
    return n;
  };
  spi::cell_reply r;
  r.applied = true;
  r.exists = next() != 0;
  r.value = next();
  r.before = next();
  return r;
}

}  // namespace afar::engines::zookeeper
