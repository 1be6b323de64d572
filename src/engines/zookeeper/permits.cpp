// Permits in the layout of Curator's InterProcessSemaphoreV2: whoever is first in <name>/locks may put
// nodes into <name>/leases as long as there are not more than the limit. All permits of a claim come in
// one transaction, which also leaves the line: two claims of several permits cannot block each other.
#include "engines/records/wrong_use.hpp"
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"
#include "engines/zookeeper/stored.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using namespace std::chrono_literals;
using spi::kind;

constexpr int most_tries = 10;
// One that does not queue lets those pass who are about to have theirs: 100 ms at most.
constexpr int most_looks = 20;
constexpr auto between_looks = 5ms;

class permit_step : public std::enable_shared_from_this<permit_step> {
 public:
  permit_step(world_ptr w, standing_ptr s, const spi::claim& a, acquire_pledge p)
      : w_(std::move(w)),
        s_(std::move(s)),
        p_(std::move(p)),
        permits_(a.permits),
        limit_(a.limit),
        lease_(a.lease),
        queue_(a.queue),
        leases_(s_->path + std::string{leases_folder}) {}

  void begin() {
    if (p_->given()) return;
    if (++tries_ > most_tries + most_looks)
      return p_->give({errc::unavailable, "the nodes of this name vanish again and again"});
    std::vector<request> wanted;
    {
      const std::lock_guard lock{w_->m};
      if (s_->node.empty() && !s_->in_doubt && !s_->granted) {
        s_->in_doubt = true;
        creating_ = true;
        wanted.push_back(ask::create(node_prefix(s_->folder, s_->guid, marker::lock),
                                     s_->says.text(), node_mode::ephemeral_sequential));
      } else {
        wanted.push_back(ask::sync(s_->path));
      }
      stands_ = !s_->node.empty();
    }
    wanted.push_back(ask::children(s_->folder));
    wanted.push_back(ask::children(leases_));
    wanted.push_back(ask::get(leases_));
    // Who stands in line has looked at the rest before.
    if (!stands_) wanted.push_back(ask::children(s_->path));
    w_->session.fly(wanted, [self = shared_from_this()](answers& got) { self->landed(got); });
  }

 private:
  using answers = std::vector<answer>;
  enum at : std::size_t { first, in_line, in_leases, limit_of, in_name };

  void landed(answers& got) {
    if (std::exchange(creating_, false) && !created(got[first])) return;
    for (std::size_t i = in_line; i < got.size(); ++i) {
      if (got[i].rc == ZNONODE) return make_folders(got[in_line].rc == ZNONODE);
      if (!got[i].ok()) return p_->give(failure_of_read(got[i].rc));
    }
    if (stands_) return judge(got);
    const auto all = std::make_shared<answers>(std::move(got));
    check_use(w_, s_->path, kind::permits, (*all)[in_name].names, (*all)[in_name].stat,
              [self = shared_from_this(), all](spi::status wrong) {
                if (wrong) return refuse(self->w_, self->s_, self->p_, std::move(wrong));
                self->judge(*all);
              });
  }

  bool created(const answer& a) {
    spi::status failed = a.ok() ? spi::status{} : failure_of_write(a.rc);
    {
      const std::lock_guard lock{w_->m};
      s_->in_doubt = failed.code == errc::unknown_outcome;
      if (a.ok()) stands(a.text, a);
    }
    if (a.ok()) return true;
    if (a.rc == ZNONODE)
      make_folders(true);
    else
      p_->give(std::move(failed));
    return false;
  }

  void stands(const std::string& path, const answer& a) {  // m held
    s_->node = path;
    s_->session = a.stat.ephemeralOwner;
    s_->token = a.created();
    s_->says.token = s_->token;
    s_->in_doubt = false;
  }

  // The server removes empty folders. With that of the line our place in it is gone too; with that of the
  // permits it is not, and a second place behind our own would wait for ourselves.
  void make_folders(bool line_is_gone) {
    if (line_is_gone) {
      const std::lock_guard lock{w_->m};
      s_->node.clear();
      s_->in_doubt = false;
    }
    w_->make_folders({s_->path, s_->folder, leases_}, [self = shared_from_this()](int rc) {
      if (rc == ZOK || rc == ZNONODE) return self->begin();
      self->p_->give(failure_of_read(rc));
    });
  }

  void judge(const answers& got) {
    const std::string prefix = protected_prefix(s_->guid);
    std::vector<std::string> mine;
    for (const std::string& n : got[in_leases].names)
      if (n.starts_with(prefix)) mine.push_back(leases_ + '/' + n);
    if (!mine.empty()) return have(std::move(mine));

    std::string node;
    {
      const std::lock_guard lock{w_->m};
      node = s_->node;
    }
    const auto& line = got[in_line].names;
    const auto me =
        std::ranges::find_if(line, [&](const std::string& n) { return n.starts_with(prefix); });
    if (me == line.end()) return start_over();
    if (node.empty()) return find_again(s_->folder + '/' + *me);

    const auto limit = stored_limit(got[limit_of].text);
    const bool used = !got[in_leases].names.empty() || line.size() > 1;
    if (limit && *limit != limit_ && used)
      return refuse(w_, s_, p_,
                    records::wrong_use({kind::permits, *limit}, {kind::permits, limit_}));
    decide(read_contender(*me), line, got[in_leases].names.size(), limit != limit_);
  }

  // Its node is gone and it has no permits: it was broken while it stood in line, or has lapsed before
  // its grant was known.
  void start_over() {
    {
      const std::lock_guard lock{w_->m};
      s_->node.clear();
      s_->in_doubt = false;
      s_->granted = s_->watched = false;
      s_->gone = spi::loss::none;
      s_->guid = new_guid();
    }
    begin();
  }

  void find_again(const std::string& path) {
    w_->session.fly(ask::exists(path), [self = shared_from_this(), path](answers& got) {
      const answer& a = got.front();
      if (!a.ok() && a.rc != ZNONODE) return self->p_->give(failure_of_read(a.rc));
      if (!a.ok() || a.stat.ephemeralOwner != self->w_->session.id()) return self->start_over();
      {
        const std::lock_guard lock{self->w_->m};
        self->stands(path, a);
      }
      self->begin();
    });
  }

  void decide(const contender& me, const std::vector<std::string>& line, std::size_t out,
              bool tell_limit) {
    contender ahead;
    for (const std::string& n : line) {
      const contender c = read_contender(n);
      if (c.is == marker::foreign || !c.before(me)) continue;
      if (ahead.name.empty() || ahead.before(c)) ahead = c;
    }
    const bool enough = out + permits_ <= limit_;
    if (ahead.name.empty() && enough) return take(tell_limit);
    if (!queue_) {
      if (!enough || ++looks_ > most_looks) return refuse(w_, s_, p_);
      return w_->timer.at(boot_clock::now() + between_looks,
                          [self = shared_from_this()] { self->begin(); });
    }
    spi::acquire_reply wait;
    wait.watch_key = ahead.name.empty() ? "k" + leases_ : watch_key(s_->folder, ahead);
    wait.retry_after = 1s;
    p_->give({}, std::move(wait));
  }

  void take(bool tell_limit) {
    if (p_->given()) return;  // nobody would have them
    std::vector<request> parts;
    {
      const std::lock_guard lock{w_->m};
      for (std::uint32_t i = 0; i < permits_; ++i)
        parts.push_back(ask::create(node_prefix(leases_, s_->guid, marker::lease), s_->says.text(),
                                    node_mode::ephemeral_sequential));
      if (tell_limit) parts.push_back(ask::set(leases_, limit_text(limit_)));
      parts.push_back(ask::remove(s_->node));
      s_->in_doubt = true;
    }
    AFAR_FAULT("zookeeper.permits.before_send");
    w_->session.fly(ask::multi(std::move(parts)), [self = shared_from_this()](answers& got) {
      AFAR_FAULT("zookeeper.permits.answered");
      if (got.front().ok()) return self->taken(got.front().names);
      if (got.front().rc == ZNONODE) return self->begin();
      self->p_->give(failure_of_write(got.front().rc));
    });
  }

  void taken(std::vector<std::string> created) {
    std::erase(created, "");  // parts that created nothing
    have(std::move(created));
  }

  void have(std::vector<std::string> leases) {
    {
      const std::lock_guard lock{w_->m};
      s_->leases = std::move(leases);
      s_->node = s_->leases.front();  // the one that is watched
      s_->in_doubt = false;
    }
    grant(w_, s_, lease_, p_);
  }

  const world_ptr w_;
  const standing_ptr s_;
  const acquire_pledge p_;
  const std::uint32_t permits_;
  const std::uint32_t limit_;
  const spi::milliseconds lease_;
  const bool queue_;
  const std::string leases_;
  bool creating_ = false;
  bool stands_ = false;
  int tries_ = 0;
  int looks_ = 0;
};

}  // namespace

void take_permits(const world_ptr& w, const standing_ptr& s, const spi::claim& a,
                  acquire_pledge p) {
  if (a.what.kind == kind::permits && (a.permits == 0 || a.permits > a.limit)) {
    w->forget(s);
    return p->give(
        {errc::bad_argument, std::to_string(a.permits) + " permits of " + std::to_string(a.limit)});
  }
  std::make_shared<permit_step>(w, s, a, std::move(p))->begin();
}

}  // namespace afar::engines::zookeeper
