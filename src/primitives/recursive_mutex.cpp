// Depths belong to the thread and are kept with it, so re-entry takes no lock. line->self says only
// that a recursive_mutex has the line, for mutexes of the same name.
#include <afar/recursive_mutex.hpp>

#include "core/notifier.hpp"
#include "primitives/claim_body.hpp"
#include "primitives/opened.hpp"
#include "primitives/release.hpp"
#include "primitives/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace afar {
namespace {

using detail::hold_ptr;
using detail::local_line;

constexpr std::uint32_t deepest = 0x80000000U;

struct entered {
  std::shared_ptr<local_line> line;
  hold_ptr hold;
  std::uint32_t depth = 1;
  std::thread::id thread = std::this_thread::get_id();

  void set_self() const {
    const std::lock_guard lock(line->self_mutex);
    line->self = {.thread = thread, .depth = 1};
    line->self_thread.store(thread, std::memory_order_relaxed);
  }
  void clear_self() const noexcept {
    const std::lock_guard lock(line->self_mutex);
    if (line->self.thread != thread || line->self.depth == 0) return;
    line->self = {};
    line->self_thread.store({}, std::memory_order_relaxed);
  }
};

bool locked_by_mutex(local_line& line) {
  const std::lock_guard lock(line.self_mutex);
  return line.self.thread == std::this_thread::get_id() && line.self.depth == 0;
}

// What this thread is in. A thread that ends leaves everything.
class entries {
 public:
  entries() = default;
  entries(const entries&) = delete;
  entries& operator=(const entries&) = delete;
  ~entries() {
    // Elsewhere: what engines keep for this thread may be gone already. The main thread ends with
    // the process.
    const bool last = ::gettid() == ::getpid();
    for (auto& e : all_) {
      if (last || e.hold->owner().forked())
        detail::leak(std::move(e.hold));
      else
        detail::notifier::shared().post([gone = std::move(e)]() mutable {
          gone.clear_self();
          detail::release(std::move(gone.hold));
        });
    }
  }

  entered* find(const local_line& line) {
    const auto at = std::ranges::find(all_, &line, [](const entered& e) { return e.line.get(); });
    return at == all_.end() ? nullptr : &*at;
  }
  void add(entered e) {
    // Of a client that is gone nobody can unlock.
    std::erase_if(all_, [](const entered& old) {
      return !old.hold->owner().forked() && old.hold->owner().closed();
    });
    all_.push_back(std::move(e));
  }
  entered take(entered* e) {
    entered out = std::move(*e);
    all_.erase(all_.begin() + (e - all_.data()));
    return out;
  }

 private:
  std::vector<entered> all_;
};
thread_local entries mine;

entered* find(const detail::claim_body& body) {
  return body.owner().forked() ? nullptr : mine.find(*body.line());
}

spi::status enter_again(entered& e) {
  if (!e.hold->valid()) return {errc::lost, "unlock to the outermost depth, then lock again"};
  if (e.depth == deepest) return {errc::overflow, "locked too deep"};
  ++e.depth;
  detail::counters::up(e.hold->owner().stats().reentered);
  return {};
}

spi::status enter_first(detail::claim_body& body, detail::deadline by) {
  if (auto unusable = body.owner().usable()) return unusable;
  if (locked_by_mutex(*body.line()))
    return {errc::deadlock, "this thread has locked a mutex of the same name"};
  spi::status s;
  auto hold = body.acquire({.by = by}, {}, s);
  if (!hold) return s;
  entered e{body.line(), std::move(hold)};
  e.set_self();
  mine.add(std::move(e));
  return {};
}

}  // namespace

bool recursive_mutex::enter(detail::deadline by, std::error_code* code) {
  entered* const e = find(*body_);
  const auto s = e ? enter_again(*e) : enter_first(*body_, by);
  report_wait(s, by, name(), code);
  return !s;
}

void recursive_mutex::leave(std::error_code* code) noexcept {
  spi::status s;
  entered* const e = find(*body_);
  if (!e) {
    s = body_->owner().forked() ? spi::status{errc::forked} : misused(body_->owner(), name());
  } else if (--e->depth == 0) {
    auto last = mine.take(e);
    last.clear_self();
    if (code)
      s = detail::awaited_release{std::move(last.hold)}.wait();
    else
      detail::release(std::move(last.hold));
  }
  if (code) *code = s.code;
}

std::uint64_t recursive_mutex::token() const noexcept {
  const entered* e = find(*body_);
  return e ? e->hold->token() : 0;
}

std::stop_token recursive_mutex::lost() const noexcept {
  const entered* e = find(*body_);
  return e ? e->hold->lost() : std::stop_token{};
}

bool recursive_mutex::valid() const noexcept {
  const entered* e = find(*body_);
  return e && e->hold->valid();
}

std::uint32_t recursive_mutex::depth() const noexcept {
  const entered* e = find(*body_);
  return e ? e->depth : 0;
}

}  // namespace afar
