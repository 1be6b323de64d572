// An operation that waits: drives a wait_machine with an engine, the wake hub and timers. Derived
// classes say what an attempt is. Events come from any thread and are handled one at a time: by the
// blocked caller itself (run), or, if nobody blocks, by whoever posts them (start).
#pragma once

#include "core/arrival.hpp"
#include "core/parker.hpp"
#include "core/timers.hpp"
#include "core/wait_machine.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace afar::detail {

class core;

class wait_op : public std::enable_shared_from_this<wait_op> {
 public:
  using attempted = wait_machine::attempted;

  wait_op(std::shared_ptr<core>, const wait_machine::limits&, std::stop_token);
  wait_op(const wait_op&) = delete;
  wait_op& operator=(const wait_op&) = delete;
  virtual ~wait_op();

  // The answer to an attempt that the caller has made already.
  struct first_answer {
    spi::status status;
    attempted answer;
  };

  // What its caller has done for it.
  struct beginning {
    bool asked = false;                       // the first attempt was made
    std::optional<first_answer> answer = {};  // to it; none: answered() will be called
  };

  // This thread is going to run() it. Before anybody else knows of it: what comes from then on waits.
  void will_block() noexcept;
  // Blocks the caller until report() has run.
  void run(beginning, arrival);
  // Returns at once; report() runs on an unspecified thread, possibly before start returns.
  void start(beginning, arrival);

  // Any thread.
  void wake();
  void close();
  void watched(const spi::status&, bool recheck);
  void pushed_grant(std::uint64_t token, std::uint64_t last_token, std::chrono::milliseconds lease);

 protected:
  // Leads to answered(), once.
  virtual void attempt(spi::time_point by) = 0;
  // Undoes what attempts may have left behind; leads to withdrawn(), once.
  virtual void withdraw() { withdrawn(); }
  // The user's call ends. Called exactly once; the operation may go on to withdraw itself.
  virtual void report(const spi::status&) = 0;
  // Only what waits for the engine lends it its thread.
  virtual bool waits_for_engine() const noexcept { return true; }
  // Something that the operation itself waited for has come. False: an ordinary wake.
  virtual bool resume() { return false; }
  // The engine says that it was granted without an attempt. False: not believed.
  virtual bool adopt(std::uint64_t, std::uint64_t, std::chrono::milliseconds) { return false; }
  virtual void before_watch() {}  // it goes on to wait for the engine

  void answered(spi::status, attempted);
  void withdrawn();
  void resume_soon();  // any thread; leads to resume()
  core& owner() const noexcept { return *core_; }
  bool blocks() const noexcept { return blocking_; }  // for who handles events: the caller does
  bool refused_before() const { return machine_.refused_before(); }

 private:
  struct event {
    enum class kind : std::uint8_t {
      start,
      attempt,
      watch,
      wake,
      timer,
      stop,
      close,
      grant,
      withdrawn,
      resume
    };
    kind what;
    spi::status status = {};
    attempted answer = {};
    bool recheck = false;
    std::uint64_t token = 0;
    std::uint64_t last_token = 0;
    std::chrono::milliseconds lease{};
  };
  // What a blocked caller sleeps on.
  struct sleeper final : spi::waiter {
    explicit sleeper(wait_op& o) : op(o) {}
    bool ready() const noexcept override {
      return op.pending_.load(std::memory_order_acquire) || op.answered_here();
    }
    void park_until(spi::time_point t) noexcept override { place.park_until(t); }
    void notify() noexcept override { place.notify(); }
    std::string_view key() const noexcept override { return op.machine_.watch_key(); }
    wait_op& op;
    parker place;
  };

  std::optional<event> begin(beginning, arrival& arriving);
  void heed_stop();
  void sleep();
  void post(event);
  void handle_posted();
  void handle(event&);
  void perform(wait_machine::action);
  std::optional<wait_machine::action> attempt_now();
  wait_machine::action on_answer(const spi::status&, attempted);
  wait_machine::action watch_now();
  void report_once();
  void finish();
  void set_timer();

  const std::shared_ptr<core> core_;
  wait_machine machine_;
  std::stop_token stop_;
  struct stop_handler {
    wait_op* op;
    void operator()() const { op->post({.what = event::kind::stop}); }
  };
  std::optional<std::stop_callback<stop_handler>> on_stop_;
  std::string watching_;
  timers::id timer_ = 0;
  spi::time_point timer_at_ = spi::time_point::max();
  sleeper sleeper_{*this};
  bool reported_ = false;  // only the handling thread touches it
  bool over_ = false;
  std::vector<event> batch_;  // being handled; keeps its memory

  std::mutex m_;
  std::vector<event> events_;
  std::atomic<bool> pending_{false};
  bool handling_ = false;
  bool blocking_ = false;  // the caller handles events
  std::atomic<bool> driving_{false};
  std::thread::id caller_;

  // An answer that comes to the thread that makes the attempt, or that reads for the engine until it
  // has it: nobody else has to be told.
  struct answer_here {
    const wait_op* of;
    std::optional<first_answer> answer = {};
  };
  static thread_local answer_here* attempting_;

  friend class core;
  struct neighbours {  // in the core's list of what is under way; the core's mutex guards it
    bool listed = false;
    wait_op* previous = nullptr;
    wait_op* next = nullptr;
  };
  neighbours place_;

  bool answered_here() const noexcept {
    return attempting_ != nullptr && attempting_->of == this && attempting_->answer;
  }
};

}  // namespace afar::detail
