// One multiplexed command connection. Callers write their commands themselves, several at once if
// they come together; whoever waits for an answer reads for all (see spi::engine::drive). When nobody
// waits, the engine's thread reads. It dials again by itself when the connection breaks.
//
// Invariants
//   1. sent_ is in the order of the commands on the wire; null: failed at its deadline, its answer is
//      to be thrown away.
//   2. One thread at a time has the reader's role, and only it touches decode_, replies_, answered_.
//   3. The socket is closed only when nobody reads or writes: a descriptor in use is never reused.
//   4. While anything is in sent_ or waiting_, the tick runs: it keeps the deadlines, and sweeps
//      answers that nobody reads.
//   5. At most `window` batches of bytes are unanswered; what comes meanwhile goes as one batch.
//   6. A request that lingers is written with the next one, by whoever waits, or by the next tick.
#pragma once

#include "engines/redis/dial.hpp"
#include "engines/redis/directory.hpp"
#include "engines/redis/io.hpp"
#include "engines/redis/request.hpp"
#include "engines/visits.hpp"

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>

#include <asio/steady_timer.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace afar::engines::redis {

// Another connection that who waits for long listens to as well.
class beside {
 public:
  virtual ~beside() = default;
  virtual void lend() noexcept = 0;  // until it is given back, the engine's thread need not listen
  virtual void give_back() noexcept = 0;
  virtual std::shared_ptr<wire> line() noexcept = 0;  // null: there is nothing to hear now
  virtual void hear_now(const wire& from) noexcept = 0;
};

class link : public std::enable_shared_from_this<link> {
 public:
  struct events {
    // Told of every connection, on the engine's thread, before it is used. A failure refuses it.
    detail::function<spi::status(const server&)> greeted;
    // An error came. True: the request was taken, because it is for another server; any thread.
    detail::function<bool(std::unique_ptr<request>&, const reply&)> elsewhere = {};
    // The connection broke, or could not be made; any thread.
    detail::function<void()> trouble = {};
    // Fails what cannot be sent now, instead of waiting for the server to come back.
    bool impatient = false;
    // Another server may take itself for the master at the same time, before or after it: what both
    // have in common is the clock, so that every token has to be read off it.
    bool has_rivals = false;
  };

  link(std::shared_ptr<io>, std::shared_ptr<directory>, std::shared_ptr<visits>, events);
  ~link();

  void submit(std::unique_ptr<request>);
  bool drive(spi::waiter&, spi::time_point until, beside* = nullptr) noexcept;
  void nudge() noexcept;

  // The server is another one now, or no longer what it was: asks the directory and dials again.
  void redial(const std::string& why) noexcept;

  // As close(), but what was never sent comes back, and what was sent fails with unknown_outcome.
  std::deque<std::unique_ptr<request>> give_back() noexcept;

  // Fails everything with errc::closed, later submissions at once.
  void close() noexcept;

 private:
  static constexpr spi::milliseconds read_time{5};
  static constexpr auto none = spi::time_point::max();
  enum class reader : std::uint8_t { nobody, caller, engine };
  using lock = std::unique_lock<std::mutex>;
  using requests = std::vector<std::unique_ptr<request>>;
  using answers = std::vector<std::pair<std::unique_ptr<request>, reply>>;

  // ---- any thread; `l` locks m_
  void send(std::unique_ptr<request>, bool whole_script);
  void end() noexcept;
  bool lingers(const request&);
  bool in_tight_loop() const noexcept;
  void arm() noexcept;
  void flush(lock& l);
  bool read_answers(
      bool waits);  // by whoever has the role; `waits` for read_time. False: nothing came
  void match(std::vector<reply>&, answers&);
  void lost(lock& l, spi::status why);  // the connection; dials anew
  void leave(lock& l) noexcept;         // the reader's role
  void lead(spi::waiter&, spi::time_point until, beside*, lock& l) noexcept;
  void call_tick();
  bool full() const noexcept;

  // ---- the engine's thread
  asio::awaitable<void> keep_connected();
  asio::awaitable<void> pause(spi::milliseconds);
  asio::awaitable<bool> connect_once();
  void refused(const spi::status& why, bool hopeless);
  bool use(std::shared_ptr<wire>, const server&);
  asio::awaitable<void> hang_up();
  asio::awaitable<void> tick();
  spi::milliseconds look();
  void readable(const std::shared_ptr<wire>& from);
  void await_writable();

  const std::shared_ptr<io> io_;
  const std::shared_ptr<directory> to_;
  const std::shared_ptr<visits> visits_;
  events events_;
  const int nudge_;  // eventfd; ends the leader's sleep

  // ---- the engine's thread only
  std::shared_ptr<wire> wire_;       // set on the engine's thread only; used by who reads or writes
  std::shared_ptr<wire> next_wire_;  // being dialed
  predecessor before_;               // the last connection
  asio::steady_timer retry_;         // also the signal that the connection broke
  asio::steady_timer tick_;
  int idle_ticks_ = 0;

  // (inv 2)
  decoder* decode_ = nullptr;
  std::vector<reply> replies_;
  answers answered_;
  std::unique_ptr<decoder> decoder_;

  std::mutex m_;  // guards everything below
  bool up_ = false;
  bool closed_ = false;
  bool dialing_ = false;  // keep_connected was started
  bool ticking_ = false;
  int fd_ = -1;
  spi::status failure_;       // of the last dial
  std::uint64_t serial_ = 0;  // of this connection
  std::string connected_at_;  // by the server's clock, for request::moment_at
  std::deque<std::unique_ptr<request>> waiting_;
  std::deque<std::unique_ptr<request>> sent_;
  std::unordered_set<const script*> known_;  // by this connection's server
  spi::time_point earliest_ = spi::time_point::max();
  spi::time_point progress_{};  // of the last answer, or when sent_ became more than empty
  std::string out_;
  std::string going_;
  std::size_t gone_ = 0;  // bytes of going_ that are written
  std::size_t out_count_ = 0;
  std::deque<std::size_t> batches_;
  bool writing_ = false;
  bool lingering_ = false;              // (inv 6)
  int quick_ = 0;                       // how often in a row something came right behind a release
  spi::time_point released_at_ = none;  // a release is the last that was asked for
  reader reader_ = reader::nobody;
  bool slow_ = false;   // the next tick is far
  bool armed_ = false;  // the engine's thread is told when there is something to read
  std::atomic<std::thread::id> leader_;
  std::vector<spi::waiter*> parked_;
};

}  // namespace afar::engines::redis
