#include "engines/embedded/examine.hpp"

#include "engines/embedded/dead_claims.hpp"
#include "engines/embedded/failure.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace afar::engines::embedded {
namespace {

using grade = finding::grade;

constexpr std::uint64_t mib = 1'024 * 1'024;
constexpr std::uint64_t least_space = mib;  // a step that needs a new page must find one
constexpr std::uint64_t little_space = 64 * mib;
constexpr std::uint64_t shard_size = 1'024 * mib;  // of address space, see environment.cpp

const char* file_system_name(long type) {
  switch (static_cast<unsigned long>(type) & 0xffffffffUL) {
    case TMPFS_MAGIC:
      return "tmpfs";
    case RAMFS_MAGIC:
      return "ramfs";
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case XFS_SUPER_MAGIC:
      return "xfs";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case F2FS_SUPER_MAGIC:
      return "f2fs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case 0x2fc12fc1UL:
      return "zfs";
    default:
      return "a local file system";
  }
}

finding file_system(const folder& where) {
  struct statfs about{};
  if (::statfs(where.path().c_str(), &about) != 0)
    throw failure{system_failure(errno, "look at " + where.path())};
  const std::string name = file_system_name(about.f_type);
  if (where.in_memory())
    return {grade::ok, "filesystem", name + ": nothing is kept across a reboot", {}};
  if (name == "overlay")
    return {grade::warning, "filesystem",
            "overlay: shared by the processes of one container only, and gone with it",
            "mount a volume, or use file:///dev/shm/…"};
  if (name == "btrfs" || name == "zfs")
    return {grade::warning, "filesystem",
            name + " copies on write: even a release needs free space",
            "keep some space free, or use a folder on tmpfs"};
  if (!where.durable())
    return {grade::ok,
            "filesystem",
            name + ": counters and stock survive a reboot, but not a power cut (durable=1 does)",
            {}};
  return {grade::ok, "filesystem", name + ", durable: counters and stock survive a power cut", {}};
}

finding mode(const folder& where) {
  struct stat about{};
  if (::stat(where.path().c_str(), &about) != 0)
    throw failure{system_failure(errno, "look at " + where.path())};
  const auto text =
      fmt::format("{}, user {}, mode {:04o}", where.path(), about.st_uid, about.st_mode & 07777U);
  if ((about.st_mode & 077U) != 0)
    return {grade::warning, "folder", text + ": others can see it", "chmod 700 " + where.path()};
  return {grade::ok, "folder", text, {}};
}

finding space(const folder& where) {
  struct statvfs about{};
  if (::statvfs(where.path().c_str(), &about) != 0)
    throw failure{system_failure(errno, "look at " + where.path())};
  const std::uint64_t left = std::uint64_t{about.f_bavail} * about.f_frsize;
  const auto text = fmt::format("{} MiB free", left / mib);
  if (left < least_space)
    return {grade::failure, "space", text, "make room, or use another folder"};
  if (left < little_space)
    return {grade::warning, "space", text, "make room: a full disk refuses new names"};
  return {grade::ok, "space", text, {}};
}

finding fill(const folder& where) {
  std::uint64_t fullest = 0;
  std::uint64_t all = 0;
  for (int i = 0; i < 16; ++i) {
    struct stat about{};
    if (::stat(where.file(fmt::format("shard-{:02}", i)).c_str(), &about) != 0) continue;
    const auto used = static_cast<std::uint64_t>(about.st_blocks) * 512;
    fullest = std::max(fullest, used);
    all += used;
  }
  const auto text =
      fmt::format("{:.1f} MiB in use; the fullest of 16 shards has {:.0f} % of its 1 GiB",
                  static_cast<double>(all) / static_cast<double>(mib),
                  100.0 * static_cast<double>(fullest) / static_cast<double>(shard_size));
  if (fullest > shard_size / 10 * 8)
    return {grade::warning, "records", text, "afar gc; erase stock and counters that nobody needs"};
  return {grade::ok, "records", text, {}};
}

// "T" or "t" for one that is stopped; nothing if it is not seen (another pid namespace).
bool stopped(const std::string& pid) {
  const std::string text = read_whole("/proc/" + pid + "/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  return text[name_end + 2] == 'T' || text[name_end + 2] == 't';
}

struct processes {
  std::size_t count = 0;
  std::string stopped;  // their pids
};

processes at_work(const folder& where) {
  processes found;
  DIR* listing = ::opendir(where.file("sessions").c_str());
  if (listing == nullptr) return found;
  while (const dirent* item = ::readdir(listing)) {
    const std::string name = item->d_name;
    if (name.size() != 16) continue;
    ++found.count;
    // Never open the file itself: its lock could be ours.
    const auto pid = std::to_string(pid_of(std::strtoull(name.c_str(), nullptr, 16)));
    if (stopped(pid)) (found.stopped += found.stopped.empty() ? "" : ", ") += pid;
  }
  ::closedir(listing);
  return found;
}

finding clients(const folder& where) {
  const auto found = at_work(where);
  const auto text =
      fmt::format("{} process{}, this one included", found.count, found.count == 1 ? "" : "es");
  if (!found.stopped.empty())
    return {
        grade::warning, "clients", text + "; stopped: " + found.stopped,
        "continue or kill it: a stopped process loses its leases, and blocks others inside a step"};
  return {grade::ok, "clients", text, {}};
}

// Processes that were killed. Their files were cleared away when this folder was opened; their claims
// stay until somebody looks at the names.
finding dead(store& in, spi::time_point by) {
  dead_claims found;
  if (auto failed = find_dead(in, by, found)) throw failure{std::move(failed)};
  if (found.names == 0)
    return {grade::ok, "dead", fmt::format("{} dead, nothing is left of them", in.buried()), {}};
  std::string pids;
  for (const session_id id : found.sessions)
    pids += (pids.empty() ? "" : ", ") + std::to_string(pid_of(id));
  const bool one = found.names == 1;
  return {grade::warning, "dead",
          fmt::format("{} name{} still marked as used by dead processes ({})", found.names,
                      one ? " is" : "s are", pids),
          "afar gc frees them; so does whoever wants them next"};
}

// Somebody with another boot id takes us for dead, and his claims for the only ones.
finding boot(const folder& where) {
  const std::string now = where.boot_of_file();
  if (now != where.boot())
    return {grade::failure, "boot", "the folder was opened under another boot id: " + now,
            "one folder per machine; for several, or for containers with boot ids of their own, a "
            "server"};
  if (where.earlier_boot().empty()) return {grade::ok, "boot", now, {}};
  return {grade::ok,
          "boot",
          now + "; opened first since a reboot: what " + where.earlier_boot() + " held is void",
          {}};
}

finding clock(const folder& where) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto folder_time = boot_clock::now().time_since_epoch() + where.calendar_offset();
  const auto calendar = std::chrono::system_clock::now().time_since_epoch();
  const auto ahead = duration_cast<milliseconds>(calendar - folder_time);
  const auto text =
      fmt::format("the calendar moved {} ms since the folder was opened first", ahead.count());
  if (ahead > std::chrono::minutes{1} || ahead < -std::chrono::minutes{1})
    return {grade::warning, "clock", text + "; leases and tokens do not follow it",
            "opening windows of stock do: check the date"};
  return {grade::ok, "clock", text + " (leases do not follow it)", {}};
}

// Login sessions and cron jobs of one user may meet in different folders.
finding meeting_place(const folder& where) {
  const std::string common = "/dev/shm/afar-" + std::to_string(::geteuid());
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool from_login = runtime != nullptr && where.path() == std::string{runtime} + "/afar";
  if (from_login && ::access(common.c_str(), F_OK) == 0)
    return {grade::warning, "place",
            "processes without XDG_RUNTIME_DIR (cron, services, sudo) meet in " + common,
            "name one folder for all: file:///dev/shm/jobs"};
  return {grade::ok, "place", "everybody who names this folder meets here", {}};
}

}  // namespace

std::vector<finding> examine(store& in, spi::time_point by) {
  const folder& where = in.where();
  return {mode(where),  file_system(where), space(where), fill(where),         clients(where),
          dead(in, by), boot(where),        clock(where), meeting_place(where)};
}

}  // namespace afar::engines::embedded
