// Notes when this process could not do what it should: it did not run at all, or one of its threads was
// ready and was not run. The library has threads of its own (timers, connections), and a call waits for them.
#pragma once

#include "torture/record.hpp"
#include "torture/run_delay.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>

namespace afar::torture {

class stall_watch {
 public:
  explicit stall_watch(const recorder& to) : record_(to), last_(now()) {}

  // Until it is stopped, in a thread of its own.
  void watch(const std::stop_token&);

 private:
  struct watched {
    std::unique_ptr<run_delay> delay;
    std::int64_t last = 0;
  };

  std::int64_t longest_delay();  // of any thread, since the last look

  const recorder& record_;
  std::int64_t last_;
  std::map<pid_t, watched> threads_;
};

}  // namespace afar::torture
