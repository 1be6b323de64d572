#include "engines/zookeeper/survey.hpp"

#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/ledger.hpp"
#include "engines/zookeeper/stored.hpp"

#include <algorithm>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using answers = std::vector<answer>;

constexpr std::size_t names_per_flight = 64;
constexpr std::size_t most_evictions = 64;
constexpr std::chrono::hours ticket_life{1};

// All names, in their order, a few at a time.
class survey_step : public std::enable_shared_from_this<survey_step> {
 public:
  survey_step(world_ptr w, const spi::survey_query& q, std::shared_ptr<pledge<spi::survey_reply>> p)
      : w_(std::move(w)),
        p_(std::move(p)),
        kind_(q.kind),
        cursor_(q.cursor),
        most_(std::max<std::size_t>(q.most, 1)) {}

  void begin() {
    w_->session.fly({ask::sync(w_->to.base), ask::children(w_->to.base)},
                    [self = shared_from_this()](answers& got) {
                      const answer& list = got[1];
                      if (list.rc == ZNONODE) return self->p_->give({});
                      if (!list.ok()) return self->p_->give(failure_of_read(list.rc));
                      for (const std::string& n : list.names) {
                        auto name = unescaped(n);
                        if (name && *name > self->cursor_) self->names_.push_back(std::move(*name));
                      }
                      std::ranges::sort(self->names_);
                      self->next();
                    });
  }

 private:
  struct part {
    std::vector<std::optional<seen_name>> found;
    std::atomic<std::size_t> missing{0};
    std::mutex m;
    spi::status failed;
  };

  void next() {
    if (p_->given()) return;
    if (at_ == names_.size()) return p_->give({}, std::move(reply_));
    const std::size_t n = std::min(names_per_flight, names_.size() - at_);
    auto all = std::make_shared<part>();
    all->found.resize(n);
    all->missing = n;
    for (std::size_t i = 0; i < n; ++i) {
      const std::string& name = names_[at_ + i];
      look_at(w_, *path_of(w_->to, name), name,
              [self = shared_from_this(), all, i](spi::status s, std::optional<seen_name> seen) {
                {
                  const std::lock_guard lock{all->m};
                  all->found[i] = std::move(seen);
                  if (s) all->failed = std::move(s);
                }
                if (all->missing.fetch_sub(1) == 1) self->looked(*all);
              });
    }
  }

  void looked(part& all) {
    if (all.failed) return p_->give(std::move(all.failed));
    at_ += all.found.size();
    for (auto& found : all.found) {
      if (!found || (kind_ && *kind_ != found->entry.kind)) continue;
      if (reply_.entries.size() == most_) {  // one too many: there is a next page
        reply_.cursor = reply_.entries.back().name;
        return p_->give({}, std::move(reply_));
      }
      found->entry.format.clear();  // of exact names only
      found->entry.token_source.clear();
      found->entry.key.clear();
      reply_.entries.push_back(std::move(found->entry));
    }
    next();
  }

  const world_ptr w_;
  const std::shared_ptr<pledge<spi::survey_reply>> p_;
  const std::optional<spi::kind> kind_;
  const std::string cursor_;
  const std::size_t most_;
  std::vector<std::string> names_;
  std::size_t at_ = 0;
  spi::survey_reply reply_;
};

class collection : public std::enable_shared_from_this<collection> {
 public:
  collection(world_ptr w, std::shared_ptr<pledge<std::uint64_t>> p)
      : w_(std::move(w)), p_(std::move(p)) {}

  void begin() {
    const std::string clock = w_->to.base + "/%clock";
    w_->session.fly(
        {ask::set(clock, {}), ask::children(w_->to.base), ask::children(tickets_folder(w_->to))},
        [self = shared_from_this()](answers& got) {
          if (got[1].rc == ZNONODE) return self->p_->give({});
          if (!got[1].ok()) return self->p_->give(failure_of_read(got[1].rc));
          for (const std::string& n : got[1].names)
            if (!n.starts_with('%') || unescaped(n))
              self->names_.push_back(self->w_->to.base + '/' + n);
          if (got[0].ok()) self->now_ = spi::milliseconds{got[0].stat.mtime};
          self->old_tickets(got[2].names);
        });
  }

 private:
  // Of clients that died. A living one makes a new ticket if somebody took its old one.
  void old_tickets(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    std::vector<request> wanted;
    for (const std::string& n : names) {
      paths.push_back(tickets_folder(w_->to) + '/' + n);
      wanted.push_back(ask::exists(paths.back()));
    }
    w_->session.fly(wanted, [self = shared_from_this(), paths](answers& got) {
      std::vector<request> old;
      for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i].ok() && spi::milliseconds{got[i].stat.mtime} + ticket_life < self->now_)
          old.push_back(ask::remove(paths[i], got[i].stat.version));
      self->w_->session.fly(old, [self](answers& removed) {
        self->count(removed);
        self->next();
      });
    });
  }

  void count(const answers& removed) {
    for (const answer& a : removed)
      if (a.ok()) ++count_;
  }

  void next() {
    if (p_->given()) return;
    if (names_.empty()) return p_->give({}, count_);
    const std::string path = std::move(names_.back());
    names_.pop_back();
    w_->session.fly(ask::get(path), [self = shared_from_this(), path](answers& got) {
      const answer& a = got[0];
      if (!a.ok()) return self->next();
      if (a.text == erased_stock) return self->remove_stock(path);
      if (!a.text.empty()) return self->next();
      self->remove_folder(path);
    });
  }

  void remove_stock(const std::string& path) {
    remove_all(w_, path, [self = shared_from_this()](const spi::status&, std::uint64_t n) {
      self->count_ += n;
      self->next();
    });
  }

  // A folder in use has children, and the server refuses.
  void remove_folder(const std::string& path) {
    w_->session.fly({ask::remove(path + std::string{locks_folder}),
                     ask::remove(path + std::string{leases_folder}), ask::remove(path)},
                    [self = shared_from_this()](answers& got) {
                      self->count({got.back()});
                      self->next();
                    });
  }

  const world_ptr w_;
  const std::shared_ptr<pledge<std::uint64_t>> p_;
  std::vector<std::string> names_;
  spi::milliseconds now_{};
  std::uint64_t count_ = 0;
};

// Whether this engine has broken it lately; it may be asked again because its answer was lost.
bool broken_by_us(world& w, const spi::owner_id& owner, std::uint64_t token) {
  const std::lock_guard lock{w.m};
  return std::ranges::find(w.evicted, std::pair{owner, token}) != w.evicted.end();
}

}  // namespace

void survey(const world_ptr& w, const spi::survey_query& q,
            std::shared_ptr<pledge<spi::survey_reply>> p) {
  if (q.name.empty()) return std::make_shared<survey_step>(w, q, std::move(p))->begin();
  const auto path = path_of(w->to, q.name);
  if (!path) return p->give({errc::bad_argument, "no legal path (?paths=curator)"});
  w->session.fly(ask::sync(w->to.base), [w, path = *path, name = std::string{q.name}, kind = q.kind,
                                         p](answers& got) {
    if (!got[0].ok()) return p->give(failure_of_read(got[0].rc));
    look_at(w, path, name, [w, p, path, kind](spi::status s, std::optional<seen_name> seen) {
      spi::survey_reply reply;
      reply.watch_key = "s" + path;
      // Its nodes do not tell which of the two it is.
      if (seen && w->to.election_is_mutex && kind == spi::kind::election &&
          seen->entry.kind == spi::kind::mutex)
        seen->entry.kind = spi::kind::election;
      if (seen && (!kind || *kind == seen->entry.kind))
        reply.entries.push_back(std::move(seen->entry));
      p->give(std::move(s), std::move(reply));
    });
  });
}

void evict(const world_ptr& w, const spi::resource& what, const spi::owner_id& owner,
           std::uint64_t token, std::shared_ptr<pledge<spi::release_reply>> p) {
  const auto path = path_of(w->to, what.name);
  if (!path) return p->give({errc::bad_argument, "no legal path (?paths=curator)"});
  w->session.fly(ask::sync(w->to.base), [w, path = *path, owner, token, p](answers& synced) {
    if (!synced[0].ok()) return p->give(failure_of_read(synced[0].rc));
    look_at(w, path, {}, [w, owner, token, p](spi::status s, std::optional<seen_name> seen) {
      if (s) return p->give(std::move(s));
      std::vector<request> wanted;
      if (seen) {
        for (const auto& [holder, node] : seen->nodes)
          if (holder.owner == owner && holder.token == token) wanted.push_back(ask::remove(node));
      }
      if (wanted.empty())
        return p->give({}, broken_by_us(*w, owner, token) ? spi::release_reply::released
                                                          : spi::release_reply::gone);
      {
        const std::lock_guard lock{w->m};
        w->evicted.emplace_back(owner, token);
        if (w->evicted.size() > most_evictions) w->evicted.pop_front();
      }
      w->session.fly(wanted, [p](answers& got) {
        for (const answer& a : got)
          if (!a.ok() && a.rc != ZNONODE) return p->give(failure_of_write(a.rc));
        p->give({}, spi::release_reply::released);
      });
    });
  });
}

void ask_back(const world_ptr& w, std::string_view node, std::shared_ptr<pledge<bool>> p) {
  const marker is = read_contender(node.substr(node.rfind('/') + 1)).is;
  if (is == marker::lease || is == marker::member)
    return p->give({errc::unsupported, "only who holds a lock or leads can be asked"});
  w->session.fly(ask::set(std::string{node}, std::string{revoke}), [p](answers& got) {
    const answer& a = got.front();
    if (!a.ok() && a.rc != ZNONODE) return p->give(failure_of_write(a.rc));
    p->give({}, a.ok());
  });
}

void collect(const world_ptr& w, std::shared_ptr<pledge<std::uint64_t>> p) {
  std::make_shared<collection>(w, std::move(p))->begin();
}

}  // namespace afar::engines::zookeeper
