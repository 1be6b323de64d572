// What a cluster does on the engine's thread: it keeps the map of slots.
#include "engines/redis/cluster.hpp"

#include "engines/redis/failure.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;

constexpr spi::milliseconds ask_time = 500ms;
// Between two readings; a failover takes seconds, and everybody asks.
constexpr spi::milliseconds rest = 50ms;

}  // namespace

void cluster::start(detail::function<void(spi::status)> opened) {
  asio::post(io_->context(), [self = shared_from_this(), opened = std::move(opened)]() mutable {
    self->opened_ = std::move(opened);
    asio::co_spawn(self->io_->context(), [self] { return self->keep_map(); }, asio::detached);
  });
}

void cluster::look_again() noexcept {
  {
    const std::lock_guard lock{m_};
    if (std::exchange(outdated_, true) || closed_) return;
  }
  asio::post(io_->context(), [self = shared_from_this()] { self->pause_.cancel(); });
}

asio::awaitable<void> cluster::keep_map() {
  asio::steady_timer resting{io_->context()};
  std::error_code cancelled;
  for (;;) {
    bool read = false;
    {
      const std::lock_guard lock{m_};
      if (closed_) co_return;
      read = std::exchange(outdated_, false);
    }
    if (!read) {
      pause_.expires_after(1h);
      co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
      continue;
    }
    const located got = co_await read_map();
    if (got.failure) {
      const std::lock_guard lock{m_};
      outdated_ = true;
    }
    const bool hopeless = got.failure.code != errc::unavailable || got.nobody_there;
    if (opened_ && (!got.failure || hopeless)) std::exchange(opened_, {})(got.failure);
    resting.expires_after(rest);
    co_await resting.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
}

// From whoever answers first.
asio::awaitable<located> cluster::read_map() {
  std::vector<address> all;
  {
    const std::lock_guard lock{m_};
    for (const auto& m : masters_) all.push_back(m->at);
  }
  std::ranges::copy(to_.servers, std::back_inserter(all));
  std::string words;
  append(words, {"CLUSTER", "SLOTS"});
  located out;
  out.nobody_there = true;
  std::ranges::rotate(all, all.begin() + static_cast<std::ptrdiff_t>(turn_++ % all.size()));
  for (const address& from : all) {
    const auto over = std::make_shared<wire>(io_->context());
    const asked got = co_await ask(over, from, words, 1, ask_time);
    over->close();
    out.failure = got.failure;
    out.nobody_there = out.nobody_there && got.nobody_there;
    if (!out.failure && got.answers.front().failed())
      out.failure = {errc::unsupported, "is no cluster: " + got.answers.front().text};
    if (!out.failure) out.failure = use(got.answers.front(), from);
    if (!out.failure) co_return out;
  }
  co_return out;
}

// {{first, last, {host, port, …}, replicas…}, …}
spi::status cluster::use(const reply& slots, const address& from) {
  std::vector<master_ptr> masters;
  std::array<master_ptr, slot_count> serving = {};
  std::vector<master_ptr> retired;
  bool changed = false;
  {
    const std::lock_guard lock{m_};
    if (closed_) return {};
    auto ranges = slots.items;
    std::ranges::sort(ranges, {}, [](const reply& r) { return r.at(0).integer().value_or(0); });
    for (const reply& range : ranges) {
      const auto first = range.at(0).integer().value_or(-1);
      const auto last = range.at(1).integer().value_or(-1);
      address at = to_.login;
      at.host = range.at(2).at(0).text.empty() ? from.host : range.at(2).at(0).text;
      at.port = static_cast<std::uint16_t>(range.at(2).at(1).integer().value_or(0));
      if (first < 0 || last < first || last >= static_cast<std::int64_t>(slot_count))
        return {errc::damaged, "a map of slots that makes no sense"};
      auto one = find(at);
      if (!one) {
        const auto same =
            std::ranges::find(masters, at.text(), [](auto& m) { return m->at.text(); });
        one = same != masters.end() ? *same : make(at);
      }
      if (std::ranges::find(masters, one) == masters.end()) masters.push_back(one);
      std::fill(serving.begin() + first, serving.begin() + last + 1, one);
    }
    if (masters.empty()) return {errc::unavailable, "no server of the cluster serves anything"};
    for (std::size_t i = 0; i < slot_count; ++i)
      changed = changed || (serving_[i] && serving_[i] != serving[i]);
    for (const auto* list : {&masters_, &guests_})
      for (const auto& one : *list)
        if (std::ranges::find(masters, one) == masters.end()) retired.push_back(one);
    masters_ = std::move(masters);
    guests_.clear();
    serving_ = serving;
  }
  retire(std::move(retired));
  const visits::guard open{visits_};
  if (changed && open) {
    up_.in_doubt();
    up_.wake_all();
  }
  return {};
}

// (inv 1, 2)
void cluster::retire(std::vector<master_ptr> gone) {
  const visits::guard open{visits_};
  if (!open) return;
  for (const auto& one : gone)
    for (const way over : {way::commands, way::renewals})
      for (auto& r : one->ways[static_cast<int>(over)]->give_back())
        if (r) submit(std::move(r), over);
}

asio::awaitable<located> cluster::locate() {
  located out;
  const std::lock_guard lock{m_};
  const std::size_t n = masters_.size();
  out.to = n > 0 ? masters_[turn_++ % n]->at : to_.servers[turn_++ % to_.servers.size()];
  co_return out;
}

}  // namespace afar::engines::redis
