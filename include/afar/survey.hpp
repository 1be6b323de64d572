// What is in use on an engine and by whom, and how to break a hold: for people and programs that look
// after it. What a survey shows may be over when it is read, so nothing may be decided by it; a hold
// is broken by its token, which the engine compares.
#pragma once

#include <afar/client.hpp>
#include <afar/observer.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace afar {

// What a name is. A recursive_mutex is a mutex to the engine.
enum class usage : std::uint8_t {
  mutex = 1,
  fair_mutex,
  shared_mutex,
  leased_semaphore,
  barrier,
  election,
  counter,
  latch,
  counting_semaphore,
  stock
};
AFAR_API std::string_view word(usage) noexcept;

// Somebody who holds or waits. Host to label are what the claimant says of itself: for people, never
// to be trusted, and empty where it says nothing.
struct claimant {
  std::string owner;        // unique, never used again: "<client>:<number>"
  std::uint64_t token = 0;  // the fencing token of the hold; 0: it waits
  bool shared = false;      // of a shared_mutex: a reader
  std::uint32_t permits = 1;
  std::chrono::milliseconds since{};       // it has held or waited so long
  std::chrono::milliseconds lease_left{};  // until it is over if nothing more is heard of it
  std::string host = {};
  std::int64_t pid = 0;
  std::string user = {};
  std::string command = {};
  std::string label = {};
  std::string value = {};  // what a leader proclaims; any bytes

  // Of a hold, where the engine tells it.
  std::chrono::milliseconds lease = {};                   // as granted; 0: not told
  std::optional<std::chrono::milliseconds> renewed = {};  // so long ago
  std::optional<std::uint64_t> renewals = {};
  std::string key = {};  // what is stored for it alone; ZooKeeper: its node
};

// A hold that is over.
struct past_hold {
  std::uint64_t token = 0;
  loss_reason why = loss_reason::none;  // none: it was released; session: its process died
  std::chrono::milliseconds held{};     // for so long
  std::chrono::milliseconds ago{};      // it was over
  std::string host = {};                // whose it was, where the engine knows
  std::int64_t pid = 0;
};

struct survey_entry {
  std::string name;  // without the client's prefix
  usage kind = usage::mutex;
  std::uint32_t limit = 1;        // of a leased_semaphore or a barrier
  std::vector<claimant> holders;  // locks: who holds it
  std::vector<claimant> waiters;  //   in the order in which they will be served
  std::uint64_t last_token = 0;   //   the largest token given
  std::int64_t value = 0;         // counter, latch, semaphore: its value; stock: what remains

  // Empty where the engine does not tell.
  std::vector<past_hold> history = {};  // the last ones while the name was in use, newest first
  std::string key = {};                 // inspect(): where it is stored
  std::string format = {};              //   in whose layout: "native"
  std::string token_source = {};        //   what makes its tokens grow
};

// Everything in use whose name begins so, sorted by name; of the client's prefix only. Names are
// looked at one after the other, not at one instant. Throws lock_error if the engine cannot tell.
AFAR_API std::vector<survey_entry> survey(const client&, std::string_view beginning = {});
AFAR_API std::vector<survey_entry> survey(const client&, std::string_view beginning,
                                          std::error_code&) noexcept;

// One name at one instant; empty: it is not in use.
AFAR_API std::optional<survey_entry> inspect(const client&, const std::string& name);
AFAR_API std::optional<survey_entry> inspect(const client&, const std::string& name,
                                             std::error_code&) noexcept;

// Breaks the hold with this token and lets the next one have it, with a larger token. False: no such
// hold (any more), nothing was changed. The victim is told (lost(), loss_reason::evicted) when it
// renews, a third of its lease later at the latest; until then it believes that it holds, and only a
// fence keeps it from writing.
AFAR_API bool evict(const client&, const std::string& name, std::uint64_t token);
AFAR_API bool evict(const client&, const std::string& name, std::uint64_t token,
                    std::error_code&) noexcept;

// Asks whoever has the hold with this token to give it back: its lost() fires with loss_reason::asked,
// at once if it has renewed before and else when it renews, and it goes on holding until it releases.
// False: no such hold (any more). Only ZooKeeper carries the question, for locks and leaders, in
// Curator's way (a holder of Curator's hears it if it is revocable); else errc::unsupported.
AFAR_API bool ask_back(const client&, const std::string& name, std::uint64_t token);
AFAR_API bool ask_back(const client&, const std::string& name, std::uint64_t token,
                       std::error_code&) noexcept;

}  // namespace afar
