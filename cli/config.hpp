// The configuration file: a small part of TOML, namely comments, [tables] and key = "string".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace afar::cli {

struct config {
  struct place {
    std::string url = {};
    std::string url_file = {};
  };
  std::string default_context = {};
  std::map<std::string, place, std::less<>> contexts = {};
};

// Throws failure (78) that names the line and quotes none of its values: they may be passwords.
config parse_config(std::string_view text, const std::string& file);

// The user's; an empty one if there is no such file.
config read_config();
std::string config_path();  // empty: neither XDG_CONFIG_HOME nor HOME is set

// The first line of a file, without blanks around it. Throws failure (78).
std::string read_url_file(const std::string& path);

}  // namespace afar::cli
