// Renewals. One asks the leader whether the session lives, once for the whole batch;
// the first renewal of a hold also sets a watch on its node, which tells at once when somebody breaks it
// or asks for it back. Short holds pay nothing for that.
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"

#include <afar/detail/fault.hpp>

#include <utility>

namespace afar::engines::zookeeper {
namespace {

// One claim's part of the flight.
struct part {
  std::size_t index;
  standing_ptr s;
  spi::milliseconds lease;
  std::size_t requests = 0;  // its own, after the heartbeat
  std::string note = {};     // that is written
  bool writes = false;
};

void answer_part(const world_ptr& w, const part& x, spi::renewed& each) {
  const spi::milliseconds lease = w->lease_of(x.lease);
  spi::loss gone = spi::loss::none;
  bool held = false;
  {
    const std::lock_guard lock{w->m};
    gone = x.s->gone;
    held = x.s->granted;
  }
  if (gone != spi::loss::none) return each(x.index, {}, {.why = gone});
  if (held) w->keep(x.s, lease);
  each(x.index, {}, {.lease = lease});
}

void landed(const world_ptr& w, const std::vector<part>& parts, std::vector<answer>& got,
            spi::renewed& each) {
  std::size_t next = 1;
  for (const part& x : parts) {
    int rc = got.front().rc;
    const answer* question = nullptr;
    {
      const std::lock_guard lock{w->m};
      for (std::size_t i = 0; i < x.requests; ++i, ++next) {
        const answer& a = got[next];
        if (a.rc == ZNONODE) {
          if (x.s->gone == spi::loss::none) x.s->gone = spi::loss::evicted;
        } else if (!a.ok()) {
          rc = a.rc;
        } else if (x.writes && i == 0) {
          x.s->says.note = x.note;
        } else {
          x.s->watched = true;
          if (a.text == revoke) question = &a;  // before there was a watch
        }
      }
    }
    if (question) w->asked(x.s, *question);
    if (rc != ZOK)
      each(x.index, failure_of_read(rc), {});
    else
      answer_part(w, x, each);
  }
}

}  // namespace

void renew(const world_ptr& w, std::span<spi::claim* const> claims, spi::time_point by,
           spi::renewed each) {
  struct batch {
    std::vector<part> parts;
    spi::renewed each;
    std::atomic<bool> answered{false};
  };
  auto b = std::make_shared<batch>();
  b->each = std::move(each);
  std::vector<request> wanted{ask::sync(w->to.base)};
  std::vector<std::pair<std::size_t, spi::loss>> gone;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const spi::claim& a = *claims[i];
    const standing_ptr s = w->find(a.owner);
    if (!s) {
      gone.emplace_back(i, spi::loss::expired);
      continue;
    }
    part x{.index = i, .s = s, .lease = a.lease};
    bool watch = false;
    std::string node;
    node_data says;
    {
      const std::lock_guard lock{w->m};
      if (s->gone != spi::loss::none) {
        gone.emplace_back(i, s->gone);
        continue;
      }
      node = s->node;
      says = s->says;
      watch = s->granted && !s->watched;
    }
    if (says.note != a.note && !node.empty()) {
      x.writes = true;
      x.note = says.note = std::string{a.note};
      wanted.push_back(ask::set(node, says.text()));
      ++x.requests;
    }
    if (watch && !node.empty()) {
      wanted.push_back(ask::get(node, w->own_watch(s)));
      ++x.requests;
    }
    b->parts.push_back(std::move(x));
  }
  if (!b->parts.empty()) {
    w->timer.at(by, [b] {
      if (b->answered.exchange(true)) return;
      for (const part& x : b->parts)
        b->each(x.index, {errc::timed_out, "the server does not answer"}, {});
    });
    AFAR_FAULT("zookeeper.renew.before_send");
    w->session.fly(wanted, [w, b](std::vector<answer>& got) {
      if (!b->answered.exchange(true)) landed(w, b->parts, got, b->each);
    });
  }
  for (const auto& [i, why] : gone) b->each(i, {}, {.why = why});
}

}  // namespace afar::engines::zookeeper
