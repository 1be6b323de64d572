// What verbs print as JSON. Only json.cpp includes the library that knows its rules: it costs every
// file that does so seconds of compile time.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace afar::cli {

// A value, written already: an object or an array is gathered in a vector first.
class json {
 public:
  struct field;

  json() = default;  // null
  json(bool);
  json(std::integral auto number) : text_(std::to_string(number)) {}
  json(double);
  // Bytes that are no UTF-8 are replaced: JSON has no form for them.
  json(std::string_view);
  json(const std::string& text) : json(std::string_view{text}) {}
  json(const char* text) : json(std::string_view{text}) {}
  json(const std::vector<field>& object);  // in this order
  json(std::initializer_list<field> object);
  json(const std::vector<json>& array);

  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_ = "null";
};

struct json::field {
  std::string_view name;
  json value;
};

void print_json(const json&);

}  // namespace afar::cli
