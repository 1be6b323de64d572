// What a contender costs besides time: processor time on both sides, commands and round trips on Redis.
#pragma once

#include "clock.hpp"
#include "raw_redis.hpp"
#include "redis_host.hpp"
#include "report.hpp"
#include "turns.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bench {

class meter {
 public:
  meter(const redis_host& server, pid_t client)  // 0: this process
      : server_(server), client_(client), control_(server.url()) {}

  // Measures as it does, pairs per second, and adds up what that costs.
  turns::contender watch(turns::contender);

  // How many commands a pair takes, by what MONITOR shows: what a script calls is none. `pairs` does some and
  // says how many.
  void count_commands(const std::function<double()>& pairs);

  // Puts what was found into a line of the table.
  cost fill(cost) const;

 private:
  std::uint64_t reads();
  const redis_host& server_;
  const pid_t client_;
  raw_redis control_;
  double pairs_ = 0;
  double client_ns_ = 0;
  double server_ns_ = 0;
  double reads_ = 0;
  std::optional<double> commands_;
};

}  // namespace bench
