// An observer that keeps what it is told.
#pragma once

#include <afar/observer.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace afar::test {

class recorder final : public observer {
 public:
  struct record {
    std::string name;
    event what;  // its name is void
  };

  void on(const event& e) noexcept override {
    const std::lock_guard guard{mutex_};
    records_.push_back({std::string{e.name}, e});
    records_.back().what.name = {};
  }

  std::vector<record> all(event::kind kind) const {
    const std::lock_guard guard{mutex_};
    std::vector<record> found;
    std::copy_if(records_.begin(), records_.end(), std::back_inserter(found),
                 [&](const record& r) { return r.what.what == kind; });
    return found;
  }
  std::size_t count(event::kind kind) const { return all(kind).size(); }

 private:
  mutable std::mutex mutex_;
  std::vector<record> records_;
};

}  // namespace afar::test
