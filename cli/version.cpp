#include "failure.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace afar::cli {

work add_version(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "As JSON");
  return [json] {
    if (*json)
      print(nlohmann::ordered_json{{"version", AFAR_VERSION}}.dump());
    else
      print("afar " AFAR_VERSION);
    return number(exit_code::ok);
  };
}

}  // namespace afar::cli
