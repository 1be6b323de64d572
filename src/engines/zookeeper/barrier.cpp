// A barrier: members are ephemeral nodes named by a GUID, as in Curator's DistributedDoubleBarrier. Its
// outcome is written into all members' nodes by one transaction, whoever finds it: "done" when enough of
// them stand there, "broken" when one has left. A member with an outcome belongs to no round any more.
#include "engines/records/wrong_use.hpp"
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"

#include <algorithm>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using namespace std::chrono_literals;
using state = node_data::state;

constexpr int most_tries = 50;  // others may arrive and leave under every look

struct member {
  std::string name;
  std::uint64_t created = 0;
  int version = 0;
  node_data says;
};

// Those that still wait for an outcome, and this claim's own node.
struct round {
  std::vector<member> open;  // in the order of their arrival
  std::optional<member> mine;
};

request conclude(const std::string& folder, const member& m, state outcome, std::uint64_t token) {
  node_data says = m.says;
  says.is = outcome;
  says.token = token;
  return ask::set(folder + '/' + m.name, says.text(), m.version);
}

using round_known = detail::function<void(spi::status, round)>;

// Reads the members. A node without afar's data is a peer's, and no member.
void look(const world_ptr& w, const standing_ptr& s, const std::vector<std::string>& names,
          round_known then) {
  std::vector<std::string> members;
  std::vector<request> wanted;
  for (const std::string& n : names)
    if (read_contender(n).is == marker::member) {
      members.push_back(n);
      wanted.push_back(ask::get(s->folder + '/' + n));
    }
  w->session.fly(std::move(wanted), [members, mine = s->guid,
                                     then = std::move(then)](std::vector<answer>& got) mutable {
    round r;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i].rc == ZNONODE) continue;
      if (!got[i].ok()) return then(failure_of_read(got[i].rc), {});
      auto says = node_data::read(got[i].text);
      if (!says) continue;
      member m{members[i], got[i].created(), got[i].stat.version, std::move(*says)};
      if (m.name == mine) r.mine = m;
      if (m.says.is == state::open) r.open.push_back(std::move(m));
    }
    std::ranges::sort(r.open, {}, &member::created);
    then({}, std::move(r));
  });
}

class arrival : public std::enable_shared_from_this<arrival> {
 public:
  arrival(world_ptr w, standing_ptr s, const spi::claim& a, acquire_pledge p)
      : w_(std::move(w)),
        s_(std::move(s)),
        p_(std::move(p)),
        limit_(a.limit),
        lease_(a.lease),
        queue_(a.queue) {}

  void begin() {
    if (p_->given()) return;
    if (++tries_ > most_tries)
      return p_->give({errc::unavailable, "the barrier changes at every look"});
    std::vector<request> wanted;
    {
      const std::lock_guard lock{w_->m};
      if (s_->gone != spi::loss::none) {
        gone_ = true;
      } else if (s_->node.empty()) {
        s_->in_doubt = true;
        creating_ = true;
        wanted.push_back(
            ask::create(s_->folder + '/' + s_->guid, s_->says.text(), node_mode::ephemeral));
      } else {
        wanted.push_back(ask::sync(s_->folder));
      }
    }
    if (gone_) return broken();
    wanted.push_back(ask::children(s_->folder));
    w_->session.fly(std::move(wanted),
                    [self = shared_from_this()](std::vector<answer>& got) { self->landed(got); });
  }

 private:
  void landed(std::vector<answer>& got) {
    if (std::exchange(creating_, false) && !created(got.front())) return;
    const answer& list = got.back();
    if (list.rc == ZNONODE) return make_folder();
    if (!list.ok()) return p_->give(failure_of_read(list.rc));
    check_use(w_, s_->path, spi::kind::barrier, list.names, list.stat,
              [self = shared_from_this(), names = list.names](spi::status wrong) {
                if (wrong) return refuse(self->w_, self->s_, self->p_, std::move(wrong));
                look(self->w_, self->s_, names, [self](spi::status failed, round r) {
                  if (failed) return self->p_->give(std::move(failed));
                  self->judge(r);
                });
              });
  }

  bool created(const answer& a) {
    const bool stands = a.ok() || a.rc == ZNODEEXISTS;  // by a request whose answer was lost
    {
      const std::lock_guard lock{w_->m};
      if (stands) s_->node = s_->folder + '/' + s_->guid;
      s_->in_doubt = !stands && failure_of_write(a.rc).code == errc::unknown_outcome;
    }
    if (stands) return true;
    if (a.rc == ZNONODE)
      make_folder();
    else
      p_->give(failure_of_write(a.rc));
    return false;
  }

  void make_folder() {
    {
      const std::lock_guard lock{w_->m};
      s_->node.clear();
      s_->in_doubt = false;
    }
    w_->make_folders({s_->folder}, [self = shared_from_this()](int rc) {
      if (rc == ZOK || rc == ZNONODE) return self->begin();
      self->p_->give(failure_of_read(rc));
    });
  }

  void judge(const round& r) {
    if (!r.mine || r.mine->says.is == state::broken) return broken();
    if (r.mine->says.is == state::done) return passed(r.mine->says.token);
    for (const member& m : r.open)
      if (m.says.limit != limit_)
        return refuse(
            w_, s_, p_,
            records::wrong_use({spi::kind::barrier, m.says.limit}, {spi::kind::barrier, limit_}));
    if (somebody_left(r)) return write(r.open, state::broken, 0);
    if (r.open.size() >= limit_) {
      std::vector<member> in(r.open.begin(), r.open.begin() + limit_);
      const auto token = in.back().created;
      return write(in, state::done, token);
    }
    if (!queue_) return refuse(w_, s_, p_);
    spi::acquire_reply wait;
    wait.watch_key = "b" + s_->folder + '\n' + s_->guid;
    wait.retry_after = 1s;
    p_->give({}, std::move(wait));
  }

  // One that died without a word: we saw it, and no outcome has come.
  bool somebody_left(const round& r) {
    std::set<std::string> now;
    for (const member& m : r.open) now.insert(m.name);
    const std::lock_guard lock{w_->m};
    const bool left = !std::ranges::includes(now, s_->seen);
    s_->seen = std::move(now);
    return left;
  }

  void write(const std::vector<member>& in, state outcome, std::uint64_t token) {
    std::vector<request> parts;
    for (const member& m : in) parts.push_back(conclude(s_->folder, m, outcome, token));
    w_->session.fly(ask::multi(std::move(parts)),
                    [self = shared_from_this()](std::vector<answer>& got) {
                      const int rc = got.front().rc;
                      const bool changed = rc == ZBADVERSION || rc == ZNONODE;
                      if (rc != ZOK && !changed) return self->p_->give(failure_of_write(rc));
                      self->begin();  // what is written there counts
                    });
  }

  void passed(std::uint64_t token) {
    {
      const std::lock_guard lock{w_->m};
      s_->token = token;
    }
    grant(w_, s_, lease_, p_);
  }

  void broken() {
    refuse(w_, s_, p_, {errc::broken, "somebody left or died before the barrier was full"});
  }

  const world_ptr w_;
  const standing_ptr s_;
  const acquire_pledge p_;
  const std::uint32_t limit_;
  const spi::milliseconds lease_;
  const bool queue_;
  bool creating_ = false;
  bool gone_ = false;
  int tries_ = 0;
};

using left = detail::function<void(spi::status, bool)>;

class departure : public std::enable_shared_from_this<departure> {
 public:
  departure(world_ptr w, standing_ptr s, left then)
      : w_(std::move(w)), s_(std::move(s)), then_(std::move(then)) {}

  void begin() {
    w_->session.fly({ask::sync(s_->folder), ask::children(s_->folder)},
                    [self = shared_from_this()](std::vector<answer>& got) {
                      const answer& list = got.back();
                      if (list.rc == ZNONODE) return self->then_({}, false);
                      if (!list.ok()) return self->then_(failure_of_read(list.rc), false);
                      look(self->w_, self->s_, list.names, [self](spi::status failed, round r) {
                        if (failed) return self->then_(std::move(failed), false);
                        self->leave(r);
                      });
                    });
  }

 private:
  void leave(const round& r) {
    if (!r.mine) return then_({}, false);
    std::vector<request> parts{ask::remove(s_->folder + '/' + r.mine->name, r.mine->version)};
    if (r.mine->says.is == state::open)
      for (const member& m : r.open)
        if (m.name != r.mine->name) parts.push_back(conclude(s_->folder, m, state::broken, 0));
    w_->session.fly(ask::multi(std::move(parts)),
                    [self = shared_from_this()](std::vector<answer>& got) {
                      const int rc = got.front().rc;
                      if (rc == ZOK) return self->then_({}, true);
                      const bool changed = rc == ZBADVERSION || rc == ZNONODE;
                      if (!changed || ++self->tries_ > most_tries)
                        return self->then_(failure_of_write(rc), false);
                      self->begin();
                    });
  }

  const world_ptr w_;
  const standing_ptr s_;
  left then_;
  int tries_ = 0;
};

}  // namespace

void arrive(const world_ptr& w, const standing_ptr& s, const spi::claim& a, acquire_pledge p) {
  std::make_shared<arrival>(w, s, a, std::move(p))->begin();
}

void leave_barrier(const world_ptr& w, const standing_ptr& s, left then) {
  std::make_shared<departure>(w, s, std::move(then))->begin();
}

}  // namespace afar::engines::zookeeper
