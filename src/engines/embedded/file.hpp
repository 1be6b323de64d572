// A file descriptor and a shared mapping that close themselves. Neither does anything in a forked
// child: its owner leaks there on purpose (see fork_mark.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace afar::engines::embedded {

class unique_fd {
 public:
  unique_fd() noexcept = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  unique_fd(const unique_fd&) = delete;
  unique_fd& operator=(const unique_fd&) = delete;
  ~unique_fd() { reset(); }

  void reset() noexcept;
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// The first `bytes` of a file, shared with every process that maps it.
class shared_mapping {
 public:
  shared_mapping(unique_fd file, std::size_t bytes, const std::string& path);  // throws failure
  shared_mapping(const shared_mapping&) = delete;
  shared_mapping& operator=(const shared_mapping&) = delete;
  ~shared_mapping();

  void* data() const noexcept { return data_; }
  int fd() const noexcept { return file_.get(); }

 private:
  unique_fd file_;
  std::size_t bytes_;
  void* data_;
};

// Writes `bytes` of `text` under a temporary name and renames it to `path`, so that `path` is never
// seen half-written. The caller holds the folder's lock: there is one temporary name. Throws failure.
void write_whole(const std::string& path, const void* data, std::size_t bytes);

// The whole of a small file; empty if there is none. Throws failure on any other error.
std::string read_whole(const std::string& path);

}  // namespace afar::engines::embedded
