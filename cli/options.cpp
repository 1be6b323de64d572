#include "options.hpp"

namespace afar::cli {

CLI::Option* add_duration(CLI::App& app, const std::string& names, std::optional<milliseconds>& to,
                          const std::string& help) {
  return app
      .add_option_function<std::string>(
          names,
          [&to, names](const std::string& text) {
            to = parse_duration(text);
            if (!to)
              throw CLI::ValidationError(names, "'" + text + "' is no duration (30s, 1h30m)");
          },
          help)
      ->type_name("DUR");
}

}  // namespace afar::cli
