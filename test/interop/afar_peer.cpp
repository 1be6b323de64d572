// afar as a peer of the tests, see peer.hpp: a process that can be killed. afar_peer <url>
#include <afar/afar.hpp>

#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

namespace {

afar::hold acquire(const afar::client& c, const std::string& kind, const std::string& name) {
  if (kind == "fair") return afar::fair_mutex{c, name}.acquire();
  if (kind == "read") return afar::shared_mutex{c, name}.acquire_shared();
  if (kind == "write") return afar::shared_mutex{c, name}.acquire();
  if (kind == "leader") return afar::election{c, name}.campaign();
  if (kind == "permits") return afar::leased_semaphore{c, name, 1}.acquire();
  return afar::mutex{c, name}.acquire();
}

}  // namespace

int main(int, char** argv) {
  const afar::client locks{argv[1]};
  std::mutex m;
  std::map<std::string, afar::hold> holds;
  const auto say = [&](const std::string& who, const std::string& text) {
    const std::lock_guard lock{m};
    std::cout << who << ' ' << text << std::endl;
  };
  say("ready", "here");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in{line};
    std::string who;
    std::string verb;
    std::string kind;
    std::string name;
    in >> who >> verb >> kind >> name;
    if (verb != "lock") {
      holds[who] = afar::hold{};
      say(who, "ok");
      continue;
    }
    std::thread{[&, who, kind, name] {
      auto got = acquire(locks, kind, name);
      const auto token = got.token();
      {
        const std::lock_guard lock{m};
        holds[who] = std::move(got);
      }
      say(who, std::to_string(token));
    }}.detach();
  }
  std::_Exit(0);
}
