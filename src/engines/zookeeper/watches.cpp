#include "engines/zookeeper/watches.hpp"

#include "engines/zookeeper/names.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>

namespace afar::engines::zookeeper {

void watches::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  std::string wanted{key};
  {
    const std::lock_guard lock{m_};
    keys_.insert(wanted);
  }
  set(wanted, std::move(done));
}

void watches::unwatch(std::string_view key) noexcept {
  const std::lock_guard lock{m_};
  const auto at = keys_.find(key);
  if (at != keys_.end()) keys_.erase(at);
  // What hangs stays until it rings: the server knows one bell per node, and the next one who wants
  // to hear of the node shares it.
}

std::uint64_t watches::once(detail::function<void()> then) {
  const std::lock_guard lock{m_};
  once_.emplace(++last_, std::move(then));
  return last_;
}

// The number for a new bell, or 0 if one hangs there already, which then rings for this key too.
std::uint64_t watches::hang(const bell& b, const std::string& key) {
  auto [at, fresh] = hanging_.try_emplace(b);
  at->second.insert(key);
  if (!fresh) return 0;
  numbers_.emplace(++last_, b);
  return last_;
}

std::vector<request> watches::bells_of(const std::string& key) {
  std::vector<request> out;
  const std::lock_guard lock{m_};
  const auto add = [&](verb v, std::string path) {
    const std::uint64_t number = hang({v, path}, key);
    if (number != 0) out.push_back({.what = v, .path = std::move(path), .watch = number});
  };
  const std::string node = key.substr(1, key.find('\n') - 1);
  switch (key.front()) {
    case 'n':
      add(verb::get, node);
      break;
    case 'c':
      add(verb::exists, node);
      break;
    case 'k':
      add(verb::children, node);
      break;
    case 'b':
      add(verb::children, node);
      add(verb::get, node + '/' + key.substr(key.find('\n') + 1));
      break;
    case 's':
      add(verb::exists, node);
      add(verb::children, node);
      break;
    default:
      break;
  }
  return out;
}

void watches::set(const std::string& key, spi::done<spi::watch_reply> done) {
  std::vector<request> wanted = bells_of(key);
  std::vector<std::uint64_t> numbers;
  numbers.reserve(wanted.size());
  for (const request& r : wanted) numbers.push_back(r.watch);
  const bool node = key.front() == 'n';
  // A node that exists while it is watched has missed nothing.
  if (wanted.empty()) return done({}, {.recheck = !node});
  AFAR_FAULT("zookeeper.watch.before_set");
  session_.fly(
      wanted, [this, key, node, numbers, done = std::move(done)](std::vector<answer>& got) mutable {
        bool missed = !node;
        std::vector<std::string> names;
        std::set<std::string> deceived;
        {
          const std::lock_guard lock{m_};
          for (std::size_t i = 0; i < got.size(); ++i) {
            missed = missed || !got[i].ok();
            if (!got[i].names.empty()) names = std::move(got[i].names);
            const auto at = numbers_.find(numbers[i]);
            if (at == numbers_.end()) continue;
            // An absent node can be watched for by "exists" only.
            const bool hangs =
                got[i].ok() || (got[i].rc == ZNONODE && at->second.first == verb::exists);
            if (hangs) continue;
            // Who came while we were asking took it for hung; also one that now waits by the same key.
            deceived.merge(hanging_[at->second]);
            hanging_.erase(at->second);
            numbers_.erase(at);
          }
        }
        if (key.front() == 's' && !names.empty()) set_leader(key, std::move(names));
        done({}, {.recheck = missed});
        for (const std::string& k : deceived) up_.wake(k);
      });
}

// What the first of the line says is part of what a survey shows.
void watches::set_leader(const std::string& key, std::vector<std::string> names) {
  contender first;
  for (const std::string& n : names) {
    const contender c = read_contender(n);
    if (c.is == marker::foreign) continue;
    if (first.name.empty() || c.before(first)) first = c;
  }
  if (first.name.empty()) return;
  const std::string node = (key.substr(1) + '/').append(first.name);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock{m_};
    number = hang({verb::get, node}, key);
  }
  if (number == 0) return;
  session_.fly(ask::get(node, number), [this, key, node, number](std::vector<answer>& got) {
    if (got.front().ok()) return;
    {
      const std::lock_guard lock{m_};
      hanging_.erase({verb::get, node});
      numbers_.erase(number);
    }
    up_.wake(key);
  });
}

void watches::rang(std::uint64_t watch) {
  AFAR_FAULT("zookeeper.watch.rang");
  std::vector<std::string> woken;
  detail::function<void()> then;
  {
    const std::lock_guard lock{m_};
    if (const auto one = once_.find(watch); one != once_.end()) {
      then = std::move(one->second);
      once_.erase(one);
    } else if (const auto at = numbers_.find(watch); at != numbers_.end()) {
      const auto ringing = hanging_.find(at->second);
      for (const std::string& key : ringing->second)
        if (keys_.contains(key)) woken.push_back(key);
      hanging_.erase(ringing);
      numbers_.erase(at);
    }
  }
  if (then) then();
  for (const std::string& key : woken) {
    if (key.front() != 'n') set(key, [](const spi::status&, spi::watch_reply) {});
    up_.wake(key);
  }
}

void watches::session_ended() {
  std::map<std::uint64_t, detail::function<void()>> dropped;
  const std::lock_guard lock{m_};
  hanging_.clear();
  numbers_.clear();
  dropped.swap(once_);
}

void watches::set_again() {
  std::vector<std::string> all;
  {
    const std::lock_guard lock{m_};
    all.assign(keys_.begin(), keys_.end());
  }
  for (const std::string& key : all) set(key, [](const spi::status&, spi::watch_reply) {});
}

}  // namespace afar::engines::zookeeper
