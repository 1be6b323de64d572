#include "engines/redis/replication.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/link.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;

// A replica that lags must not hold up the others who share the connection for longer.
constexpr spi::milliseconds longest_wait = 1s;

class confirmation : public std::enable_shared_from_this<confirmation> {
 public:
  confirmation(std::shared_ptr<servers> to, const claim_steps& steps, spi::claim& a, telling how,
               std::int64_t wanted, spi::time_point by, spi::done<spi::acquire_reply> done)
      : to_(std::move(to)),
        steps_(steps),
        claim_(a),
        how_(std::move(how)),
        wanted_(wanted),
        by_(by),
        done_(std::move(done)) {}

  void start() {
    auto r = steps_.acquire(claim_, how_, by_,
                            [self = shared_from_this()](spi::status s, spi::acquire_reply got) {
                              self->answered(std::move(s), std::move(got));
                            });
    if (!r) return;
    r->sent_over = route_;
    to_->submit(std::move(r));
  }

 private:
  void answered(spi::status s, spi::acquire_reply got) {
    if (s || !got.granted) return done_(std::move(s), std::move(got));
    granted_ = std::move(got);
    auto r = make_request(by_, [self = shared_from_this()](spi::status failed, const reply& n) {
      if (!failed && n.failed()) failed = failure_of(n);
      self->confirmed(std::move(failed), n.integer().value_or(0));
    });
    const auto left = std::chrono::duration_cast<spi::milliseconds>(by_ - boot_clock::now());
    append(r->words,
           {"WAIT", std::to_string(wanted_),
            std::to_string(std::clamp(left / 2, spi::milliseconds{1}, longest_wait).count())});
    r->only_over = route_->connection;
    route_->over->submit(std::move(r));
  }

  void confirmed(spi::status failed, std::int64_t replicas) {
    if (AFAR_MUTANT("redis.wait.ignored")) replicas = wanted_;
    if (!failed && replicas >= wanted_) return done_({}, std::move(granted_));
    if (!failed)
      failed = {errc::unavailable, "granted, but confirmed by " + std::to_string(replicas) +
                                       " replicas instead of " + std::to_string(wanted_)};
    to_->submit(steps_.release(claim_, how_, by_,
                               [self = shared_from_this(), failed = std::move(failed)](
                                   const spi::status&, spi::release_reply) mutable {
                                 self->done_(std::move(failed), {});
                               }),
                servers::way::commands);
  }

  const std::shared_ptr<servers> to_;
  const claim_steps& steps_;
  spi::claim& claim_;
  const telling how_;
  const std::int64_t wanted_;
  const spi::time_point by_;
  spi::done<spi::acquire_reply> done_;
  const std::shared_ptr<route> route_ = std::make_shared<route>();
  spi::acquire_reply granted_;
};

}  // namespace

void acquire_replicated(const std::shared_ptr<servers>& to, const claim_steps& steps, spi::claim& a,
                        const telling& how, std::int64_t wanted, spi::time_point by,
                        spi::done<spi::acquire_reply> done) {
  std::make_shared<confirmation>(to, steps, a, how, wanted, by, std::move(done))->start();
}

}  // namespace afar::engines::redis
