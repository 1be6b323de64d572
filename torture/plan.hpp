// What the director and its workers agree on: the objects of a run, and its files.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace afar::torture {

enum class sort : std::uint8_t {
  mutex,
  fair_mutex,
  recursive_mutex,
  shared_mutex,
  leased_semaphore,
  election,
  counter,
  stock,
  latch,
  counting_semaphore,
  barrier,
  multi_lock
};
std::string_view word(sort);

inline constexpr std::uint32_t permits = 3;           // of a semaphore of either kind
inline constexpr std::uint32_t participants = 3;      // of a barrier
inline constexpr std::uint32_t latch_count = 5;       // before it opens
inline constexpr std::uint32_t alone = 1U << 20;      // a writer's weight; readers have 1
inline constexpr std::int64_t units = 1'000'000'000;  // in the stock at the beginning

struct object {
  torture::sort sort = sort::mutex;
  std::string name;
  bool is_lock() const { return sort < sort::counter; }
  // What is used up, by what it is for or by those that die with it: then all go on to the next one.
  bool in_rounds() const { return sort >= sort::latch && sort <= sort::barrier; }
  std::string of_round(std::uint64_t round) const { return name + '/' + std::to_string(round); }
  // How much may be held at a time.
  std::uint32_t capacity() const {
    return sort == sort::leased_semaphore ? permits : sort == sort::shared_mutex ? alone : 1;
  }
};

enum class phase : std::uint32_t { work, stop };
inline constexpr std::uint32_t most_objects = 256;
struct control {
  std::atomic<torture::phase> phase{phase::work};
  std::array<std::atomic<std::uint32_t>, most_objects> rounds{};  // by object; the one in use
};

// One line of the protected file.
struct entry {
  std::uint64_t token = 0;
  std::uint64_t object = 0;
};

struct plan {
  std::string program = "/proc/self/exe";  // that knows the verb torture-worker
  std::vector<std::string> launcher;  // words before the program's; empty: it is started itself
  std::string folder;                 // of the run: records, fences, the protected file
  std::string url;                    // with its password: never printed
  std::uint64_t seed = 0;
  std::uint32_t workers = 6;
  std::uint32_t threads = 4;
  bool evicts = false;  // workers break locks, too
  std::chrono::milliseconds lease{500};
  std::vector<object> objects;

  std::string control() const { return folder + "/control"; }
  std::string protected_file() const { return folder + "/protected"; }
  std::string fence(std::size_t object) const {
    return folder + "/fence-" + std::to_string(object);
  }
  std::string record(std::uint32_t worker, std::uint32_t life) const {
    return folder + "/record-" + std::to_string(worker) + "-" + std::to_string(life);
  }

  // What a multi_lock takes some of: locks that are also taken one by one.
  std::vector<std::uint16_t> members() const;

  // For workers, which are other processes.
  void store() const;
  static plan load(const std::string& folder);
};

// An order of a stock: unique in the run, and the same when it is repeated.
std::string order_id(std::uint32_t worker, std::uint32_t life, std::uint32_t thread,
                     std::int64_t number);

}  // namespace afar::torture
