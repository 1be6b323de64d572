// Two network namespaces of this test, joined by a wire that can be cut by a packet filter: packets are
// lost, nobody is told. Servers that are started after it was made, and the thread that made it, are on
// one side; programs that are started by launcher() on the other. Nothing of it outlives the test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {

enum class cut : std::uint8_t { to_server, to_client, both_ways };

class cut_network {
 public:
  // Null where that is not permitted; `why` says what was refused.
  static std::unique_ptr<cut_network> make(std::string& why);
  cut_network(const cut_network&) = delete;
  cut_network& operator=(const cut_network&) = delete;
  ~cut_network();

  // The words that start a program on the clients' side.
  std::vector<std::string> launcher() const;
  // What is at 127.0.0.1 on the servers' side, as clients see it.
  static std::string from_there(std::string url);

  void cut_off(cut);
  void heal();
  std::uint64_t packets_lost() const;  // since the last cut

 private:
  cut_network();
  void filter(const std::string& rule) const;
  void shell(std::vector<std::string> words) const;

  pid_t clients_ = -1;  // a process that does nothing but keep their namespace
  std::string log_;
};

}  // namespace afar::test
