#include "engines/zookeeper/zookeeper_engine.hpp"

#include "engines/zookeeper/examine.hpp"
#include "engines/zookeeper/ledger.hpp"
#include "engines/zookeeper/steps.hpp"
#include "engines/zookeeper/survey.hpp"
#include "engines/zookeeper/zookeeper.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_note = 1'024;

spi::traits traits_of_zookeeper() {
  spi::traits t;
  t.name = "zookeeper";
  t.poll = 2s;
  t.ordered = true;  // one session
  t.survives_restart = true;
  t.survives_failover = true;
  return t;
}

}  // namespace

zookeeper_engine::zookeeper_engine(const spi::url& where, target to, spi::host& up,
                                   spi::time_point by)
    : about_(traits_of_zookeeper()),
      world_(std::make_shared<world>(std::move(to), up)),
      cells_(std::make_shared<cells>(world_)),
      clock_(std::make_shared<server_clock>(world_->session, world_->to)) {
  try {
    world_->session.open(std::min(by, boot_clock::now() + 5s), where.printable);
  } catch (...) {
    close();
    throw;
  }
}

zookeeper_engine::~zookeeper_engine() { close(); }

void zookeeper_engine::close() noexcept {
  if (closed_.exchange(true)) return;
  if (world_->session.connected()) cells_->close();
  world_->session.close();
  world_->timer.stop();
}

void zookeeper_engine::acquire(spi::claim& a, spi::time_point by,
                               spi::done<spi::acquire_reply> done) {
  if (a.note.size() > longest_note)
    return done({errc::bad_argument, "a note has at most 1024 bytes"}, {});
  spi::acquire_reply gone;
  standing_ptr s = a.token == 0 ? world_->enter(a) : world_->find(a.owner);
  if (!s && a.token == 0) return done({errc::bad_argument, "no legal path (?paths=curator)"}, {});
  if (s) {
    const std::lock_guard lock{world_->m};
    gone.why = s->gone;
  }
  if (a.token != 0 && (!s || gone.why != spi::loss::none)) {
    if (!s) gone.why = spi::loss::expired;
    return done({}, std::move(gone));
  }
  auto p = pledged_step(world_, s, by, std::move(done));
  if (a.token != 0) return convert(world_, s, a, std::move(p));
  if (s->kind == spi::kind::permits) return take_permits(world_, s, a, std::move(p));
  if (s->kind == spi::kind::barrier) return arrive(world_, s, a, std::move(p));
  contend(world_, s, a, std::move(p));
}

void zookeeper_engine::renew(std::span<spi::claim* const> claims, spi::time_point by,
                             spi::renewed each) {
  zookeeper::renew(world_, claims, by, std::move(each));
}

void zookeeper_engine::release(const spi::claim& a, spi::time_point by,
                               spi::done<spi::release_reply> done) {
  zookeeper::release(world_, a, pledged(world_->timer, by, std::move(done)));
}

void zookeeper_engine::change(const spi::cell_change& ch, spi::time_point by,
                              spi::done<spi::cell_reply> done) {
  cells_->change(ch, by, std::move(done));
}

void zookeeper_engine::record(const spi::ledger_change& ch, spi::time_point by,
                              spi::done<spi::ledger_reply> done) {
  zookeeper::record(world_, clock_, ch, pledged(world_->timer, by, std::move(done)));
}

void zookeeper_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  world_->watches.watch(key, std::move(done));
}

void zookeeper_engine::unwatch(std::string_view key) noexcept { world_->watches.unwatch(key); }

void zookeeper_engine::survey(const spi::survey_query& q, spi::time_point by,
                              spi::done<spi::survey_reply> done) {
  zookeeper::survey(world_, q, pledged(world_->timer, by, std::move(done)));
}

void zookeeper_engine::evict(const spi::resource& what, const spi::owner_id& owner,
                             std::uint64_t token, spi::time_point by,
                             spi::done<spi::release_reply> done) {
  zookeeper::evict(world_, what, owner, token, pledged(world_->timer, by, std::move(done)));
}

void zookeeper_engine::ask_back(std::string_view key, spi::time_point by, spi::done<bool> done) {
  zookeeper::ask_back(world_, key, pledged(world_->timer, by, std::move(done)));
}

void zookeeper_engine::examine(spi::time_point by, spi::done<std::vector<finding>> done) {
  zookeeper::examine(world_, pledged(world_->timer, by, std::move(done)));
}

void zookeeper_engine::collect(spi::time_point by, spi::done<std::uint64_t> done) {
  zookeeper::collect(world_, pledged(world_->timer, by, std::move(done)));
}

}  // namespace afar::engines::zookeeper

namespace afar::engines {

std::unique_ptr<spi::engine> open_zookeeper(const spi::url& where, spi::host& up,
                                            spi::time_point by) {
  return std::make_unique<zookeeper::zookeeper_engine>(where, zookeeper::target_of(where), up, by);
}

}  // namespace afar::engines
