#include "demo/team.hpp"

#include "torture/process.hpp"

#include <afar/fence.hpp>

#include <sys/wait.h>

#include <csignal>
#include <utility>

namespace afar::cli::demo {

namespace {

using namespace std::chrono_literals;
using torture::eventually;
using torture::has_ended;
using torture::has_stopped;

}  // namespace

team::team(place where, std::uint32_t workers, std::chrono::nanoseconds between_orders)
    : where_(std::move(where)), between_orders_(between_orders), random_(std::random_device{}()) {
  for (std::uint32_t i = 0; i < workers; ++i) present_.push_back(start(i, 0));
}

team::~team() {
  for (const member& m : present_) {
    ::kill(m.pid, SIGKILL);
    ::waitpid(m.pid, nullptr, 0);
  }
}

team::member team::start(std::uint32_t worker, std::uint32_t life) const {
  member m{worker, life, 0, never, history{where_.record(worker, life)}};
  m.pid = torture::start_process("/proc/self/exe",
                                 {"afar", "demo-worker", where_.folder, std::to_string(worker),
                                  std::to_string(life), std::to_string(between_orders_.count())},
                                 where_.url);
  return m;
}

// Reaps the dead one; its record stays.
void team::bury(member& m, std::optional<member> successor) {
  ::waitpid(m.pid, nullptr, 0);
  past_.push_back(std::move(m));
  if (successor) m = std::move(*successor);
}

team::member* team::find_at_work(std::chrono::milliseconds patience) {
  const auto end = afar::boot_clock::now() + patience;
  do {
    for (member& m : present_)
      if (m.record.head().state == doing::working) return &m;
  } while (afar::boot_clock::now() < end);  // without a pause: work takes a millisecond only
  return nullptr;
}

void team::kill_one() {
  member* victim = kills_.size() % 2 == 0 ? find_at_work(100ms) : nullptr;
  if (!victim) victim = &present_[random_() % present_.size()];
  victim->death = now();
  ::kill(victim->pid, SIGKILL);
  eventually(5s, [&] { return has_ended(victim->pid); });
  kills_.push_back({victim->death, victim->record.head().state});
  bury(*victim, start(victim->worker, victim->life + 1));
}

// The stop takes a moment to arrive; what counts is where it has hit.
bool team::stop_at_work(member& m) const {
  ::kill(m.pid, SIGSTOP);
  if (eventually(1s, [&] { return has_stopped(m.pid) || has_ended(m.pid); }) &&
      m.record.head().state == doing::working)
    return true;
  ::kill(m.pid, SIGCONT);
  return false;
}

std::uint64_t team::largest_written() const {
  return afar::fence::in_file(where_.fence()).largest();
}

void team::pause_one() {
  member* victim = nullptr;
  for (int tries = 0; tries < 20 && !victim; ++tries) {
    member* m = find_at_work(100ms);
    if (m && stop_at_work(*m)) victim = m;
  }
  if (!victim) return;
  const summary& head = victim->record.head();
  const std::uint64_t token = head.token;
  const std::uint32_t refused = head.refused;
  const auto lease_over = afar::boot_clock::now() + lease;
  const bool overtaken = eventually(lease + 3s, [&] {
    return afar::boot_clock::now() > lease_over && largest_written() > token;
  });
  ::kill(victim->pid, SIGCONT);
  pauses_.push_back({token, overtaken});
  eventually(2s, [&] { return head.refused > refused || head.token != token; });
}

std::uint32_t team::replace_the_fallen() {
  std::uint32_t fallen = 0;
  for (member& m : present_) {
    if (!has_ended(m.pid)) continue;
    ++fallen;
    m.death = now();
    bury(m, start(m.worker, m.life + 1));
  }
  return fallen;
}

void team::dismiss(std::chrono::milliseconds time) {
  eventually(time, [&] {
    return std::all_of(present_.begin(), present_.end(),
                       [](const member& m) { return has_ended(m.pid); });
  });
  for (member& m : present_) {
    if (!has_ended(m.pid)) {
      m.death = now();
      ::kill(m.pid, SIGKILL);
    }
    bury(m, std::nullopt);
  }
  present_.clear();
}

team::totals team::so_far() const {
  totals sum;
  for (const auto* members : {&present_, &past_})
    for (const member& m : *members) {
      sum.granted += m.record.head().granted;
      sum.refused += m.record.head().refused;
      sum.sold += m.record.head().sold;
    }
  return sum;
}

std::vector<life> team::lives() const {
  std::vector<life> all;
  all.reserve(past_.size());
  for (const member& m : past_) all.push_back({m.worker, m.life, m.record.events(), m.death});
  return all;
}

bool team::records_complete() const {
  return std::all_of(past_.begin(), past_.end(),
                     [](const member& m) { return m.record.complete(); });
}

}  // namespace afar::cli::demo
