#include "support/server_process.hpp"

#include "support/patience.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace afar::test {
namespace {

// "<state> <parent> …" of a process; empty: it has gone.
std::string stat_of(const std::string& pid) {
  std::ifstream file{"/proc/" + pid + "/stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto end = text.rfind(") ");  // behind the name, which may contain anything
  return end == std::string::npos ? std::string{} : text.substr(end + 2);
}

// Nobody need have waited for it.
bool has_ended(pid_t pid) {
  const std::string stat = stat_of(std::to_string(pid));
  return stat.empty() || stat[0] == 'Z' || stat[0] == 'X';
}

// All threads of it. One of them takes the signal and stops the others: on a busy machine that takes a while.
bool has_stopped(pid_t pid) {
  const std::string process = std::to_string(pid);
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/" + process + "/task"}) {
    const std::string stat = stat_of(process + "/task/" + thread.path().filename().string());
    if (!stat.empty() && stat[0] != 'T' && stat[0] != 'Z' && stat[0] != 'X') return false;
  }
  return true;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> all;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = stat_of(number);
    if (!stat.empty() && std::atoi(stat.c_str() + 2) == parent)
      all.push_back(std::atoi(number.c_str()));
  }
  return all;
}

void give_to(const std::filesystem::path& path, user to) {
  if (::getuid() == 0 && ::lchown(path.c_str(), to.uid, to.gid) != 0)
    throw std::runtime_error{"cannot give " + path.string() + " to a server"};
}

}  // namespace

user server_user(const std::string& name) {
  if (::getuid() != 0) return {::getuid(), ::getgid()};
  for (const char* one : {name.c_str(), "nobody"})
    if (const passwd* p = ::getpwnam(one)) return {p->pw_uid, p->pw_gid};
  throw std::runtime_error{"there is no user to run a server as"};
}

std::string make_folder(user as, const std::string& within) {
  const std::filesystem::path in =
      within.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path{within};
  std::string path = (in / "afar-sql-XXXXXX").string();
  if (!::mkdtemp(path.data())) throw std::runtime_error{"cannot make a folder for a server"};
  give_to(path, as);
  return path;
}

void copy_folder(const std::string& from, const std::string& to, user as) {
  namespace fs = std::filesystem;
  fs::copy(from, to, fs::copy_options::recursive);
  fs::permissions(to, fs::perms::owner_all);
  give_to(to, as);
  for (const auto& one : fs::recursive_directory_iterator{to}) give_to(one.path(), as);
}

void signal_all(pid_t server, int signal) noexcept try {
  if (signal == SIGSTOP) ::kill(server, signal);  // first: it starts no more of them
  std::vector<pid_t> all = children_of(server);
  all.push_back(server);
  for (const pid_t each : all) ::kill(each, signal);
  if (signal != SIGSTOP) return;
  eventually([&] {
    std::erase_if(all, [](pid_t each) { return has_ended(each) || has_stopped(each); });
    return all.empty();
  });
} catch (...) {  // a process that went while we looked
}

void kill_all(pid_t server) noexcept try {
  signal_all(server, SIGSTOP);  // so that nobody is orphaned, and left out, in between
  std::vector<pid_t> children = children_of(server);
  signal_all(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  eventually([&] {
    std::erase_if(children, [](pid_t child) { return has_ended(child); });
    return children.empty();
  });
} catch (...) {
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
}

pid_t launch(std::vector<std::string> words, user as, const std::string& log,
             const std::vector<std::string>& environment) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  std::vector<char*> env;
  for (const std::string& e : environment) env.push_back(const_cast<char*>(e.c_str()));
  for (char** e = environ; *e; ++e) env.push_back(*e);
  env.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error{"cannot fork"};
  if (pid > 0) return pid;
  // Only what may be called after a fork of many threads.
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (::getuid() == 0 &&
      (::setgroups(0, nullptr) != 0 || ::setgid(as.gid) != 0 || ::setuid(as.uid) != 0))
    ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after setuid, which clears it
  if (::getppid() != parent) ::_exit(1);
  ::execvpe(argv[0], argv.data(), env.data());
  ::_exit(127);
}

void run(std::vector<std::string> words, user as, const std::string& log) {
  const std::string name = words[0];
  int status = 0;
  ::waitpid(launch(std::move(words), as, log), &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error{name + " fails (is the package installed?), see " + log};
}

}  // namespace afar::test
