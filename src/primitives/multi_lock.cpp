#include <afar/multi_lock.hpp>

#include "core/notifier.hpp"
#include "primitives/claim_body.hpp"
#include "primitives/opened.hpp"
#include "primitives/release.hpp"
#include "primitives/report.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace afar {

namespace detail {
namespace {

using part = std::shared_ptr<claim_body>;

// By what parts are told apart, and in what order everybody takes them.
auto key(const part& p) {
  const auto what = p->line()->what();
  return std::tuple{std::string_view{p->owner().options().url}, what.kind, what.name};
}

bool passed(const deadline& by) { return by.waits && boot_clock::now() >= by.at; }

// Tries of all parts at once. None waits in line; the stop ends those that are under way.
class tries {
 public:
  tries(const std::vector<part>& parts, const deadline& by, std::stop_token stop)
      : on_stop_(std::move(stop), [this] { give_up_.request_stop(); }) {
    for (const part& p : parts) {
      failed_ = p->may_lock(deadline::no_wait());
      if (!failed_ && !replies_.empty() && passed(by)) failed_ = errc::timed_out;
      if (!failed_) launch(p, by);
      if (failed_) break;
    }
    collect(by);
  }

  // Why not all were granted; errc::timed_out: one of them is busy.
  const spi::status& failed() const noexcept { return failed_; }

  void keep(const std::vector<part>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      parts[i]->locked(std::move(replies_[i]->value().hold), claim_mode::exclusive, true);
  }
  void undo() noexcept {
    for (const auto& reply : replies_) release(std::move(reply->value().hold));
  }

 private:
  struct outcome {
    spi::status status;
    hold_ptr hold;
  };
  void launch(const part& p, const deadline& by) {
    wish w{.by = deadline::no_wait(by.at), .options = {.stop = give_up_.get_token()}};
    const auto reply = std::make_shared<answer<outcome>>(p->owner());
    p->owner().start_acquire(p->request(std::move(w)), [reply](spi::status s, hold_ptr h) {
      reply->give({std::move(s), std::move(h)});
    });
    replies_.push_back(reply);
    if (reply->ready()) failed_ = reply->value().status;
  }

  void collect(const deadline& by) {
    if (failed_) give_up_.request_stop();
    for (const auto& reply : replies_) {
      if (!reply->wait_until(by.at)) {
        if (!failed_) failed_ = errc::timed_out;
        give_up_.request_stop();
        reply->wait_until(spi::time_point::max());
      }
      if (!failed_) failed_ = reply->value().status;
    }
  }

  std::stop_source give_up_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::vector<std::shared_ptr<answer<outcome>>> replies_;
  spi::status failed_;
};

}  // namespace

class multi_body {
 public:
  explicit multi_body(const std::vector<std::reference_wrapper<basic_mutex>>& mutexes) {
    for (const basic_mutex& m : mutexes) add(*m.body());
    if (parts_.empty()) throw lock_error(errc::bad_argument, "multi_lock", "no lock to lock");
    ordered_ = parts_;
    std::ranges::sort(ordered_, {}, key);
  }

  core& owner() const noexcept { return parts_.front()->owner(); }
  const std::vector<part>& parts() const noexcept { return parts_; }
  const std::string& name() const noexcept { return parts_.front()->name(); }

  spi::status lock(const deadline& by, const std::stop_token& stop) {
    tries all{parts_, by, stop};
    if (!all.failed()) {
      all.keep(parts_);
      return {};
    }
    all.undo();
    // Also an engine that does not answer is waited for. With no time left it would take another grace, and
    // whether it would have answered nobody knows: too late is all that can be said.
    const bool silent = all.failed().code == errc::unavailable;
    if (!by.waits || !(silent || all.failed().code == errc::timed_out)) return all.failed();
    if (passed(by)) return errc::timed_out;
    return lock_in_order(by, stop);
  }

  // Empty: nothing was locked.
  std::vector<hold_ptr> unlocked() {
    forget_loss();
    std::vector<hold_ptr> out;
    for (const part& p : parts_)
      if (auto state = p->unlocked(claim_mode::exclusive)) out.push_back(std::move(state));
    if (out.empty()) misused(owner(), name());
    return out;
  }

  bool valid() const {
    return std::ranges::all_of(parts_, [](const part& p) {
      const auto kept = p->kept();
      return kept && kept->valid();
    });
  }

  std::stop_token lost() {
    if (owner().forked()) return {};
    const std::lock_guard guard(m_);
    if (!lost_) watch_parts();
    return lost_ ? lost_->get_token() : std::stop_token{};
  }

  void drop_all() noexcept {
    forget_loss();
    for (const part& p : parts_) p->drop_all();
  }

 private:
  void add(const claim_body& like) {
    auto made = std::make_shared<claim_body>(like.client(), like.line()->kind(), like.name(), 1);
    const bool known =
        std::ranges::any_of(parts_, [&](const part& p) { return key(p) == key(made); });
    if (!known) parts_.push_back(std::move(made));
  }

  spi::status lock_in_order(const deadline& by, const std::stop_token& stop) {
    spi::status s;
    for (const part& p : ordered_) {
      if (p->keep({.by = by, .options = {.stop = stop}, .by_lock = true}, s)) continue;
      for (const part& before : ordered_) {
        if (before == p) break;
        release(before->unlocked(claim_mode::exclusive));
      }
      break;
    }
    return s;
  }

  // The parts' notices are passed on from a thread of the notifier's: this way unlock(), which ends
  // them, does not wait for callbacks of the user's.
  void watch_parts() {
    std::stop_source all;
    for (const part& p : parts_) {
      const auto kept = p->kept();
      if (!kept) return on_loss_.clear();
      const auto token = kept->lost();
      if (token.stop_requested()) all.request_stop();
      on_loss_.emplace_back(token, [all] {
        notifier::shared().post([source = all]() mutable { source.request_stop(); });
      });
    }
    lost_ = std::move(all);
  }

  void forget_loss() noexcept {
    const std::lock_guard guard(m_);
    on_loss_.clear();
    lost_.reset();
  }

  std::vector<part> parts_;    // distinct, in the order given
  std::vector<part> ordered_;  // in the order of everybody

  std::mutex m_;
  std::optional<std::stop_source> lost_;  // made when somebody asks, until unlock()
  std::deque<std::stop_callback<std::function<void()>>> on_loss_;
};

}  // namespace detail

multi_lock::multi_lock(std::initializer_list<std::reference_wrapper<detail::basic_mutex>> all)
    : multi_lock(std::vector<std::reference_wrapper<detail::basic_mutex>>{all}) {}

multi_lock::multi_lock(const std::vector<std::reference_wrapper<detail::basic_mutex>>& all)
    : body_(std::make_unique<detail::multi_body>(all)) {}

multi_lock::~multi_lock() {
  if (body_->owner().forked())
    detail::leak(std::move(body_));
  else
    body_->drop_all();
}

bool multi_lock::enter(detail::deadline by, std::stop_token stop, std::error_code* code) {
  const auto s = body_->lock(by, stop);
  report_wait(s, by, body_->name(), code);
  return !s;
}

void multi_lock::unlock() noexcept {
  if (body_->owner().forked()) return;
  for (auto& state : body_->unlocked()) detail::release(std::move(state));
}

void multi_lock::unlock(std::error_code& ec) noexcept {
  ec.clear();
  if (body_->owner().forked()) {
    ec = errc::forked;
    return;
  }
  std::vector<detail::awaited_release> all;
  for (auto& state : body_->unlocked()) all.emplace_back(std::move(state));
  if (all.empty()) ec = errc::not_owner;
  for (auto& one : all) {
    const auto s = one.wait();
    if (!ec) ec = s.code;
  }
}

bool multi_lock::valid() const noexcept { return body_->valid(); }
std::stop_token multi_lock::lost() const noexcept { return body_->lost(); }

std::uint64_t multi_lock::token(std::size_t i) const noexcept {
  if (i >= size()) return 0;
  const auto kept = body_->parts()[i]->kept();
  return kept ? kept->token() : 0;
}

std::size_t multi_lock::size() const noexcept { return body_->parts().size(); }

}  // namespace afar
