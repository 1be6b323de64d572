#include "torture/nemesis.hpp"

#include "torture/process.hpp"

#include <algorithm>
#include <utility>

namespace afar::torture {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// Meanwhile workers that are due go on.
void wait(crew& workers, milliseconds time) {
  eventually(time, [&] {
    workers.tick();
    return false;
  });
}

milliseconds between(std::minstd_rand& dice, milliseconds least, milliseconds most) {
  return least + milliseconds{dice() % static_cast<std::uint64_t>((most - least).count() + 1)};
}

using proxies = std::vector<std::unique_ptr<fault_proxy>>;

bool hole(proxies& all, crew& workers, way w, milliseconds time) {
  for (auto& p : all) p->hold(w);
  wait(workers, time);
  const bool bit = std::ranges::any_of(all, [&](const auto& p) { return p->waiting(w); });
  for (auto& p : all) p->heal();
  return bit;
}

// Some of what one server sends next does not arrive as it was sent.
bool lose(proxies& all, std::minstd_rand& dice, mishap how) {
  const int times = 1 + static_cast<int>(dice() % 4);
  auto& one = *all[dice() % all.size()];
  const int before = one.lost();
  one.lose_answers(times, how);
  const bool bit = eventually(200ms, [&] { return one.lost() == before + times; });
  one.lose_answers(0);
  return bit || one.lost() > before;
}

}  // namespace

std::vector<fault> client_faults(crew& workers, milliseconds kept_for) {
  const auto kill = [&workers](doing aim) {
    return [&workers, aim](std::minstd_rand&) { return workers.kill_one(aim); };
  };
  const auto stop = [&workers, kept_for](doing aim, milliseconds least) {
    return [&workers, kept_for, aim, least](std::minstd_rand& dice) {
      // Some must stay who notice.
      return workers.stopped_now() < 2 && workers.stop_one(aim, between(dice, least, kept_for * 2));
    };
  };
  return {{"kill a holder", 4, false, kill(doing::working)},
          {"kill a waiter", 3, false, kill(doing::waiting)},
          {"kill one that releases", 2, false, kill(doing::releasing)},
          {"stop a holder", 3, false, stop(doing::working, kept_for / 4)},
          {"stop one about to write", 4, false, stop(doing::about_to_write, kept_for * 3 / 2)},
          {"stop a waiter", 3, false, stop(doing::waiting, kept_for / 4)},
          {"stop one that releases", 1, false, stop(doing::releasing, kept_for / 4)}};
}

std::vector<fault> network_faults(proxies& all, crew& workers, milliseconds lease) {
  if (all.empty()) return {};
  return {{"lose answers", 4, false,
           [&](std::minstd_rand& dice) { return lose(all, dice, mishap::drop); }},
          {"cut answers short", 1, false,
           [&](std::minstd_rand& dice) { return lose(all, dice, mishap::truncate); }},
          {std::string{garbled}, 1, false,
           [&](std::minstd_rand& dice) { return lose(all, dice, mishap::garble); }},
          {"reset connections", 1, false,
           [&](std::minstd_rand&) {
             for (auto& p : all) p->reset();
             return true;
           }},
          {"half-close connections", 1, false,
           [&](std::minstd_rand& dice) {
             const way w = dice() % 2 == 0 ? way::to_client : way::to_server;
             for (auto& p : all) p->half_close(w);
             return true;
           }},
          {"delay", 1, false,
           [&, lease](std::minstd_rand& dice) {
             for (auto& p : all) p->delay(between(dice, 5ms, 50ms));
             wait(workers, between(dice, lease / 4, lease));
             for (auto& p : all) p->delay(0ms);
             return true;
           }},
          {"narrow", 1, false,
           [&, lease](std::minstd_rand& dice) {
             const auto rate = static_cast<std::uint32_t>(2'000 + dice() % 14'000);
             for (auto& p : all) p->narrow(rate);
             wait(workers, between(dice, lease / 4, lease));
             for (auto& p : all) p->narrow(0);
             return true;
           }},
          {"black hole to the server", 1, false,
           [&, lease](std::minstd_rand& dice) {
             return hole(all, workers, way::to_server, between(dice, lease / 4, lease * 3 / 2));
           }},
          {"black hole to the client", 1, false, [&, lease](std::minstd_rand& dice) {
             return hole(all, workers, way::to_client, between(dice, lease / 4, lease * 3 / 2));
           }}};
}

std::vector<fault> faults_at(const points& where, const std::vector<std::string>& names,
                             crew& workers, milliseconds kept_for) {
  std::vector<fault> all;
  all.reserve(names.size());
  for (const std::string& name : names)
    all.push_back({"at " + name, 1, false, [&where, &workers, kept_for, name](auto& dice) {
                     workers.tick();
                     if (workers.stopped_now() < 2 && dice() % 2 == 0)
                       return workers.stop_at(where, name,
                                              between(dice, kept_for / 4, kept_for * 2));
                     return workers.kill_at(where, name);
                   }});
  return all;
}

std::vector<std::string> fault_names() { return {"kill", "stop", "network"}; }

nemesis::nemesis(std::vector<fault> faults, std::uint64_t seed)
    : faults_(std::move(faults)), dice_(static_cast<std::minstd_rand::result_type>(seed)) {}

const fault& nemesis::draw() {
  // Those that never bit come up first, one after the other, so that also a short run has them all.
  const auto hit = bites();
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const std::size_t at = (log_.size() + i) % faults_.size();
    if (hit[at].second == 0) return faults_[at];
  }
  unsigned sum = 0;
  for (const fault& f : faults_) sum += f.weight;
  auto n = static_cast<unsigned>(dice_() % sum);
  for (const fault& f : faults_) {
    if (n < f.weight) return f;
    n -= f.weight;
  }
  return faults_.back();
}

void nemesis::strike() {
  if (!faults_.empty()) strike_with(draw());
}

void nemesis::strike_with(std::string_view name) {
  const auto f = std::ranges::find(faults_, name, &fault::name);
  if (f != faults_.end()) strike_with(*f);
}

void nemesis::strike_with(const fault& f) {
  incident i{f.name, now(), 0, false, f.forgets};
  i.bit = f.strike(dice_);
  i.to = now();
  log_.push_back(std::move(i));
}

std::vector<std::pair<std::string, std::uint32_t>> nemesis::bites() const {
  std::vector<std::pair<std::string, std::uint32_t>> all;
  all.reserve(faults_.size());
  for (const fault& f : faults_)
    all.emplace_back(f.name,
                     static_cast<std::uint32_t>(std::ranges::count_if(
                         log_, [&](const incident& i) { return i.bit && i.fault == f.name; })));
  return all;
}

}  // namespace afar::torture
