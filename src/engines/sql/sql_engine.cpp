#include "engines/sql/sql_engine.hpp"

#include "engines/sql/asked_steps.hpp"
#include "engines/sql/dial.hpp"
#include "engines/sql/sql.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace afar::engines::sql {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t claims_per_request = 64;

template <class Reply, class Work>
void submit_to(lanes& to, std::shared_ptr<listener> ear, spi::time_point by,
               const spi::owner_id& claim, spi::done<Reply> done, Work work) {
  to.submit(std::make_shared<one_step<Reply, Work>>(by, claim, std::move(ear), std::move(done),
                                                    std::move(work)));
}

void watch_again(lanes& to, std::shared_ptr<listener> ear, std::string name) {
  submit_to(to, std::move(ear), boot_clock::now() + 5s, {},
            spi::done<spi::watch_reply>{[](const spi::status&, spi::watch_reply) {}},
            [name = std::move(name)](const desk& d, spi::watch_reply&) {
              watch_name(d, name);
              return spi::status{};
            });
}

spi::traits traits_of(const target& to) {
  spi::traits t;
  t.name = to.product == product::mysql ? "mysql" : "postgresql";
  t.token_block = 64;
  t.pushes_grants = true;
  t.waiter_lease = waiter_lease;
  t.mutex_is_writer = true;
  t.survives_restart = true;
  return t;
}

}  // namespace

sql_engine::sql_engine(target to, spi::host& up, spi::time_point by)
    : to_(std::move(to)),
      about_(traits_of(to_)),
      ear_(std::make_shared<listener>([to = to_](spi::time_point t) { return dial(to, t); },
                                      to_.bells, visits_, up)),
      lanes_(std::make_shared<lanes>([to = to_](spi::time_point t) { return dial(to, t); },
                                     to_.connections,
                                     [v = visits_, &up] {
                                       if (const visits::guard open{v}) {
                                         up.in_doubt();
                                         up.wake_all();
                                       }
                                     })) {
  try {
    auto first = dial(to_, std::min(by, boot_clock::now() + 5s));
    prepare_schema(*first, to_.product);
    lanes_->start(std::move(first));
  } catch (const failure& f) {
    throw lock_error{f.what.code, to_.printable, f.what.detail};
  }
  ear_->start([to = lanes_](std::shared_ptr<step> s) { to->submit(std::move(s)); },
              [to = lanes_, ear = std::weak_ptr{ear_}](std::string name) {
                if (auto here = ear.lock()) watch_again(*to, std::move(here), std::move(name));
              });
}

sql_engine::~sql_engine() { close(); }

// Whoever waits reads the answer to what it has sent, or may have a worker more.
bool sql_engine::drive(spi::waiter& w, spi::time_point until) noexcept {
  const crew::caller waits{crew_};
  if (!lanes_->read_here(until)) w.park_until(until);
  return false;
}

void sql_engine::close() noexcept {
  if (closed_.exchange(true)) return;
  ear_->close();
  lanes_->close();
  visits_->close();
}

template <class Reply, class Work>
void sql_engine::submit(spi::time_point by, const spi::owner_id& claim, spi::done<Reply> done,
                        Work work) {
  submit_to(*lanes_, ear_, by, claim, std::move(done), std::move(work));
}

void sql_engine::clear_behind(std::string used) {
  submit(boot_clock::now() + 5s, {},
         spi::done<std::uint64_t>{[](const spi::status&, std::uint64_t) {}},
         [who = janitor_, name = std::move(used)](const desk& d, std::uint64_t& r) {
           r = who->round(d.on, name);
           return spi::status{};
         });
}

void sql_engine::acquire(spi::claim& c, spi::time_point by, spi::done<spi::acquire_reply> done) {
  lanes_->submit(std::make_shared<claim_step<acquiring>>(by, c, ear_, std::move(done), &c));
}

void sql_engine::renew(std::span<spi::claim* const> claims, spi::time_point by, spi::renewed each) {
  const auto shared = std::make_shared<spi::renewed>(std::move(each));
  for (std::size_t first = 0; first < claims.size(); first += claims_per_request) {
    const auto part = claims.subspan(first, std::min(claims_per_request, claims.size() - first));
    lanes_->submit(std::make_shared<renewal>(by, ear_, part, first, shared), lanes::way::renewals);
  }
}

void sql_engine::release(const spi::claim& c, spi::time_point by,
                         spi::done<spi::release_reply> done) {
  std::string used{janitor_->due() ? c.what.name : std::string_view{}};
  spi::claim given_up = c;
  given_up.note = {};  // nobody reads it any more
  lanes_->submit(
      std::make_shared<claim_step<releasing>>(by, given_up, ear_, std::move(done), nullptr));
  if (!used.empty()) clear_behind(std::move(used));
}

void sql_engine::change(const spi::cell_change& ch, spi::time_point by,
                        spi::done<spi::cell_reply> done) {
  submit(by, ch.id.owner, std::move(done),
         [copy = ch, name = std::string{ch.what.name}](const desk& d, spi::cell_reply& r) mutable {
           copy.what.name = name;
           return sql::change(d, copy, r);
         });
}

void sql_engine::record(const spi::ledger_change& ch, spi::time_point by,
                        spi::done<spi::ledger_reply> done) {
  submit(by, ch.id.owner, std::move(done),
         [copy = ch, name = std::string{ch.what.name}, order = std::string{ch.order},
          buyer = std::string{ch.buyer}](const desk& d, spi::ledger_reply& r) mutable {
           copy.what.name = name;
           copy.order = order;
           copy.buyer = buyer;
           return sql::record(d, copy, r);
         });
}

void sql_engine::survey(const spi::survey_query& q, spi::time_point by,
                        spi::done<spi::survey_reply> done) {
  submit(by, {}, std::move(done),
         [copy = q, name = std::string{q.name}, cursor = std::string{q.cursor}](
             const desk& d, spi::survey_reply& r) mutable {
           copy.name = name;
           copy.cursor = cursor;
           return sql::survey(d, copy, r);
         });
}

void sql_engine::evict(const spi::resource& what, const spi::owner_id& owner, std::uint64_t token,
                       spi::time_point by, spi::done<spi::release_reply> done) {
  submit(by, {}, std::move(done),
         [kind = what.kind, name = std::string{what.name}, owner, token](const desk& d,
                                                                         spi::release_reply& r) {
           return sql::evict(d, {kind, name}, owner, token, r);
         });
}

void sql_engine::examine(spi::time_point by, spi::done<std::vector<finding>> done) {
  submit(by, {}, std::move(done), [](const desk& d, std::vector<finding>& r) {
    r = sql::examine(d);
    return spi::status{};
  });
}

void sql_engine::collect(spi::time_point by, spi::done<std::uint64_t> done) {
  submit(by, {}, std::move(done), [](const desk& d, std::uint64_t& r) {
    r = sql::collect(d);
    return spi::status{};
  });
}

void sql_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  if (is_claim_key(key)) return done({}, {.recheck = !ear_->watch(key)});
  ear_->expect(std::string{key}, 0, ear_->rings_heard(), 0);
  submit(boot_clock::now() + 5s, {}, std::move(done),
         [key = std::string{key}](const desk& d, spi::watch_reply& r) {
           d.ear.watch_name(key, watch_name(d, name_of_key(key)));
           r.recheck = true;
           return spi::status{};
         });
}

void sql_engine::unwatch(std::string_view key) noexcept { ear_->forget(key); }

}  // namespace afar::engines::sql

namespace afar::engines {

std::unique_ptr<spi::engine> open_sql(const spi::url& where, spi::host& up, spi::time_point by) {
  return std::make_unique<sql::sql_engine>(sql::target_of(where), up, by);
}

}  // namespace afar::engines
