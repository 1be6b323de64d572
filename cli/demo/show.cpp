#include "demo/show.hpp"

#include "json.hpp"

#include <unistd.h>

#include <cstdio>

namespace afar::cli::demo {

namespace {

std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3; i -= 3) text.insert(i - 3, ",");
  return text;
}
std::string grouped(std::uint64_t n) { return grouped(static_cast<std::int64_t>(n)); }

void row(const char* what, const std::string& value, const std::string& remark = {}) {
  std::printf("  %-32s %12s   %s\n", what, value.c_str(), remark.c_str());
}

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 10 ? "%.2f ms" : "%.0f ms", ms);
  return text;
}

}  // namespace

display::display(const options& wanted)
    : wanted_(wanted), terminal_(!wanted.json && ::isatty(STDOUT_FILENO) == 1) {}

void display::begin(const place& where) {
  if (wanted_.json) return;
  std::printf(
      "%u processes want one lock and sell a stock of %s units, on %s.\n"
      "Some are killed (SIGKILL) while they hold or wait, and started again; now and then a "
      "holder\n"
      "is paused past its lease of %lld ms and then tries to write as if nothing had happened.\n\n",
      wanted_.workers, grouped(wanted_.stock).c_str(), where.shown_url.c_str(),
      static_cast<long long>(lease.count()));
  std::fflush(stdout);
}

void display::progress(double elapsed, const team::totals& sums, std::size_t kills,
                       std::size_t pauses) {
  if (wanted_.json || elapsed < next_) return;
  next_ = elapsed + (terminal_ ? 0.1 : 1.0);
  std::printf("%s%4.1f s  acquired %s  kills %zu  pauses %zu  stale writes refused %s  left %s%s",
              terminal_ ? "\r" : "", elapsed, grouped(sums.granted).c_str(), kills, pauses,
              grouped(sums.refused).c_str(),
              grouped(wanted_.stock - static_cast<std::int64_t>(sums.sold)).c_str(),
              terminal_ ? "   " : "\n");
  std::fflush(stdout);
}

void display::table(const results& r) const {
  std::printf("%s\n", terminal_ ? "\n" : "");
  row("acquisitions", grouped(r.acquisitions));
  row("wait, p50 / p99", milliseconds(r.wait_p50), milliseconds(r.wait_p99));
  row("kills", grouped(r.kills),
      grouped(r.killed_holding) + " while holding, " + grouped(r.killed_waiting) +
          " while waiting");
  row("kill to next grant, p50 / max", milliseconds(r.crash_p50), milliseconds(r.crash_most));
  row("pauses past the lease", grouped(r.pauses));
  row("stale writes refused by token", grouped(r.stale_refused));
  row("stale writes accepted", grouped(r.stale_accepted));
  row("sold", grouped(r.sold), "of " + grouped(wanted_.stock));
  row("oversold", grouped(r.oversold));
  row("overlaps", grouped(r.overlaps), "times that two processes held the lock at once");
  row("tokens out of order", grouped(r.tokens_out_of_order));
  std::printf("\n");
  for (const std::string& text : r.broken) std::printf("BROKEN: %s\n", text.c_str());
  if (r.broken.empty()) std::printf("Every promise was kept.\n");
}

void display::json(const results& r) const {
  const cli::json out{{"workers", wanted_.workers},
                      {"stock", wanted_.stock},
                      {"seconds", r.seconds},
                      {"acquisitions", r.acquisitions},
                      {"wait_p50_ms", r.wait_p50},
                      {"wait_p99_ms", r.wait_p99},
                      {"kills", r.kills},
                      {"killed_holding", r.killed_holding},
                      {"killed_waiting", r.killed_waiting},
                      {"kill_to_grant_p50_ms", r.crash_p50},
                      {"kill_to_grant_max_ms", r.crash_most},
                      {"pauses", r.pauses},
                      {"stale_writes_refused", r.stale_refused},
                      {"stale_writes_accepted", r.stale_accepted},
                      {"sold", r.sold},
                      {"remaining", r.remaining},
                      {"oversold", r.oversold},
                      {"overlaps", r.overlaps},
                      {"tokens_out_of_order", r.tokens_out_of_order},
                      {"broken", std::vector<cli::json>(r.broken.begin(), r.broken.end())}};
  std::printf("%s\n", out.text().c_str());
}

void display::end(const results& r) { wanted_.json ? json(r) : table(r); }

}  // namespace afar::cli::demo
