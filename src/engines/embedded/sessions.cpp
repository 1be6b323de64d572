#include "engines/embedded/sessions.hpp"

#include "engines/embedded/failure.hpp"
#include "engines/embedded/keys.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace afar::engines::embedded {
namespace {

constexpr std::chrono::milliseconds fresh_for{5};
constexpr std::size_t most_watched = 256;  // open files; more sessions are opened for each test
constexpr std::chrono::seconds unnamed_life{10};
constexpr unsigned random_bits = 22;
constexpr std::size_t hex_digits = 16;
constexpr char unnamed[] = "new-";

// A pid alone is not an identity: in containers two processes can both be 1. Its namespace and
// start time make it one.
std::uint64_t process_identity() {
  struct stat space{};
  ::stat("/proc/self/ns/pid", &space);
  const std::string text = read_whole("/proc/self/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos)
    throw failure{errc::unavailable, "cannot read /proc/self/stat"};
  std::size_t at = name_end;
  for (int field = 2; field < 22; ++field) at = text.find(' ', at + 1);  // 22nd: start time
  const std::string start = text.substr(at, text.find(' ', at + 1) - at);
  const std::uint64_t hash = hash_of(start, space.st_ino) & 0xfffffU;
  return (static_cast<std::uint64_t>(::getpid()) << 20U) | hash;
}

std::uint64_t random_number() {
  std::uint64_t out = 0;
  if (::getrandom(&out, sizeof out, 0) != sizeof out)
    throw failure{errc::unavailable, "no random numbers"};
  return out & ((1U << random_bits) - 1);
}

bool lock_whole(int fd) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  return ::fcntl(fd, F_SETLK, &whole) == 0;
}

std::string hex(session_id id) {
  char text[hex_digits + 1];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

session_id from_hex(const std::string& text) {
  if (text.size() != hex_digits) return 0;
  char* end = nullptr;
  const auto id = std::strtoull(text.c_str(), &end, 16);
  return *end == '\0' ? id : 0;
}

// Left by a process that was killed between making its file and naming it.
bool abandoned(const std::string& path) {
  struct stat about{};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (::stat(path.c_str(), &about) != 0) return false;
  return now.tv_sec - about.st_mtim.tv_sec > unnamed_life.count();
}

}  // namespace

bool locked_by_another(int fd) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  return ::fcntl(fd, F_GETLK, &whole) != 0 || whole.l_type != F_UNLCK;
}

sessions::sessions(std::string path) : path_(std::move(path)) { begin(); }

sessions::~sessions() {
  if (own_ == 0) return;
  ::unlink(file_of(own_).c_str());  // before the close: never seen unlocked
}

std::string sessions::file_of(session_id id) const { return path_ + "/" + hex(id); }

void sessions::begin() {
  const session_id id = (process_identity() << random_bits) | random_number();
  const std::string temporary = path_ + "/" + unnamed + hex(id);
  file_ = unique_fd{::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!file_) throw failure{system_failure(errno, "create " + temporary)};
  const std::string text = "pid " + std::to_string(::getpid()) + "\n";  // for people only
  const bool written = ::write(file_.get(), text.data(), text.size()) >= 0;
  if (!written || !lock_whole(file_.get()) ||
      ::rename(temporary.c_str(), file_of(id).c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    throw failure{system_failure(error, "begin a session in " + path_)};
  }
  own_ = id;  // (inv 1)
}

// Also true for a second copy of this library in the process, whose locks cannot be seen either.
bool sessions::same_process(session_id id) const noexcept {
  return (id >> random_bits) == (own_ >> random_bits);
}

bool sessions::alive(session_id id) {
  if (id == own_) return true;
  if (same_process(id)) return ::access(file_of(id).c_str(), F_OK) == 0;  // (inv 2)
  const auto now = boot_clock::now();
  const std::lock_guard guard{mutex_};
  if (test(id, now)) return true;
  watched_.erase(id);
  if (std::ranges::find(dead_, id) == dead_.end()) dead_.push_back(id);
  return false;
}

bool sessions::test(session_id id, boot_clock::time_point now) {
  const auto known = watched_.find(id);
  if (known != watched_.end()) {
    if (now - known->second.checked < fresh_for) return true;
    known->second.checked = now;
    return locked_by_another(known->second.file.get());
  }
  unique_fd file{::open(file_of(id).c_str(), O_RDWR | O_CLOEXEC)};
  if (!file) return errno != ENOENT;  // (inv 3)
  if (!locked_by_another(file.get())) return false;
  if (watched_.size() < most_watched) watched_.emplace(id, watched{std::move(file), now});
  return true;
}

bool sessions::present() const noexcept {
  struct stat about{};
  return ::fstat(file_.get(), &about) == 0 && about.st_nlink > 0;
}

std::vector<session_id> sessions::take_dead() {
  const std::lock_guard guard{mutex_};
  return std::exchange(dead_, {});
}

void sessions::bury(session_id id) noexcept { ::unlink(file_of(id).c_str()); }

void sessions::look_around() {
  DIR* listing = ::opendir(path_.c_str());
  if (listing == nullptr) return;
  while (const dirent* item = ::readdir(listing)) {
    const std::string name = item->d_name;
    if (const session_id id = from_hex(name)) {
      alive(id);
    } else if (name.starts_with(unnamed) && abandoned(path_ + "/" + name)) {
      ::unlink((path_ + "/" + name).c_str());
    }
  }
  ::closedir(listing);
}

}  // namespace afar::engines::embedded
