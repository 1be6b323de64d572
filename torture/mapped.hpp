// Files that several processes map: what one stored outlives it, also when it was killed.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace afar::torture {

// A file mapped as an array of T behind one Head; created with room for `count`, all zero. Sparse: what
// is not used costs nothing.
template <class Head, class T>
class mapped {
 public:
  mapped() = default;
  mapped(const std::string& path, std::uint32_t count) : count_(count) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), path);
    void* at = MAP_FAILED;
    if (::ftruncate(fd, static_cast<off_t>(size())) == 0)
      at = ::mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int error = errno;
    ::close(fd);
    if (at == MAP_FAILED) throw std::system_error(error, std::generic_category(), path);
    base_ = static_cast<char*>(at);
  }
  mapped(mapped&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), count_(other.count_) {}
  mapped& operator=(mapped&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~mapped() {
    if (base_) ::munmap(base_, size());
  }

  // The types are made of atomics and integers for which all zero is the initial value.
  Head& head() const { return *std::launder(reinterpret_cast<Head*>(base_)); }
  T& operator[](std::uint32_t i) const {
    return std::launder(reinterpret_cast<T*>(base_ + front))[i];
  }
  std::uint32_t count() const { return count_; }

 private:
  static constexpr std::size_t front = 4096;
  std::size_t size() const { return front + std::size_t{count_} * sizeof(T); }

  char* base_ = nullptr;
  std::uint32_t count_ = 0;
};

// A list that grows in a mapped file; safe for concurrent use. Head counts in `used`, and T has a `what`
// that is stored last: it publishes the rest. One that stays 0 was claimed by a process that died.
template <class Head, class T, std::uint32_t Room>
class growing {
 public:
  growing() = default;
  explicit growing(const std::string& path) : file_(path, Room) {}

  Head& head() const { return file_.head(); }

  // Calls fill(T&) and then publishes it as `what`.
  template <class What, class Fill>
  void add(What what, Fill fill) const {
    const std::uint32_t i = head().used.fetch_add(1);
    if (i >= Room) return;  // seen by complete()
    fill(file_[i]);
    file_[i].what.store(what, std::memory_order_release);
  }

  bool complete() const { return head().used <= Room; }
  template <class Look>
  void for_each(Look look) const {
    const std::uint32_t used = std::min<std::uint32_t>(head().used, Room);
    for (std::uint32_t i = 0; i < used; ++i) {
      const auto what = file_[i].what.load(std::memory_order_acquire);
      if (what != decltype(what){}) look(what, file_[i]);
    }
  }

 private:
  mapped<Head, T> file_;
};

}  // namespace afar::torture
