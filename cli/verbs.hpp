// The verbs. Each has a file of its own with one function that adds its options to its command and
// returns what to do once they have been read; the options live as long as that function object.
#pragma once

#include <CLI/App.hpp>

#include <functional>
#include <span>
#include <string_view>

namespace afar::cli {

using work = std::function<int()>;  // returns the exit code; throws failure or afar::lock_error

struct verb {
  std::string_view name;
  const char* summary;  // null: not for people, and not in `afar help`
  work (*add)(CLI::App&);
};

std::span<const verb> verbs() noexcept;  // in the order of `afar help`

work add_bench(CLI::App&);
work add_check_token(CLI::App&);
work add_count(CLI::App&);
work add_demo(CLI::App&);
work add_demo_worker(CLI::App&);
work add_doctor(CLI::App&);
work add_elect(CLI::App&);
work add_gc(CLI::App&);
work add_help(CLI::App&);
work add_hold(CLI::App&);
work add_inspect(CLI::App&);
work add_latch(CLI::App&);
work add_ls(CLI::App&);
work add_release(CLI::App&);
work add_run(CLI::App&);
work add_stock(CLI::App&);
work add_torture(CLI::App&);
work add_torture_worker(CLI::App&);
work add_version(CLI::App&);

}  // namespace afar::cli
