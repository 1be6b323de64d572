#include "engines/embedded/past.hpp"

#include "engines/embedded/failure.hpp"
#include "engines/embedded/sessions.hpp"
#include "engines/embedded/stored.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace afar::engines::embedded {
namespace {

template <class Each>
void each_session(const folder& where, Each each) {
  DIR* listing = ::opendir(where.file("sessions").c_str());
  if (listing == nullptr) return;
  while (const dirent* item = ::readdir(listing))
    if (item->d_name[0] != '.') each(std::string{item->d_name});
  ::closedir(listing);
}

// A process that lives has not missed a boot, whatever the boot id says: some containers have one of
// their own (systemd-nspawn). What it holds must not be voided.
void check_that_all_are_dead(const folder& where) {
  std::int64_t living = 0;
  each_session(where, [&](const std::string& name) {
    const auto pid = pid_of(std::strtoull(name.c_str(), nullptr, 16));
    if (pid == ::getpid()) return;  // never open one that could be ours: its lock would go
    const unique_fd file{::open(where.file("sessions/" + name).c_str(), O_RDWR | O_CLOEXEC)};
    if (file && locked_by_another(file.get())) living = pid;
  });
  if (living == 0) return;
  throw failure{errc::unavailable, where.path() + " is in use by process " +
                                       std::to_string(living) + " under the boot id " +
                                       where.earlier_boot() + ", but here it is " + where.boot() +
                                       "; containers with boot ids of their own need a server"};
}

// What is left of a claims record: its token floor, if the clock has not passed that. A record that
// a power cut has torn (claims are not synced) is no loss.
std::optional<records::claims> floor_of(const envelope& stored, spi::time_point now) {
  records::claims past;
  if (!decode(stored.valid(), past)) return std::nullopt;
  const spi::time_point due{std::chrono::microseconds{past.last_token}};
  if (due < now) return std::nullopt;
  records::claims floor;
  floor.last_token = past.last_token;
  floor.idle_since = due;
  return floor;
}

// One name's claims, or nothing if it is something else. Returns the key after which to go on.
std::optional<std::string> void_next(environment& env, const std::string& after,
                                     spi::time_point now) {
  std::optional<records::claims> floor;
  std::string name;
  std::string found;
  {
    environment::view view{env};
    const auto item = view.first_from(after);
    if (!item || item->key[0] != static_cast<char>(key_kind::name)) return std::nullopt;
    found = item->key;
    name = envelope::name_of(item->value, item->key);
    try {
      const envelope stored{item->value, name};
      if (stored.family() != family::claims) return found + '\0';
      floor = floor_of(stored, now);
    } catch (const failure&) {
      return found + '\0';  // not ours to judge: the step that needs it reports it
    }
  }
  environment::transaction change{env};
  if (floor)
    put_record(change, key{key_kind::name, name}, name, *floor);
  else
    change.erase(found);
  change.commit();
  return found + '\0';
}

void void_claims(environment& env, spi::time_point now) {
  std::optional<std::string> at{std::string{static_cast<char>(key_kind::name)}};
  while (at) at = void_next(env, *at, now);
}

}  // namespace

std::string shard_path(const folder& where, std::size_t shard) {
  char name[16];
  std::snprintf(name, sizeof name, "shard-%02u", static_cast<unsigned>(shard));
  return where.file(name);
}

void clear_past(const folder& where) {
  check_that_all_are_dead(where);
  ::unlink(where.file("gates").c_str());
  ::unlink(where.file("bell").c_str());
  each_session(where,
               [&](const std::string& name) { ::unlink(where.file("sessions/" + name).c_str()); });
  for (std::size_t i = 0; i < shard_count; ++i) {
    const std::string path = shard_path(where, i);
    if (::access(path.c_str(), F_OK) != 0) continue;
    std::atomic<std::uint64_t> room{0};
    environment env{path, where.durable(), room};
    void_claims(env, boot_clock::now() + where.calendar_offset());
  }
}

}  // namespace afar::engines::embedded
