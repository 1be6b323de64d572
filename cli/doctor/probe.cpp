#include "doctor/probe.hpp"

#include "failure.hpp"

#include <afar/counter.hpp>
#include <afar/fence.hpp>
#include <afar/mutex.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace afar::cli::doctor {
namespace {

using namespace std::chrono_literals;
using grade = finding::grade;

constexpr auto lease = 900ms;  // renewed after a third of it
constexpr auto patience = 5s;
constexpr int questions = 200;

// A name that no other doctor uses at the same time.
std::string fresh_name() {
  return fmt::format("afar:doctor/{}/{}", ::getpid(), std::random_device{}());
}

std::string milliseconds_of(std::chrono::nanoseconds d) {
  return fmt::format("{:.2g} ms", std::chrono::duration<double, std::milli>(d).count());
}

bool renews(const hold& h) {
  const auto first = h.valid_until();
  const auto end = boot_clock::now() + patience;
  while (h.valid_until() == first && boot_clock::now() < end && h)
    std::this_thread::sleep_for(10ms);
  return h.valid_until() > first && h;
}

// What went wrong; empty: nothing.
std::string try_everything(const opener& open) {
  const std::string name = fresh_name();
  const client one = open({.lease = lease});
  const client two = open({.lease = lease});
  mutex mine{one, name};
  mutex theirs{two, name};
  hold first = mine.try_acquire_for(patience);
  if (!first) return "acquire: a free lock was not granted";
  if (theirs.try_acquire()) return "contend: two clients hold one lock";
  if (!renews(first)) return "renew: the lease was not renewed in time";
  const auto token = first.token();
  first.release();
  hold second = theirs.try_acquire_for(patience);
  if (!second) return "release: the lock was not granted to the next one";
  fence gate;
  if (!gate.admit(second.token()) || gate.admit(token))
    return fmt::format("fence: token {} came after {}", second.token(), token);
  second.release();
  return {};
}

}  // namespace

finding round_trip(const client& c) {
  const counter cell{c, fresh_name()};
  std::vector<std::chrono::nanoseconds> took;
  for (int i = 0; i < questions; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    (void)cell.load();
    took.push_back(std::chrono::steady_clock::now() - begun);
  }
  std::ranges::sort(took);
  const auto p99 = took[questions * 99 / 100];
  const auto text =
      fmt::format("p50 {}, p99 {}", milliseconds_of(took[questions / 2]), milliseconds_of(p99));
  if (p99 > 3s)  // a tenth of the usual lease
    return {grade::warning, "roundtrip", text, "use leases of at least ten times as much"};
  return {grade::ok, "roundtrip", text, {}};
}

finding probe(const opener& open) {
  std::string wrong;
  try {
    wrong = try_everything(open);
  } catch (const lock_error& e) {
    wrong = words_of(e);
  }
  if (wrong.empty())
    return {grade::ok, "probe", "acquire, renew, contend, fence and release passed", {}};
  return {grade::failure, "probe", wrong, "do not use this engine before it is found out why"};
}

}  // namespace afar::cli::doctor
