#include "support/zookeeper_server.hpp"

#include "support/loopback.hpp"
#include "support/patience.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace afar::test {
namespace {

// Debian's; the jar's manifest names the others.
constexpr const char* class_path = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar";

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "afar-zookeeper-XXXXXX").string();
  if (!::mkdtemp(path.data())) throw std::runtime_error{"cannot make a folder for ZooKeeper"};
  return path;
}

}  // namespace

zookeeper_server::zookeeper_server(std::size_t servers, std::vector<std::string> options)
    : options_(std::move(options)), folder_(make_folder()), all_(servers) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (member& m : all_) m = {free_port(), free_port(), free_port(), -1};
    try {
      start_all();
      return;
    } catch (const std::runtime_error&) {
      for (std::size_t i = 0; i < all_.size(); ++i) stop(i);
      if (attempt == 2) throw;
    }
  }
}

zookeeper_server::~zookeeper_server() {
  for (std::size_t i = 0; i < all_.size(); ++i) stop(i);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string zookeeper_server::address(std::size_t i) const {
  return "127.0.0.1:" + std::to_string(all_[i].client);
}

std::string zookeeper_server::address() const {
  std::string all;
  for (std::size_t i = 0; i < all_.size(); ++i) (all += i == 0 ? "" : ",") += address(i);
  return all;
}

std::string zookeeper_server::complaints() const {
  constexpr std::size_t most = 60;
  std::string all;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    std::deque<std::string> last;
    std::ifstream in{folder(i) + "/log"};
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("\tat ")) continue;  // where in Java
      last.push_back(line);
      if (last.size() > most) last.pop_front();
    }
    all += "ZooKeeper " + address(i) + ":\n";
    for (const std::string& line : last) all += "  " + line + "\n";
  }
  return all;
}

std::string zookeeper_server::folder(std::size_t i) const {
  return folder_ + "/" + std::to_string(i + 1);
}

void zookeeper_server::write_configuration(std::size_t i) const {
  std::filesystem::create_directories(folder(i) + "/data");
  std::ofstream{folder(i) + "/data/myid"} << i + 1 << "\n";
  std::ofstream out{folder(i) + "/zoo.cfg"};
  out << "tickTime=500\ninitLimit=25\nsyncLimit=10\ndataDir=" << folder(i)
      << "/data\nclientPort=" << all_[i].client
      << "\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\nadmin.enableServer=false\n"
         "4lw.commands.whitelist=*\npreAllocSize=4096\nmaxSessionTimeout=60000\n";
  for (const std::string& line : options_)
    if (!line.starts_with("-D")) out << line << "\n";
  if (all_.size() == 1) return;
  for (std::size_t n = 0; n < all_.size(); ++n)
    out << "server." << n + 1 << "=127.0.0.1:" << all_[n].peer << ":" << all_[n].election << "\n";
}

void zookeeper_server::launch(std::size_t i) {
  write_configuration(i);
  std::vector<std::string> words{"java",
                                 "-Xms32m",
                                 "-Xmx256m",
                                 "-Xshare:auto",
                                 "-XX:+UseSerialGC",
                                 "-XX:TieredStopAtLevel=1",
                                 "-Dzookeeper.forceSync=no",
                                 "-Dzookeeper.extendedTypesEnabled=true",
                                 "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                 "-Dorg.slf4j.simpleLogger.showDateTime=true",
                                 "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
                                 "-cp",
                                 class_path,
                                 "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                                 folder(i) + "/zoo.cfg"};
  for (const std::string& o : options_)
    if (o.starts_with("-D")) words.insert(words.begin() + 1, o);
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  const std::string log = folder(i) + "/log";
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error{"cannot fork"};
  if (pid == 0) {  // only what may be called after a fork of many threads
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, 0);
    for (const int fd : {1, 2}) ::dup2(out, fd);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  all_[i].pid = pid;
}

// "ruok" is answered before sessions are served; "srvr" says how it serves.
bool zookeeper_server::serves(std::size_t i) const {
  return ask("srvr", i).find("Mode:") != std::string::npos;
}

void zookeeper_server::await() {
  bool ended = false;
  const bool up = eventually(
      [&] {
        bool all = true;
        for (std::size_t i = 0; i < all_.size(); ++i) {
          if (all_[i].pid < 0) continue;  // stopped by the test
          ended = ended || ::waitpid(all_[i].pid, nullptr, WNOHANG) == all_[i].pid;
          all = all && serves(i);
        }
        return ended || all;
      },
      60s);
  if (!up || ended)
    throw std::runtime_error{"ZooKeeper does not start (are zookeeper and java installed?)"};
}

void zookeeper_server::start_all() {
  for (std::size_t i = 0; i < all_.size(); ++i) launch(i);
  await();
}

void zookeeper_server::start(std::size_t i) {
  launch(i);
  await();
}

void zookeeper_server::stop(std::size_t i) noexcept {
  if (all_[i].pid < 0) return;
  ::kill(all_[i].pid, SIGKILL);
  ::waitpid(all_[i].pid, nullptr, 0);
  all_[i].pid = -1;
}

void zookeeper_server::suspend(std::size_t i) noexcept { ::kill(all_[i].pid, SIGSTOP); }
void zookeeper_server::resume(std::size_t i) noexcept { ::kill(all_[i].pid, SIGCONT); }

std::string zookeeper_server::ask(const std::string& word, std::size_t i) const {
  return ask_port(all_[i].client, word, 1s);  // it closes the connection when it has said all
}

std::size_t zookeeper_server::leader() const {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i].pid >= 0 && ask("srvr", i).find("Mode: leader") != std::string::npos) return i;
  throw std::runtime_error{"no leader"};
}

}  // namespace afar::test
