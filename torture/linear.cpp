#include "torture/linear.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace afar::torture {
namespace {

constexpr std::size_t most_under_way = 64;

// The value after the deed; empty: the deed cannot have happened in this state.
std::optional<std::int64_t> after(const deed_done& d, std::int64_t state, std::int64_t limit) {
  switch (d.what) {
    case deed::add:
      if (d.known && d.result != state) return std::nullopt;
      return state + d.amount;
    case deed::take:
      if (state + d.amount > limit) return std::nullopt;
      return state + d.amount;
    case deed::refuse:
      return state + d.amount > limit ? std::optional{state} : std::nullopt;
    case deed::down:
      return std::max<std::int64_t>(0, state - d.amount);
    case deed::read:
      return d.result == state ? std::optional{state} : std::nullopt;
    case deed::pass:
      return state == 0 ? std::optional{state} : std::nullopt;
  }
  return std::nullopt;
}

bool only_looks(const deed_done& d) {
  return d.what == deed::refuse || d.what == deed::read || d.what == deed::pass;
}

// One way the world may be. Unknown deeds that are alike are only counted: which of them has happened makes
// no difference.
struct world {
  std::int64_t state = 0;
  std::uint64_t happened = 0;         // of those under way, by slot
  std::vector<std::uint32_t> doubts;  // unknown deeds that have not happened, by likeness

  friend auto operator<=>(const world&, const world&) = default;
};

class search {
 public:
  search(const deeds& d, std::size_t most) : limit_(d.limit), most_(most), slots_(most_under_way) {
    sort_out(d.all);
    worlds_.insert({d.initial, 0, std::vector<std::uint32_t>(alike_.size())});
  }

  explanation run() {
    for (const event& e : events_) {
      if (!e.known) {
        doubt(e.likeness);
      } else if (!e.answer) {
        if (!begin(*e.deed)) return ended(explanation::outcome::too_many);
      } else if (!answer(*e.deed)) {
        if (visited_ > most_) return ended(explanation::outcome::too_many);
        auto out = ended(explanation::outcome::none);
        out.culprit = *e.deed;
        return out;
      }
    }
    return ended(explanation::outcome::found);
  }

 private:
  struct event {
    std::int64_t at;
    bool answer;
    bool known;
    std::size_t likeness;
    const deed_done* deed;
  };

  explanation ended(explanation::outcome is) const {
    return {.is = is, .culprit = {}, .visited = visited_};
  }

  void sort_out(const std::vector<deed_done>& all) {
    std::map<std::pair<deed, std::int64_t>, std::size_t> kinds;
    events_.reserve(all.size() * 2);
    for (const deed_done& d : all) {
      if (d.known) {
        events_.push_back({d.from, false, true, 0, &d});
        events_.push_back({d.to, true, true, 0, &d});
        continue;
      }
      if (only_looks(d)) continue;  // it says nothing and changes nothing
      const auto [kind, fresh] = kinds.try_emplace({d.what, d.amount}, alike_.size());
      if (fresh) alike_.push_back(d);
      events_.push_back({d.from, false, false, kind->second, &d});
    }
    // A request at the time of an answer may have been before it.
    std::ranges::sort(events_, {}, [](const event& e) { return std::pair{e.at, e.answer}; });
  }

  void doubt(std::size_t likeness) {
    std::set<world> next;
    for (world w : worlds_) {
      ++w.doubts[likeness];
      next.insert(std::move(w));
    }
    worlds_ = std::move(next);
  }

  // False: too many under way.
  bool begin(const deed_done& d) {
    const auto slot = std::ranges::find(slots_, nullptr);
    if (slot == slots_.end()) return false;
    *slot = &d;
    if (!only_looks(d)) return true;
    std::set<world> next;
    for (world w : worlds_) {
      look(w);
      next.insert(std::move(w));
    }
    worlds_ = std::move(next);
    return true;
  }

  // Who only looks, and would see what it saw, is taken to look now: that is in nobody's way.
  void look(world& w) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i] && only_looks(*slots_[i]) && after(*slots_[i], w.state, limit_))
        w.happened |= 1ULL << i;
  }

  // Leaves those worlds in which the deed has happened by now. False: there is none, or too many.
  bool answer(const deed_done& d) {
    const auto slot = static_cast<std::size_t>(std::ranges::find(slots_, &d) - slots_.begin());
    const std::uint64_t bit = 1ULL << slot;
    std::set<world> next;
    std::set<world> seen = worlds_;
    std::vector<world> todo{worlds_.begin(), worlds_.end()};
    while (!todo.empty()) {
      world w = std::move(todo.back());
      todo.pop_back();
      if (++visited_ > most_) return false;
      if ((w.happened & bit) != 0) {
        w.happened &= ~bit;
        next.insert(std::move(w));
        continue;
      }
      for (world& further : successors(w))
        if (seen.insert(further).second) todo.push_back(std::move(further));
    }
    slots_[slot] = nullptr;
    worlds_ = std::move(next);
    return !worlds_.empty();
  }

  std::vector<world> successors(const world& w) const {
    std::vector<world> all;
    const auto go = [&](const deed_done& d, auto mark) {
      const auto state = after(d, w.state, limit_);
      if (!state) return;
      world next = w;
      next.state = *state;
      mark(next);
      look(next);
      all.push_back(std::move(next));
    };
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i] && (w.happened & 1ULL << i) == 0)
        go(*slots_[i], [&](world& next) { next.happened |= 1ULL << i; });
    for (std::size_t i = 0; i < alike_.size(); ++i)
      if (w.doubts[i] > 0) go(alike_[i], [&](world& next) { --next.doubts[i]; });
    return all;
  }

  const std::int64_t limit_;
  const std::size_t most_;
  std::vector<event> events_;
  std::vector<deed_done> alike_;         // one of each likeness
  std::vector<const deed_done*> slots_;  // under way
  std::set<world> worlds_;
  std::size_t visited_ = 0;
};

}  // namespace

explanation explain(const deeds& d, std::size_t most) { return search{d, most}.run(); }

}  // namespace afar::torture
