// One session with the servers: a handle of libzookeeper at a time, replaced when the session has
// expired. Requests go out in the order in which they are sent, and are answered in that order.
//
// Invariants
//   1. Every flight lands exactly once, also when the handle is closed under it.
//   2. While anything is under way, somebody looks whether answers come (look).
//   3. A handle is closed by the engine's own thread or by close(), never by libzookeeper's threads,
//      and while nobody is inside a call of it.
#pragma once

#include "engines/zookeeper/keeper.hpp"
#include "engines/zookeeper/library.hpp"
#include "engines/zookeeper/request.hpp"
#include "engines/zookeeper/target.hpp"

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace afar::engines::zookeeper {

// Told on libzookeeper's threads; must not block.
class session_events {
 public:
  // Connected, again after a cut, or with a new session.
  virtual void connected() noexcept = 0;
  virtual void expired() noexcept = 0;
  virtual void changed(std::uint64_t watch) noexcept = 0;  // once per watch that was set

 protected:
  ~session_events() = default;
};

class session {
 public:
  using landed = detail::function<void(std::vector<answer>&)>;

  session(target, keeper&, session_events&);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // Throws lock_error if there is no connection by then.
  void open(spi::time_point by, const std::string& printable);
  void close() noexcept;  // every flight has landed when it returns

  // Sends them all before it waits for the first answer. They are only read, and not after it has returned.
  void fly(std::span<const request>, landed);
  void fly(std::initializer_list<request> all, landed then) {
    fly(std::span{all.begin(), all.size()}, std::move(then));
  }
  void fly(const request& one, landed then) { fly(std::span{&one, 1}, std::move(then)); }

  // 0: there is none yet. Once a session has expired its number never comes again.
  std::int64_t id() const noexcept { return id_.load(); }
  bool connected() const noexcept { return connected_.load(); }
  bool closed() const noexcept { return closed_.load(); }
  // How long the servers keep what a silent client has.
  spi::milliseconds timeout() const noexcept { return spi::milliseconds{timeout_.load()}; }

 private:
  struct call;
  struct flight;
  using flights = std::list<flight>;  // from hand to hand, with all that was allocated for it
  friend struct trampoline;

  static constexpr std::chrono::seconds patience_to_open{1};

  static void on_event(zhandle_t*, int type, int state, const char*, void*);
  static void on_change(zhandle_t*, int type, int state, const char*, void*);
  void event(zhandle_t*, int state);
  void replace();
  zhandle_t* connect();
  zhandle_t* knock();
  flights idle_flight(std::size_t size, landed);
  flights send(flights, std::span<const request>);
  int submit(zhandle_t*, const request&, call&);
  int submit_multi(zhandle_t*, const request&, call&);
  flights answered(call&, answer);
  void land(call&, answer);
  void land_rest();
  void look_again();
  void look();
  std::chrono::nanoseconds patience() const noexcept;  // with the next answer

  const target to_;
  keeper& keeper_;
  session_events& told_;
  const library& zk_;
  std::atomic<std::int64_t> id_{0};
  std::atomic<int> timeout_{0};
  std::atomic<bool> connected_{false};
  std::atomic<bool> closed_{false};
  std::atomic<bool> refused_{false};  // the login

  std::shared_mutex handle_mutex_;  // shared: inside a call of the handle
  zhandle_t* handle_ = nullptr;

  std::mutex m_;
  std::condition_variable opened_;
  flights flights_;                   // under way
  flights idle_;                      // for the next ones
  std::uint64_t landed_ = 0;          // answers so far
  std::uint64_t seen_ = 0;            // of them, at the last look
  int knocks_ = 0;                    // under way
  spi::time_point alone_since_{};     // without a connection, or since it last knocked
  std::chrono::nanoseconds usual_{};  // how long an answer takes
  bool looking_ = false;
};

}  // namespace afar::engines::zookeeper
