#include "torture/hand.hpp"
#include "torture/tenure.hpp"

#include <afar/election.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/leased_semaphore.hpp>
#include <afar/multi_lock.hpp>
#include <afar/mutex.hpp>
#include <afar/recursive_mutex.hpp>
#include <afar/shared_mutex.hpp>
#include <afar/survey.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

namespace afar::torture {
namespace {

using std::chrono::milliseconds;

void gave_up(hand& me, std::uint16_t object, const std::error_code& ec) {
  me.note(object, {.what = act::gave_up, .value = ec.value()});
  me.be(doing::other);
}

// Breaks a lock. Not one that is judged: who is evicted believes, and hands on to other threads of its
// client, until it renews. What is judged is that nothing else suffers when somebody dies meanwhile.
void break_one(const hand& me, std::uint16_t object) {
  const std::string name = me.at.todo.objects[object].name + "/broken";
  std::error_code ec;
  const hold h = mutex{me.at.locks, name}.try_acquire({}, ec);
  if (h) evict(me.at.locks, name, h.token(), ec);
}

// Of what gives out holds.
template <class Acquire>
void hold_it(hand& me, std::uint16_t object, std::uint32_t weight, Acquire acquire) {
  const auto time = me.ask(object, {.weight = weight}, me.patience());
  std::error_code ec;
  hold h = acquire(time, ec);
  if (h.token() == 0) return gave_up(me, object, ec);
  tenure mine{me,
              {{object, h.token(), weight}},
              [&] { return h.valid(); },
              [&] { return h.valid_until(); }};
  mine.spend();
  mine.end();
  if (me.chance(50)) h.release(ec);
  h = {};
  me.be(doing::other);
  if (me.at.todo.evicts && me.chance(5)) break_one(me, object);
}

template <class Lock>
class plain_tool final : public tool {
 public:
  plain_tool(workplace& at, std::uint16_t object)
      : object_(object), lock_(at.locks, at.todo.objects[object].name) {}
  void take_a_turn(hand& me) override {
    hold_it(me, object_, 1, [&](auto t, auto& ec) { return lock_.try_acquire_for(t, {}, ec); });
  }

 private:
  const std::uint16_t object_;
  Lock lock_;
};

class shared_tool final : public tool {
 public:
  shared_tool(workplace& at, std::uint16_t object)
      : object_(object), lock_(at.locks, at.todo.objects[object].name) {}
  void take_a_turn(hand& me) override {
    if (me.chance(30))
      hold_it(me, object_, alone,
              [&](auto t, auto& ec) { return lock_.try_acquire_for(t, {}, ec); });
    else
      hold_it(me, object_, 1,
              [&](auto t, auto& ec) { return lock_.try_acquire_shared_for(t, {}, ec); });
  }

 private:
  const std::uint16_t object_;
  shared_mutex lock_;
};

class permits_tool final : public tool {
 public:
  permits_tool(workplace& at, std::uint16_t object)
      : object_(object), some_(at.locks, at.todo.objects[object].name, permits) {}
  void take_a_turn(hand& me) override {
    const auto n = 1 + me.any(permits);
    hold_it(me, object_, n, [&](auto t, auto& ec) { return some_.try_acquire_for(t, n, {}, ec); });
  }

 private:
  const std::uint16_t object_;
  leased_semaphore some_;
};

class election_tool final : public tool {
 public:
  election_tool(workplace& at, std::uint16_t object)
      : object_(object), election_(at.locks, at.todo.objects[object].name) {}
  void take_a_turn(hand& me) override {
    hold_it(me, object_, 1, [&](auto t, auto& ec) {
      try {
        return election_.try_campaign_for(t);
      } catch (const lock_error& failed) {
        ec = failed.code();
        return hold{};
      }
    });
  }

 private:
  const std::uint16_t object_;
  election election_;
};

// Goes deeper than one.
class recursive_tool final : public tool {
 public:
  recursive_tool(workplace& at, std::uint16_t object)
      : object_(object), lock_(at.locks, at.todo.objects[object].name) {}
  void take_a_turn(hand& me) override {
    const auto time = me.ask(object_, {.weight = 1}, me.patience());
    std::error_code ec;
    if (!lock_.try_lock_for(time, ec)) return gave_up(me, object_, ec);
    const std::uint64_t token = lock_.token();
    tenure mine{me,
                {{object_, token}},
                [&] { return lock_.valid(); },
                [] { return boot_clock::time_point{}; }};
    std::uint32_t depth = 1;
    while (depth < 3 && lock_.try_lock(ec)) ++depth;
    if (depth > 1 && lock_.token() != token && lock_.valid())
      mine.broke(broken_here::another_token, token);
    if (lock_.depth() != depth) mine.broke(broken_here::wrong_depth, token);
    mine.spend();
    mine.end();
    for (; depth > 0; --depth) lock_.unlock();
    me.be(doing::other);
  }

 private:
  const std::uint16_t object_;
  recursive_mutex lock_;
};

// Two or three of those that others take one by one.
class multi_tool final : public tool {
 public:
  multi_tool(workplace& at, std::uint16_t object) : object_(object) {
    for (const std::uint16_t i : at.todo.members())
      members_.push_back({i, make(at.locks, at.todo.objects[i])});
  }
  void take_a_turn(hand& me) override {
    std::ranges::shuffle(members_, std::minstd_rand{me.any(1U << 30)});
    const std::size_t wanted = std::min<std::size_t>(2 + me.any(2), members_.size());
    std::vector<std::reference_wrapper<detail::basic_mutex>> some;
    some.reserve(wanted);
    for (std::size_t i = 0; i < wanted; ++i) some.emplace_back(*members_[i].lock);
    multi_lock all{some};
    ask(me, wanted);
    std::error_code ec;
    const bool locked = all.try_lock_for(time_, ec);
    auto parts = held(me, all, wanted);
    const auto count = static_cast<std::int64_t>(
        std::ranges::count_if(parts, [](const held_lock& l) { return l.token != 0; }));
    const auto weight = static_cast<std::uint32_t>(wanted);
    if (!locked) return failed(me, parts, ec, static_cast<std::uint64_t>(count));
    me.note(object_, {.what = act::passed, .value = count, .weight = weight});
    std::erase_if(parts, [](const held_lock& l) { return l.token == 0; });
    if (parts.empty()) return me.be(doing::other);
    tenure mine{me, parts, [&] { return all.valid(); }, [] { return boot_clock::time_point{}; }};
    mine.spend();
    mine.end();
    if (me.chance(50))
      all.unlock(ec);
    else
      all.unlock();
    me.be(doing::other);
  }

 private:
  struct member {
    std::uint16_t object;
    std::shared_ptr<detail::basic_mutex> lock;
  };

  static std::shared_ptr<detail::basic_mutex> make(const client& c, const object& o) {
    if (o.sort == sort::fair_mutex) return std::make_shared<fair_mutex>(c, o.name);
    if (o.sort == sort::shared_mutex) return std::make_shared<shared_mutex>(c, o.name);
    return std::make_shared<mutex>(c, o.name);
  }
  // Its members are asked for, too; the deadline is that of the whole.
  void ask(hand& me, std::size_t wanted) {
    for (std::size_t i = 0; i < wanted; ++i)
      me.note(members_[i].object,
              {.what = act::asked, .until = never, .weight = weight(me, members_[i].object)});
    time_ = me.ask(object_, {.weight = static_cast<std::uint32_t>(wanted)}, me.patience());
  }
  static std::uint32_t weight(const hand& me, std::uint16_t object) {
    return me.at.todo.objects[object].capacity();
  }
  std::vector<held_lock> held(const hand& me, const multi_lock& all, std::size_t wanted) const {
    std::vector<held_lock> parts;
    parts.reserve(wanted);
    for (std::size_t i = 0; i < wanted; ++i)
      parts.push_back({members_[i].object, all.token(i), weight(me, members_[i].object)});
    return parts;
  }
  void failed(hand& me, const std::vector<held_lock>& parts, const std::error_code& ec,
              std::uint64_t count) const {
    for (const held_lock& l : parts) gave_up(me, l.object, ec);
    me.note(object_, {.what = act::gave_up, .token = count, .value = ec.value()});
    me.be(doing::other);
  }

  const std::uint16_t object_;
  std::vector<member> members_;
  milliseconds time_{};
};

}  // namespace

std::unique_ptr<tool> make_lock_tool(workplace& at, std::uint16_t object) {
  switch (at.todo.objects[object].sort) {
    case sort::mutex:
      return std::make_unique<plain_tool<mutex>>(at, object);
    case sort::fair_mutex:
      return std::make_unique<plain_tool<fair_mutex>>(at, object);
    case sort::recursive_mutex:
      return std::make_unique<recursive_tool>(at, object);
    case sort::shared_mutex:
      return std::make_unique<shared_tool>(at, object);
    case sort::leased_semaphore:
      return std::make_unique<permits_tool>(at, object);
    case sort::election:
      return std::make_unique<election_tool>(at, object);
    case sort::multi_lock:
      return std::make_unique<multi_tool>(at, object);
    case sort::counter:
    case sort::stock:
    case sort::latch:
    case sort::counting_semaphore:
    case sort::barrier:
      break;
  }
  return nullptr;
}

}  // namespace afar::torture
