#include "engines/zookeeper/barrier_round.hpp"

#include "engines/zookeeper/failure.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

constexpr const char* ready_name = "ready";  // Curator's and kazoo's word

// What a node's data says; a peer's says nothing to us.
member read_member(const std::string& name, const answer& a) {
  auto says = node_data::read(a.text);
  member m{.name = name,
           .created = a.created(),
           .version = a.stat.version,
           .is_peer = !says.has_value()};
  if (says) m.says = std::move(*says);
  return m;
}

// Peers that came before "ready" have passed. One that came later waits for the next.
bool waits(const member& m, const std::optional<std::uint64_t>& ready) {
  return m.is_peer ? !ready || *ready < m.created : m.says.is == node_data::state::open;
}

bool same(const answer& a, const answer& b) {
  return a.rc == b.rc && (!a.ok() || a.stat.version == b.stat.version);
}

}  // namespace

std::string ready_of(const standing& s) { return s.folder + '/' + ready_name; }

request conclude(const std::string& folder, const member& m, node_data::state outcome,
                 std::uint64_t token) {
  node_data says = m.says;
  says.is = outcome;
  says.token = token;
  return ask::set(folder + '/' + m.name, says.text(), m.version);
}

std::uint32_t round::limit() const {
  const auto ours = std::ranges::find(open, false, &member::is_peer);
  return ours == open.end() ? 0 : ours->says.limit;
}

bool round::has_mine() const {
  return mine && std::ranges::find(open, mine->name, &member::name) != open.end();
}

std::set<std::string> round::with_mine(std::uint32_t participants) const {
  const auto at = std::ranges::find(open, mine->name, &member::name) - open.begin();
  std::set<std::string> names;
  for (const member& m :
       open | std::views::drop(at - at % participants) | std::views::take(participants))
    names.insert(m.name);
  return names;
}

std::vector<member> round::of_ready() const {
  std::vector<member> in;
  for (const member& m : open)
    if (!m.is_peer && (ready ? m.created < *ready : m.name == mine->name)) in.push_back(m);
  return in;
}

// All is read twice, and what was the same both times stood so when "ready" was read between them.
// ZooKeeper has no reading of several nodes at once, and half of a round that is concluded meanwhile would
// look like members that are still there.
void look(const world_ptr& w, const standing_ptr& s, const std::vector<std::string>& names,
          detail::function<void(spi::status, std::optional<round>)> then) {
  std::vector<std::string> members;
  std::ranges::copy_if(names, std::back_inserter(members),
                       [](const std::string& n) { return read_contender(n).is == marker::member; });
  std::vector<request> wanted;
  wanted.reserve(2 * members.size() + 1);
  for (const std::string& m : members) wanted.push_back(ask::get(s->folder + '/' + m));
  wanted.push_back(ask::exists(ready_of(*s)));
  for (const std::string& m : members) wanted.push_back(ask::exists(s->folder + '/' + m));
  w->session.fly(
      wanted, [members, mine = s->guid, then = std::move(then)](std::vector<answer>& got) mutable {
        for (const answer& a : got)
          if (!a.ok() && a.rc != ZNONODE) return then(failure_of_read(a.rc), {});
        const std::size_t between = members.size();
        const std::span all{got};
        if (!std::ranges::equal(all.first(between), all.subspan(between + 1), same))
          return then({}, {});
        round r;
        if (got[between].ok()) r.ready = got[between].created();
        for (std::size_t i = 0; i < between; ++i) {
          if (!got[i].ok()) continue;
          member m = read_member(members[i], got[i]);
          r.first = r.first == 0 ? m.created : std::min(r.first, m.created);
          if (m.name == mine) r.mine = m;
          if (waits(m, r.ready)) r.open.push_back(std::move(m));
        }
        std::ranges::sort(r.open, {}, &member::created);
        std::erase_if(r.open, [limit = r.limit()](const member& m) {
          return !m.is_peer && m.says.limit != limit;
        });
        then({}, std::move(r));
      });
}

}  // namespace afar::engines::zookeeper
