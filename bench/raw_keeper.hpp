// libzookeeper itself, as the limit beside which afar is measured.
#pragma once

#include "clock.hpp"

#include <zookeeper/zookeeper.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>

namespace bench {

// Ephemeral sequential nodes below 64 folders: create, delete when the answer is there, and again; one
// of each at a time, so 64 requests are under way.
class raw_keeper {
 public:
  explicit raw_keeper(const std::string& servers);
  ~raw_keeper();
  raw_keeper(const raw_keeper&) = delete;
  raw_keeper& operator=(const raw_keeper&) = delete;

  double run(nanoseconds);  // pairs per second

 private:
  struct slot {
    raw_keeper& of;
    std::string prefix;
  };
  static void created(int rc, const char* path, const Stat*, const void* of);
  static void removed(int rc, const void* of);
  void begin(slot&);
  void check(int rc);

  zhandle_t* handle_ = nullptr;
  std::deque<slot> slots_;
  std::atomic<bool> over_{true};
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::size_t> busy_{0};
  std::atomic<int> failed_{0};
};

}  // namespace bench
