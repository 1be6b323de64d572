#include "document.hpp"

#include "picture.hpp"
#include "tables.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* introduction = R"(# Benchmarks

One run of `script/bench`: afar, the limit of the machine, and the libraries that people would use instead, on the same server, in
rounds that take turns in a new order each time. This page is written by the run; to repeat it:

    {command}

{machine}

{versions}

- A pair is an acquire and a release of a mutex with a fencing token. Figures are medians of the rounds; the ratio is that of the
  rounds, so that what disturbs a whole round cancels out. Spread is (p75 − p25) / median.
- No goal counts as met with fewer than 7 rounds or with a spread of more than 30 %.
- *same*: server and clients share a core. *split*: the server has one core, all clients share the other. On a small virtual machine
  this decides more than any design: waking a sleeping core takes longer than a whole pair. Compare within this page only.
- The peers run in processes of their own, with the same server, cores, names, lease, number of workers and at most one pooled
  connection per worker, warm, with the settings that are listed in [bench/peers](../bench/peers/README.md). None of them
  makes fencing tokens here.

)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

// Told by script/bench, a line each.
std::string versions() {
  const char* told = std::getenv("AFAR_BENCH_VERSIONS");
  return told ? std::string{told} : "Versions: not told (run by script/bench they are).";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::string file_name(const std::string& title) {
  std::string name;
  for (const char c : title)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  return name + ".svg";
}

class pictures {
 public:
  explicit pictures(const fs::path& document) : folder_(document.parent_path() / document.stem()) {
    fs::create_directories(folder_);
    for (const auto& old : fs::directory_iterator{folder_})
      if (old.path().extension() == ".svg") fs::remove(old.path());
  }

  // The line that shows it.
  std::string add(const std::string& title, const std::string& svg) const {
    if (svg.empty()) return {};
    const std::string name = file_name(title);
    write_file((folder_ / name).string(), svg);
    return fmt::format("\n![{}]({}/{})\n", title, folder_.filename().string(), name);
  }

 private:
  const fs::path folder_;
};

}  // namespace

void write_file(const std::string& file, const std::string& text) {
  std::ofstream out{file, std::ios::binary};
  if (!out.write(text.data(), static_cast<std::streamsize>(text.size())).flush())
    throw std::runtime_error("cannot write " + file);
}

void write_document(const report& all, const std::string& file, const std::string& command) {
  const pictures drawn{file};
  std::string text = replaced(introduction, "{command}", command);
  text = replaced(text, "{machine}", today() + ". " + all.machine());
  text = replaced(text, "{versions}", versions());
  text += "## Goals\n" + drawn.add("goals", picture_of_goals(all)) + "\n" + table_of_rows(all);
  const auto groups = groups_of(all.costs());
  if (!groups.empty())
    text +=
        "\n## What a pair costs\n\nRound trips: how often the server had to read; commands: what "
        "scripts call is none.\n";
  for (const std::string& group : groups)
    text += fmt::format("\n### {}\n", group) +
            drawn.add(group, picture_of_costs(all.costs(), group)) + "\n" +
            table_of_costs(all.costs(), group);
  const auto grown = things_of(all.curves());
  if (!grown.empty()) text += "\n## Growth\n";
  for (const std::string& over : grown)
    text += fmt::format("\n### {}\n", over) +
            drawn.add(over, picture_of_curves(all.curves(), over)) + "\n" +
            table_of_curves(all.curves(), over);
  if (!all.skipped().empty()) text += "\n## Not measured\n\n" + list_of_skipped(all);
  write_file(file, text);
}

}  // namespace bench
