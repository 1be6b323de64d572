#include "run_plan.hpp"

#include "failure.hpp"

namespace afar::cli {

void read_command(run_plan& p, const std::string& shell_line, std::vector<std::string> words,
                  const std::string& verb) {
  const auto refuse = [&verb](const std::string& why) {
    throw failure{exit_code::usage, why + " (afar help " + verb + ")"};
  };
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (!shell_line.empty()) {
    if (!words.empty()) refuse("either -c or a command, not both");
    p.command = {"/bin/sh", "-c", shell_line};
    p.shown_command = "sh -c";
    return;
  }
  if (words.empty()) refuse("a command is missing");
  if (words.front().starts_with('-'))
    refuse("the command '" + words.front() + "' begins with '-': is it an option?");
  if (words.front().empty()) refuse("the command is empty");
  p.shown_command = words.front();
  p.command = std::move(words);
}

}  // namespace afar::cli
