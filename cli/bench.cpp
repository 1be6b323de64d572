#include "measure/rows.hpp"

#include "context.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::optional<milliseconds> time;
  std::vector<unsigned> threads{1, 16, 64};
  bool json = false;
};

constexpr std::size_t bar_width = 20;

// In eighths of a character, so that small differences show.
std::string bar(double part) {
  static constexpr const char* ends[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::lround(part * bar_width * 8));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + ends[eighths % 8];
}

std::string time_in_words(double us) {
  if (us < 1'000) return fmt::format("{:.1f} µs", us);
  if (us < 1'000'000) return fmt::format("{:.1f} ms", us / 1'000);
  return fmt::format("{:.2f} s", us / 1'000'000);
}

void print_table(const std::vector<bench::row>& rows) {
  double most = 1;
  for (const auto& r : rows) most = std::max(most, r.per_second);
  table out{{{"WORK"},
             {"THREADS", align::right},
             {"PER SECOND", align::right},
             {""},
             {"P50", align::right},
             {"P99", align::right},
             {"MAX", align::right}}};
  for (const auto& r : rows)
    out.add({r.what, std::to_string(r.threads), fmt::format("{:.0f}", r.per_second),
             bar(r.per_second / most), time_in_words(r.p50_us), time_in_words(r.p99_us),
             time_in_words(r.max_us)});
  out.print(stdout);
}

void print_rows(const std::vector<bench::row>& rows, const std::string& url) {
  std::vector<json> all;
  all.reserve(rows.size());
  for (const auto& r : rows)
    all.push_back({{"work", r.what},
                   {"threads", r.threads},
                   {"count", r.count},
                   {"per_second", r.per_second},
                   {"p50_us", r.p50_us},
                   {"p99_us", r.p99_us},
                   {"max_us", r.max_us}});
  print_json({{"url", url}, {"rows", all}});
}

int measure(const options& o) {
  const auto open = [&] { return o.where.open(); };
  const auto time = o.time.value_or(milliseconds{2'000});
  const bool live = !o.json && ::isatty(STDERR_FILENO) == 1;
  std::vector<bench::row> rows;
  const auto add = [&](const char* what, auto run) {
    if (live) fmt::print(stderr, "\r\033[K{} …", what);
    rows.push_back(run());
    if (live) fmt::print(stderr, "\r\033[K");
  };
  const std::string url = open().url();
  if (!o.json)
    print(fmt::format("{}: {} CPUs, {} ms per line", url, ::sysconf(_SC_NPROCESSORS_ONLN),
                      time.count()));
  add("round trip", [&] { return bench::round_trip(open, time); });
  for (const unsigned n : o.threads)
    add("own names", [&] { return bench::own_names(open, n, time); });
  add("hand-off", [&] { return bench::hand_off(open, time); });
  for (const unsigned n : o.threads)
    if (n > 1) add("one name", [&] { return bench::one_name(open, n, time); });
  o.json ? print_rows(rows, url) : print_table(rows);
  return number(exit_code::ok);
}

}  // namespace

work add_bench(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_duration("--time", o->time, "How long to measure each line (2s)");
  line.add_option("--threads", o->threads, "Numbers of threads (1,16,64)")
      .separated_by(',')
      .within(1, 1'024);
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer(
      "Figures are of whole calls. Own names: lock and unlock without contention. Hand-off: from "
      "the\n"
      "release by one client to the grant of another that waits. One name: how long lock() "
      "waited.");
  return [o] { return measure(*o); };
}

}  // namespace afar::cli
