#include "engines/redis/one_server.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/opening.hpp"

#include <utility>

namespace afar::engines::redis {
namespace {

link::events events_of(std::shared_ptr<detail::function<spi::status(const server&)>> greeted,
                       const target& to) {
  return {.greeted = [greeted = std::move(greeted)](const server& s) { return (*greeted)(s); },
          .impatient = to.voter,
          .has_rivals = to.topology == topology::sentinel};
}

opening knock(link& at, spi::time_point by) {
  opening answered;
  auto ping = make_request(by, [answered](spi::status s, const reply& r) mutable {
    answered.answer(!s && r.failed() ? failure_of(r) : std::move(s));
  });
  append(ping->words, {"PING"});
  at.submit(std::move(ping));
  return answered;
}

}  // namespace

one_server::one_server(std::shared_ptr<io> thread, const target& to, std::shared_ptr<visits> v,
                       spi::host& up, const std::string& channel,
                       detail::function<spi::status(const server&)> greeted)
    : sentinels_(to.topology == topology::sentinel ? std::make_shared<sentinels>(thread, to)
                                                   : nullptr),
      where_(sentinels_ ? std::shared_ptr<directory>{sentinels_}
                        : std::make_shared<fixed_address>(to.servers.front())),
      told_(std::make_shared<subscriber>(thread, where_, v, up, channel, to.pushes_grants)),
      may_be_away_(to.voter) {
  const auto both = std::make_shared<decltype(greeted)>(std::move(greeted));
  commands_ = std::make_shared<link>(thread, where_, v, events_of(both, to));
  renewals_ = std::make_shared<link>(thread, where_, v, events_of(both, to));
}

// The first answer on each connection, and the client's own channel heard. No connection is left for
// later: a hold must not be lost because the server has no room any more for the one that renews it.
void one_server::open(spi::time_point by, const std::string& printable) {
  opening answered = knock(*commands_, by);
  opening renews = knock(*renewals_, by);
  opening heard;
  const auto hear = [&] {
    told_->start([heard](spi::status s, spi::watch_reply) mutable { heard.answer(std::move(s)); });
  };
  try {
    answered.await(printable);  // a request ends by its deadline, and says why
    renews.await(printable);
  } catch (const lock_error& away) {
    if (!may_be_away_ || away.code() != errc::unavailable) throw;
    away_ = true;
    return hear();  // when it comes
  }
  hear();
  heard.await(by, printable);
  if (!sentinels_) return;
  sentinels_->listen([commands = commands_, renewals = renewals_, told = told_] {
    for (const auto& l : {commands, renewals}) l->redial("another server is the master now");
    told->redial();
  });
}

void one_server::examine_group(spi::time_point, spi::done<std::vector<finding>> then) {
  if (!sentinels_) return then({}, {});
  sentinels_->examine([then = std::move(then)](finding f) mutable {
    std::vector<finding> rows;
    rows.push_back(std::move(f));
    then({}, std::move(rows));
  });
}

void one_server::close() noexcept {
  if (sentinels_) sentinels_->close();
  commands_->close();
  renewals_->close();
  told_->close();
}

}  // namespace afar::engines::redis
