// What is done to servers while clients are tortured; see torture::fault.
#pragma once

#include "support/redis_server.hpp"
#include "torture/nemesis.hpp"
#include "torture/process.hpp"

#include <chrono>

namespace afar::test {

using torture::fault;
using dice = std::minstd_rand;

inline void pass_time(std::chrono::milliseconds time) {
  torture::eventually(time, [] { return false; });
}

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
