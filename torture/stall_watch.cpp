#include "torture/stall_watch.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

namespace afar::torture {
namespace {

using namespace std::chrono_literals;

constexpr auto nap = 10ms;
constexpr std::int64_t noteworthy = 3'000'000;

std::set<pid_t> own_threads() {
  std::set<pid_t> all;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task", gone}) {
    const std::string name = entry.path().filename();
    pid_t id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    all.insert(id);
  }
  return all;
}

}  // namespace

void stall_watch::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(nap);
    const auto t = now();
    const std::int64_t overslept = t - last_ - std::chrono::nanoseconds{nap}.count();
    // The kernel adds a delay when it is over, so it may have begun before the last look.
    const std::int64_t lost = std::max(overslept, longest_delay());
    if (lost > noteworthy) record_.note({.what = act::stalled, .at = t, .until = t - lost});
    last_ = t;
  }
}

std::int64_t stall_watch::longest_delay() {
  const auto there = own_threads();
  std::erase_if(threads_, [&](const auto& t) { return !there.contains(t.first); });
  std::int64_t longest = 0;
  for (const pid_t id : there) {
    watched& w = threads_[id];
    if (!w.delay) w.delay = std::make_unique<run_delay>(id);
    const std::int64_t so_far = w.delay->so_far();
    longest = std::max(longest, so_far - w.last);
    w.last = so_far;
  }
  return longest;
}

}  // namespace afar::torture
