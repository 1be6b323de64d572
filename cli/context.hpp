// Which engine a verb talks to. In this order: --url, --url-file, --context, AFAR_URL, the default
// context of the configuration file, else the embedded engine of this machine.
//
//   $XDG_CONFIG_HOME/afar/config.toml (else ~/.config/afar/config.toml):
//     default = "prod"
//     [contexts.prod]
//     url = "redis://cache.example"
//     [contexts.test]
//     url_file = "/run/secrets/afar"
#pragma once

#include <afar/client.hpp>

#include <string>

namespace afar::cli {

class command_line;

class context {
 public:
  // Adds --url, --url-file and --context. This object must outlive the parsing.
  void add_to(command_line&);

  // Whether anybody named an engine: without that it is the embedded one of this machine.
  bool named() const;

  // May hold a password: never print it. Throws failure (64, 78).
  std::string url() const;

  // Throws lock_error; see code_of.
  client open(client_options = {}) const;

 private:
  std::string url_;
  std::string url_file_;
  std::string name_;
};

}  // namespace afar::cli
