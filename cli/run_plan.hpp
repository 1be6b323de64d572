// What `afar run` was asked to do.
#pragma once

#include "context.hpp"
#include "duration.hpp"
#include "exit_code.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace afar::cli {

// Which primitive the name stands for. -s and -x meet on a shared_mutex; without either it is the
// mutex of C++ programs.
enum class lock_kind : std::uint8_t { mutex, fair, exclusive, shared, permits };

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
  int not_acquired = number(exit_code::not_acquired);
  std::optional<std::string> label = {};
};

// Runs the plan and returns the exit code; see front.hpp for the processes that do it.
int run(const run_plan&);

}  // namespace afar::cli
