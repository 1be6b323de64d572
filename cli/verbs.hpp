// The verbs. Each has a file of its own with one function that adds its options to its command and
// returns what to do once they have been read; the options live as long as that function object.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace afar::cli {

class command_line;

using work = std::function<int()>;  // returns the exit code; throws failure or afar::lock_error

struct verb {
  std::string_view name;
  const char* summary;  // null: not for people, and not in `afar help`
  work (*add)(command_line&);
};

std::span<const verb> verbs() noexcept;  // in the order of `afar help`

work add_bench(command_line&);
work add_check_token(command_line&);
work add_count(command_line&);
work add_demo(command_line&);
work add_demo_worker(command_line&);
work add_doctor(command_line&);
work add_elect(command_line&);
work add_gc(command_line&);
work add_help(command_line&);
work add_hold(command_line&);
work add_inspect(command_line&);
work add_latch(command_line&);
work add_ls(command_line&);
work add_release(command_line&);
work add_run(command_line&);
work add_stock(command_line&);
work add_torture(command_line&);
work add_torture_worker(command_line&);
work add_version(command_line&);

}  // namespace afar::cli
