#include "engines/sql/postgres/library.hpp"
#include "engines/sql/postgres/postgres.hpp"
#include "engines/sql/sockets.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace afar::engines::sql::postgres {

const library& library::get() {
  static const library loaded;
  return loaded;
}

namespace {

using namespace std::chrono_literals;

// Types of the columns that the statements answer with.
constexpr unsigned int8_type = 20;
constexpr unsigned int4_type = 23;

struct meaning {
  std::string_view state;  // or its class, two letters
  errc error;
  std::string_view detail;  // empty: the server's own words
};
constexpr meaning meanings[] = {
    {"53100", errc::no_room, {}},
    {"53200", errc::no_room, {}},
    {"53300", errc::unavailable, "the server has reached max_connections"},
    {"25006", errc::unavailable, "the server is a standby or read-only; name the primary"},
    {"42501", errc::denied, {}},
    {"3D000", errc::denied, {}},
    {"28", errc::denied, {}},
    {"57P03", errc::unavailable, "the server is starting or stopping"},
    {"57", errc::unknown_outcome, {}},
    {"08", errc::unknown_outcome, {}},
};
// Undone by the server, and worth another try: deadlocks, serialisation, lock waits.
constexpr std::string_view passing[] = {"40001", "40P01", "55P03"};

std::string first_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return std::string{text.substr(0, text.find('\n'))};
}

failure failure_of(std::string_view state, std::string_view text) {
  if (std::ranges::find(passing, state) != std::end(passing))
    return {{errc::unavailable, first_line(text)}, true};
  if (state.empty()) return {{errc::unknown_outcome, first_line(text)}};
  for (const meaning& m : meanings)
    if (state.starts_with(m.state))
      return {{m.error, m.detail.empty() ? first_line(text) : std::string{m.detail}}};
  return {{errc::damaged, "the server says: " + first_line(text).substr(0, 200) + " (" +
                              std::string{state} + ")"}};
}

std::int64_t big_endian(const char* from, int size) {
  std::uint64_t n = 0;
  for (int i = 0; i < size; ++i) n = n << 8U | static_cast<unsigned char>(from[i]);
  if (size == 4) return static_cast<std::int32_t>(n);
  return static_cast<std::int64_t>(n);
}

void no_notices(void*, const PGresult*) {}

// Parameters as libpq wants them: numbers as text, bytes as they are.
struct arguments {
  explicit arguments(std::span<const parameter> p) : count(static_cast<int>(p.size())) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (const auto* number = std::get_if<std::int64_t>(&p[i])) {
        *std::to_chars(digits[i].data(), digits[i].data() + 23, *number).ptr = '\0';
        values[i] = digits[i].data();
      } else if (const auto* text = std::get_if<std::string_view>(&p[i])) {
        values[i] = text->data() ? text->data() : "";
        sizes[i] = static_cast<int>(text->size());
        formats[i] = 1;
      }
    }
  }
  arguments(const arguments&) = delete;
  arguments& operator=(const arguments&) = delete;

  const int count;
  std::array<const char*, 20> values{};
  std::array<int, 20> sizes{};
  std::array<int, 20> formats{};
  std::array<std::array<char, 24>, 20> digits;  // what is used of it is written first
};

class postgres_connection final : public connection {
 public:
  postgres_connection(const target& to, const spi::url::host& at, spi::time_point by)
      : lib_(library::get()) {
    try {
      open(to, at, by);
      greet();
    } catch (failure& f) {
      close();
      if (f.what.code == errc::unknown_outcome) f.what.code = errc::unavailable;
      throw;
    } catch (...) {
      close();
      throw;
    }
  }
  ~postgres_connection() override { close(); }

  answer run(statement s, std::span<const parameter> p) override {
    if (ahead_) return read(sent_ahead());
    const arguments a{p};
    // Behind a pooler the next statement may meet a session that has prepared nothing.
    if (facts_.pooled)
      return read({lib_.PQexecParams(pq_, std::string{text_of(s)}.c_str(), a.count, nullptr,
                                     a.values.data(), a.sizes.data(), a.formats.data(), 1),
                   lib_.PQclear});
    return read({lib_.PQexecPrepared(pq_, prepared(s).c_str(), a.count, a.values.data(),
                                     a.sizes.data(), a.formats.data(), 1),
                 lib_.PQclear});
  }

  // To prepare it would block.
  bool can_send(statement s) const noexcept override {
    return !facts_.pooled && !names_[static_cast<std::size_t>(s)].empty();
  }
  // Does not block either: one statement has room in the buffer of a socket on which all is answered.
  sent send(statement s, std::span<const parameter> p) override {
    const arguments a{p};
    ahead_ = lib_.PQsendQueryPrepared(pq_, prepared(s).c_str(), a.count, a.values.data(),
                                      a.sizes.data(), a.formats.data(), 1) != 0;
    return ahead_ ? sent::under_way : sent::nothing;
  }
  // Its end is the end of its transaction, and behind the result: that can still turn into a failure.
  sent look() noexcept override {
    lib_.PQconsumeInput(pq_);
    while (lib_.PQisBusy(pq_) == 0) {
      PGresult* const next = lib_.PQgetResult(pq_);
      if (!next) return changed(last_.get()) > 0 ? sent::did_it : sent::did_not;
      last_.reset(next);
    }
    return sent::under_way;
  }
  void skip() noexcept override {
    if (ahead_) sent_ahead();
  }

  answer run(const std::string& text) override {
    return read({lib_.PQexec(pq_, text.c_str()), lib_.PQclear});
  }

  const server_facts& about() const noexcept override { return facts_; }
  int descriptor() const noexcept override { return lib_.PQsocket(pq_); }
  bool broken() const noexcept override {
    return lib_.PQstatus(pq_) != CONNECTION_OK || hung_up(descriptor());
  }

  std::uint64_t open_bell() override {
    if (facts_.pooled) return 0;
    const auto bell = static_cast<std::uint64_t>(lib_.PQbackendPID(pq_));
    run("LISTEN afar_" + std::to_string(bell));
    return bell;
  }

  void arm_bell() override {}  // it always is
  std::vector<std::string> hear_bell() override {
    if (lib_.PQconsumeInput(pq_) == 0)
      throw failure{{errc::unavailable, first_line(lib_.PQerrorMessage(pq_))}};
    std::vector<std::string> said;
    while (PGnotify* n = lib_.PQnotifies(pq_)) {
      said.emplace_back(n->extra);
      lib_.PQfreemem(n);
    }
    return said;
  }

  void ring(std::span<const bell_call> calls) override {
    for (const bell_call& c : calls) run("NOTIFY afar_" + std::to_string(c.bell));
  }
  bool update_rings() const noexcept override { return true; }

 private:
  using result = std::unique_ptr<PGresult, decltype(::PQclear)*>;

  void open(const target& to, const spi::url::host& at, spi::time_point by) {
    const std::string port = std::to_string(at.port);
    std::vector<const char*> keys;
    std::vector<const char*> values;
    const auto set = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      keys.push_back(key);
      values.push_back(value.c_str());
    };
    const std::string mode = to.tls ? "verify-full" : "prefer";
    const std::string ca = !to.ca.empty() ? to.ca : "/etc/ssl/certs/ca-certificates.crt";
    const std::string name = "afar";
    set("host", at.name);
    set("port", port);
    set("user", to.user);
    set("password", to.password.reveal());
    set("dbname", to.database);
    set("application_name", name);
    set("sslmode", mode);
    if (to.tls) set("sslrootcert", ca);
    set("sslcert", to.cert);
    set("sslkey", to.key.empty() ? to.cert : to.key);
    keys.push_back(nullptr);
    values.push_back(nullptr);
    pq_ = lib_.PQconnectStartParams(keys.data(), values.data(), 0);
    if (!pq_) throw failure{{errc::unavailable, "no memory for a connection"}};
    for (auto state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;
         state = lib_.PQconnectPoll(pq_)) {
      if (state == PGRES_POLLING_FAILED || lib_.PQstatus(pq_) == CONNECTION_BAD) refuse();
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(by - boot_clock::now());
      pollfd p{descriptor(), static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT),
               0};
      if (left <= 0ms ||
          ::poll(&p, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000))) == 0)
        throw failure{{errc::unavailable, "the server does not answer"}};
    }
    keep_alive(descriptor());
    lib_.PQsetNoticeReceiver(pq_, no_notices, nullptr);
  }

  // libpq does not say the SQLSTATE of a refused connection.
  [[noreturn]] void refuse() {
    const std::string text = first_line(lib_.PQerrorMessage(pq_));
    const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
    const bool denied = says("authentication failed") || says("does not exist") ||
                        says("no pg_hba.conf entry") || says("no password supplied") ||
                        says("permission denied");
    throw failure{{denied ? errc::denied : errc::unavailable, text}};
  }

  // What a step relies on is set in every session, whatever the server's own settings are. A pooled
  // session is not ours to set; there a step meets 40001 instead, and tries again.
  void greet() {
    const char* version = lib_.PQparameterStatus(pq_, "server_version");
    facts_.version = version ? version : "";
    const answer facts =
        run("SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only'),"
            " pg_backend_pid(), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
    server_said(std::atoll(facts.rows[0][3].text.c_str()), boot_clock::now());
    facts_.read_only = facts.rows[0][0].text == "t" || facts.rows[0][1].text == "on";
    // A pooler makes up the number that it told us.
    facts_.pooled = facts.rows[0][2].text != std::to_string(lib_.PQbackendPID(pq_));
    if (facts_.pooled || facts_.read_only) return;
    run("SET default_transaction_isolation = 'read committed'; SET lock_timeout = '2s';"
        " SET idle_in_transaction_session_timeout = '3s'");
  }

  void close() noexcept {
    if (pq_) lib_.PQfinish(pq_);
    pq_ = nullptr;
  }

  const std::string& prepared(statement s) {
    std::string& name = names_[static_cast<std::size_t>(s)];
    if (!name.empty()) return name;
    const std::string fresh = "afar_" + std::to_string(static_cast<int>(s));
    try {
      read({lib_.PQprepare(pq_, fresh.c_str(), std::string{text_of(s)}.c_str(), 0, nullptr),
            lib_.PQclear});
    } catch (failure& f) {
      // Nothing was asked for yet.
      if (f.what.code == errc::unknown_outcome) f.what.code = errc::unavailable;
      throw;
    }
    return name = fresh;
  }

  // The rest of it is here already, if look() has seen it.
  result sent_ahead() noexcept {
    ahead_ = false;
    while (PGresult* const next = lib_.PQgetResult(pq_)) last_.reset(next);
    return std::exchange(last_, result{nullptr, lib_.PQclear});
  }

  // Rows that a statement has changed, or that came back.
  std::int64_t changed(const PGresult* r) const noexcept {
    const auto state = lib_.PQresultStatus(r);
    if (state == PGRES_TUPLES_OK) return lib_.PQntuples(r);
    if (state != PGRES_COMMAND_OK) return 0;
    return std::atoll(lib_.PQcmdTuples(const_cast<PGresult*>(r)));  // NOLINT: it changes nothing
  }

  answer read(result r) {
    const auto state = r ? lib_.PQresultStatus(r.get()) : PGRES_FATAL_ERROR;
    if (state != PGRES_TUPLES_OK && state != PGRES_COMMAND_OK) {
      const char* code = r ? lib_.PQresultErrorField(r.get(), PG_DIAG_SQLSTATE) : nullptr;
      throw failure{failure_of(code ? code : "",
                               r ? lib_.PQresultErrorMessage(r.get()) : lib_.PQerrorMessage(pq_))};
    }
    answer out;
    const int rows = lib_.PQntuples(r.get());
    const int columns = lib_.PQnfields(r.get());
    for (int i = 0; i < rows; ++i) {
      auto& row = out.rows.emplace_back(static_cast<std::size_t>(columns));
      for (int k = 0; k < columns; ++k) {
        if (lib_.PQgetisnull(r.get(), i, k) != 0) continue;
        field& f = row[static_cast<std::size_t>(k)];
        const char* bytes = lib_.PQgetvalue(r.get(), i, k);
        const int size = lib_.PQgetlength(r.get(), i, k);
        const auto type = lib_.PQftype(r.get(), k);
        f.null = false;
        const bool binary = (type == int8_type && size == 8) || (type == int4_type && size == 4);
        f.text.assign(bytes, static_cast<std::size_t>(size));
        if (binary) f.number = big_endian(bytes, size);
      }
    }
    out.affected = changed(r.get());
    return out;
  }

  const library& lib_;
  PGconn* pq_ = nullptr;
  std::array<std::string, statements> names_;
  server_facts facts_;
  bool ahead_ = false;  // a statement was sent, and nobody has had its answer
  result last_{nullptr, lib_.PQclear};
};

}  // namespace

std::unique_ptr<connection> connect(const target& to, const spi::url::host& at,
                                    spi::time_point by) {
  return std::make_unique<postgres_connection>(to, at, by);
}

}  // namespace afar::engines::sql::postgres
