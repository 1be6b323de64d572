// Asio completion tokens (callbacks, futures, coroutines) for everything in afar that waits.
// The only public header that includes Asio.
//
//   afar::hold hold = co_await afar::async_acquire(orders, asio::use_awaitable);
//
// The primitive and the client may be destroyed while an operation is under way; the execution
// context must not: before it is, its run() must have returned for want of work (a handler that ran by
// poll() or run_one() does not show that). Handlers run on their associated executor, never on a thread
// of afar.
// Cancellation (any type) through the handler's cancellation slot ends the wait with errc::cancelled
// and leaves nothing behind. Busy is no error here: all these calls wait.
#pragma once

#include <afar/barrier.hpp>
#include <afar/counter.hpp>
#include <afar/counting_semaphore.hpp>
#include <afar/detail/basic_mutex.hpp>
#include <afar/latch.hpp>
#include <afar/leased_semaphore.hpp>
#include <afar/shared_mutex.hpp>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/system_executor.hpp>

#include <cstdint>
#include <stop_token>
#include <system_error>
#include <utility>

namespace afar {

namespace detail {

// Carries a result from whatever thread to the handler's executor, together with what the wait kept
// alive: the last owner of a client closes it, and that is for a thread of the user's to do.
template <class Handler, class Body>
auto on_executor(Handler handler, Body body) {
  auto executor = asio::get_associated_executor(handler, asio::system_executor{});
  return [handler = std::move(handler), body = std::move(body),
          work = asio::make_work_guard(executor)](std::error_code ec, auto... result) mutable {
    // Else the context could run the handler, find no more work and be destroyed by its owner while
    // this thread is still inside post.
    const auto until_posted = work;
    asio::post(until_posted.get_executor(), [handler = std::move(handler), body = std::move(body),
                                             work = std::move(work), ec,
                                             ... result = std::move(result)]() mutable {
      // The slot must not reach into an operation that is over.
      if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
        slot.clear();
      std::move(handler)(ec, std::move(result)...);
    });
  };
}

// start(body, stop, done) begins the wait and leads to done(code, results...), once.
template <class Signature, class Body, class Start, class Token>
auto initiate(const Body& body, Start start, Token&& token) {
  return asio::async_initiate<Token, Signature>(
      [](auto handler, Body kept, Start begin) {
        std::stop_source stop;
        if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
          slot.assign([stop](asio::cancellation_type) mutable { stop.request_stop(); });
        auto done = on_executor(std::move(handler), kept);
        begin(std::move(kept), stop.get_token(), std::move(done));
      },
      token, body, std::move(start));
}

template <class Token>
auto async_take(const std::shared_ptr<claim_body>& from, wish w, Token&& token) {
  return initiate<void(std::error_code, hold)>(
      from,
      [w = std::move(w)](std::shared_ptr<claim_body> body, std::stop_token stop,
                         auto done) mutable {
        w.options.stop = std::move(stop);
        start_take(std::move(body), std::move(w), std::move(done));
      },
      std::forward<Token>(token));
}

// For waits that end without a value.
template <class Done>
auto without_result(Done done) {
  return [done = std::move(done)](std::error_code ec, auto&&) mutable { done(ec); };
}

}  // namespace detail

// ---- void(std::error_code, hold): options.stop is replaced by the cancellation slot --------------

// mutex, fair_mutex, the write side of shared_mutex.
template <class Token>
auto async_acquire(const detail::basic_mutex& m, acquire_options o, Token&& token) {
  return detail::async_take(m.body(), {.options = std::move(o)}, std::forward<Token>(token));
}
template <class Token>
auto async_acquire(const detail::basic_mutex& m, Token&& token) {
  return async_acquire(m, acquire_options{}, std::forward<Token>(token));
}

template <class Token>
auto async_acquire_shared(const shared_mutex& m, acquire_options o, Token&& token) {
  return detail::async_take(m.body(), {.mode = detail::claim_mode::shared, .options = std::move(o)},
                            std::forward<Token>(token));
}
template <class Token>
auto async_acquire_shared(const shared_mutex& m, Token&& token) {
  return async_acquire_shared(m, acquire_options{}, std::forward<Token>(token));
}

template <class Token>
auto async_acquire(const leased_semaphore& s, std::uint32_t permits, acquire_options o,
                   Token&& token) {
  return detail::async_take(s.body(), {.permits = permits, .options = std::move(o)},
                            std::forward<Token>(token));
}
template <class Token>
auto async_acquire(const leased_semaphore& s, std::uint32_t permits, Token&& token) {
  return async_acquire(s, permits, acquire_options{}, std::forward<Token>(token));
}

// ---- void(std::error_code) ----------------------------------------------------------------------

template <class Token>
auto async_acquire(const detail::semaphore_cell& s, Token&& token) {
  return detail::initiate<void(std::error_code)>(
      s.body(),
      [](std::shared_ptr<detail::cell_body> body, std::stop_token stop, auto done) {
        detail::start_wait_add(std::move(body), -1, {.min = 0}, detail::deadline::forever(),
                               std::move(stop), detail::without_result(std::move(done)));
      },
      std::forward<Token>(token));
}

template <class Token>
auto async_wait(const latch& l, Token&& token) {
  return detail::initiate<void(std::error_code)>(
      l.body(),
      [](std::shared_ptr<detail::cell_body> body, std::stop_token stop, auto done) {
        detail::start_wait_zero(std::move(body), detail::deadline::forever(), std::move(stop),
                                detail::without_result(std::move(done)));
      },
      std::forward<Token>(token));
}

template <class Token>
auto async_arrive_and_wait(const barrier& b, Token&& token) {
  return detail::initiate<void(std::error_code)>(
      b.body(),
      [](std::shared_ptr<detail::claim_body> body, std::stop_token stop, auto done) {
        detail::start_take(std::move(body), {.options = {.stop = std::move(stop)}},
                           detail::without_result(std::move(done)));
      },
      std::forward<Token>(token));
}

// ---- void(std::error_code, std::int64_t): the new value ------------------------------------------

template <class Token>
auto async_wait(const counter& c, std::int64_t old, Token&& token) {
  return detail::initiate<void(std::error_code, std::int64_t)>(
      c.body(),
      [old](std::shared_ptr<detail::cell_body> body, std::stop_token stop, auto done) {
        detail::start_wait_change(std::move(body), old, detail::deadline::forever(),
                                  std::move(stop), std::move(done));
      },
      std::forward<Token>(token));
}

}  // namespace afar
