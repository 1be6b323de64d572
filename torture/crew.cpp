#include "torture/crew.hpp"

#include "torture/process.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

namespace afar::torture {

using namespace std::chrono_literals;

crew::crew(const plan& p, std::uint64_t seed) : plan_(p), dice_(seed) {
  for (std::uint32_t i = 0; i < p.workers; ++i) present_.push_back(start(i, 0));
}

crew::~crew() {
  for (const member& m : present_) {
    ::kill(m.pid, SIGKILL);
    ::waitpid(m.pid, nullptr, 0);
  }
}

crew::member crew::start(std::uint32_t worker, std::uint32_t life) const {
  member m;
  m.worker = worker;
  m.life = life;
  m.record = recorder{plan_.record(worker, life)};
  std::vector<std::string> words = plan_.launcher;
  words.insert(words.end(), {words.empty() ? "afar" : plan_.program, "torture-worker", plan_.folder,
                             std::to_string(worker), std::to_string(life)});
  const std::string program = plan_.launcher.empty() ? plan_.program : plan_.launcher.front();
  m.pid = start_process(program, std::move(words), plan_.url);
  return m;
}

void crew::replace(member& m) {
  ::waitpid(m.pid, nullptr, 0);
  member next = start(m.worker, m.life + 1);
  past_.push_back(std::move(m));
  m = std::move(next);
}

crew::member* crew::find(doing aim) {
  const auto end = now() + 50'000'000;
  const auto first = dice_();
  do {
    for (std::size_t i = 0; i < present_.size(); ++i) {
      member& m = present_[(first + i) % present_.size()];
      if (m.resume_at == 0 &&
          std::ranges::any_of(m.record.head().threads, [&](const auto& t) { return t == aim; }))
        return &m;
    }
  } while (now() < end);  // without a pause: most of what they do takes microseconds
  return nullptr;
}

bool crew::kill_one(doing aim) {
  member* victim = find(aim);
  const bool aimed = victim;
  if (!victim) victim = &present_[dice_() % present_.size()];
  if (victim->resume_at != 0)
    stops_.push_back({victim->worker, victim->life, {victim->stopped_at, now()}});
  ++kills_;
  victim->death = now();
  ::kill(victim->pid, SIGKILL);
  eventually(5s, [&] { return has_ended(victim->pid); });
  replace(*victim);
  return aimed;
}

bool crew::stop_one(doing aim, std::chrono::milliseconds time) {
  for (int tries = 0; tries < 10; ++tries) {
    member* m = find(aim);
    if (!m) continue;
    const auto from = now();
    ::kill(m->pid, SIGSTOP);
    // The stop takes a moment to arrive; what counts is where it has hit.
    const bool stopped = eventually(1s, [&] { return has_stopped(m->pid) || has_ended(m->pid); });
    if (stopped &&
        std::ranges::any_of(m->record.head().threads, [&](const auto& t) { return t == aim; })) {
      ++stops_hit_;
      m->stopped_at = from;
      m->resume_at = now() + std::chrono::nanoseconds{time}.count();
      return true;
    }
    ::kill(m->pid, SIGCONT);
    stops_.push_back({m->worker, m->life, {from, now()}});
  }
  return false;
}

crew::member* crew::struck(const points& where, const std::string& point, int signal,
                           std::int64_t& at) {
  const auto hit = where.strike(point, signal, [](auto c) { return eventually(300ms, c); });
  at = hit.at;
  const auto victim = std::ranges::find(present_, hit.victim, &member::pid);
  return hit.victim == 0 || victim == present_.end() ? nullptr : &*victim;
}

bool crew::kill_at(const points& where, const std::string& point) {
  std::int64_t at = 0;
  member* const victim = struck(where, point, SIGKILL, at);
  if (!victim) return false;
  ++kills_;
  victim->death = at;
  eventually(5s, [&] { return has_ended(victim->pid); });
  replace(*victim);
  return true;
}

bool crew::stop_at(const points& where, const std::string& point, std::chrono::milliseconds time) {
  std::int64_t at = 0;
  member* const victim = struck(where, point, SIGSTOP, at);
  if (!victim) return false;
  ++stops_hit_;
  victim->stopped_at = at;
  victim->resume_at = now() + std::chrono::nanoseconds{time}.count();
  return eventually(1s, [&] { return has_stopped(victim->pid); });
}

void crew::resume(member& m) {
  if (m.resume_at == 0) return;
  ::kill(m.pid, SIGCONT);
  stops_.push_back({m.worker, m.life, {m.stopped_at, now()}});
  m.resume_at = 0;
}

void crew::tick() {
  for (member& m : present_) {
    if (m.resume_at != 0 && now() >= m.resume_at) resume(m);
    if (!has_ended(m.pid)) continue;
    fallen_.push_back("worker " + std::to_string(m.worker) + "." + std::to_string(m.life) + ": " +
                      ending_of(m.pid));
    m.death = now();
    replace(m);
  }
}

void crew::resume_all() {
  for (member& m : present_) resume(m);
}

bool crew::dismiss(std::chrono::milliseconds time) {
  const bool all = eventually(time, [&] {
    return std::ranges::all_of(present_, [](const member& m) { return has_ended(m.pid); });
  });
  for (member& m : present_) {
    if (!has_ended(m.pid)) {
      m.death = now();
      ::kill(m.pid, SIGKILL);
    }
    ::waitpid(m.pid, nullptr, 0);
    past_.push_back(std::move(m));
  }
  present_.clear();
  return all;
}

std::uint64_t crew::granted() const {
  std::uint64_t sum = 0;
  for (const auto* members : {&present_, &past_})
    for (const member& m : *members) sum += m.record.head().granted;
  return sum;
}

std::uint64_t crew::refused() const {
  std::uint64_t sum = 0;
  for (const auto* members : {&present_, &past_})
    for (const member& m : *members) sum += m.record.head().refused;
  return sum;
}

std::uint32_t crew::stopped_now() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(present_, [](const member& m) { return m.resume_at != 0; }));
}

bool crew::records_complete() const {
  return std::ranges::all_of(past_, [](const member& m) { return m.record.complete(); });
}

std::vector<life> crew::lives() const {
  std::vector<life> all;
  all.reserve(past_.size());
  for (const member& m : past_) all.push_back({m.worker, m.life, m.record.facts(), m.death});
  return all;
}

}  // namespace afar::torture
