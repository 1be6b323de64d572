#include "command.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace afar::cli {
namespace {

std::string overview() {
  std::string out =
      "afar: locks across machines, and across processes of this one\n\n"
      "Usage: afar VERB [options] …\n\n";
  for (const auto& v : verbs())
    if (v.summary != nullptr) out += fmt::format("  {:<12} {}\n", v.name, v.summary);
  out +=
      "\nExamples:\n"
      "  afar run nightly -- ./backup.sh            this machine, no server\n"
      "  AFAR_URL=… afar run -w 10m nightly -- ./backup.sh\n"
      "  afar help run\n";
  return out;
}

}  // namespace

work add_help(command_line& line) {
  const auto about = std::make_shared<std::string>();
  line.add_option("VERB", *about, "What to explain");
  return [about] {
    if (about->empty()) {
      print(overview());
      return number(exit_code::ok);
    }
    return run_verb({*about, "--help"});
  };
}

}  // namespace afar::cli
