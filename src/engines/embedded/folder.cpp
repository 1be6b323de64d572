#include "engines/embedded/folder.hpp"

#include "engines/bytes.hpp"
#include "engines/embedded/failure.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace afar::engines::embedded {
namespace {

constexpr const char* format_text = "afar embedded 1\n";
constexpr std::chrono::microseconds longest_pause{5'000};  // between two looks at the lock file

// Where shared memory is not shared, or locks of a dead process stay: file systems over a network,
// and FUSE, behind which anything may be.
const char* network_name(long type) {
  switch (static_cast<unsigned long>(type) & 0xffffffffUL) {
    case NFS_SUPER_MAGIC:
      return "NFS";
    case 0x517bUL:
      return "SMB";
    case 0xff534d42UL:
    case 0xfe534d42UL:
      return "CIFS";
    case V9FS_MAGIC:
      return "9p";
    case AFS_SUPER_MAGIC:
    case 0x6b414653UL:
      return "AFS";
    case CODA_SUPER_MAGIC:
      return "Coda";
    case 0x00c36400UL:
      return "Ceph";
    case 0x0bd00bd0UL:
      return "Lustre";
    case 0x01161970UL:
      return "GFS2";
    case 0x7461636fUL:
      return "OCFS2";
    case 0x47504653UL:
      return "GPFS";
    case 0x65735546UL:
      return "FUSE";
    case 0x786f4256UL:
      return "a VirtualBox share";
    default:
      return nullptr;
  }
}

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

std::string boot_id() {
  std::string id = read_whole("/proc/sys/kernel/random/boot_id");
  if (id.size() < 36) throw failure{errc::unavailable, "cannot read the boot id below /proc"};
  id.resize(36);
  return id;
}

boot_clock::duration calendar_now() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

// The file `boot`: 36 bytes boot id, 4 zeros, calendar offset (i64 ns), time when written (i64 ns).
constexpr std::size_t boot_bytes = 56;

bool only_ours(const std::string& path) {
  DIR* listing = ::opendir(path.c_str());
  if (listing == nullptr) return true;
  bool ours = true;
  while (const dirent* item = ::readdir(listing)) {
    const std::string name = item->d_name;
    ours = ours && (name == "." || name == ".." || name == "lock" || name == "format.new");
  }
  ::closedir(listing);
  return ours;
}

}  // namespace

address address_of(const spi::url& where) {
  address to;
  for (const auto& [option, value] : where.options) {
    if (option != "durable" || (value != "0" && value != "1"))
      throw failure{errc::bad_url,
                    fmt::format("unknown option '{}={}'; the embedded engine knows durable=0 and "
                                "durable=1",
                                option, value)};
    to.durable = value == "1";
  }
  if (!where.hosts.empty() || !where.user.empty())
    throw failure{errc::bad_url,
                  "the embedded engine has no host and no user; a path has three "
                  "slashes, as in file:///var/lib/jobs"};
  if (where.scheme == "file") {
    to.path = where.path;
    while (to.path.size() > 1 && to.path.back() == '/') to.path.pop_back();
    if (to.path.size() < 2 || to.path[0] != '/')
      throw failure{errc::bad_url, "file: needs an absolute path, as in file:///var/lib/jobs"};
    return to;
  }
  if (!where.path.empty() && where.path != "/")
    throw failure{errc::bad_url, "local: takes no path; use file:///path for a folder"};
  to.well_known = true;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  to.path = runtime != nullptr && runtime[0] == '/'
                ? std::string{runtime} + "/afar"
                : "/dev/shm/afar-" + std::to_string(::geteuid());
  return to;
}

folder::folder(const address& where, spi::time_point by) : path_(where.path) {
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
    throw failure{system_failure(errno, "create the folder " + path_)};
  const int links = where.well_known ? O_NOFOLLOW : 0;
  self_ = unique_fd{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | links)};
  if (!self_) throw failure{system_failure(errno, "open the folder " + path_)};
  check(where);
  lock(by);
  check_format();
  remember_durable(where.durable);
  if (::mkdir(file("sessions").c_str(), 0700) != 0 && errno != EEXIST)
    throw failure{system_failure(errno, "create " + file("sessions"))};
  read_boot();
}

void folder::check(const address& where) {
  struct stat about{};
  struct statfs where_on{};
  if (::fstat(self_.get(), &about) != 0 || ::fstatfs(self_.get(), &where_on) != 0)
    throw failure{system_failure(errno, "look at " + path_)};
  const std::string elsewhere = "; use file:///path with a folder of your own";
  if (about.st_uid != ::geteuid())
    throw failure{errc::denied, path_ + " belongs to user " + std::to_string(about.st_uid) +
                                    ", not to user " + std::to_string(::geteuid()) + elsewhere};
  if ((about.st_mode & 022U) != 0)
    throw failure{errc::denied, "others may write to " + path_ + " (mode " + octal(about.st_mode) +
                                    "); chmod 700 " + path_ + (where.well_known ? "" : elsewhere)};
  if (const char* network = network_name(where_on.f_type))
    throw failure{errc::unavailable, path_ + " lies on " + network +
                                         ", where processes cannot share memory safely; use a "
                                         "local folder, or a server for several machines"};
  if (::faccessat(self_.get(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    throw failure{system_failure(errno, "write to the folder " + path_ + elsewhere)};
  in_memory_ = where_on.f_type == TMPFS_MAGIC || where_on.f_type == RAMFS_MAGIC;
  device_ = about.st_dev;
  inode_ = about.st_ino;
}

// A POSIX lock, because a forked child does not inherit it. It has no timed form.
void folder::lock(spi::time_point by) {
  lock_ = unique_fd{::open(file("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!lock_) throw failure{system_failure(errno, "open " + file("lock"))};
  for (auto pause = std::chrono::microseconds{50};; pause = std::min(pause * 2, longest_pause)) {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    if (::fcntl(lock_.get(), F_SETLK, &whole) == 0) return;
    if (errno != EAGAIN && errno != EACCES)
      throw failure{system_failure(errno, "lock " + file("lock"))};
    if (boot_clock::now() >= by) {
      whole.l_type = F_WRLCK;
      ::fcntl(lock_.get(), F_GETLK, &whole);
      throw failure{errc::unavailable, "process " + std::to_string(whole.l_pid) +
                                           " sits in the opening of " + path_ +
                                           "; continue or kill it"};
    }
    std::this_thread::sleep_for(pause);
  }
}

void folder::check_format() {
  const std::string found = read_whole(file("format"));
  if (found == format_text) return;
  if (found.starts_with("afar embedded "))
    throw failure{errc::unsupported, path_ + " has the format '" +
                                         found.substr(0, found.find('\n')) +
                                         "', which this version of afar cannot read; use another "
                                         "folder, or remove it when nobody uses it"};
  if (!found.empty())
    throw failure{errc::damaged, file("format") +
                                     " makes no sense; remove the folder when nobody "
                                     "uses it"};
  if (!only_ours(path_))
    throw failure{errc::denied, path_ + " holds other files; use an empty or a new folder"};
  write_whole(file("format"), format_text, std::strlen(format_text));
}

// Durability is a property of the folder: one process that does not sync spoils it for all.
void folder::remember_durable(bool asked) {
  durable_ = ::faccessat(self_.get(), "durable", F_OK, 0) == 0;
  if (durable_ || !asked) return;
  write_whole(file("durable"), "", 0);
  durable_ = true;
}

void folder::read_boot() {
  const std::string known = read_whole(file("boot"));
  const auto up = boot_clock::now().time_since_epoch();
  offset_ = calendar_now() - up;
  boot_ = boot_id();
  new_boot_ = known.size() != boot_bytes || !known.starts_with(boot_);
  if (known.size() != boot_bytes) return;
  if (new_boot_) earlier_boot_ = known.substr(0, boot_.size());
  const boot_clock::duration offset{load<std::int64_t>(known.data() + 40)};
  const boot_clock::duration written{load<std::int64_t>(known.data() + 48)};
  // Not behind the last boot, even if the machine came up with the wrong date.
  offset_ = new_boot_ ? std::max(offset_, written - up) : offset;
}

std::string folder::boot_of_file() const {
  return read_whole(file("boot")).substr(0, boot_.size());
}

void folder::begin_boot() {
  char text[boot_bytes] = {};
  std::memcpy(text, boot_.data(), boot_.size());
  const auto now = boot_clock::now().time_since_epoch() + offset_;
  store(text + 40, static_cast<std::int64_t>(offset_.count()));
  store(text + 48, static_cast<std::int64_t>(now.count()));
  write_whole(file("boot"), text, sizeof text);
  new_boot_ = false;
}

unique_fd folder::open_shared(const std::string& name, std::size_t bytes,
                              void (*fill)(void*)) const {
  const std::string path = file(name);
  unique_fd there{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  if (there) return there;
  if (errno != ENOENT) throw failure{system_failure(errno, "open " + path)};

  // Under another name until it is complete: whoever finds it finds it whole.
  const std::string temporary = path + ".new";
  unique_fd made{::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  if (!made) throw failure{system_failure(errno, "create " + temporary)};
  // Allocated, not sparse: a store into it must never meet a full file system.
  if (const int rc = ::posix_fallocate(made.get(), 0, static_cast<off_t>(bytes)))
    throw failure{system_failure(rc, "create " + path)};
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made.get(), 0);
  if (data == MAP_FAILED) throw failure{system_failure(errno, "map " + path)};
  fill(data);
  ::munmap(data, bytes);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    throw failure{system_failure(errno, "create " + path)};
  return made;
}

}  // namespace afar::engines::embedded
