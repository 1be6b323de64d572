// How a verb ends early: main() prints the message on stderr and leaves with the code.
#pragma once

#include "exit_code.hpp"

#include <afar/error.hpp>

#include <stdexcept>
#include <string>

namespace afar::cli {

class failure : public std::runtime_error {
 public:
  failure(exit_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  exit_code code() const noexcept { return code_; }

 private:
  exit_code code_;
};

// Which exit code an error of the library is.
exit_code code_of(const std::error_code&) noexcept;

// What it says, without the library's own "afar: ".
std::string words_of(const lock_error&);

// "afar: <text>\n" on stderr, in one write, so that lines of several processes do not mix.
void message(const std::string& text) noexcept;

// In a catch block: says what the exception says; the exit code that it leads to.
int tell_failure() noexcept;

// "…\n" on stdout; throws failure when it cannot be written.
void print(const std::string& text);

}  // namespace afar::cli
