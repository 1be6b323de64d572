// CLI11 and the forms in which options are given here.
#pragma once

#include "duration.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <charconv>
#include <limits>
#include <optional>
#include <string>

namespace afar::cli {

template <class T>
struct number_in {
  using type = T;
};
template <class T>
struct number_in<std::optional<T>> {
  using type = T;
};

// An option whose value is a duration.
CLI::Option* add_duration(CLI::App&, const std::string& names, std::optional<milliseconds>& to,
                          const std::string& help);

// An option whose value is a whole number, all of it within the range of its type: CLI11 takes what is
// too large for the largest number.
template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& names, Number& to,
                        const std::string& help) {
  using value = typename number_in<Number>::type;
  return app
      .add_option_function<std::string>(
          names,
          [&to, names](const std::string& text) {
            value read{};
            const char* end = text.data() + text.size();
            const auto result = std::from_chars(text.data(), end, read);
            if (result.ec != std::errc{} || result.ptr != end)
              throw CLI::ValidationError(
                  names, "'" + text + "' is no number from " +
                             std::to_string(std::numeric_limits<value>::min()) + " to " +
                             std::to_string(std::numeric_limits<value>::max()));
            to = read;
          },
          help)
      ->type_name("N");
}

}  // namespace afar::cli
