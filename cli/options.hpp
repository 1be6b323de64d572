// The options of a verb, as CLI11 reads them. Only options.cpp includes CLI11: it costs every file that
// does so seconds of compile time.
#pragma once

#include "duration.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace afar::cli {

// An option or a positional word of a command line, and valid as long as that. Its calls return it, to
// be called one after the other.
class option {
 public:
  option required() const;
  option one_of(const std::vector<std::string>& allowed) const;
  option within(int least, int most) const;
  option within(std::uint32_t least, std::uint32_t most) const;
  option separated_by(char) const;  // several values in one word
  option needs(const option&) const;
  option excludes(const option&) const;

  // In the help.
  option type_name(const std::string&) const;
  option group(const std::string& title) const;
  option showing_default() const;

 private:
  friend class command_line;
  explicit option(CLI::Option* read) noexcept : read_(read) {}

  CLI::Option* read_;
};

// What may stand on the command line of one verb, and how it is read. What the options are read into
// must outlive the reading. Names are "-w,--wait"; without hyphens it is a positional word.
class command_line {
 public:
  command_line(const std::string& verb, const std::string& summary);
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;
  ~command_line();

  // For the types that options.cpp names.
  template <class T>
  option add_option(const std::string& names, T& to, const std::string& help = {});

  // A whole number, all of it within the range of its type: CLI11 takes what is too large for the
  // largest number. For the types that options.cpp names.
  template <class Number>
  option add_number(const std::string& names, Number& to, const std::string& help);

  option add_duration(const std::string& names, std::optional<milliseconds>& to,
                      const std::string& help);
  option add_flag(const std::string& names, bool& to, const std::string& help);
  void footer(const std::string& help);

  // What follows the first word that is nobody's is a command with options of its own: see rest().
  void ends_with_command();

  // The page to show if the words ask for help. Throws failure (64).
  std::optional<std::string> read(const std::vector<std::string>& words);
  std::vector<std::string> rest() const;

 private:
  const std::string verb_;
  const std::unique_ptr<CLI::App> app_;
};

}  // namespace afar::cli
