#include "command.hpp"

#include "failure.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <array>
#include <exception>

namespace afar::cli {
namespace {

constexpr std::array all{
    verb{"run", "Runs a command while it holds a lock", add_run},
    verb{"hold", "Holds a lock until its standard input closes", add_hold},
    verb{"ls", "Lists what is in use", add_ls},
    verb{"inspect", "Shows who holds a name and who waits for it", add_inspect},
    verb{"release", "Breaks the hold of somebody else", add_release},
    verb{"check-token", "Says whether a token still stands", add_check_token},
    verb{"count", "Reads and changes a counter", add_count},
    verb{"latch", "Counts down, and waits until it is zero", add_latch},
    verb{"stock", "Sells units that must not be oversold", add_stock},
    verb{"elect", "Runs a command while this host leads", add_elect},
    verb{"doctor", "Finds out whether an engine can be trusted", add_doctor},
    verb{"gc", "Clears away what nobody uses any more", add_gc},
    verb{"demo", "Shows the promises at work: contention, kills, pauses", add_demo},
    verb{"demo-worker", nullptr, add_demo_worker},
    verb{"torture", "Tries to break the promises: faults, a record, a verdict", add_torture},
    verb{"torture-worker", nullptr, add_torture_worker},
    verb{"bench", "Measures an engine", add_bench},
    verb{"version", "Prints the version", add_version},
    verb{"help", "Explains a verb", add_help},
};

int parse_and_work(const verb& v, const std::vector<std::string>& words) {
  command_line line{std::string{v.name}, v.summary == nullptr ? "" : v.summary};
  const auto act = v.add(line);
  if (const auto page = line.read({words.begin() + 1, words.end()})) {
    print(*page);
    return number(exit_code::ok);
  }
  return act();
}

int find_and_work(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") words = {"help"};
  if (words[0] == "--version" || words[0] == "-V") words[0] = "version";
  const auto found = std::ranges::find(all, words[0], &verb::name);
  if (found == all.end())
    throw failure{exit_code::usage, "there is no verb '" + words[0] + "' (afar help)"};
  return parse_and_work(*found, words);
}

}  // namespace

std::span<const verb> verbs() noexcept { return all; }

int run_verb(const std::vector<std::string>& words) noexcept {
  try {
    return find_and_work(words);
  } catch (...) {
    return tell_failure();
  }
}

}  // namespace afar::cli
