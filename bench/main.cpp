// Measures afar beside the limits of the machine; see rows.hpp for what. Every row is measured in
// rounds that take turns with its limit or peer; medians, with (p75 - p25) / median as spread.
#include "document.hpp"
#include "options.hpp"
#include "place.hpp"
#include "report.hpp"
#include "rows.hpp"
#include "tables.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

namespace {

int run_child(const std::string& role, const arguments& a) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a bench that is killed leaves nobody behind
  if (role == "pairs") return pairs_child(a);
  if (role == "peer") return peer_child(a);
  if (role == "hand_off") return hand_off_child(a);
  if (role == "rival") return rival_child(a);
  if (role == "hold") return hold_child(a);
  if (role == "wait") return wait_child(a);
  return 2;
}

struct measurement {
  std::set<std::string> ids;
  std::set<std::string> engines;  // it is made if one of them is wanted
  void (*measure)(const options&, report&);
};

const std::vector<measurement>& measurements() {
  static const std::vector<measurement> all{
      {{"P1", "P2"}, {"redis"}, redis_one_thread},
      {{"cpu"}, {"redis"}, redis_server_cpu},
      {{"P3", "P3a"}, {"redis"}, redis_many_callers},
      {{"P4"}, {"redis"}, redis_hand_off},
      {{"P4"}, {"redis"}, redis_saturated},
      {{"P5"}, {"redis"}, redis_local_line},
      {{"P6"}, {"redis"}, redis_renewals},
      {{"P7"}, {"redis"}, redis_many_coroutines},
      {{"P16"}, {"redis"}, redis_reentry},
      {{"P17"}, {"redis"}, redis_peers},
      {{"P18"}, {"redis"}, redis_sticky_alone},
      {{"P19"}, {"redis"}, redis_sticky_wanted},
      {{"P11"}, {"zookeeper"}, zookeeper_one_thread},
      {{"P12"}, {"zookeeper"}, zookeeper_many_callers},
      {{"P13"}, {"zookeeper"}, zookeeper_one_lock},
#ifdef AFAR_WITH_SQL
      {{"P14"}, {"sql"}, mysql_alone},
      {{"P15"}, {"sql"}, postgres_alone},
#endif
      {{"P8"}, {"embedded"}, uncontended},
      {{"P8a"}, {"embedded"}, two_processes},
      {{"P9"}, {"embedded"}, hand_off},
      {{"P10"}, {"embedded"}, after_a_kill},
      {{"P16"}, {"embedded"}, reentry},
      {{"threads"}, {"embedded"}, many_coroutines},
      {{"growth"}, {"redis", "embedded"}, growth_of_stock},
      {{"growth"}, {"redis", "embedded"}, growth_of_callers},
      {{"engines"}, {"embedded", "redis", "zookeeper", "sql"}, engines}};
  return all;
}

bool wanted(const options& o, const measurement& m) {
  const auto wants = [&](const std::string& id) { return o.wants(id); };
  const auto has = [&](const std::string& engine) { return o.wants_engine(engine); };
  return std::any_of(m.ids.begin(), m.ids.end(), wants) &&
         std::any_of(m.engines.begin(), m.engines.end(), has);
}

int measure_all(const options& o, report& out) {
  int failed = 0;
  for (const measurement& m : measurements()) {
    if (!wanted(o, m)) continue;
    try {
      m.measure(o, out);
    } catch (const std::exception& e) {
      out.skip(fmt::format("{} failed: {}", *m.ids.begin(), e.what()));
      ++failed;
    }
  }
  return failed;
}

int run(const options& o, const std::string& command) {
  report out{o.rounds};
  out.set_machine(
      fmt::format("{}; {} rounds, {} s per contender", describe_machine(), o.rounds, o.seconds));
  fmt::print("{}\n\n", out.machine());
  std::fflush(stdout);
  const int failed = measure_all(o, out);
  if (o.json == "-")
    fmt::print("\n{}", out.json());
  else
    fmt::print("\n{}", all_tables(out));
  if (!o.json.empty() && o.json != "-") write_file(o.json, out.json());
  if (!o.document.empty()) write_document(out, o.document, command);
  return failed == 0 ? 0 : 1;
}

// As it is repeated.
std::string command_of(int argc, char** argv) {
  std::string text = "script/bench";
  for (int i = 1; i < argc; ++i) text += std::string{" "} + argv[i];
  return text;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a dead child is an error of a write, not our end
  try {
    if (argc > 2 && std::string_view(argv[1]) == "--child")
      return bench::run_child(argv[2], {argv + 3, argv + argc});
    return bench::run(bench::parse(argc, argv), bench::command_of(argc, argv));
  } catch (const std::exception& e) {
    fmt::print(stderr, "afar_bench: {}\n", e.what());
    return 1;
  }
}
