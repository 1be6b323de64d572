#include "audit_log.hpp"

#include "core/note.hpp"
#include "failure.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace afar::cli {
namespace {

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::string file_path() {
  if (const auto named = setting("AFAR_AUDIT"); !named.empty()) return named;
  if (const auto state = setting("XDG_STATE_HOME"); !state.empty())
    return state + "/afar/audit.jsonl";
  if (const auto home = setting("HOME"); !home.empty())
    return home + "/.local/state/afar/audit.jsonl";
  throw failure{exit_code::configuration,
                "no place for the audit record: set AFAR_AUDIT to a file"};
}

std::string now() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%S}Z",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace

audit_log::audit_log() : path_(file_path()) {
  std::error_code ignored;  // open() says what is wrong
  std::filesystem::create_directories(std::filesystem::path{path_}.parent_path(), ignored);
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0)
    throw failure{exit_code::configuration, "cannot write the audit record " + path_ + ": " +
                                                std::strerror(errno) +
                                                "; set AFAR_AUDIT to a file that can be written"};
}

audit_log::~audit_log() { ::close(file_); }

void audit_log::add(const std::vector<json::field>& what) const {
  const auto me = detail::note::of_this_process({});
  std::vector<json::field> line{
      {"at", now()}, {"user", me.user}, {"host", me.host}, {"pid", me.pid}};
  line.insert(line.end(), what.begin(), what.end());
  const std::string text = json{line}.text();
  ::syslog(LOG_AUTH | LOG_NOTICE, "afar: %s", text.c_str());
  const std::string written = text + "\n";
  if (::write(file_, written.data(), written.size()) != static_cast<ssize_t>(written.size()))
    throw failure{exit_code::unavailable,
                  "cannot write the audit record " + path_ + ": " + std::strerror(errno)};
}

}  // namespace afar::cli
