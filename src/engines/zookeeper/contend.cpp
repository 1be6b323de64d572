// Locks in Curator's layout: every contender is an ephemeral sequential node, the first one holds, and
// the others watch the one node that decides about them.
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using namespace std::chrono_literals;
using spi::access;
using spi::kind;

constexpr int most_tries = 10;  // folders may vanish under us, but not for ever

marker marker_of(kind k, access mode) {
  if (k == kind::election) return marker::latch;
  if (k != kind::shared_mutex) return marker::lock;
  return mode == access::shared ? marker::read : marker::write;
}

class contention : public std::enable_shared_from_this<contention> {
 public:
  contention(world_ptr w, standing_ptr s, const spi::claim& a, acquire_pledge p)
      : w_(std::move(w)),
        s_(std::move(s)),
        p_(std::move(p)),
        mode_(a.mode),
        lease_(a.lease),
        queue_(a.queue) {}

  void begin() {
    if (p_->given()) return;
    if (++tries_ > most_tries)
      return p_->give({errc::unavailable, "the nodes of this name vanish again and again"});
    const std::string& folder = s_->folder;
    request wanted[] = {{}, ask::children(folder)};
    std::span<const request> all{wanted};
    {
      const std::lock_guard lock{w_->m};
      if (!s_->node.empty()) {
        all = all.last(1);
      } else if (s_->in_doubt) {
        wanted[0] = ask::sync(folder);
      } else {
        s_->granted = s_->watched =
            false;  // what was granted and lost before its caller knew is over
        s_->gone = spi::loss::none;
        s_->in_doubt = true;
        creating_ = true;
        wanted[0] = ask::create(node_prefix(folder, s_->guid, marker_of(s_->kind, mode_)),
                                s_->says.text(), node_mode::ephemeral_sequential);
      }
    }
    AFAR_FAULT("zookeeper.create.before_send");
    w_->session.fly(all,
                    [self = shared_from_this()](std::vector<answer>& got) { self->landed(got); });
  }

 private:
  void landed(std::vector<answer>& got) {
    if (std::exchange(creating_, false) && !created(got.front())) return;
    list_ = std::move(got.back());
    if (list_.rc == ZNONODE) return make_folder();
    if (!list_.ok()) return p_->give(failure_of_read(list_.rc));
    bool known = false;
    auto mine = list_.names.end();
    {
      const std::lock_guard lock{w_->m};
      known = !s_->node.empty();
      if (known) mine = std::ranges::find(list_.names, name_of(s_->node));
    }
    if (!known) return find_again();
    if (mine == list_.names.end()) return stand_again();
    me_ = read_contender(*mine);
    check_use(w_, s_->path, s_->kind, list_.names, list_.stat,
              [self = shared_from_this()](spi::status wrong) {
                if (wrong) return refuse(self->w_, self->s_, self->p_, std::move(wrong));
                self->decide();
              });
  }

  std::string_view name_of(std::string_view node) const {
    return node.substr(s_->folder.size() + 1);
  }

  // False: the step goes on by itself, or is over.
  bool created(answer& a) {
    AFAR_FAULT("zookeeper.create.answered");
    if (a.ok()) {
      stands(std::move(a.text), a);
      return true;
    }
    spi::status failed = failure_of_write(a.rc);
    const bool unknown = failed.code == errc::unknown_outcome;
    {
      const std::lock_guard lock{w_->m};
      s_->in_doubt = unknown;
    }
    if (a.rc == ZNONODE)
      make_folder();
    else
      p_->give(std::move(failed));
    return false;
  }

  void stands(std::string path, const answer& a) {
    const std::lock_guard lock{w_->m};
    s_->node = std::move(path);
    s_->session = a.stat.ephemeralOwner;
    s_->token = a.created();
    s_->in_doubt = false;
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

  // The answer to a create was lost: did it happen?
  void find_again() {
    const std::string prefix = protected_prefix(s_->guid);
    const auto mine = std::ranges::find_if(
        list_.names, [&](const std::string& n) { return n.starts_with(prefix); });
    if (mine == list_.names.end() || AFAR_MUTANT("zookeeper.create.blind")) {
      {
        const std::lock_guard lock{w_->m};
        s_->in_doubt = false;
      }
      return begin();
    }
    std::string path = s_->folder + '/' + *mine;
    w_->session.fly(ask::exists(path), [self = shared_from_this(), path](std::vector<answer>& got) {
      const answer& a = got.front();
      if (!a.ok() && a.rc != ZNONODE) return self->p_->give(failure_of_read(a.rc));
      if (a.ok() && a.stat.ephemeralOwner == self->w_->session.id()) {
        self->stands(path, a);
      } else {  // of a session that is over: not ours any more
        const std::lock_guard lock{self->w_->m};
        self->s_->guid = new_guid();
        self->s_->in_doubt = false;
      }
      self->begin();
    });
  }

  void stand_again() {
    {
      const std::lock_guard lock{w_->m};
      s_->node.clear();
      s_->guid = new_guid();
    }
    begin();
  }

  void decide() {
    if (me_.order >= last_sequence)
      return refuse(
          w_, s_, p_,
          {errc::overflow, "the sequence numbers of " + s_->folder +
                               " are used up; they begin anew when nobody claims it for a moment"});
    contender ahead;
    std::size_t before = 0;
    for (const std::string& n : list_.names) {
      const contender c = read_contender(n);
      const bool counts =
          c.is != marker::foreign &&
          (mode_ != access::shared || s_->kind != kind::shared_mutex || c.is == marker::write);
      if (!counts || !c.before(me_)) continue;
      ++before;
      if (ahead.name.empty() || ahead.before(c)) ahead = c;
    }
    if (before == 0) return grant(w_, s_, lease_, p_);
    if (!queue_) return refuse(w_, s_, p_);
    spi::acquire_reply wait;
    wait.watch_key = watch_key(s_->folder, ahead);
    // A wake may get lost. Those behind look more seldom: a look of everybody costs the square of them.
    wait.retry_after = std::min<spi::milliseconds>(1s + before * 20ms, 30s);
    p_->give({}, std::move(wait));
  }

  const world_ptr w_;
  const standing_ptr s_;
  const acquire_pledge p_;
  const access mode_;
  const spi::milliseconds lease_;
  const bool queue_;
  bool creating_ = false;
  int tries_ = 0;
  answer list_;
  contender me_;  // in the list
};

}  // namespace

void contend(const world_ptr& w, const standing_ptr& s, const spi::claim& a, acquire_pledge p) {
  std::make_shared<contention>(w, s, a, std::move(p))->begin();
}

void grant(const world_ptr& w, const standing_ptr& s, spi::milliseconds wanted,
           const acquire_pledge& p) {
  spi::acquire_reply reply;
  reply.lease = w->lease_of(wanted);
  {
    const std::lock_guard lock{w->m};
    reply.granted = s->gone == spi::loss::none || s->kind == kind::barrier;  // that one is passed
    if (reply.granted) s->granted = true;
    reply.token = reply.last_token = s->token;
  }
  // It had been granted before, and that lapsed while it was asked again.
  if (!reply.granted) return p->give({errc::unknown_outcome, "its lease was over"});
  AFAR_FAULT("zookeeper.grant.before_told");
  w->keep(s, reply.lease);
  p->give({}, std::move(reply));
}

void refuse(const world_ptr& w, const standing_ptr& s, const acquire_pledge& p, spi::status why) {
  w->remove_nodes(s, false, [w, s, p, why = std::move(why)](std::vector<answer>& got) mutable {
    if (p->given()) return;
    removed_nodes done{got};
    if (done.failed) return p->give(std::move(done.failed));  // it is released, or asks again
    w->forget(s);
    p->give(std::move(why));
  });
}

}  // namespace afar::engines::zookeeper
