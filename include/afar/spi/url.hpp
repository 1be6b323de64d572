// An engine's URL, taken apart. The password is a type that cannot be printed by accident.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace afar::spi {

// Holds a password. Has no operator<< and no conversion to a string: reveal() is easy to search for.
class secret {
 public:
  secret() = default;
  explicit secret(std::string text) : text_(std::move(text)) {}
  bool empty() const noexcept { return text_.empty(); }
  const std::string& reveal() const noexcept { return text_; }

 private:
  std::string text_;
};

struct url {
  struct host {
    std::string name;
    std::uint16_t port = 0;  // 0: the engine's default
  };

  std::string scheme;  // lower case, wrappers included: "faulty+memory"
  std::string user;
  secret password;
  std::vector<host> hosts;
  std::string path;  // percent-decoded; "/x" for file:///x, "x" for memory:x
  std::map<std::string, std::string>
      options;                              // percent-decoded query; client options already removed
  std::vector<std::string> client_options;  // their names, for messages

  std::string printable;  // the whole URL with the password as ***
};

}  // namespace afar::spi
