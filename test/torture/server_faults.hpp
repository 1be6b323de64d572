// What is done to servers while clients are tortured; see torture::fault.
#pragma once

#include "support/redis_server.hpp"
#include "torture/nemesis.hpp"
#include "torture/process.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {

using torture::fault;
using dice = std::minstd_rand;

inline void pass_time(std::chrono::milliseconds time) {
  torture::eventually(time, [] { return false; });
}

// A Redis that keeps what it confirmed.
inline std::unique_ptr<redis_server> lasting_redis() {
  return std::make_unique<redis_server>(
      std::vector<std::string>{"--appendonly", "yes", "--appendfsync", "always"});
}

// Of a quorum. Others than lasting ones would have no vote for 30 s after their start.
struct three_servers {
  std::vector<std::unique_ptr<redis_server>> all;

  three_servers() {
    all.reserve(3);
    while (all.size() < 3) all.push_back(lasting_redis());
  }
  std::string url() const {
    return "redis+quorum://" + all[0]->address() + "," + all[1]->address() + "," +
           all[2]->address();
  }
};

// Stands still for a while, now and then longer than a lease.
template <class Server>
fault standstill(Server& s) {
  return {"stop the server", 1, false, [&s](dice& d) {
            s.suspend();
            pass_time(std::chrono::milliseconds{100 + d() % 700});
            s.resume();
            return true;
          }};
}

// Of a server that keeps what it confirmed.
template <class Server>
fault restart(Server& s) {
  return {"kill and restart the server", 1, false, [&s](dice& d) {
            s.stop();
            pass_time(std::chrono::milliseconds{d() % 300});
            s.start();
            return true;
          }};
}

inline fault flush_scripts(const redis_server& s) {
  return {"flush the scripts", 2, false,
          [&s](dice&) { return s.ask({"SCRIPT", "FLUSH"}).starts_with("+OK"); }};
}

inline fault cut_clients(const redis_server& s) {
  return {"cut all clients off", 1, false,
          [&s](dice&) { return s.ask({"CLIENT", "KILL", "TYPE", "normal"}).starts_with(":"); }};
}

// No byte more for half a second. Renewals and releases must go through.
inline fault squeeze_memory(const redis_server& s) {
  return {"squeeze the memory", 1, false, [&s](dice& d) {
            const bool full = s.ask({"CONFIG", "SET", "maxmemory", "1"}).starts_with("+OK");
            pass_time(std::chrono::milliseconds{100 + d() % 500});
            return s.ask({"CONFIG", "SET", "maxmemory", "0"}).starts_with("+OK") && full;
          }};
}

}  // namespace afar::test
