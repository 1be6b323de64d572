#include "torture/process.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

extern char** environ;

namespace afar::torture {
namespace {

// As the system wants argument and environment lists.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

std::string ending_of(pid_t pid) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return (info.si_code == CLD_EXITED ? "exit code " : "signal ") + std::to_string(info.si_status);
}

bool has_stopped(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG) == 0 &&
         info.si_pid == pid;
}

pid_t start_process(const std::string& program, std::vector<std::string> words,
                    const std::string& url) {
  std::vector<std::string> settings{"AFAR_URL=" + url};
  for (char** one = environ; *one; ++one)
    if (!std::string_view{*one}.starts_with("AFAR_URL=")) settings.emplace_back(*one);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, program.c_str(), nullptr, nullptr,
                                   pointers_to(words).data(), pointers_to(settings).data());
  if (error != 0) throw std::system_error(error, std::generic_category(), program);
  return pid;
}

temporary_folder::temporary_folder(const std::string& what)
    : path_(std::filesystem::is_directory("/dev/shm") ? "/dev/shm/" : "/tmp/") {
  path_ += what + "-XXXXXX";
  if (!::mkdtemp(path_.data())) throw std::system_error(errno, std::generic_category(), path_);
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace afar::torture
