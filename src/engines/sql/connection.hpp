// One connection to a database, and the statements that the engine knows. Calls block; whoever has to
// end one early shuts the socket down (see lanes.hpp). Not for two threads at once.
#pragma once

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace afar::engines::sql {

// Their text is in mysql/statements.cpp and postgres/statements.cpp; parameters are numbered $1, $2 …
// in both. Times and leases are in microseconds, counted by the server. Later than at `end` a statement
// does nothing: what a hanging server finds when it goes on was given up, and released, long before.
enum class statement : std::uint8_t {
  take,  // name kind owner lease handoffs note end -> token; nothing: not free, or not plain
  give,  // name owner
  join,  // name kind place end owner: in line behind another holder; nothing happens if there is none
  extend,        // name owner lease token note
  load,          // name -> now, row (row.cpp reads it)
  insert,        // name, row, end; nothing happens if there is one
  update,        // name, row, end, version, calls; nothing happens if the version is another
  look,          // 16 names -> name rings called owner token last_token lease
  mark,          // name time: somebody watches it
  listen,        // name bell time
  listeners,     // name -> bell
  find_order,    // name order -> buyer amount state due
  put_order,     // name order buyer amount state due
  find_units,    // name buyer -> units
  put_units,     // name buyer units
  due,           // name time -> due order
  erase_orders,  // name
  erase_units,   // name
  page,          // name kind count -> name row
  next_rows,     // name -> name row: those behind it
  erase_name,    // name version
  collect,       // time: deletes idle rows of the names, older than that
  forget_bells,  // deletes those that nobody hears
  count_         // how many there are
};
inline constexpr std::size_t statements = static_cast<std::size_t>(statement::count_);
inline constexpr std::size_t names_per_look = 16;

using parameter = std::variant<std::monostate, std::int64_t, std::string_view>;

struct field {
  bool null = true;
  std::int64_t number = 0;
  std::string text = {};
};

struct answer {
  std::vector<std::vector<field>> rows;
  std::int64_t affected = 0;  // rows that were changed, or that came back
};

// A bell that is rung, and what it says where it can (update_rings).
struct bell_call {
  std::uint64_t bell = 0;
  std::string text = {};  // told_grant.hpp; empty: look

  auto operator<=>(const bell_call&) const = default;
};

// What a failed call throws.
struct failure {
  spi::status what;
  bool again = false;  // certainly not done, and worth another try: a deadlock, a lock not granted
};

// What a server said of itself when it was dialed.
struct server_facts {
  std::string version = {};
  bool read_only = false;
  bool galera = false;
  bool pooled = false;  // a pooler may give every transaction another session
};

// How far the statement is that was to be sent ahead.
enum class sent : std::uint8_t { nothing, under_way, did_it, did_not };

class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  virtual answer run(statement, std::span<const parameter>) = 0;
  // Plain text without parameters; every field of the answer is text.
  virtual answer run(const std::string& text) = 0;

  // A statement can be sent ahead: the next run(), which has to be of the same, has its answer then. None
  // of these blocks. send() may have read the answer already; then the socket does not tell of it.
  virtual bool can_send(statement) const noexcept { return false; }
  virtual sent send(statement, std::span<const parameter>) { return sent::nothing; }
  virtual sent look() noexcept { return sent::did_not; }  // did_it: it has changed or found a row
  // Nobody wants the answer, which look() has seen, if it is still there.
  virtual void skip() noexcept {}

  virtual const server_facts& about() const noexcept = 0;
  virtual int descriptor() const noexcept = 0;  // of the socket
  virtual bool broken() const noexcept = 0;

  // Makes this the connection on which bells are heard, and returns their number; 0: impossible here.
  virtual std::uint64_t open_bell() = 0;
  // Waits for a ring from now on: the socket can be read when there is one, and now and then without.
  virtual void arm_bell() = 0;
  // Reads what came; call it when the socket can be read. What the rings said; nothing: not rung.
  virtual std::vector<std::string> hear_bell() = 0;
  // Rings bells that `update` could not ring by itself. A ring may get lost, and may take long.
  virtual void ring(std::span<const bell_call>) = 0;
  // So whoever made the change is answered first; then lanes ring.
  void ring_later(std::span<const bell_call> calls) {
    to_ring_.insert(to_ring_.end(), calls.begin(), calls.end());
  }
  std::vector<bell_call> to_ring() noexcept { return std::exchange(to_ring_, {}); }
  // Then a ring says something, and hear_bell() does not block.
  virtual bool update_rings() const noexcept = 0;

  // The server's clock, at a moment of ours, by what it said last. Not more than it is, unless it was
  // stepped since: `answered` is when that arrived.
  std::int64_t server_us(spi::time_point at) const noexcept { return ahead_us_ + boot_us(at); }
  void server_said(std::int64_t now_us, spi::time_point answered) noexcept {
    ahead_us_ = now_us - boot_us(answered);
  }

  template <class... Parameters>
  answer ask(statement s, const Parameters&... p) {
    const parameter list[] = {parameter{p}...};
    return run(s, list);
  }
  template <class... Parameters>
  sent tell(statement s, const Parameters&... p) {
    const parameter list[] = {parameter{p}...};
    return send(s, list);
  }

 private:
  static std::int64_t boot_us(spi::time_point t) noexcept {
    return t.time_since_epoch().count() / 1'000;
  }
  std::int64_t ahead_us_ = 0;
  std::vector<bell_call> to_ring_;
};

// A transaction of several statements, undone unless it was committed.
class transaction {
 public:
  explicit transaction(connection& on) : on_(on) { on_.run("BEGIN"); }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction() {
    if (over_ || on_.broken()) return;
    try {
      on_.run("ROLLBACK");
    } catch (const failure&) {  // the connection is broken, which undoes it as well
    }
  }
  void commit() {
    on_.run("COMMIT");
    over_ = true;
  }

 private:
  connection& on_;
  bool over_ = false;
};

}  // namespace afar::engines::sql
