// A barrier: members are ephemeral nodes named by a GUID, as in Curator's DistributedDoubleBarrier. Its
// outcome is written into all members' nodes by one transaction, whoever finds it: "done" when enough of
// them stand there, "broken" when one has left. A member with an outcome belongs to no round any more.
//
// Members of Curator and kazoo have no outcome: they pass when they see a node "ready" beside them, which
// the last to arrive creates. So it is part of the transaction of a round that has such members; and one
// that they create is an outcome for us.
#include "engines/records/wrong_use.hpp"
#include "engines/zookeeper/barrier_round.hpp"
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"

#include <algorithm>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using namespace std::chrono_literals;
using state = node_data::state;

constexpr int most_tries = 50;  // others may arrive and leave under every look
spi::status changes_at_every_look() {
  return {errc::unavailable, "the barrier changes at every look"};
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
    if (++tries_ > most_tries) return p_->give(changes_at_every_look());
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
    if (gone_) return without_a_node();
    if (const auto bell = listen_for_ready()) wanted.push_back(ask::exists(ready_of(*s_), bell));
    wanted.push_back(ask::children(s_->folder));
    w_->session.fly(wanted,
                    [self = shared_from_this()](std::vector<answer>& got) { self->landed(got); });
  }

 private:
  // Peers may remove "ready" again before we look, so that it was there has to be remembered. The number
  // of a new watch on it; 0: one hangs there, which all members of this client share.
  std::uint64_t listen_for_ready() {
    {
      const std::lock_guard lock{w_->m};
      const auto at = w_->ready_bells.find(s_->folder);
      const bool hangs = at != w_->ready_bells.end() && at->second && !at->second->load();
      if (s_->ready_bell || hangs) return 0;
    }
    new_bell_ = std::make_shared<std::atomic<bool>>(false);
    return w_->watches.once([bell = new_bell_] { bell->store(true); });
  }

  // Our node stands: what rings from now on has counted us.
  void listens(const std::vector<answer>& got) {
    const std::lock_guard lock{w_->m};
    auto& shared = w_->ready_bells[s_->folder];
    // There already: that one will ring when it goes.
    if (const auto hung = std::exchange(new_bell_, nullptr); hung && got[1].rc == ZNONODE)
      s_->ready_bell = shared = hung;
    else if (!s_->ready_bell && shared && !shared->load())
      s_->ready_bell = shared;
  }

  void landed(std::vector<answer>& got) {
    if (std::exchange(creating_, false) && !created(got.front())) return;
    listens(got);
    const answer& list = got.back();
    if (list.rc == ZNONODE) return make_folder();
    if (!list.ok()) return p_->give(failure_of_read(list.rc));
    check_use(w_, s_->path, spi::kind::barrier, list.names, list.stat,
              [self = shared_from_this(), names = list.names](spi::status wrong) {
                if (wrong) return refuse(self->w_, self->s_, self->p_, std::move(wrong));
                look(self->w_, self->s_, names,
                     [self](spi::status failed, const std::optional<round>& r) {
                       if (failed) return self->p_->give(std::move(failed));
                       r ? self->judge(*r) : self->begin();
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
    if (!r.mine) return without_a_node();
    if (r.mine->says.is == state::broken) return broken();
    if (r.mine->says.is == state::done) return passed(r.mine->says.token);
    if (!r.has_mine())
      return refuse(
          w_, s_, p_,
          records::wrong_use({spi::kind::barrier, r.limit()}, {spi::kind::barrier, limit_}));
    if (ready_came(r)) return write(r.of_ready(), state::done, {});
    if (r.ready && r.ready_is_left_over()) return remove_ready();
    if (somebody_left(r)) return write(r.open, state::broken, {});
    if (r.open.size() >= limit_) {
      std::vector<member> in(r.open.begin(), r.open.begin() + limit_);
      std::vector<request> more;
      if (std::ranges::any_of(in, &member::is_peer))
        more.push_back(ask::create(ready_of(*s_), {}, node_mode::persistent));
      return write(in, state::done, std::move(more));
    }
    if (!queue_) return refuse(w_, s_, p_);
    spi::acquire_reply wait;
    wait.watch_key = "b" + s_->folder + '\n' + s_->guid;
    wait.retry_after = 1s;
    p_->give({}, std::move(wait));
  }

  // A peer has seen enough members, and us among them.
  bool ready_came(const round& r) {
    if (r.ready) return *r.ready > r.mine->created;
    const std::lock_guard lock{w_->m};
    return s_->ready_bell && s_->ready_bell->load();
  }

  void remove_ready() {
    w_->session.fly(ask::remove(ready_of(*s_)), [self = shared_from_this()](auto& got) {
      const int rc = got.front().rc;
      if (rc != ZOK && rc != ZNONODE) return self->p_->give(failure_of_write(rc));
      self->begin();
    });
  }

  // One of our round that died without a word: we saw it, and no outcome has come.
  bool somebody_left(const round& r) {
    std::set<std::string> open;
    for (const member& m : r.open) open.insert(m.name);
    const std::lock_guard lock{w_->m};
    const bool left = !std::ranges::includes(open, s_->seen);
    s_->seen = r.with_mine(limit_);
    return left;
  }

  void write(const std::vector<member>& in, state outcome, std::vector<request> more) {
    const auto token = outcome == state::done ? in.back().created : 0;
    std::vector<request> parts = std::move(more);
    for (const member& m : in)
      if (!m.is_peer) parts.push_back(conclude(s_->folder, m, outcome, token));
    w_->session.fly(ask::multi(std::move(parts)),
                    [self = shared_from_this()](std::vector<answer>& got) {
                      const int rc = got.front().rc;
                      const bool changed = rc == ZBADVERSION || rc == ZNONODE || rc == ZNODEEXISTS;
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

  // Who was found to have passed has passed, whatever became of its node. With a session goes the outcome,
  // too, that others may have written into it.
  void without_a_node() {
    std::uint64_t token = 0;
    bool session_ended = false;
    {
      const std::lock_guard lock{w_->m};
      if (s_->granted) token = s_->token;
      session_ended = s_->gone == spi::loss::session;
    }
    if (token != 0) return passed(token);
    if (!session_ended) return broken();
    refuse(w_, s_, p_, {errc::lost, "the session ended before it was known whether all had come"});
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
  std::shared_ptr<std::atomic<bool>> new_bell_;
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
                      look(self->w_, self->s_, list.names,
                           [self](spi::status failed, const std::optional<round>& r) {
                             if (failed) return self->then_(std::move(failed), false);
                             r ? self->leave(*r) : self->again();
                           });
                    });
  }

 private:
  void leave(const round& r) {
    if (!r.mine) return then_({}, false);
    std::vector<request> parts{ask::remove(s_->folder + '/' + r.mine->name, r.mine->version)};
    if (r.has_mine())
      for (const member& m : r.open)
        if (m.name != r.mine->name && !m.is_peer)
          parts.push_back(conclude(s_->folder, m, state::broken, 0));
    w_->session.fly(ask::multi(std::move(parts)),
                    [self = shared_from_this()](std::vector<answer>& got) {
                      const int rc = got.front().rc;
                      if (rc == ZOK) return self->then_({}, true);
                      const bool changed = rc == ZBADVERSION || rc == ZNONODE;
                      if (!changed) return self->then_(failure_of_write(rc), false);
                      self->again();
                    });
  }

  void again() {
    if (++tries_ > most_tries) return then_(changes_at_every_look(), false);
    begin();
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
