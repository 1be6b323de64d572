#include <afar/detail/cell.hpp>

#include "primitives/cell_body.hpp"
#include "primitives/opened.hpp"
#include "primitives/report.hpp"

#include <utility>

namespace afar::detail {
namespace {

constexpr spi::kind kind_of(cell_kind k) noexcept {
  switch (k) {
    case cell_kind::counter:
      return spi::kind::counter;
    case cell_kind::latch:
      return spi::kind::latch;
    case cell_kind::semaphore:
      return spi::kind::semaphore;
  }
  return spi::kind::counter;
}

spi::cell_reply change(const cell_body& body, cell_request r, std::error_code* code) {
  spi::cell_reply reply;
  report(body.owner().change(std::move(r), reply), body.name(), code);
  return reply;
}

// True: the goal was reached.
bool wait(const cell_body& body, cell_request r, spi::cell_reply& reply, std::error_code* code) {
  const auto by = r.by;
  const auto s = body.owner().change(std::move(r), reply);
  report_wait(s, by, body.name(), code);
  return !s;
}

void start(const std::shared_ptr<cell_body>& body, cell_request r, cell_done done) {
  body->owner().start_change(
      std::move(r), [body = body, done = std::move(done)](const spi::status& s,
                                                          const spi::cell_reply& reply) mutable {
        body.reset();  // `done` has the client too, and leaves it on a thread of the user's
        done(s.code, reply.value);
      });
}

bool failed(const std::error_code* code) noexcept { return code && *code; }

}  // namespace

cell::cell(const client& c, cell_kind kind, std::string name, std::optional<std::int64_t> initial)
    : body_(std::make_shared<cell_body>(opened(c, kind_of(kind), name), kind_of(kind), name,
                                        initial)) {}

cell::~cell() {
  if (body_->owner().forked()) leak(std::move(body_));
}

const std::string& cell::name() const noexcept { return body_->name(); }

std::optional<std::int64_t> cell::read(std::error_code* code) const {
  const auto reply = change(*body_, body_->load(), code);
  if (failed(code)) return std::nullopt;
  return reply.exists ? reply.value : body_->initial();
}

std::optional<std::int64_t> cell::add(std::int64_t n, cell_range range,
                                      std::error_code* code) const {
  spi::cell_reply reply;
  auto s = body_->owner().change(body_->add(n, range), reply);
  // What leaves 64 bits leaves every narrower range too.
  if (s.code == errc::overflow && range != cell_range{}) s = {};
  report(s, name(), code);
  if (s || !reply.applied) return std::nullopt;
  return reply.before;
}

std::int64_t cell::exchange(std::int64_t v, std::error_code* code) const {
  return change(*body_, body_->store(v), code).before;
}

bool cell::compare_exchange(std::int64_t& expected, std::int64_t desired,
                            std::error_code* code) const {
  const auto reply = change(*body_, body_->compare_exchange(expected, desired), code);
  if (!failed(code) && !reply.applied) expected = reply.value;
  return reply.applied;
}

void cell::remove(std::error_code* code) const { change(*body_, body_->erase(), code); }

bool cell::wait_add(std::int64_t n, cell_range range, deadline by, std::stop_token stop,
                    std::error_code* code) const {
  spi::cell_reply reply;
  return wait(*body_, body_->wait_add(n, range, by, std::move(stop)), reply, code);
}

std::optional<std::int64_t> cell::wait_change(std::int64_t old, deadline by, std::stop_token stop,
                                              std::error_code* code) const {
  spi::cell_reply reply;
  if (!wait(*body_, body_->wait_change(old, by, std::move(stop)), reply, code)) return std::nullopt;
  return reply.value;
}

bool cell::wait_zero(deadline by, std::stop_token stop, std::error_code* code) const {
  spi::cell_reply reply;
  // Nobody sets a count of 0, so nobody would wake us.
  if (body_->initial() == 0) {
    reply = change(*body_, body_->load(), code);
    if (failed(code) || !reply.exists) return !failed(code);
  }
  return wait(*body_, body_->wait_zero(by, std::move(stop)), reply, code);
}

void start_wait_add(const std::shared_ptr<cell_body>& body, std::int64_t n, cell_range range,
                    deadline by, std::stop_token stop, cell_done done) {
  start(body, body->wait_add(n, range, by, std::move(stop)), std::move(done));
}

void start_wait_change(const std::shared_ptr<cell_body>& body, std::int64_t old, deadline by,
                       std::stop_token stop, cell_done done) {
  start(body, body->wait_change(old, by, std::move(stop)), std::move(done));
}

void start_wait_zero(const std::shared_ptr<cell_body>& body, deadline by, std::stop_token stop,
                     cell_done done) {
  if (body->initial() != 0)
    return start(body, body->wait_zero(by, std::move(stop)), std::move(done));
  body->owner().start_change(body->load(),
                             [body = body, by, stop = std::move(stop), done = std::move(done)](
                                 const spi::status& s, const spi::cell_reply& reply) mutable {
                               const auto kept = std::move(body);
                               if (s || !reply.exists) return done(s.code, 0);
                               start(kept, kept->wait_zero(by, std::move(stop)), std::move(done));
                             });
}

}  // namespace afar::detail
