#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace afar::test {
namespace {

class connection {
 public:
  explicit connection(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~connection() { ::close(fd_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  std::string ask(const std::string& words, int quiet) const {
    if (!open_ || ::send(fd_, words.data(), words.size(), MSG_NOSIGNAL) < 0) return {};
    std::string all;
    pollfd readable{fd_, POLLIN, 0};
    while (::poll(&readable, 1, all.empty() ? std::max(1'000, quiet) : quiet) > 0) {
      char bytes[4096];
      const auto n = ::recv(fd_, bytes, sizeof bytes, 0);
      if (n <= 0) break;
      all.append(bytes, static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  int fd_;
  bool open_ = false;
};

}  // namespace

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error{"no free port"};
  ::close(fd);
  return ntohs(at.sin_port);
}

std::string ask_port(std::uint16_t port, const std::string& words,
                     std::chrono::milliseconds quiet) {
  return connection{port}.ask(words, static_cast<int>(quiet.count()));
}

}  // namespace afar::test
