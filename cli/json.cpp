#include "json.hpp"

#include "failure.hpp"

#include <nlohmann/json.hpp>

namespace afar::cli {
namespace {

std::string written(const nlohmann::json& simple) {
  return simple.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

json::json(bool yes) : text_(yes ? "true" : "false") {}

json::json(double number) : text_(written(number)) {}

json::json(std::string_view text) : text_(written(text)) {}

json::json(const std::vector<field>& object) : text_("{") {
  for (const field& f : object) {
    if (text_.size() > 1) text_ += ',';
    text_ += written(f.name) + ':' + f.value.text_;
  }
  text_ += '}';
}

json::json(std::initializer_list<field> object) : json(std::vector<field>{object}) {}

json::json(const std::vector<json>& array) : text_("[") {
  for (const json& value : array) {
    if (text_.size() > 1) text_ += ',';
    text_ += value.text_;
  }
  text_ += ']';
}

void print_json(const json& value) { print(value.text()); }

}  // namespace afar::cli
