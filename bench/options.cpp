#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bench {

namespace {

[[noreturn]] void usage(int code) {
  std::fputs(
      "afar_bench [--engine redis,...] [--rows P8,P9,...] [--rounds N] [--seconds S] [--kills N]\n"
      "           [--most N] [--json [FILE]] [--document FILE]\n"
      "  engines: redis zookeeper sql embedded; default: all\n"
      "  rows: P1 P2 cpu P3 P3a P4 P5 P6 P7 P16 P17 P18 P19 (Redis), P11 P12 P13 (ZooKeeper), P14 "
      "P15 "
      "(SQL),\n"
      "  P8 P8a P9 P10 P16 threads, growth, engines (side by side); default: all\n"
      "  rounds: default 7; with fewer no goal counts as met\n"
      "  seconds: measured per contender and row, default 2.1\n"
      "  most: where growth ends, default 1000000\n"
      "  json: to the file, or to standard output\n"
      "  document: a Markdown file; its pictures go into a folder beside it\n",
      code == 0 ? stdout : stderr);
  std::exit(code);
}

std::set<std::string> split(std::string_view list) {
  std::set<std::string> parts;
  while (!list.empty()) {
    const auto comma = list.find(',');
    parts.emplace(list.substr(0, comma));
    list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
  }
  return parts;
}

// False: there is no such option.
bool set(options& o, std::string_view word, const char* value) {
  if (word == "--rows")
    o.rows = split(value);
  else if (word == "--engine")
    o.engines = split(value);
  else if (word == "--rounds")
    o.rounds = std::atoi(value);
  else if (word == "--seconds")
    o.seconds = std::atof(value);
  else if (word == "--kills")
    o.kills = std::atoi(value);
  else if (word == "--most")
    o.most = std::strtoul(value, nullptr, 10);
  else if (word == "--json")
    o.json = value;
  else if (word == "--document")
    o.document = value;
  else
    return false;
  return true;
}

}  // namespace

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--help") usage(0);
    const bool has_value = i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--");
    if (word == "--json" && !has_value) {
      o.json = "-";
      continue;
    }
    if (!has_value || !set(o, word, argv[++i])) usage(2);
  }
  if (o.rounds < 1 || o.seconds <= 0 || o.kills < 1 || o.most < 1) usage(2);
  return o;
}

}  // namespace bench
