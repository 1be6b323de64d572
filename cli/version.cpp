#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <memory>

namespace afar::cli {

work add_version(command_line& line) {
  const auto json = std::make_shared<bool>(false);
  line.add_flag("--json", *json, "As JSON");
  return [json] {
    if (*json)
      print_json({{"version", AFAR_VERSION}});
    else
      print("afar " AFAR_VERSION);
    return number(exit_code::ok);
  };
}

}  // namespace afar::cli
