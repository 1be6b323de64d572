// The connections of one client for steps, and the queues in front of them. The threads are the crew's.
//
// Invariants (under mutex_)
//   1. A step is in a queue or with one lane that has a connection. So a server that cannot be reached
//      holds up nobody: attend() fails what is late in a queue.
//   2. A lane that runs a step shows it. When the step is late attend() answers for it, and the lane
//      goes on: to break a connection because of a short deadline would cost more than it saves. Only a
//      step that is overdue for `overdue_after` gets its socket shut down, which ends the call of the
//      client library. Lanes close sockets only when they no longer show them.
//   3. A step of a claim does not begin while an earlier one of the same claim runs: a release must not
//      overtake the acquire that was late.
//   4. Renewals have a queue and a connection of their own, and go first. It is made when none of the
//      others is idle: a lease must not wait for a connection to be made while there is one.
//   5. The crew was called whenever a step could go. Who serves calls for the next before it begins.
//   6. A step whose first statement is mostly all of it goes without a worker where a connection is idle
//      that can send it (can_send): the thread of the user that asks for it does, and nothing of this
//      blocks. If the answer is not here at once, its lane has the connection, and whoever takes it out of
//      there goes on: the same thread if it comes to wait (read_here), for a moment; else the keeper, when
//      the answer is heard. Where that thread says that it comes, the keeper listens only from `hear_at`
//      on, in case it did not. What the answer did not settle, a worker performs. So nobody but a worker ever
//      blocks in a client library. For new connections it counts like a worker, until it is stuck: where
//      nobody waits, one is enough.
//   7. One lane at a time rings bells, and does it for the others: MariaDB's KILL hangs for 2 s now and then, and would
//      in all of them.
#pragma once

#include "engines/sql/connection.hpp"
#include "engines/sql/crew.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace afar::engines::sql {

inline constexpr spi::milliseconds overdue_after{2'000};

class step {
 public:
  explicit step(spi::time_point t) noexcept : by(t) {}
  step(const step&) = delete;
  step& operator=(const step&) = delete;
  virtual ~step() = default;

  // Answers, unless that was done by fail() meanwhile. Blocks, unless its opening was sent and did it.
  virtual void perform(connection&) noexcept = 0;
  // What it begins with, where that can be sent ahead (inv 6); and sends it.
  virtual std::optional<statement> opens_with() const noexcept { return std::nullopt; }
  virtual sent send_opening(connection&) noexcept { return sent::nothing; }
  // Any thread; answers, unless that was done before.
  virtual void fail(const spi::status&) noexcept = 0;
  // The claim it is a step of; {} if none.
  virtual spi::owner_id claim() const noexcept { return {}; }

  const spi::time_point by;
};

class lanes final : public crew::member, public std::enable_shared_from_this<lanes> {
 public:
  using dialer = std::function<std::unique_ptr<connection>(spi::time_point by)>;
  enum class way : std::uint8_t { steps, renewals };

  // `reconnected` is called when a connection was lost and another one made.
  lanes(dialer, std::size_t most, std::function<void()> reconnected);

  // The connection to begin with.
  void start(std::unique_ptr<connection>);
  void submit(std::shared_ptr<step>, way = way::steps);
  // For a thread of the user that waits until then: reads the answer to what it has sent itself. False:
  // there is nothing to read, or it takes longer; it may as well sleep.
  bool read_here(spi::time_point until) noexcept;

  // Fails what is queued, ends what runs, and waits for it; not longer than a second, because a client
  // library that connects cannot be stopped.
  void close() noexcept;

 private:
  struct lane {
    std::shared_ptr<step> what = {};
    int socket = -1;
    bool late = false;
    bool cut = false;
    // Of a step that goes without a worker.
    spi::time_point stuck_at = {};  // {}: a worker has it, or will
    std::thread::id sender = {};
    spi::time_point hear_at = {};         // {}: the keeper listens, or nobody has to
    std::unique_ptr<connection> on = {};  // nobody has it: the answer is awaited
    bool unsettled = false;               // or is here, and a worker has to go on
  };
  using lane_at = std::list<lane>::iterator;
  struct answer_heard {
    lane_at at;
    std::unique_ptr<connection> on;
    sent seen;
  };
  struct spare {
    std::unique_ptr<connection> on = {};
    spi::time_point since = {};
  };
  struct group {
    std::size_t most = 1;
    std::size_t open = 0;  // connections: spare, in use or being made
    std::vector<spare> spares = {};
    std::deque<std::shared_ptr<step>> queue = {};
    bool dialing = false;
    bool lost = false;  // a connection, and no other was made since
    spi::time_point dial_at = {};
  };
  using lock_type = std::unique_lock<std::mutex>;

  void serve() noexcept override;
  spi::time_point attend(spi::time_point now) noexcept override;
  void heard() noexcept override;

  bool can_go(group&);
  bool may_dial(const group&) const;
  std::size_t alone(spi::time_point now) const;
  bool may_begin(const step&) const;
  void call_if_any_can_go();
  crew::urgency urgency_of(const group&) const noexcept;
  std::deque<std::shared_ptr<step>>::iterator ready(group&);
  group& lender(group&);
  std::unique_ptr<connection> take_connection(group&, lock_type&);
  std::unique_ptr<connection> make_connection(group&, lock_type&);
  void put_back(group&, std::unique_ptr<connection>, lock_type&);
  void give_up(group&, std::unique_ptr<connection>, lock_type&);
  lane_at show(lane);
  void hide(lane_at);
  void perform(const std::shared_ptr<step>&, connection&, lock_type&);
  void ring(connection&, lock_type&);
  bool go_alone(const std::shared_ptr<step>&, lock_type&);
  void go_on(lane_at, std::unique_ptr<connection>, sent, lock_type&);
  void end(lane_at, std::unique_ptr<connection>, lock_type&);
  bool serve_unsettled(lock_type&);
  void fail_all(group&, const spi::status&, lock_type&);
  std::vector<spare> long_unused(spi::time_point now);
  spi::time_point next_unused() const;

  const dialer dial_;
  const std::function<void()> reconnected_;
  crew& crew_ = crew::here();
  crew::id member_ = 0;
  std::vector<answer_heard> answered_;  // the keeper's own; keeps its memory

  std::mutex mutex_;  // guards everything below
  group steps_;
  group renewals_;
  std::list<lane> running_;
  std::list<lane> unused_;  // for the next ones
  std::vector<bell_call> to_ring_;
  bool ringing_ = false;
  std::size_t serving_ = 0;
  std::condition_variable served_;
  bool closed_ = false;
};

}  // namespace afar::engines::sql
