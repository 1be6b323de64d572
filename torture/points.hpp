// The fault points of a run (afar/detail/fault.hpp): workers that are built with them count how often
// they pass each, and one of them kills or stops itself at the point that the director aims at.
#pragma once

#include "torture/mapped.hpp"
#include "torture/record.hpp"

#include <sys/types.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

namespace afar::torture {

class points {
 public:
  explicit points(const std::string& folder) : file_(folder + "/points", 0) {}

  // ---- workers

  // Called at the point, by the thread that is there.
  void passed(std::string_view name) const {
    const std::uint64_t number = number_of(name);
    if (auto* const count = find(number, true)) ++*count;
    std::uint64_t aim = number;
    table& t = file_.head();
    if (t.aim.load() != number || !t.aim.compare_exchange_strong(aim, 0)) return;
    t.at = now();
    const int signal = t.signal;
    t.victim = ::getpid();
    ::raise(signal);  // this thread and with it the process: here, not a little later
  }

  // ---- the director

  struct hit {
    pid_t victim = 0;     // 0: nobody came by
    std::int64_t at = 0;  // a stamp before the signal
  };
  // The first who comes by within `time` gets the signal.
  template <class Eventually>
  hit strike(std::string_view name, int signal, Eventually eventually) const {
    table& t = file_.head();
    t.victim = 0;
    t.signal = signal;
    t.aim = number_of(name);
    if (!eventually([&] { return t.victim != 0; })) {
      std::uint64_t aim = number_of(name);
      if (t.aim.compare_exchange_strong(aim, 0)) return {};
      eventually([&] { return t.victim != 0; });  // somebody has just taken it
    }
    return {t.victim, t.at};
  }
  std::uint64_t passes(std::string_view name) const {
    const auto* const count = find(number_of(name), false);
    return count ? count->load() : 0;
  }

 private:
  static constexpr std::size_t room = 128;
  struct counted {
    std::atomic<std::uint64_t> number;
    std::atomic<std::uint64_t> passes;
  };
  struct table {
    std::atomic<std::uint64_t> aim;
    std::atomic<int> signal;
    std::atomic<pid_t> victim;
    std::atomic<std::int64_t> at;
    std::array<counted, room> all;
  };

  static std::uint64_t number_of(std::string_view name) {  // FNV-1a
    std::uint64_t h = 14695981039346656037ULL;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return h;
  }

  std::atomic<std::uint64_t>* find(std::uint64_t number, bool add) const {
    for (std::size_t i = 0; i < room; ++i) {
      counted& c = file_.head().all[(number + i) % room];
      std::uint64_t none = 0;
      if (c.number == number || (add && c.number.compare_exchange_strong(none, number)) ||
          none == number)
        return &c.passes;
      if (!add && c.number == 0) return nullptr;
    }
    return nullptr;
  }

  mapped<table, char> file_;
};

}  // namespace afar::torture
