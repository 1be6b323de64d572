// The fence's forms. The file form keeps two copies of the largest token, each with a check word:
//
//   0   "afarfenc"                     magic
//   8   u32 version, u32 zero
//   16  u64 token, u64 check           copy 0
//   32  u64 token, u64 check           copy 1
//
// Invariants of the file, which hold at every instant (a process may be killed between any two):
//   1. At least one copy is whole, and the larger whole one is the largest token admitted.
//   2. The copy that holds the largest token is overwritten only when the other holds a larger one.
//
// Every entry opens the file anew and locks that open file description: such a lock excludes threads
// and processes alike, ends with its process, and is not inherited by a fork() between two entries.
// The price is an open and a close for each check.
#include <afar/counter.hpp>
#include <afar/error.hpp>
#include <afar/fence.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

namespace afar {

class fence::impl {
 public:
  impl() = default;
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  virtual ~impl() = default;

  void enter() {
    if (inside_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      throw lock_error(errc::deadlock, name(), "a guarded write uses its own fence");
    }
    lock();
    // Only the thread that holds the lock stores here, and only its own id can deceive a reader.
    inside_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  void leave() noexcept {
    inside_.store({}, std::memory_order_relaxed);
    unlock();
  }

  virtual std::uint64_t largest() const = 0;  // needs no entry

  // Inside: makes `token` the largest unless it is smaller. Returns the largest.
  virtual std::uint64_t raise(std::uint64_t token) = 0;

  virtual void require_guard() const {}

 protected:
  virtual void lock() = 0;
  virtual void unlock() noexcept = 0;
  virtual std::string name() const = 0;

 private:
  std::atomic<std::thread::id> inside_{};
};

namespace {

class memory_fence final : public fence::impl {
 public:
  std::uint64_t largest() const override { return largest_.load(std::memory_order_acquire); }
  std::uint64_t raise(std::uint64_t token) override {
    if (token > largest()) largest_.store(token, std::memory_order_release);
    return largest();
  }

 protected:
  void lock() override { mutex_.lock(); }
  void unlock() noexcept override { mutex_.unlock(); }
  std::string name() const override { return "fence"; }

 private:
  std::mutex mutex_;
  std::atomic<std::uint64_t> largest_{0};
};

struct copy {
  std::uint64_t token = 0;
  std::uint64_t check = 0;

  static std::uint64_t mix(std::uint64_t x) noexcept {  // splitmix64: every bit counts
    x = (x ^ 0x61666172'66656e63U) + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }
  static copy of(std::uint64_t token) noexcept { return {token, mix(token)}; }
  bool whole() const noexcept { return check == mix(token); }
};

struct image {
  std::array<char, 8> magic{'a', 'f', 'a', 'r', 'f', 'e', 'n', 'c'};
  std::uint32_t version = 1;
  std::uint32_t zero = 0;
  std::array<copy, 2> copies{copy::of(0), copy::of(0)};

  bool valid() const noexcept {
    const image ours;
    return magic == ours.magic && version == ours.version &&
           (copies[0].whole() || copies[1].whole());
  }
  // Of a valid image: which copy holds the largest token.
  std::size_t newest() const noexcept {
    if (!copies[0].whole()) return 1;
    return copies[1].whole() && copies[1].token > copies[0].token ? 1 : 0;
  }
};
static_assert(sizeof(image) == 48 && offsetof(image, copies) == 16);

class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

class file_fence final : public fence::impl {
 public:
  explicit file_fence(const std::string& path) : path_(std::filesystem::absolute(path)) {
    const descriptor fd{open(O_RDWR | O_CREAT)};
    lock_file(fd.get());
    struct stat found{};
    if (::fstat(fd.get(), &found) != 0) fail(errno);
    if (found.st_size == 0)
      write_at(fd.get(), image{}, 0);  // just made, by us or one who was killed
    read(fd.get());
  }

  // Without the lock: of two copies a writer changes one at a time, so one is whole, and a larger
  // token that is only half there has not been admitted yet.
  std::uint64_t largest() const override {
    const descriptor fd{open(O_RDONLY)};
    const image now = read(fd.get());
    return now.copies[now.newest()].token;
  }

  std::uint64_t raise(std::uint64_t token) override {
    const int fd = entered_.load(std::memory_order_relaxed);
    const image now = read(fd);
    const std::size_t newest = now.newest();
    if (token <= now.copies[newest].token) return now.copies[newest].token;
    for (const std::size_t i : {1 - newest, newest}) {  // (inv 2)
      write_at(fd, copy::of(token), offsetof(image, copies) + i * sizeof(copy));
    }
    return token;
  }

 protected:
  void lock() override {
    descriptor fd{open(O_RDWR)};
    lock_file(fd.get());
    // Acquires what the previous holder released in unlock(): the kernel's lock orders the threads,
    // but neither the language nor the sanitizer knows.
    entered_.exchange(fd.release(), std::memory_order_acq_rel);
  }
  void unlock() noexcept override { ::close(entered_.exchange(-1, std::memory_order_acq_rel)); }
  std::string name() const override { return path_; }

 private:
  [[noreturn]] void fail(int error, std::string_view why = {}) const {
    const bool full = error == ENOSPC || error == EDQUOT;
    const bool refused = error == EACCES || error == EPERM || error == EROFS || error == ELOOP;
    const auto code = full ? errc::no_room : refused ? errc::denied : errc::unavailable;
    throw lock_error(code, path_, why.empty() ? std::system_category().message(error) : why);
  }

  int open(int how) const {
    descriptor fd{::open(path_.c_str(), how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
    if (fd.get() < 0) {
      const int error = errno;
      if (error == ELOOP) fail(error, "it is a symbolic link");
      if (error == EISDIR) fail(error, "it is a folder");
      if (error != ENOENT) fail(error);
      fail(error,
           (how & O_CREAT) != 0 ? "its folder does not exist" : "somebody has deleted the file");
    }
    check_owner(fd.get());
    return fd.release();
  }

  // Whoever may write the file can let an old holder pass, and whoever may read it can lock it.
  void check_owner(int fd) const {
    struct stat found{};
    if (::fstat(fd, &found) != 0) fail(errno);
    if (!S_ISREG(found.st_mode)) fail(EINVAL, "it is not a regular file");
    if (found.st_uid != ::geteuid()) {
      fail(EPERM, "it belongs to user " + std::to_string(found.st_uid) + ", not to user " +
                      std::to_string(::geteuid()) + " who runs this process");
    }
    if ((found.st_mode & 077) != 0) fail(EPERM, "others may open it: its mode must be 0600");
  }

  void lock_file(int fd) const {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    while (::fcntl(fd, F_OFD_SETLKW, &whole) != 0) {
      if (errno != EINTR)
        fail(errno, "it cannot be locked: " + std::system_category().message(errno));
    }
  }

  image read(int fd) const {
    // A reader without the lock can meet two writers during one read; it looks again.
    for (int attempt = 0; attempt < 100; ++attempt) {
      image now;
      const auto got = ::pread(fd, &now, sizeof now, 0);
      if (got < 0 && errno != EINTR) fail(errno);
      if (got == sizeof now && now.valid()) return now;
    }
    throw lock_error(
        errc::damaged, path_,
        "it is not a fence, or both copies of its token are damaged; after making sure that "
        "no old holder is alive, delete it");
  }

  template <class T>
  void write_at(int fd, const T& what, std::size_t at) const {
    ssize_t put = 0;
    do {
      put = ::pwrite(fd, &what, sizeof what, static_cast<off_t>(at));
    } while (put < 0 && errno == EINTR);
    if (put < 0) fail(errno);
    if (put != static_cast<ssize_t>(sizeof what)) fail(ENOSPC);
  }

  const std::string path_;        // absolute: the process may change its folder
  std::atomic<int> entered_{-1};  // the locked description of whoever is inside
};

// Every admission is a step of its own on the engine: nothing is locked here.
class counter_fence final : public fence::impl {
 public:
  counter_fence(const client& c, const std::string& name) : counter_(c, name) {}

  std::uint64_t largest() const override { return checked(counter_.load()); }

  std::uint64_t raise(std::uint64_t token) override {
    if (token > std::numeric_limits<std::int64_t>::max())
      throw lock_error(errc::bad_argument, name(), "no engine grants a token as large as this");
    std::int64_t now = counter_.load();
    while (checked(now) < token)
      if (counter_.compare_exchange_strong(now, static_cast<std::int64_t>(token))) return token;
    return checked(now);
  }

  void require_guard() const override {
    throw lock_error(errc::unsupported, name(),
                     "the fence is a counter on a server: another machine could be admitted while "
                     "this one writes; check and write in one script or transaction there");
  }

 protected:
  void lock() override {}
  void unlock() noexcept override {}
  std::string name() const override { return counter_.name(); }

 private:
  std::uint64_t checked(std::int64_t value) const {
    if (value < 0)
      throw lock_error(errc::damaged, name(),
                       "the counter of a fence is negative: it is in use "
                       "for something else");
    return static_cast<std::uint64_t>(value);
  }
  counter counter_;
};

}  // namespace

fence::fence() : impl_(std::make_unique<memory_fence>()) {}
fence::fence(std::unique_ptr<impl> i) noexcept : impl_(std::move(i)) {}
fence::fence(fence&&) noexcept = default;
fence& fence::operator=(fence&&) noexcept = default;
fence::~fence() = default;

fence fence::in_file(const std::string& path) { return fence{std::make_unique<file_fence>(path)}; }

fence fence::in_counter(const client& c, const std::string& name) {
  return fence{std::make_unique<counter_fence>(c, name)};
}

void fence::require_guard() const { impl_->require_guard(); }

fence::entry::entry(fence& f) : of(f) { of.impl_->enter(); }
fence::entry::~entry() { of.impl_->leave(); }

bool fence::admit_entered(std::uint64_t token) {
  return token != 0 && impl_->raise(token) == token;
}

bool fence::admit(std::uint64_t token) {
  const entry inside{*this};
  return admit_entered(token);
}

bool fence::admit(std::uint64_t token, std::error_code& error) noexcept {
  try {
    error.clear();
    return admit(token);
  } catch (const std::system_error& e) {
    error = e.code();
  } catch (const std::exception&) {
    error = std::make_error_code(std::errc::not_enough_memory);
  }
  return false;
}

std::uint64_t fence::largest() const { return impl_->largest(); }

}  // namespace afar
