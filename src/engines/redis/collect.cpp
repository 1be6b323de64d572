#include "engines/redis/collect.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/request.hpp"

#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace afar::engines::redis {
namespace {

// One step of SCAN after the other over the indexes of cells and stocks; every name is tidied.
class round : public std::enable_shared_from_this<round> {
 public:
  round(std::shared_ptr<servers> to, spi::time_point by, spi::done<std::uint64_t> done)
      : to_(std::move(to)), by_(by), enough_(middle(by)), done_(std::move(done)) {}

  void scan() {
    auto r = make_request(by_, [self = shared_from_this()](spi::status s, const reply& got) {
      if (!s && got.failed()) s = failure_of(got);
      if (s) return self->done_(std::move(s), 0);
      self->found(got);
    });
    append(r->words, {"SCAN", cursor_, "MATCH", layout::indexes[index_].pattern, "COUNT", "1000"});
    to_->submit_to(server_, std::move(r));
  }

 private:
  static spi::time_point middle(spi::time_point by) {
    const auto now = boot_clock::now();
    return now + (by - now) / 2;
  }

  void found(const reply& got) {
    std::set<std::string> names;  // SCAN may say a key twice
    for (const reply& key : got.at(1).items)
      if (auto name = layout::name_of(layout::indexes[index_], key.text))
        names.insert(std::move(*name));
    cursor_ = got.at(0).text;
    if (cursor_ == "0" && ++server_ >= to_->count()) {
      server_ = 0;
      ++index_;
    }
    missing_ = names.size();
    if (names.empty()) return go_on();
    for (const std::string& name : names) tidy(name);
  }

  void tidy(const std::string& name) {
    auto r = make_request(by_, [self = shared_from_this()](spi::status s, const reply& got) {
      if (!s && got.failed()) s = failure_of(got);
      self->tidied(std::move(s), got.integer().value_or(0));
    });
    arguments{*r, scripts::tidy, 5, 0}
        .add(layout::name_key(name))
        .add(layout::cell_key(name))
        .add(layout::orders_key(name))
        .add(layout::buyers_key(name))
        .add(layout::due_key(name));
    to_->submit(std::move(r));
  }

  void tidied(spi::status s, std::int64_t removed) {
    {
      const std::lock_guard lock{m_};
      removed_ += static_cast<std::uint64_t>(removed);
      if (s && s.code != errc::denied) failure_ = std::move(s);  // denied: none of this user's
      if (--missing_ > 0) return;
    }
    go_on();
  }

  void go_on() {
    if (failure_) return done_(std::move(failure_), 0);
    if (index_ == std::size(layout::indexes) || boot_clock::now() > enough_)
      return done_({}, removed_);
    scan();
  }

  const std::shared_ptr<servers> to_;
  const spi::time_point by_;
  const spi::time_point enough_;
  spi::done<std::uint64_t> done_;
  std::size_t index_ = 1;  // claims, the first, need none: every key of theirs has a lease
  std::size_t server_ = 0;
  std::string cursor_ = "0";

  std::mutex m_;  // answers come on any thread
  std::size_t missing_ = 0;
  std::uint64_t removed_ = 0;
  spi::status failure_;
};

}  // namespace

void collect(const std::shared_ptr<servers>& to, spi::time_point by,
             spi::done<std::uint64_t> done) {
  std::make_shared<round>(to, by, std::move(done))->scan();
}

}  // namespace afar::engines::redis
