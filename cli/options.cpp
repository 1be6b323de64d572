#include "options.hpp"

#include "failure.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <charconv>
#include <limits>

namespace afar::cli {
namespace {

template <class T>
struct number_in {
  using type = T;
};
template <class T>
struct number_in<std::optional<T>> {
  using type = T;
};

}  // namespace

option option::required() const { return option{read_->required()}; }

option option::one_of(const std::vector<std::string>& allowed) const {
  return option{read_->check(CLI::IsMember(allowed))};
}

option option::within(int least, int most) const {
  return option{read_->check(CLI::Range(least, most))};
}

option option::within(std::uint32_t least, std::uint32_t most) const {
  return option{read_->check(CLI::Range(least, most))};
}

option option::separated_by(char between) const { return option{read_->delimiter(between)}; }

option option::needs(const option& other) const { return option{read_->needs(other.read_)}; }

option option::excludes(const option& other) const { return option{read_->excludes(other.read_)}; }

option option::type_name(const std::string& name) const { return option{read_->type_name(name)}; }

option option::group(const std::string& title) const { return option{read_->group(title)}; }

option option::showing_default() const { return option{read_->capture_default_str()}; }

command_line::command_line(const std::string& verb, const std::string& summary)
    : verb_(verb), app_(std::make_unique<CLI::App>(summary, "afar " + verb)) {
  app_->get_formatter()->column_width(28);
}

command_line::~command_line() = default;

template <class T>
option command_line::add_option(const std::string& names, T& to, const std::string& help) {
  return option{app_->add_option(names, to, help)};
}
template option command_line::add_option(const std::string&, double&, const std::string&);
template option command_line::add_option(const std::string&, int&, const std::string&);
template option command_line::add_option(const std::string&, std::int64_t&, const std::string&);
template option command_line::add_option(const std::string&, std::uint32_t&, const std::string&);
template option command_line::add_option(const std::string&, std::string&, const std::string&);
template option command_line::add_option(const std::string&, std::optional<std::string>&,
                                         const std::string&);
template option command_line::add_option(const std::string&, std::vector<std::string>&,
                                         const std::string&);
template option command_line::add_option(const std::string&, std::vector<std::uint32_t>&,
                                         const std::string&);

template <class Number>
option command_line::add_number(const std::string& names, Number& to, const std::string& help) {
  using value = typename number_in<Number>::type;
  const auto convert = [&to, names](const std::string& text) {
    value read{};
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, read);
    if (result.ec != std::errc{} || result.ptr != end)
      throw CLI::ValidationError(names, "'" + text + "' is no number from " +
                                            std::to_string(std::numeric_limits<value>::min()) +
                                            " to " +
                                            std::to_string(std::numeric_limits<value>::max()));
    to = read;
  };
  return option{app_->add_option_function<std::string>(names, convert, help)}.type_name("N");
}
template option command_line::add_number(const std::string&, std::int64_t&, const std::string&);
template option command_line::add_number(const std::string&, std::uint32_t&, const std::string&);
template option command_line::add_number(const std::string&, std::uint64_t&, const std::string&);
template option command_line::add_number(const std::string&, std::optional<std::int64_t>&,
                                         const std::string&);
template option command_line::add_number(const std::string&, std::optional<std::uint64_t>&,
                                         const std::string&);

option command_line::add_duration(const std::string& names, std::optional<milliseconds>& to,
                                  const std::string& help) {
  const auto convert = [&to, names](const std::string& text) {
    to = parse_duration(text);
    if (!to) throw CLI::ValidationError(names, "'" + text + "' is no duration (30s, 1h30m)");
  };
  return option{app_->add_option_function<std::string>(names, convert, help)}.type_name("DUR");
}

option command_line::add_flag(const std::string& names, bool& to, const std::string& help) {
  return option{app_->add_flag(names, to, help)};
}

void command_line::footer(const std::string& help) { app_->footer(help); }

void command_line::ends_with_command() { app_->prefix_command(); }

std::optional<std::string> command_line::read(const std::vector<std::string>& words) try {
  app_->parse(std::vector<std::string>{words.rbegin(), words.rend()});  // CLI11: last one first
  return std::nullopt;
} catch (const CLI::CallForHelp&) {
  return app_->help();
} catch (const CLI::ParseError& e) {
  throw failure{exit_code::usage, std::string{e.what()} + " (afar help " + verb_ + ")"};
}

std::vector<std::string> command_line::rest() const { return app_->remaining(); }

}  // namespace afar::cli
