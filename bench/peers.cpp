#include "peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace bench {

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in{line};
  for (std::string w; std::getline(in, w, '\t');) words.push_back(w);
  return words;
}

// What stands behind "key": in a flat object; up to the next comma or the end.
std::string value_of(const std::string& object, std::string_view key) {
  const std::string mark = fmt::format("\"{}\":", key);
  const auto at = object.find(mark);
  if (at == object.npos) throw std::runtime_error("a peer's answer makes no sense: " + object);
  const auto begin = object.find_first_not_of(' ', at + mark.size());
  return object.substr(begin, object.find_first_of(",}", begin) - begin);
}

double number_of(const std::string& object, std::string_view key) {
  const std::string text = value_of(object, key);
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) throw std::runtime_error("a peer's answer makes no sense: " + object);
  return v;
}

}  // namespace

std::vector<peer_entry> parse_peers(const std::string& text) {
  std::vector<peer_entry> all;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    const auto words = words_of(line);
    if (words.size() < 3) throw std::runtime_error("the list of peers makes no sense: " + line);
    peer_entry& p = all.emplace_back(peer_entry{words[0], words[1]});
    if (words[2] == "skipped")
      p.skipped = words.size() > 3 ? words[3] : "unknown reason";
    else
      p.command.assign(words.begin() + 2, words.end());
  }
  return all;
}

std::vector<peer_entry> peers_of(const std::string& engine) {
  const char* folder = std::getenv("AFAR_BENCH_PEERS");
  if (!folder) return {};
  std::ifstream in{std::string{folder} + "/peers"};
  std::stringstream text;
  text << in.rdbuf();
  auto all = parse_peers(text.str());
  std::erase_if(all, [&](const peer_entry& p) { return p.engine != engine; });
  return all;
}

peer_entry afar_as_peer(const std::string& name, const std::string& how) {
  return {.engine = {}, .name = name, .command = {"/proc/self/exe", "--child", "peer", how}};
}

pairs_answer parse_answer(const std::string& line) {
  pairs_answer a{number_of(line, "pairs"), number_of(line, "seconds"), number_of(line, "p50"),
                 number_of(line, "p99"), value_of(line, "version")};
  if (a.pairs <= 0 || a.seconds <= 0) throw std::runtime_error("a peer did nothing: " + line);
  std::erase(a.version, '"');
  if (a.version.starts_with('v')) a.version.erase(0, 1);
  return a;
}

peer_program::peer_program(peer_entry e, std::string url, std::size_t workers, std::size_t names)
    : name_(std::move(e.name)),
      url_(std::move(url)),
      workers_(workers),
      names_(names),
      program_(std::move(e.command)) {}

pairs_answer peer_program::measure(nanoseconds t) {
  return parse_answer(
      program_.ask(fmt::format("{} {} {:.3f} {} {}", url_, workers_,
                               static_cast<double>(t.count()) / 1e9, names_, peer_lease.count())));
}

void peer_program::warm(nanoseconds t) {
  // A compiler that shares the core with what it compiles takes many seconds, and its rate goes up and down on the way.
  constexpr int most = 12;
  constexpr int enough = 2;  // in a row
  double best = 0;
  for (int i = 0, no_faster = 0; i < most && no_faster < enough; ++i) {
    const pairs_answer a = measure(t);
    version_ = a.version;
    const double rate = a.pairs / a.seconds;
    no_faster = rate < 1.05 * best ? no_faster + 1 : 0;
    best = std::max(best, rate);
  }
}

double peer_program::run(nanoseconds t) {
  const pairs_answer a = measure(t);
  p50_.add(a.p50);
  p99_.add(a.p99);
  return a.pairs / a.seconds;
}

std::string peer_program::title() const {
  return version_.empty() ? name_ : name_ + " " + version_;
}

}  // namespace bench
