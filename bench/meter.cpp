#include "meter.hpp"

#include <string_view>
#include <utility>

namespace bench {

std::uint64_t meter::reads() {
  constexpr std::string_view mark = "total_reads_processed:";
  const raw_reply info = control_.ask(raw_command{{"INFO", "stats"}});
  const std::string text{info->str, info->len};
  return std::stoull(text.substr(text.find(mark) + mark.size()));
}

turns::contender meter::watch(turns::contender run) {
  return [this, run = std::move(run)](nanoseconds time) {
    const auto reads_before = reads();
    const double client_before = cpu_ns(client_);
    const double server_before = cpu_ns(server_.pid());
    const auto start = now_ns();
    const double rate = run(time);
    pairs_ += rate * static_cast<double>(now_ns() - start) / 1e9;
    server_ns_ += cpu_ns(server_.pid()) - server_before;
    client_ns_ += cpu_ns(client_) - client_before;
    reads_ += static_cast<double>(reads() - reads_before - 1);  // our own question is one
    return rate;
  };
}

void meter::count_commands(const std::function<double()>& pairs) {
  constexpr std::string_view end = "\"ECHO\" \"the end\"";
  raw_redis shown{server_.url()};
  shown.ask(raw_command{{"MONITOR"}});
  const double done = pairs();
  control_.ask(raw_command{{"ECHO", "the end"}});
  double seen = 0;
  for (;;) {
    const raw_reply line = shown.next();
    const std::string_view text{line->str, line->len};
    if (text.ends_with(end)) break;
    if (text.find(" lua] ") == text.npos) ++seen;
  }
  commands_ = seen / done;
}

cost meter::fill(cost c) const {
  if (pairs_ > 0) {
    c.client_us = client_ns_ / pairs_ / 1e3;
    c.server_us = server_ns_ / pairs_ / 1e3;
    c.trips = reads_ / pairs_;
  }
  c.commands = commands_;
  return c;
}

}  // namespace bench
