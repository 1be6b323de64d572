#include "engines/sql/mysql/ahead.hpp"
#include "engines/sql/mysql/library.hpp"
#include "engines/sql/mysql/mysql.hpp"
#include "engines/sql/sockets.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace afar::engines::sql::mysql {

const library& library::get() {
  static const library loaded = [] {
    library l;
    l.mysql_server_init(0, nullptr, nullptr);  // once, before threads
    return l;
  }();
  return loaded;
}

namespace {

using namespace std::chrono_literals;

// Errors whose statement certainly did nothing, and that pass: a deadlock, a lock wait.
constexpr unsigned passing[] = {1205, 1213};

struct meaning {
  unsigned code;
  errc error;
  std::string_view detail;  // empty: the server's own words
};
constexpr meaning meanings[] = {
    {1021, errc::no_room, {}},
    {1114, errc::no_room, {}},
    {1040, errc::unavailable, "the server has reached max_connections"},
    {1203, errc::unavailable, "this user has reached max_user_connections"},
    {1044, errc::denied, {}},
    {1045, errc::denied, {}},
    {1142, errc::denied, {}},
    {1143, errc::denied, {}},
    {1227, errc::denied, {}},
    {1370, errc::denied, {}},
    {1698, errc::denied, {}},
    {1049, errc::denied, {}},
    {1053, errc::unknown_outcome, "the server is shutting down"},
    {1290, errc::unavailable, "the server is read-only; name the primary"},
    {1792, errc::unavailable, "the server is read-only; name the primary"},
    {1836, errc::unavailable, "the server is read-only; name the primary"},
    {1317, errc::unknown_outcome, "somebody has killed the statement"},
    {1927, errc::unknown_outcome, "somebody has killed the connection"},
    {1047, errc::unavailable, "this node has lost its cluster"},
};

failure failure_of(unsigned code, std::string_view text) {
  if (std::ranges::find(passing, code) != std::end(passing))
    return {{errc::unavailable, std::string{text}}, true};
  for (const meaning& m : meanings)
    if (m.code == code) return {{m.error, std::string{m.detail.empty() ? text : m.detail}}};
  if (code >= 2000 && code < 3000) return {{errc::unknown_outcome, std::string{text}}};
  return {{errc::damaged, "the server says: " + std::string{text.substr(0, 200)} + " (" +
                              std::to_string(code) + ")"}};
}

bool breaks(unsigned code) { return (code >= 2000 && code < 3000) || code == 1053 || code == 1927; }

class mysql_connection final : public connection {
 public:
  mysql_connection(const target& to, const spi::url::host& at, spi::time_point by)
      : lib_(library::get()), my_(lib_.mysql_init(nullptr)), ahead_(lib_) {
    if (!my_) throw failure{{errc::unavailable, "no memory for a connection"}};
    try {
      open(to, at, by);
    } catch (...) {
      close();
      throw;
    }
  }
  ~mysql_connection() override { close(); }

  answer run(statement s, std::span<const parameter> p) override {
    MYSQL_STMT* st = prepared(s);
    const bool was_sent = ahead_.any();
    if (!was_sent) bind(st, numbered_text(s).order, p);
    if ((was_sent ? ahead_.end(descriptor()) : lib_.mysql_stmt_execute(st)) != 0) {
      // To the engine these are answers: somebody else was faster; it is too late.
      const unsigned error = lib_.mysql_stmt_errno(st);
      if (s == statement::insert && error == 1062) return {};
      if ((s == statement::insert || s == statement::take) && error == 1048) return {};
      fail(st);
    }
    answer out = fetch(st);
    if (!out.rows.empty()) return out;
    out.affected = static_cast<std::int64_t>(lib_.mysql_stmt_affected_rows(st));
    if (s == statement::take && out.affected > 0) {
      const auto token = static_cast<std::int64_t>(lib_.mysql_stmt_insert_id(st));
      out.rows.push_back({field{false, token, {}}});
    }
    return out;
  }

  // To prepare it would block; and to fetch rows.
  bool can_send(statement s) const noexcept override {
    MYSQL_STMT* const st = prepared_[static_cast<std::size_t>(s)];
    return sends_ahead_ && st && lib_.mysql_stmt_field_count(st) == 0;
  }
  sent send(statement s, std::span<const parameter> p) override {
    MYSQL_STMT* st = prepared(s);
    bind(st, numbered_text(s).order, p);
    ahead_.begin(st);
    return so_far();
  }
  sent look() noexcept override {
    if (!ahead_.under_way()) return so_far();
    const incoming has = peek(descriptor());
    if (has == incoming::end)
      return sent::did_not;  // run() says so, and the library closes the socket
    if (has == incoming::something) ahead_.go_on();
    return so_far();
  }
  void skip() noexcept override {
    if (ahead_.any()) ahead_.end(descriptor());
  }

  answer run(const std::string& text) override {
    if (lib_.mysql_real_query(my_, text.data(), text.size()) != 0) fail();
    return read_result();
  }

  const server_facts& about() const noexcept override { return facts_; }
  int descriptor() const noexcept override { return static_cast<int>(lib_.mysql_get_socket(my_)); }
  bool broken() const noexcept override { return broken_ || hung_up(descriptor()); }

  std::uint64_t open_bell() override { return facts_.galera ? 0 : lib_.mysql_thread_id(my_); }

  // A ring is KILL QUERY of the sleep. One that falls between two sleeps is lost, so they are short.
  void arm_bell() override {
    constexpr std::string_view sleep = "SELECT SLEEP(0.25) /* afar bell */";
    if (lib_.mysql_send_query(my_, sleep.data(), sleep.size()) != 0) fail();
  }
  std::vector<std::string> hear_bell() override {
    try {
      if (lib_.mysql_read_query_result(my_) != 0) fail();
      const answer slept = read_result();
      const bool rung = !slept.rows.empty() && slept.rows[0][0].text == "1";
      return std::vector<std::string>(rung ? 1 : 0);
    } catch (const failure&) {
      if (broken_) throw;
      return {{}};  // MariaDB calls it an error
    }
  }

  // Looks first whether that session is a sleeping bell: after a restart of the server its number may
  // be somebody else's. Now and then it takes 2 s: MariaDB's KILL and a sleep that just ends wait for what the
  // other one has locked, until KILL gives up.
  void ring(std::span<const bell_call> calls) override {
    std::uint64_t before = 0;
    for (const bell_call& c : calls) {
      if (std::exchange(before, c.bell) == c.bell) continue;  // they are sorted, and say nothing
      const std::string id = std::to_string(c.bell);
      const answer sleeps = run("SELECT 1 FROM information_schema.processlist WHERE id = " + id +
                                " AND info LIKE 'SELECT SLEEP(%afar bell%'");
      if (sleeps.rows.empty()) continue;
      try {
        run("KILL QUERY " + id);
      } catch (const failure&) {
        if (broken_) throw;  // else it has gone meanwhile
      }
    }
  }
  bool update_rings() const noexcept override { return false; }

 private:
  bool option(mysql_option which, const void* value) {
    return lib_.mysql_optionsv(my_, which, value) == 0;
  }

  void open(const target& to, const spi::url::host& at, spi::time_point by) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(by - boot_clock::now());
    const auto seconds = static_cast<unsigned>(std::clamp<std::int64_t>(left.count(), 1, 5));
    const unsigned silence = 6;
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    const my_bool off = 0;
    const my_bool on = 1;
    option(MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    // For the dialogue of the log-in; later whoever waits has deadlines of his own (lanes.hpp).
    option(MYSQL_OPT_READ_TIMEOUT, &silence);
    option(MYSQL_OPT_WRITE_TIMEOUT, &silence);
    option(MYSQL_OPT_PROTOCOL, &tcp);
    option(MYSQL_OPT_RECONNECT, &off);
    option(MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (to.tls) {  // the library's own default is plain text, whatever the server offers
      option(MYSQL_OPT_SSL_ENFORCE, &on);
      option(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
      if (!to.ca.empty()) option(MYSQL_OPT_SSL_CA, to.ca.c_str());
      if (!to.cert.empty()) option(MYSQL_OPT_SSL_CERT, to.cert.c_str());
      if (!to.key.empty()) option(MYSQL_OPT_SSL_KEY, to.key.c_str());
    }
    // CLIENT_FOUND_ROWS stays off: an update that changed nothing must say so.
    if (!lib_.mysql_real_connect(my_, at.name.c_str(), to.user.c_str(),
                                 to.password.reveal().c_str(), to.database.c_str(), at.port,
                                 nullptr, 0)) {
      failure f = failure_of(lib_.mysql_errno(my_), lib_.mysql_error(my_));
      if (f.what.code == errc::unknown_outcome) f.what.code = errc::unavailable;
      throw failure{f};
    }
    keep_alive(descriptor());
    greet();
    // Over TLS these calls block (CONC-594).
    sends_ahead_ = !lib_.mysql_get_ssl_cipher(my_) && option(MYSQL_OPT_NONBLOCK, nullptr);
  }

  // What a step relies on is set in every session, whatever the server's own settings are.
  void greet() {
    run("SET SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = 2");
    run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    facts_.version = lib_.mysql_get_server_info(my_);
    const std::string now = run(clock_query).rows[0][0].text;
    server_said(std::atoll(now.c_str()), boot_clock::now());
    const answer settings =
        run("SHOW VARIABLES WHERE variable_name IN ('read_only', 'super_read_only',"
            " 'innodb_read_only', 'wsrep_on', 'idle_transaction_timeout')");
    for (const auto& row : settings.rows) {
      const bool on = row[1].text == "ON" || row[1].text == "1";
      if (row[0].text == "idle_transaction_timeout")  // MariaDB has it: nobody keeps a row locked
        run("SET SESSION idle_transaction_timeout = 3");
      else if (row[0].text == "wsrep_on")
        facts_.galera = on;
      else
        facts_.read_only |= on;
    }
  }

  void close() noexcept {
    if (ahead_.any()) {  // what it has on its stack is given back
      ::shutdown(descriptor(), SHUT_RDWR);
      ahead_.end(descriptor());
    }
    for (MYSQL_STMT*& s : prepared_)
      if (s) lib_.mysql_stmt_close(s);
    if (my_) lib_.mysql_close(my_);
    my_ = nullptr;
  }

  MYSQL_STMT* prepared(statement s) {
    MYSQL_STMT*& st = prepared_[static_cast<std::size_t>(s)];
    if (st) return st;
    MYSQL_STMT* made = lib_.mysql_stmt_init(my_);
    if (!made) throw failure{{errc::unavailable, "no memory for a statement"}};
    const std::string& text = numbered_text(s).text;
    if (lib_.mysql_stmt_prepare(made, text.data(), text.size()) != 0) {
      failure f = note(lib_.mysql_stmt_errno(made), lib_.mysql_stmt_error(made));
      // Nothing was asked for yet.
      if (f.what.code == errc::unknown_outcome) f.what.code = errc::unavailable;
      lib_.mysql_stmt_close(made);
      throw failure{f};
    }
    return st = made;
  }

  void bind(MYSQL_STMT* st, const std::vector<std::size_t>& order, std::span<const parameter> p) {
    binds_.assign(order.size(), {});
    for (std::size_t i = 0; i < order.size(); ++i) {
      MYSQL_BIND& b = binds_[i];
      const parameter& from = p[order[i]];
      if (const auto* number = std::get_if<std::int64_t>(&from)) {
        b.buffer_type = MYSQL_TYPE_LONGLONG;
        b.buffer = const_cast<std::int64_t*>(number);
      } else if (const auto* text = std::get_if<std::string_view>(&from)) {
        b.buffer_type = MYSQL_TYPE_BLOB;
        b.buffer = const_cast<char*>(text->data() ? text->data() : "");
        b.buffer_length = text->size();
      } else {
        b.buffer_type = MYSQL_TYPE_NULL;
      }
    }
    if (!binds_.empty() && lib_.mysql_stmt_bind_param(st, binds_.data()) != 0) fail(st);
  }

  sent so_far() const noexcept {
    if (ahead_.under_way()) return sent::under_way;
    return ahead_.did_it() ? sent::did_it : sent::did_not;
  }

  answer fetch(MYSQL_STMT* st) {
    answer out;
    MYSQL_RES* about = lib_.mysql_stmt_result_metadata(st);
    if (!about) return out;
    const unsigned columns = lib_.mysql_num_fields(about);
    const MYSQL_FIELD* fields = lib_.mysql_fetch_fields(about);
    std::vector<bool> texts(columns);
    for (unsigned i = 0; i < columns; ++i)
      texts[i] = fields[i].type == MYSQL_TYPE_BLOB || fields[i].type == MYSQL_TYPE_VAR_STRING ||
                 fields[i].type == MYSQL_TYPE_STRING || fields[i].type == MYSQL_TYPE_LONG_BLOB ||
                 fields[i].type == MYSQL_TYPE_MEDIUM_BLOB || fields[i].type == MYSQL_TYPE_TINY_BLOB;
    lib_.mysql_free_result(about);
    std::vector<MYSQL_BIND> binds(columns);
    std::vector<std::int64_t> numbers(columns);
    std::vector<unsigned long> sizes(columns);
    std::vector<my_bool> nulls(columns);
    for (unsigned i = 0; i < columns; ++i) {
      binds[i].buffer_type = texts[i] ? MYSQL_TYPE_BLOB : MYSQL_TYPE_LONGLONG;
      if (!texts[i]) binds[i].buffer = &numbers[i];  // of a text only the size, for now
      binds[i].length = &sizes[i];
      binds[i].is_null = &nulls[i];
    }
    if (lib_.mysql_stmt_bind_result(st, binds.data()) != 0 || lib_.mysql_stmt_store_result(st) != 0)
      fail(st);
    for (;;) {
      const int rc = lib_.mysql_stmt_fetch(st);
      if (rc == MYSQL_NO_DATA) break;
      if (rc == 1) fail(st);
      auto& row = out.rows.emplace_back(columns);
      for (unsigned i = 0; i < columns; ++i) {
        if (nulls[i]) continue;
        row[i].null = false;
        if (texts[i])
          read_text(st, i, sizes[i], row[i].text);
        else
          row[i].number = numbers[i];
      }
    }
    lib_.mysql_stmt_free_result(st);
    out.affected = static_cast<std::int64_t>(out.rows.size());
    return out;
  }

  void read_text(MYSQL_STMT* st, unsigned column, unsigned long size, std::string& to) {
    to.resize(size);
    if (size == 0) return;
    unsigned long read = 0;
    MYSQL_BIND b{};
    b.buffer_type = MYSQL_TYPE_BLOB;
    b.buffer = to.data();
    b.buffer_length = size;
    b.length = &read;
    if (lib_.mysql_stmt_fetch_column(st, &b, column, 0) != 0) fail(st);
  }

  answer read_result() {
    answer out;
    MYSQL_RES* result = lib_.mysql_store_result(my_);
    if (!result) {
      if (lib_.mysql_errno(my_) != 0) fail();
      out.affected = static_cast<std::int64_t>(lib_.mysql_affected_rows(my_));
      return out;
    }
    const unsigned columns = lib_.mysql_num_fields(result);
    while (MYSQL_ROW row = lib_.mysql_fetch_row(result)) {
      const unsigned long* sizes = lib_.mysql_fetch_lengths(result);
      auto& to = out.rows.emplace_back(columns);
      for (unsigned i = 0; i < columns; ++i)
        if (row[i]) to[i] = {false, 0, std::string(row[i], sizes[i])};
    }
    lib_.mysql_free_result(result);
    out.affected = static_cast<std::int64_t>(out.rows.size());
    return out;
  }

  failure note(unsigned code, const char* text) {
    if (breaks(code)) broken_ = true;
    return failure_of(code, text);
  }
  [[noreturn]] void fail() { throw failure{note(lib_.mysql_errno(my_), lib_.mysql_error(my_))}; }
  [[noreturn]] void fail(MYSQL_STMT* st) {
    throw failure{note(lib_.mysql_stmt_errno(st), lib_.mysql_stmt_error(st))};
  }

  const library& lib_;
  MYSQL* my_;
  std::array<MYSQL_STMT*, statements> prepared_{};
  std::vector<MYSQL_BIND> binds_;  // which the library copies
  ahead ahead_;
  bool sends_ahead_ = false;
  server_facts facts_;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<connection> connect(const target& to, const spi::url::host& at,
                                    spi::time_point by) {
  return std::make_unique<mysql_connection>(to, at, by);
}

}  // namespace afar::engines::sql::mysql
