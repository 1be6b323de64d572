// Steps as the core asks for them. What a step is about belongs to the core until it is answered; a step
// may go on after that, so it works with what it owns.
#pragma once

#include "engines/sql/lanes.hpp"
#include "engines/sql/steps.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace afar::engines::sql {

template <class Body>
spi::status caught(Body body) noexcept {
  try {
    return body();
  } catch (const failure& f) {
    return f.what;
  } catch (const std::exception& e) {
    return {errc::unavailable, e.what()};
  }
}

struct owned_claim {
  explicit owned_claim(const spi::claim& c) : copy(c) {
    texts.reserve(c.what.name.size() + c.note.size());
    texts.append(c.what.name).append(c.note);
    copy.what.name = std::string_view{texts}.substr(0, c.what.name.size());
    copy.note = std::string_view{texts}.substr(c.what.name.size());
  }
  owned_claim(const owned_claim&) = delete;
  owned_claim& operator=(const owned_claim&) = delete;

  spi::claim copy;
  std::string texts;
};

// One that is answered once: by its work, or by who fails it.
template <class Reply>
class answered_step : public step {
 public:
  void perform(connection& on) noexcept final {
    if (answered_.load()) return;
    Reply reply{};
    spi::status s = caught([&] { return work(at(on), reply); });
    if (answered_.exchange(true)) return;
    before_answer();
    done_(std::move(s), std::move(reply));
  }
  void fail(const spi::status& s) noexcept final {
    if (!answered_.exchange(true)) done_(s, Reply{});
  }

 protected:
  answered_step(spi::time_point t, std::shared_ptr<listener> ear, spi::done<Reply> done)
      : step(t), ear_(std::move(ear)), done_(std::move(done)) {}

  virtual spi::status work(const desk&, Reply&) = 0;
  virtual void before_answer() noexcept {}
  desk at(connection& on) const noexcept { return {on, *ear_, by}; }

 private:
  const std::shared_ptr<listener> ear_;
  std::atomic<bool> answered_{false};
  spi::done<Reply> done_;
};

// `Work(desk, reply)` runs once.
template <class Reply, class Work>
class one_step final : public answered_step<Reply> {
 public:
  one_step(spi::time_point t, const spi::owner_id& claim, std::shared_ptr<listener> ear,
           spi::done<Reply> done, Work work)
      : answered_step<Reply>(t, std::move(ear), std::move(done)),
        claim_(claim),
        work_(std::move(work)) {}

  spi::owner_id claim() const noexcept override { return claim_; }

 private:
  spi::status work(const desk& d, Reply& r) override { return work_(d, r); }

  const spi::owner_id claim_;
  Work work_;
};

// What is done to a claim, and what is sent ahead of it.
struct acquiring {
  using reply = spi::acquire_reply;
  static constexpr auto work = acquire;
  static constexpr auto opens_with = opening_of_acquire;
  static constexpr auto send_opening = send_opening_of_acquire;
};
struct releasing {
  using reply = spi::release_reply;
  static constexpr auto work = release;
  static constexpr auto opens_with = opening_of_release;
  static constexpr auto send_opening = send_opening_of_release;
};

template <class What>
class claim_step final : public answered_step<typename What::reply> {
 public:
  // `told`: learns its new place; may be null.
  claim_step(spi::time_point t, const spi::claim& c, std::shared_ptr<listener> ear,
             spi::done<typename What::reply> done, spi::claim* told)
      : answered_step<typename What::reply>(t, std::move(ear), std::move(done)),
        own_(c),
        told_(told) {}

  std::optional<statement> opens_with() const noexcept override {
    return What::opens_with(own_.copy);
  }
  sent send_opening(connection& on) noexcept override {
    sent so_far = sent::nothing;
    caught([&] {
      so_far = What::send_opening(this->at(on), own_.copy);
      return spi::status{};
    });
    return so_far;
  }
  spi::owner_id claim() const noexcept override { return own_.copy.owner; }

 private:
  spi::status work(const desk& d, typename What::reply& r) override {
    return What::work(d, own_.copy, r);
  }
  void before_answer() noexcept override {
    if (told_) told_->place = own_.copy.place;
  }

  owned_claim own_;
  spi::claim* const told_;
};

// Of several claims; those of one request are numbered from `first` on.
class renewal final : public step {
 public:
  renewal(spi::time_point t, std::shared_ptr<listener> ear, std::span<spi::claim* const> claims,
          std::size_t first, std::shared_ptr<spi::renewed> each)
      : step(t), ear_(std::move(ear)), first_(first), each_(std::move(each)) {
    for (const spi::claim* c : claims) {
      owned_.push_back(std::make_unique<owned_claim>(*c));
      claims_.push_back(&owned_.back()->copy);
    }
  }

  void perform(connection& on) noexcept override {
    std::vector<spi::renew_reply> replies(claims_.size());
    const spi::status s = caught([&] {
      renew(desk{on, *ear_, by}, claims_, replies);
      return spi::status{};
    });
    if (answered_.exchange(true)) return;
    for (std::size_t i = 0; i < claims_.size(); ++i) (*each_)(first_ + i, s, replies[i]);
  }
  void fail(const spi::status& s) noexcept override {
    if (answered_.exchange(true)) return;
    for (std::size_t i = 0; i < claims_.size(); ++i) (*each_)(first_ + i, s, {});
  }

 private:
  const std::shared_ptr<listener> ear_;
  std::vector<std::unique_ptr<owned_claim>> owned_;
  std::vector<spi::claim*> claims_;
  const std::size_t first_;
  const std::shared_ptr<spi::renewed> each_;
  std::atomic<bool> answered_{false};
};

}  // namespace afar::engines::sql
