// Asio completion tokens (callbacks, futures, coroutines) for everything in afar that waits.
// The only public header that includes Asio.
//
//   afar::hold hold = co_await afar::async_acquire(orders, asio::use_awaitable);
//
// The primitive may be destroyed while an operation is under way. Handlers run on their associated
// executor, never on a thread of afar. Cancellation (any type) through the handler's cancellation
// slot ends the wait with errc::cancelled and leaves nothing behind.
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
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/system_executor.hpp>

#include <stop_token>
#include <utility>

namespace afar {

namespace detail {

// Carries a result from a thread of afar to the handler's executor.
template <class Handler>
auto on_executor(Handler handler, std::stop_source& stop) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  if (slot.is_connected())
    slot.assign([stop](asio::cancellation_type) mutable { stop.request_stop(); });
  auto executor = asio::get_associated_executor(handler, asio::system_executor{});
  return [handler = std::move(handler), work = asio::make_work_guard(executor)](
             std::error_code ec, auto result) mutable {
    auto target = work.get_executor();
    asio::post(target, [handler = std::move(handler), work = std::move(work), ec,
                        result = std::move(result)]() mutable {
      // The slot must not reach into an operation that is over.
      if (auto s = asio::get_associated_cancellation_slot(handler); s.is_connected()) s.clear();
      std::move(handler)(ec, std::move(result));
    });
  };
}

template <class Result, class Start, class Token>
auto initiate(Start start, Token&& token) {
  return asio::async_initiate<Token, void(std::error_code, Result)>(
      [start = std::move(start)](auto handler) mutable {
        std::stop_source stop;
        auto done = on_executor(std::move(handler), stop);
        start(stop.get_token(), std::move(done));
      },
      token);
}

template <class Token>
auto async_take(const claimable& from, wish w, Token&& token) {
  return initiate<hold>(
      [body = from.body(), w = std::move(w)](std::stop_token stop, auto done) mutable {
        w.options.stop = std::move(stop);
        start_take(body, std::move(w), std::move(done));
      },
      std::forward<Token>(token));
}

}  // namespace detail

// void(std::error_code, hold). options.stop is replaced by the cancellation slot.
template <class Token>
auto async_acquire(detail::basic_mutex& m, acquire_options o, Token&& token) {
  return detail::async_take(m, {.options = std::move(o)}, std::forward<Token>(token));
}
template <class Token>
auto async_acquire(detail::basic_mutex& m, Token&& token) {
  return async_acquire(m, acquire_options{}, std::forward<Token>(token));
}

}  // namespace afar
