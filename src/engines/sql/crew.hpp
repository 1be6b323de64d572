// The threads of all SQL engines of this process. The client libraries block, so that a worker makes
// one step at a time; but waiting claims, holds and clients cost no threads:
//   1. There are as many workers as threads of the user wait for answers now, and at least one. What
//      nobody blocks on (asynchronous calls, renewals, looks after a ring) goes one after another.
//   2. A call that no worker has taken for `stuck_after`, because their servers hang, gets another one.
//      An urgent one (a renewal) gets it at once; and while a worker makes a connection, which takes
//      long on a busy machine, a waiting thread of the user may have another.
//   3. One keeper looks after deadlines, and hears bells and answers. It never makes a call that blocks.
// Members bound what they call for by their connections, and that bounds the workers.
#pragma once

#include <afar/spi/engine.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace afar::engines::sql {

class crew {
 public:
  static constexpr spi::milliseconds stuck_after{500};

  class member {
   public:
    member() = default;
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    virtual ~member() = default;

    // On a worker, once per call(); may block.
    virtual void serve() noexcept {}
    // On the keeper: does what is due, and says when to come again.
    virtual spi::time_point attend(spi::time_point now) noexcept = 0;
    // On the keeper: the socket that was given to hear() can be read, or is broken.
    virtual void heard() noexcept {}
  };
  using id = std::uint64_t;

  // A thread of the user waits for an answer.
  class caller {
   public:
    explicit caller(crew& c) noexcept : crew_(c) {
      ++crew_.callers_;
      crew_.help();
    }
    ~caller() { --crew_.callers_; }
    caller(const caller&) = delete;
    caller& operator=(const caller&) = delete;

   private:
    crew& crew_;
  };

  // The worker makes a connection.
  class away {
   public:
    explicit away(crew& c) noexcept : crew_(c) {
      ++crew_.away_;
      crew_.help();
    }
    ~away() { --crew_.away_; }
    away(const away&) = delete;
    away& operator=(const away&) = delete;

   private:
    crew& crew_;
  };
  enum class urgency : std::uint8_t { usual, urgent };

  static crew& here();  // of this process; a child of fork() has one of its own
  crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew();

  id join(std::shared_ptr<member>);
  void leave(id) noexcept;

  // Members call these with locks of their own held: the crew calls nobody back with one held.
  void call(std::shared_ptr<member>, urgency = urgency::usual);
  void attend_by(spi::time_point) noexcept;
  void hear(id, int socket) noexcept;  // until it was heard once
  void hear_no_more(int socket) noexcept;

  std::size_t callers() const noexcept { return callers_.load(); }

 private:
  struct wanted {
    std::shared_ptr<member> who;
    spi::time_point since;
  };

  void help() noexcept;
  bool short_of_workers(std::size_t more) const noexcept;
  void add_worker();
  void work();
  void keep();
  void attend_all(std::unique_lock<std::mutex>&);
  void set_timer(spi::time_point) noexcept;

  const int events_;  // epoll
  const int timer_;   // timerfd
  std::atomic<std::size_t> callers_{0};
  std::atomic<std::size_t> away_{0};
  std::atomic<std::size_t> waiting_{0};  // calls_.size(), for who looks without the lock

  std::mutex mutex_;  // guards everything below
  std::map<id, std::shared_ptr<member>> members_;
  id last_id_ = 0;
  std::deque<wanted> calls_;
  std::condition_variable work_;
  std::size_t workers_ = 0;
  std::size_t idle_ = 0;
  bool keeper_ = false;
  spi::time_point set_ =
      spi::time_point::max();  // when the timer goes off; min: the keeper is awake
  spi::time_point asked_ = spi::time_point::max();  // what was asked for while it was
};

}  // namespace afar::engines::sql
