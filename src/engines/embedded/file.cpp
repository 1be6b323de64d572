#include "engines/embedded/file.hpp"

#include "engines/embedded/failure.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace afar::engines::embedded {

void unique_fd::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

shared_mapping::shared_mapping(unique_fd file, std::size_t bytes, const std::string& path)
    : file_(std::move(file)), bytes_(bytes) {
  data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (data_ == MAP_FAILED) throw failure{system_failure(errno, "map " + path)};
}

shared_mapping::~shared_mapping() { ::munmap(data_, bytes_); }

namespace {

void write_all(int fd, const char* data, std::size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t wrote = ::write(fd, data, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw failure{system_failure(errno, "write " + path)};
    data += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
}

}  // namespace

void write_whole(const std::string& path, const void* data, std::size_t bytes) {
  const std::string temporary = path + ".new";
  const unique_fd fd{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  if (!fd) throw failure{system_failure(errno, "create " + temporary)};
  write_all(fd.get(), static_cast<const char*>(data), bytes, temporary);
  if (::fsync(fd.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
    throw failure{system_failure(errno, "write " + path)};
}

std::string read_whole(const std::string& path) {
  const unique_fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd && errno == ENOENT) return {};
  if (!fd) throw failure{system_failure(errno, "open " + path)};
  std::string text;
  char part[512];
  for (;;) {
    const ssize_t got = ::read(fd.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failure{system_failure(errno, "read " + path)};
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace afar::engines::embedded
