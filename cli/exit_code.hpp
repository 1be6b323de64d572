// Exit codes of every verb; they are part of the contract (docs/cli.md). 64, 69, 75 and 78 are those
// of sysexits.h, 126 and 127 those of the shell.
#pragma once

namespace afar::cli {

enum class exit_code : int {
  ok = 0,
  negative = 1,          // the answer is no: a stale token, a problem found, an invariant broken
  usage = 64,            // options or arguments that make no sense
  unavailable = 69,      // the engine cannot be used; nothing was done
  not_acquired = 75,     // somebody else has it
  configuration = 78,    // a URL or a configuration file that makes no sense
  lost = 80,             // the lock was lost while the command ran
  proves_nothing = 81,   // a torture run in which too little happened to say yes or no
  cannot_execute = 126,  // the command
  not_found = 127,       // the command
  signalled = 128        // plus the number of the signal
};

constexpr int number(exit_code c) noexcept { return static_cast<int>(c); }

}  // namespace afar::cli
