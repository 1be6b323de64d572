// Releases, and what they have to wait for. The caller of a step gets its answer when its time is over,
// but the step goes on until the server has answered, or the connection has broken: only then is known
// what it has made, and it may make more until it notices that nobody waits. A release that went out
// before would miss that, and nobody else removes it while the session lives.
#include "engines/zookeeper/steps.hpp"

#include <afar/detail/fault.hpp>

#include <utility>

namespace afar::engines::zookeeper {
namespace {

// Lives as long as its step.
class step_pledge final : public pledge<spi::acquire_reply> {
 public:
  step_pledge(world_ptr w, standing_ptr s, spi::done<spi::acquire_reply> d)
      : pledge(std::move(d)), w_(std::move(w)), s_(std::move(s)) {}
  step_pledge(const step_pledge&) = delete;
  step_pledge& operator=(const step_pledge&) = delete;

  ~step_pledge() {
    if (!overdue_) return;
    std::vector<detail::function<void()>> next;
    {
      const std::lock_guard lock{w_->m};
      if (--s_->overdue == 0) next.swap(s_->afterwards);
    }
    for (auto& n : next) n();
  }

  void time_is_over() {
    if (given()) return;
    {
      const std::lock_guard lock{w_->m};
      ++s_->overdue;  // before the caller hears of it, who then releases
    }
    overdue_ = true;
    give({errc::timed_out, "the server does not answer"});
  }

 private:
  const world_ptr w_;
  const standing_ptr s_;
  bool overdue_ = false;
};

using release_pledge = std::shared_ptr<pledge<spi::release_reply>>;

}  // namespace

acquire_pledge pledged_step(const world_ptr& w, const standing_ptr& s, spi::time_point by,
                            spi::done<spi::acquire_reply> done) {
  auto p = std::make_shared<step_pledge>(w, s, std::move(done));
  w->timer.at(by, [weak = std::weak_ptr{p}] {
    if (const auto late = weak.lock()) late->time_is_over();
  });
  return p;
}

void release(const world_ptr& w, const spi::claim& a, release_pledge p) {
  const standing_ptr s = w->find(a.owner);
  if (!s) return p->give({}, spi::release_reply::gone);
  spi::loss gone = spi::loss::none;
  bool search = false;
  bool member = false;
  {
    const std::lock_guard lock{w->m};
    const bool again = std::exchange(s->leaving, true);
    if (!again) gone = s->gone;
    search = again || s->in_doubt || s->overdue > 0 || gone != spi::loss::none;
    member = s->kind == spi::kind::barrier && !s->granted;
    w->strays.insert(s);
  }
  if (gone != spi::loss::none) {
    p->give({}, spi::release_reply::gone);
    if (gone == spi::loss::session || member) return w->forget(s);  // nothing is left of it
  }
  w->when_still(s, [w, s, p, search, member] {
    auto then = [w, s, p](spi::status failed, bool removed) {
      if (!failed) w->forget(s);
      p->give(std::move(failed), removed ? spi::release_reply::released : spi::release_reply::gone);
    };
    AFAR_FAULT("zookeeper.release.before_send");
    if (member) return leave_barrier(w, s, std::move(then));
    w->remove_nodes(s, search, [then = std::move(then)](std::vector<answer>& got) mutable {
      removed_nodes done{got};
      then(std::move(done.failed), done.any);
    });
  });
}

}  // namespace afar::engines::zookeeper
