#include "support/any_lock.hpp"

#include <mutex>
#include <ostream>
#include <stdexcept>
#include <utility>

namespace afar::test {
namespace {

using std::chrono::nanoseconds;

// mutex, recursive_mutex, fair_mutex, shared_mutex.
template <class Mutex>
class std_lock final : public any_lock {
 public:
  std_lock(const client& c, const std::string& name) : mutex_{c, name} {}
  void lock() override { mutex_.lock(); }
  bool try_lock() override { return mutex_.try_lock(); }
  bool try_for(nanoseconds d) override { return mutex_.try_lock_for(d); }
  void unlock() noexcept override { mutex_.unlock(); }
  void unlock(std::error_code& ec) noexcept override { mutex_.unlock(ec); }
  std::uint64_t token() const override { return mutex_.token(); }
  bool valid() const override { return mutex_.valid(); }

 private:
  Mutex mutex_;
};

class multi_lock_of_one final : public any_lock {
 public:
  multi_lock_of_one(const client& c, const std::string& name) : mutex_{c, name}, all_{mutex_} {}
  void lock() override { all_.lock(); }
  bool try_lock() override { return all_.try_lock(); }
  bool try_for(nanoseconds d) override { return all_.try_lock_for(d); }
  void unlock() noexcept override { all_.unlock(); }
  void unlock(std::error_code& ec) noexcept override { all_.unlock(ec); }
  std::uint64_t token() const override { return all_.token(0); }
  bool valid() const override { return all_.valid(); }

 private:
  mutex mutex_;
  multi_lock all_;
};

template <class Mutex>
class mutex_source final : public hold_source {
 public:
  mutex_source(const client& c, const std::string& name) : mutex_{c, name} {}
  hold acquire(acquire_options o) override { return mutex_.acquire(std::move(o)); }
  hold acquire(acquire_options o, std::error_code& ec) override {
    return mutex_.acquire(std::move(o), ec);
  }
  hold try_acquire_for(nanoseconds d, acquire_options o) override {
    return mutex_.try_acquire_for(d, std::move(o));
  }

 private:
  Mutex mutex_;
};

class one_permit final : public hold_source {
 public:
  one_permit(const client& c, const std::string& name) : permits_{c, name, 1} {}
  hold acquire(acquire_options o) override { return permits_.acquire(1, std::move(o)); }
  hold acquire(acquire_options o, std::error_code& ec) override {
    return permits_.acquire(1, std::move(o), ec);
  }
  hold try_acquire_for(nanoseconds d, acquire_options o) override {
    return permits_.try_acquire_for(d, 1, std::move(o));
  }

 private:
  leased_semaphore permits_;
};

class leadership final : public hold_source {
 public:
  leadership(const client& c, const std::string& name) : election_{c, name} {}
  hold acquire(acquire_options o) override { return election_.campaign({}, std::move(o)); }
  hold acquire(acquire_options o, std::error_code& ec) override {
    return election_.campaign({}, std::move(o), ec);
  }
  hold try_acquire_for(nanoseconds d, acquire_options o) override {
    return election_.try_campaign_for(d, {}, std::move(o));
  }

 private:
  election election_;
};

// A lock made of holds. The mutex guards the member only: whoever unlocks may still be here when
// the next one comes.
class lock_of_holds final : public any_lock {
 public:
  explicit lock_of_holds(std::unique_ptr<hold_source> from) : from_(std::move(from)) {}
  void lock() override { keep(from_->acquire()); }
  bool try_lock() override { return keep(from_->try_acquire()); }
  bool try_for(nanoseconds d) override { return keep(from_->try_acquire_for(d)); }
  void unlock() noexcept override { const hold gone = taken(); }
  void unlock(std::error_code& ec) noexcept override { taken().release(ec); }
  std::uint64_t token() const override {
    const std::lock_guard guard{mutex_};
    return hold_.token();
  }
  bool valid() const override {
    const std::lock_guard guard{mutex_};
    return hold_.valid();
  }

 private:
  bool keep(hold got) {
    if (!got) return false;
    const std::lock_guard guard{mutex_};
    hold_ = std::move(got);
    return true;
  }
  hold taken() noexcept {
    const std::lock_guard guard{mutex_};
    return std::move(hold_);
  }

  std::unique_ptr<hold_source> from_;
  mutable std::mutex mutex_;
  hold hold_;
};

}  // namespace

std::string_view word(lock_kind k) noexcept {
  switch (k) {
    case lock_kind::mutex:
      return "mutex";
    case lock_kind::recursive_mutex:
      return "recursive_mutex";
    case lock_kind::fair_mutex:
      return "fair_mutex";
    case lock_kind::shared_mutex:
      return "shared_mutex";
    case lock_kind::leased_semaphore:
      return "leased_semaphore";
    case lock_kind::multi_lock:
      return "multi_lock";
    case lock_kind::election:
      return "election";
  }
  return "unknown";
}

std::unique_ptr<any_lock> make_lock(lock_kind k, const client& c, const std::string& name) {
  switch (k) {
    case lock_kind::mutex:
      return std::make_unique<std_lock<mutex>>(c, name);
    case lock_kind::recursive_mutex:
      return std::make_unique<std_lock<recursive_mutex>>(c, name);
    case lock_kind::fair_mutex:
      return std::make_unique<std_lock<fair_mutex>>(c, name);
    case lock_kind::shared_mutex:
      return std::make_unique<std_lock<shared_mutex>>(c, name);
    case lock_kind::multi_lock:
      return std::make_unique<multi_lock_of_one>(c, name);
    case lock_kind::leased_semaphore:
    case lock_kind::election:
      return std::make_unique<lock_of_holds>(make_source(k, c, name));
  }
  throw std::logic_error{"no such kind"};
}

std::unique_ptr<hold_source> make_source(lock_kind k, const client& c, const std::string& name) {
  switch (k) {
    case lock_kind::mutex:
      return std::make_unique<mutex_source<mutex>>(c, name);
    case lock_kind::fair_mutex:
      return std::make_unique<mutex_source<fair_mutex>>(c, name);
    case lock_kind::shared_mutex:
      return std::make_unique<mutex_source<shared_mutex>>(c, name);
    case lock_kind::leased_semaphore:
      return std::make_unique<one_permit>(c, name);
    case lock_kind::election:
      return std::make_unique<leadership>(c, name);
    case lock_kind::recursive_mutex:
    case lock_kind::multi_lock:
      break;
  }
  throw std::logic_error{"this kind gives no holds"};
}

void any_lock_test::SetUp() {
  skip_if_unsupported(where(), word(kind()), [&] { make_lock(kind(), one, name); });
}

}  // namespace afar::test
