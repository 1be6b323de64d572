#include "support/cut_network.hpp"

#include "support/server_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <system_error>

namespace afar::test {
namespace {

constexpr const char* servers_at = "10.77.0.1";
constexpr const char* clients_at = "10.77.0.2";
constexpr const char* servers_end = "afar0";
constexpr const char* clients_end = "afar1";

void leave_network(const char* whose) {
  if (::unshare(CLONE_NEWNET) != 0) throw std::system_error(errno, std::generic_category(), whose);
}

// A child that has a network namespace of its own and sleeps.
pid_t namespace_keeper() {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char yes = ::unshare(CLONE_NEWNET) == 0 ? 1 : 0;
    (void)!::write(ready[1], &yes, 1);
    for (;;) ::pause();
  }
  char made = 0;
  const bool answered = pid > 0 && ::read(ready[0], &made, 1) == 1;
  ::close(ready[0]);
  ::close(ready[1]);
  if (answered && made == 1) return pid;
  if (pid > 0) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  throw std::runtime_error{"no network namespace for clients"};
}

}  // namespace

std::unique_ptr<cut_network> cut_network::make(std::string& why) {
  try {
    return std::unique_ptr<cut_network>{new cut_network};
  } catch (const std::exception& e) {
    why = e.what();
    return nullptr;
  }
}

cut_network::cut_network()
    : log_(std::filesystem::temp_directory_path().string() + "/afar-network-" +
           std::to_string(::getpid())) {
  leave_network("a network namespace");
  shell({"ip", "link", "set", "lo", "up"});
  clients_ = namespace_keeper();
  const std::string keeper = std::to_string(clients_);
  shell({"ip", "link", "add", servers_end, "type", "veth", "peer", "name", clients_end, "netns",
         keeper});
  shell({"ip", "addr", "add", std::string{servers_at} + "/24", "dev", servers_end});
  shell({"ip", "link", "set", servers_end, "up"});
  auto there = [&](std::vector<std::string> words) {
    auto all = launcher();
    all.insert(all.end(), words.begin(), words.end());
    shell(std::move(all));
  };
  there({"ip", "addr", "add", std::string{clients_at} + "/24", "dev", clients_end});
  there({"ip", "link", "set", clients_end, "up"});
  // Servers are at 127.0.0.1, and believe that their clients are there too.
  std::ofstream{std::string{"/proc/sys/net/ipv4/conf/"} + servers_end + "/route_localnet"} << 1;
  filter("add table ip afar");
  filter("add chain ip afar arriving { type nat hook prerouting priority -100; }");
  filter(std::string{"add rule ip afar arriving ip daddr "} + servers_at + " dnat to 127.0.0.1");
  filter("add chain ip afar arrived { type nat hook input priority 100; }");
  filter(std::string{"add rule ip afar arrived iifname "} + servers_end + " snat to 127.0.0.1");
  filter("add chain ip afar cut_in { type filter hook input priority 0; }");
  // Behind the translation of addresses: before, answers seem to go to 127.0.0.1.
  filter("add chain ip afar cut_out { type filter hook postrouting priority 0; }");
}

cut_network::~cut_network() {
  if (clients_ > 0) {
    ::kill(clients_, SIGKILL);
    ::waitpid(clients_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove(log_, ignored);
}

std::vector<std::string> cut_network::launcher() const {
  return {"nsenter", "-t", std::to_string(clients_), "-n", "--"};
}

std::string cut_network::from_there(std::string url) {
  const std::string here = "127.0.0.1";
  for (auto at = url.find(here); at != std::string::npos; at = url.find(here, at))
    url.replace(at, here.size(), servers_at);
  return url;
}

void cut_network::cut_off(cut which) {
  if (which != cut::to_client)
    filter(std::string{"add rule ip afar cut_in iifname "} + servers_end + " counter drop");
  if (which != cut::to_server)
    filter(std::string{"add rule ip afar cut_out oifname "} + servers_end + " counter drop");
}

void cut_network::heal() {
  filter("flush chain ip afar cut_in");
  filter("flush chain ip afar cut_out");
}

std::uint64_t cut_network::packets_lost() const {
  std::uint64_t sum = 0;
  FILE* const list = ::popen("nft list table ip afar", "r");
  if (!list) return 0;
  std::string text;
  char part[512];
  while (std::fgets(part, sizeof part, list)) text += part;
  ::pclose(list);
  const std::regex count{"packets ([0-9]+)"};
  for (std::sregex_iterator at{text.begin(), text.end(), count}, end; at != end; ++at)
    sum += std::stoull((*at)[1]);
  return sum;
}

void cut_network::filter(const std::string& rule) const { shell({"nft", rule}); }

void cut_network::shell(std::vector<std::string> words) const {
  run(std::move(words), {::geteuid(), ::getegid()}, log_);
}

}  // namespace afar::test
