#include "engines/zookeeper/world.hpp"

#include "engines/zookeeper/failure.hpp"

#include <algorithm>

namespace afar::engines::zookeeper {
world::world(target t, spi::host& h)
    : to(std::move(t)), up(h), session(to, timer, *this), watches(session, h) {}

// ---- events -------------------------------------------------------------------------------------

void world::connected() noexcept {
  watches.set_again();
  remove_strays();
  up.wake_all();
}

void world::expired() noexcept {
  watches.session_ended();
  {
    const std::lock_guard lock{m};
    ready_bells.clear();
    for (auto at = standings.begin(); at != standings.end();) {
      standing& s = *at->second;
      if (s.granted || s.kind == spi::kind::barrier) s.gone = spi::loss::session;
      s.node.clear();
      s.guid = new_guid();  // a server that lags may still show the old nodes
      s.leases.clear();
      s.in_doubt = s.watched = false;
      at = s.leaving ? standings.erase(at) : std::next(at);
    }
    strays.clear();
  }
  up.session_lost();
}

void world::changed(std::uint64_t watch) noexcept { watches.rang(watch); }

// ---- standings ----------------------------------------------------------------------------------

standing_ptr world::enter(const spi::claim& a) {
  const std::lock_guard lock{m};
  if (const auto at = standings.find(a.owner); at != standings.end()) {
    // Asked again after its grant came too late and has lapsed: it begins anew. A member that its
    // barrier has lost stays so.
    const bool over = at->second->gone != spi::loss::none && at->second->kind != spi::kind::barrier;
    if (!over) return at->second;
    standings.erase(at);
  }
  auto path = path_of(to, a.what.name);
  if (!path) return nullptr;
  auto s = std::make_shared<standing>();
  s->owner = a.owner;
  s->kind = a.what.kind;
  if (s->kind == spi::kind::mutex && to.mutex_is_semaphore) s->kind = spi::kind::permits;
  if (s->kind == spi::kind::election && to.election_is_mutex) s->kind = spi::kind::mutex;
  s->path = std::move(*path);
  s->folder = s->path;
  if (s->kind == spi::kind::permits) s->folder += locks_folder;
  s->guid = new_guid();
  s->mode = a.mode;
  s->says = {.owner = a.owner,
             .kind = s->kind,
             .permits = a.permits,
             .limit = a.limit,
             .lease = a.lease,
             .note = std::string{a.note}};
  standings.emplace(a.owner, s);
  return s;
}

standing_ptr world::find(const spi::owner_id& owner) {
  const std::lock_guard lock{m};
  const auto at = standings.find(owner);
  return at == standings.end() ? nullptr : at->second;
}

bool world::knows(const standing_ptr& s) const {
  const auto at = standings.find(s->owner);
  return at != standings.end() && at->second == s;
}

void world::forget(const standing_ptr& s) {
  const std::lock_guard lock{m};
  if (knows(s)) standings.erase(s->owner);
  strays.erase(s);
}

void world::when_still(const standing_ptr& s, detail::function<void()> then) {
  {
    const std::lock_guard lock{m};
    if (s->overdue > 0) return s->afterwards.push_back(std::move(then));
  }
  then();
}

spi::milliseconds world::lease_of(spi::milliseconds wanted) const {
  return std::min(wanted, session.timeout() * 2 / 3);
}

void world::keep(const standing_ptr& s, spi::milliseconds lease) {
  const auto until = boot_clock::now() + lease;
  bool first = false;
  {
    const std::lock_guard lock{m};
    first = s->lapses == spi::time_point{};
    s->lapses = until;
  }
  if (first) lapse(s);
}

// The core counts the same lease from an earlier moment, so a hold is over before its node is.
void world::lapse(const standing_ptr& s) {
  const auto now = boot_clock::now();
  spi::time_point due;
  bool search = false;
  {
    const std::lock_guard lock{m};
    due = s->lapses;
    if (due <= now) {
      s->lapses = {};
      if (!s->granted || s->leaving || !knows(s)) return;
      s->gone = spi::loss::expired;
      search = s->in_doubt;
      strays.insert(s);
    }
  }
  if (due > now)
    return timer.at(due, [this, weak = std::weak_ptr{s}] {
      if (const auto there = weak.lock()) lapse(there);
    });
  remove_stray(s, search);
}

std::uint64_t world::own_watch(const standing_ptr& s) {
  return watches.once([weak = weak_from_this(), of = std::weak_ptr{s}] {
    const auto self = weak.lock();
    const auto there = of.lock();
    if (self && there) self->look_at_own(there);
  });
}

void world::look_at_own(const standing_ptr& s) {
  std::string node;
  {
    const std::lock_guard lock{m};
    if (s->gone != spi::loss::none || s->leaving || s->node.empty()) return;
    node = s->node;
  }
  session.fly(ask::get(node, own_watch(s)),
              [self = shared_from_this(), s, node](std::vector<answer>& got) {
                const answer& a = got.front();
                if (a.ok() && a.text == revoke) return self->asked(s, a);
                if (a.rc != ZNONODE) return;
                {
                  const std::lock_guard lock{self->m};
                  if (s->node != node || !self->standings.contains(s->owner)) return;
                  s->gone = spi::loss::evicted;
                }
                self->up.in_doubt();
              });
}

void world::asked(const standing_ptr& s, const answer& question) {
  up.asked(s->owner);
  std::string node;
  node_data says;
  {
    const std::lock_guard lock{m};
    if (s->gone != spi::loss::none || s->leaving || s->node.empty()) return;
    node = s->node;
    says = s->says;
    says.token = s->token;
  }
  // Not over a later question.
  session.fly(ask::set(node, says.text(), question.stat.version), [](std::vector<answer>&) {});
}

// ---- nodes --------------------------------------------------------------------------------------

void world::make_folders(std::vector<std::string> paths, detail::function<void(int)> then) {
  std::vector<request> wanted;
  for (std::size_t at = paths.front().find('/', 1); at != std::string::npos;
       at = paths.front().find('/', at + 1))
    wanted.push_back(ask::create(paths.front().substr(0, at), {}, node_mode::container));
  for (std::string& p : paths)
    wanted.push_back(ask::create(std::move(p), {}, node_mode::container));
  session.fly(wanted, [then = std::move(then)](std::vector<answer>& got) mutable {
    int rc = ZOK;
    for (const answer& a : got)
      if (!a.ok() && a.rc != ZNODEEXISTS) rc = a.rc;
    then(rc);
  });
}

removed_nodes::removed_nodes(const std::vector<answer>& got) {
  for (const answer& a : got) {
    any = any || a.ok();
    if (a.ok() || a.rc == ZNONODE) continue;
    failed = failure_of_write(a.rc);
    any = false;
    return;
  }
}

void world::remove_nodes(const standing_ptr& s, bool search, zookeeper::session::landed then) {
  std::vector<request> wanted;
  bool worn = false;
  {
    const std::lock_guard lock{m};
    worn = read_contender(s->node).order >= worn_sequence;
    if (!s->node.empty()) wanted.push_back(ask::remove(s->node));
    for (const std::string& l : s->leases) wanted.push_back(ask::remove(l));
  }
  if (worn) then = and_folder(s, std::move(then));
  if (search) return search_nodes(s, std::move(wanted), std::move(then));
  session.fly(wanted, std::move(then));
}

// Not if somebody else stands there, whom the server protects. Whoever comes after our answer finds a folder
// that counts from 0.
zookeeper::session::landed world::and_folder(const standing_ptr& s,
                                             zookeeper::session::landed then) {
  return [self = shared_from_this(), s, then = std::move(then)](std::vector<answer>& got) mutable {
    if (removed_nodes{got}.failed) return then(got);
    self->session.fly(ask::remove(s->folder), [got = std::move(got), then = std::move(then)](
                                                  std::vector<answer>&) mutable { then(got); });
  };
}

// Those that are not known as well.
void world::search_nodes(const standing_ptr& s, std::vector<request> wanted,
                         zookeeper::session::landed then) {
  std::string prefix;
  std::vector<std::string> folders{s->folder};
  {
    const std::lock_guard lock{m};
    prefix = s->kind == spi::kind::barrier ? s->guid : protected_prefix(s->guid);
    if (s->kind == spi::kind::permits) folders.push_back(s->path + std::string{leases_folder});
  }
  std::vector<request> lists{ask::sync(to.base)};
  for (const std::string& f : folders) lists.push_back(ask::children(f));
  session.fly(lists, [self = shared_from_this(), folders, prefix, wanted = std::move(wanted),
                      then = std::move(then)](std::vector<answer>& got) mutable {
    if (removed_nodes{got}.failed) return then(got);
    for (std::size_t i = 0; i < got.size(); ++i)
      for (const std::string& n : got[i].names) {
        if (!n.starts_with(prefix)) continue;
        std::string path = folders[i - 1] + '/' + n;
        const auto known = [&](const request& r) { return r.path == path; };
        if (std::ranges::none_of(wanted, known)) wanted.push_back(ask::remove(std::move(path)));
      }
    self->session.fly(wanted, std::move(then));
  });
}

// Removals that failed go on in the background until they are done.
void world::remove_strays() {
  std::set<standing_ptr> all;
  {
    const std::lock_guard lock{m};
    all = strays;
  }
  for (const standing_ptr& s : all) remove_stray(s, true);
}

void world::remove_stray(const standing_ptr& s, bool search) {
  when_still(s, [self = shared_from_this(), s, search] {
    self->remove_nodes(s, search, [self, s](std::vector<answer>& got) {
      if (removed_nodes{got}.failed) return;
      const std::lock_guard lock{self->m};
      self->strays.erase(s);
      // Who has lapsed is told so when it asks.
      if (s->leaving && self->knows(s)) self->standings.erase(s->owner);
    });
  });
}

}  // namespace afar::engines::zookeeper
