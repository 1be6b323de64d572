#include "failure.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace afar::cli {
namespace {

bool write_all(int fd, const std::string& text) noexcept {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

exit_code code_of(const std::error_code& code) noexcept {
  if (code.category() != category()) return exit_code::unavailable;
  switch (static_cast<errc>(code.value())) {
    case errc::timed_out:
    case errc::cancelled:
      return exit_code::not_acquired;
    case errc::lost:
    case errc::not_owner:
    case errc::broken:
      return exit_code::lost;
    case errc::wrong_use:
    case errc::bad_argument:
    case errc::overflow:
    case errc::deadlock:
      return exit_code::usage;
    case errc::unsupported:
    case errc::bad_url:
      return exit_code::configuration;
    case errc::unknown_outcome:
    case errc::unavailable:
    case errc::no_room:
    case errc::denied:
    case errc::damaged:
    case errc::closed:
    case errc::forked:
      return exit_code::unavailable;
  }
  return exit_code::unavailable;
}

std::string words_of(const lock_error& e) {
  const std::string_view text = e.what();
  constexpr std::string_view name = "afar: ";
  return std::string{text.starts_with(name) ? text.substr(name.size()) : text};
}

void message(const std::string& text) noexcept {
  write_all(STDERR_FILENO, "afar: " + text + "\n");  // nobody to tell if it fails
}

int tell_failure() noexcept {
  try {
    throw;
  } catch (const failure& e) {
    message(e.what());
    return number(e.code());
  } catch (const lock_error& e) {
    message(words_of(e));
    return number(code_of(e.code()));
  } catch (const std::exception& e) {
    message(e.what());
    return number(exit_code::unavailable);
  }
}

void print(const std::string& text) {
  if (!write_all(STDOUT_FILENO, text + "\n"))
    throw failure{exit_code::negative, std::string{"cannot write: "} + std::strerror(errno)};
}

}  // namespace afar::cli
