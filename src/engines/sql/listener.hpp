// Who waits, and how they learn that something happened. Every client has one connection on which its
// bell is heard; whoever has something for a waiting claim rings the bell that stands in its place of
// the line. PostgreSQL's bell says which claim was granted, and the keeper passes that on. Else a bell
// does not say which name: a step then looks at all names that are watched, in one statement, after it
// has made the bell ready for the next ring. Where there are no bells (a pooler, Galera) there is a
// look every 50 ms or so.
//
// A look compares the row's `rings` with the number that the waiter knew: so a ring that is lost, or
// comes too early, costs time and no more.
#pragma once

#include "engines/sql/connection.hpp"
#include "engines/sql/lanes.hpp"
#include "engines/visits.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::sql {

// Watch keys: of a claim in line, and of a name.
std::string claim_key(const spi::owner_id&, std::string_view name);
std::string name_key(std::string_view name);
bool is_claim_key(std::string_view key) noexcept;
std::string_view name_of_key(std::string_view key) noexcept;

class listener final : public crew::member, public std::enable_shared_from_this<listener> {
 public:
  listener(lanes::dialer, bool bells, std::shared_ptr<visits>, spi::host&);

  // `submit` has a step made; `again` is called every few seconds while a name is watched: to say so
  // again on the server.
  void start(std::function<void(std::shared_ptr<step>)> submit,
             std::function<void(std::string name)> again);

  // The number of this client's bell; 0: it has none (yet).
  std::uint64_t bell_now() const noexcept { return bell_.load(); }
  // The same; who watches next connects it, and everybody is woken when that is done. It is not worth
  // the time of a step: most claims need no bell.
  std::uint64_t bell_soon();
  // The same; connects it now.
  std::uint64_t bell();

  // How many rings this client has heard. To be asked before a step that may call for a watch.
  std::uint64_t rings_heard();
  // A waiter saw this number of rings, and may watch the key soon. `heard`: before its step, because
  // it can be called as soon as that is stored.
  void expect(const std::string& key, std::int64_t rings, std::uint64_t heard, std::uint64_t bell);
  // Looks at once if that is the first key, or a ring came since `heard`. False: it is not expected, or stands
  // in line with another bell than this client has by now.
  bool watch(std::string_view key);
  // Of a name: watches it from this number of rings on, if it is still expected.
  void watch_name(const std::string& key, std::int64_t rings);
  void forget(std::string_view key) noexcept;
  // A claim in line; most never were.
  void forget(const spi::owner_id&, std::string_view name);

  void close() noexcept;

 private:
  class look_step;
  struct watched {
    std::int64_t rings = 0;
    std::uint64_t heard = 0;  // rings that the bell had heard before the waiter's step
    std::uint64_t bell = 0;   // that stands in the waiter's place
    bool active = false;
  };

  void serve() noexcept override;
  spi::time_point attend(spi::time_point now) noexcept override;
  void heard() noexcept override;

  void request_look();
  void look(connection&);
  bool begin_hearing();
  bool pass_on(const std::vector<std::string>& said);
  void look_is_over(bool looked) noexcept;
  void connect();
  void connect_apart();
  bool take_bell();
  void erase(std::string_view key) noexcept;
  void attend_bell();
  void read_rings(connection&);
  void upkeep();
  std::vector<std::string> active_names();

  const lanes::dialer dial_;
  const bool may_ring_;
  const std::shared_ptr<visits> visits_;
  spi::host& up_;
  std::function<void(std::shared_ptr<step>)> submit_;
  std::function<void(std::string)> again_;
  crew& crew_ = crew::here();
  crew::id member_ = 0;

  std::atomic<std::uint64_t> bell_{0};

  // Of who looks, or hears: one at a time.
  std::unique_ptr<connection> on_;
  bool armed_ = false;  // on_ waits for a ring
  spi::time_point upkeep_at_{};

  std::mutex mutex_;  // guards everything below
  std::map<std::string, watched, std::less<>> keys_;
  std::size_t active_ = 0;
  std::uint64_t heard_ = 0;
  std::unique_ptr<connection> made_;  // will be on_
  std::uint64_t made_bell_ = 0;
  bool connecting_ = false;
  spi::time_point dial_at_{};
  int socket_ = -1;       // of on_
  bool wanted_ = false;   // somebody has asked for the bell
  bool looking_ = false;  // a look was submitted, or on_ is being made or heard
  spi::milliseconds pause_{0};
  spi::time_point look_at_ = spi::time_point::max();
  std::condition_variable looked_;
  bool closed_ = false;
};

}  // namespace afar::engines::sql
