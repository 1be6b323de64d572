#include "traced.hpp"

#include "scratch.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct counted {
  double calls = 0;
  double pairs = 0;
};

// The fourth number of the line that ends in "total".
double total_of(const std::string& summary) {
  std::ifstream in{summary};
  for (std::string line; std::getline(in, line);) {
    if (!line.ends_with("total")) continue;
    std::istringstream numbers{line};
    double share = 0;
    double seconds = 0;
    double each = 0;
    double calls = 0;
    if (numbers >> share >> seconds >> each >> calls) return calls;
  }
  throw std::runtime_error("strace has counted nothing");
}

counted count(peer_entry e, const std::string& url, nanoseconds time) {
  const scratch folder;
  if (e.command.front() == "/proc/self/exe")  // strace has another self
    e.command.front() = std::filesystem::read_symlink("/proc/self/exe").string();
  e.command.insert(e.command.begin(), {"strace", "-f", "-qq", "-c", "-o", folder.file("summary")});
  counted c;
  {
    peer_program program{std::move(e), url, 1, 1};
    c.pairs = program.measure(time).pairs;
  }  // its end
  c.calls = total_of(folder.file("summary"));
  return c;
}

}  // namespace

std::optional<double> traced_calls(const peer_entry& e, const std::string& url) {
  try {
    const counted less = count(e, url, 50ms);
    const counted more = count(e, url, 550ms);
    if (more.pairs <= less.pairs) return std::nullopt;
    return (more.calls - less.calls) / (more.pairs - less.pairs);
  } catch (const std::exception&) {
    return std::nullopt;  // not installed, or tracing is forbidden
  }
}

}  // namespace bench
