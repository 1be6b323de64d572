#include "engines/sql/steps.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

namespace afar::engines::sql {
namespace {

using grade = finding::grade;
using settings = std::map<std::string, std::string, std::less<>>;

settings ask_settings(connection& on, const std::string& query) {
  settings all;
  for (const auto& row : on.run(query).rows) all[row[0].text] = row[1].text;
  return all;
}

std::string of(const settings& all, std::string_view name) {
  const auto at = all.find(name);
  return at == all.end() ? std::string{} : at->second;
}

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

finding server(const connection& on, bool postgres) {
  const std::string text = (postgres ? "PostgreSQL " : "") + on.about().version;
  if (on.about().galera)
    return {grade::warning, "server", text + ", a node of a Galera cluster",
            "expect conflicts, and keep the clocks of its nodes together"};
  return {grade::ok, "server", text, {}};
}

finding bell(const desk& d) {
  if (d.on.about().pooled)
    return {grade::warning, "bell", "behind a pooler: waiters look every 50 ms or so",
            "connect to the server itself, or let the pooler keep sessions"};
  if (d.ear.bell() == 0)
    return {grade::warning, "bell", "none: waiters look every 50 ms or so",
            "see ?bell= and ?galera="};
  return {grade::ok, "bell", "waiters are woken", {}};
}

finding clock(const std::string& server_seconds) {
  const double here =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const double apart = number(server_seconds) - here;
  const std::string text = fmt::format("the server's is {:+.3f} s from this machine's", apart);
  if (std::abs(apart) > 1)
    return {grade::warning, "clock", text,
            "leases count on the server's alone; synchronise both, and never step the server's"};
  return {grade::ok, "clock", text, {}};
}

finding room(double used, double most) {
  const std::string text = fmt::format("{:.0f} of {:.0f} connections in use", used, most);
  if (used > most * 0.8)
    return {grade::warning, "connections", text, "raise max_connections, or use fewer per client"};
  return {grade::ok, "connections", text, {}};
}

finding durability(bool durable, const std::string& text, const char* way_out) {
  if (durable) return {grade::ok, "durability", text, {}};
  return {grade::warning, "durability",
          text + ": a crash of the machine may forget grants, and grant them again", way_out};
}

finding replicas(double count, bool synchronous) {
  if (count == 0) return {grade::ok, "replication", "no replica", {}};
  const std::string text = fmt::format("{:.0f} replicas", count);
  if (synchronous) return {grade::ok, "replication", text + ", synchronous", {}};
  return {grade::warning, "replication",
          text + ", asynchronous: one that is promoted may grant again what is held",
          "check tokens where you write (afar::fence)"};
}

void examine_mysql(const desk& d, std::vector<finding>& out) {
  const settings s = ask_settings(
      d.on,
      "SHOW VARIABLES WHERE variable_name IN ('innodb_flush_log_at_trx_commit', 'sync_binlog',"
      " 'log_bin', 'max_connections')");
  const settings live = ask_settings(
      d.on, "SHOW GLOBAL STATUS WHERE variable_name IN ('Threads_connected', 'Slaves_connected')");
  out.push_back(
      clock(d.on.run("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000")
                .rows[0][0]
                .text));
  const bool binlog = of(s, "log_bin") == "ON";
  const bool durable =
      of(s, "innodb_flush_log_at_trx_commit") == "1" && (!binlog || of(s, "sync_binlog") == "1");
  out.push_back(durability(
      durable, "innodb_flush_log_at_trx_commit is " + of(s, "innodb_flush_log_at_trx_commit"),
      "set it, and sync_binlog, to 1"));
  out.push_back(replicas(number(of(live, "Slaves_connected")), false));
  out.push_back(room(number(of(live, "Threads_connected")), number(of(s, "max_connections"))));
}

void examine_postgres(const desk& d, std::vector<finding>& out) {
  const settings s = ask_settings(
      d.on,
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit',"
      " 'synchronous_standby_names', 'max_connections')");
  const answer live = d.on.run(
      "SELECT extract(epoch FROM clock_timestamp()), (SELECT count(*) FROM pg_stat_replication),"
      " (SELECT count(*) FROM pg_stat_activity)");
  out.push_back(clock(live.rows[0][0].text));
  const bool durable = of(s, "fsync") == "on" && of(s, "synchronous_commit") != "off";
  out.push_back(durability(
      durable, "fsync is " + of(s, "fsync") + ", synchronous_commit " + of(s, "synchronous_commit"),
      "set both to on"));
  out.push_back(
      replicas(number(live.rows[0][1].text), !of(s, "synchronous_standby_names").empty()));
  out.push_back(room(number(live.rows[0][2].text), number(of(s, "max_connections"))));
}

}  // namespace

std::vector<finding> examine(const desk& d) {
  const bool postgres = d.on.update_rings();
  std::vector<finding> out{server(d.on, postgres), bell(d)};
  if (postgres)
    examine_postgres(d, out);
  else
    examine_mysql(d, out);
  return out;
}

}  // namespace afar::engines::sql
