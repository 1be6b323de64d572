// Measures afar beside the limits of the machine; see rows.hpp for what. Every row is measured in
// rounds that take turns with its limit or peer; medians, with (p75 - p25) / median as spread.
#include "crew.hpp"
#include "options.hpp"
#include "place.hpp"
#include "report.hpp"
#include "rows.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

namespace {

int run_child(const std::string& role, const arguments& a) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a bench that is killed leaves nobody behind
  if (role == "pairs") return pairs_child(a);
  if (role == "hand_off") return hand_off_child(a);
  if (role == "rival") return rival_child(a);
  if (role == "hold") return hold_child(a);
  if (role == "wait") return wait_child(a);
  return 2;
}

int run(const options& o) {
  struct {
    std::vector<std::string> ids;
    void (*measure)(const options&, report&);
  } const all[] = {{{"P1", "P2"}, redis_one_thread},
                   {{"cpu"}, redis_server_cpu},
                   {{"P3", "P3a"}, redis_many_callers},
                   {{"P4"}, redis_hand_off},
                   {{"P4"}, redis_saturated},
                   {{"P5"}, redis_local_line},
                   {{"P6"}, redis_renewals},
                   {{"P7"}, redis_many_coroutines},
                   {{"P16"}, redis_reentry},
                   {{"P11"}, zookeeper_one_thread},
                   {{"P12"}, zookeeper_many_callers},
                   {{"P13"}, zookeeper_one_lock},
#ifdef AFAR_WITH_SQL
                   {{"P14"}, mysql_alone},
                   {{"P15"}, postgres_alone},
#endif
                   {{"P8"}, uncontended},
                   {{"P8a"}, two_processes},
                   {{"P9"}, hand_off},
                   {{"P10"}, after_a_kill},
                   {{"P16"}, reentry},
                   {{"threads"}, many_coroutines},
                   {{"engines"}, engines}};
  fmt::print("{}\n{} rounds, {} s per contender\n\n", describe_machine(), o.rounds, o.seconds);
  std::fflush(stdout);
  report out{o.rounds};
  int failed = 0;
  for (const auto& row : all) {
    const auto wanted = [&](const std::string& id) { return o.wants(id); };
    if (std::none_of(row.ids.begin(), row.ids.end(), wanted)) continue;
    try {
      row.measure(o, out);
    } catch (const std::exception& e) {
      fmt::print(stderr, "{} failed: {}\n", row.ids.front(), e.what());
      ++failed;
    }
  }
  out.print();
  if (!o.json.empty()) out.write_json(o.json);
  return failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a dead child is an error of a write, not our end
  try {
    if (argc > 2 && std::string_view(argv[1]) == "--child")
      return bench::run_child(argv[2], {argv + 3, argv + argc});
    return bench::run(bench::parse(argc, argv));
  } catch (const std::exception& e) {
    fmt::print(stderr, "afar_bench: {}\n", e.what());
    return 1;
  }
}
