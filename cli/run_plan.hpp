// What `afar run` or `afar elect` was asked to do.
#pragma once

#include "context.hpp"
#include "duration.hpp"
#include "exit_code.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace afar::cli {

// Which primitive the name stands for. Without -s and -x it is the mutex of C++ programs (on other
// engines: of Redisson, of Curator), which must exclude `afar run`; with them a shared_mutex. Engines
// with spi::traits::mutex_is_writer let the two meet under one name, others refuse.
enum class lock_kind : std::uint8_t { mutex, fair, exclusive, shared, permits, election };

struct run_plan {
  enum class on_lost : std::uint8_t { kill, warn };

  context where = {};
  std::string name = {};
  std::vector<std::string> command = {};  // a program and its arguments
  std::string shown_command = {};         // what others see: arguments may be secrets
  lock_kind kind = lock_kind::mutex;
  std::uint32_t permits = 1;
  std::uint32_t limit = 1;
  std::optional<milliseconds> wait = {};  // none: for ever
  std::optional<milliseconds> lease = {};
  std::optional<milliseconds> kill_after = {};
  milliseconds at_least{0};
  on_lost when_lost = on_lost::kill;
  bool again = false;      // lost: waits for it once more and runs the command anew
  std::string value = {};  // what a leader proclaims
  int not_acquired = number(exit_code::not_acquired);
  std::optional<std::string> label = {};
};

// The words after the options, or the line of -c, as the plan's command. Throws failure (64) that
// names the verb.
void read_command(run_plan&, const std::string& shell_line, std::vector<std::string> words,
                  const std::string& verb);

// Runs the plan and returns the exit code; see front.hpp for the processes that do it.
int run(const run_plan&);

}  // namespace afar::cli
