#include "support/zookeeper_proxy.hpp"

#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace afar::test {
namespace {

std::int32_t number_at(const std::string& frame, std::size_t at) {
  std::uint32_t n = 0;
  if (frame.size() < at + sizeof n) return 0;
  std::memcpy(&n, frame.data() + at, sizeof n);
  return static_cast<std::int32_t>(ntohl(n));
}

std::string big_endian(std::uint64_t n, int bytes) {
  std::string out;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    out += static_cast<char>(n >> static_cast<unsigned>(shift) & 0xffU);
  return out;
}

std::string framed(const std::string& body) { return big_endian(body.size(), 4) + body; }

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

void send_all(int fd, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

}  // namespace

zookeeper_proxy::zookeeper_proxy(std::uint16_t server)
    : server_(server), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error{"cannot listen"};
  port_ = ntohs(at.sin_port);
  thread_ = std::thread{[this] { run(); }};
}

zookeeper_proxy::~zookeeper_proxy() {
  {
    const std::lock_guard lock{m_};
    closing_ = true;
  }
  wake();
  thread_.join();
  ::close(listener_);
  ::close(wake_);
}

void zookeeper_proxy::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(wake_, &one, sizeof one);
}

void zookeeper_proxy::strike(loses what, zk_op op, std::string text, int nth) {
  const std::lock_guard lock{m_};
  what_ = what;
  op_ = op;
  text_ = std::move(text);
  nth_ = nth;
  struck_ = false;
}

bool zookeeper_proxy::struck() const {
  const std::lock_guard lock{m_};
  return struck_;
}

void zookeeper_proxy::cut() {
  {
    const std::lock_guard lock{m_};
    cut_ = true;
    for (link& l : links_) l.over = true;
  }
  wake();
}

void zookeeper_proxy::stall() {
  {
    const std::lock_guard lock{m_};
    stalled_ = true;
  }
  wake();
}

bool zookeeper_proxy::holds(const std::string& text) const {
  const std::lock_guard lock{m_};
  return std::ranges::any_of(links_, [&](const link& l) {
    char bytes[16'384];
    const auto n = ::recv(l.client.fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 && std::string_view{bytes, static_cast<std::size_t>(n)}.find(text) !=
                        std::string_view::npos;
  });
}

void zookeeper_proxy::mend() {
  {
    const std::lock_guard lock{m_};
    cut_ = stalled_ = false;
  }
  wake();
}

void zookeeper_proxy::doze(int nth) {
  const std::lock_guard lock{m_};
  dozing_ = nth;
}

// The handshake and the closing in one write: the session moves to this connection and ends with it.
void zookeeper_proxy::end_session() {
  std::string session;
  {
    const std::lock_guard lock{m_};
    session = session_;
  }
  const std::string id = session.substr(0, 8);
  const std::string password = session.substr(8);
  const std::string hello = big_endian(0, 4) + big_endian(0, 8) + big_endian(10'000, 4) + id +
                            big_endian(password.size(), 4) + password + big_endian(0, 1);
  const std::string bye = big_endian(1, 4) + big_endian(static_cast<std::uint32_t>(-11), 4);
  // The server closes the connection when it has done so.
  ask_port(server_, framed(hello) + framed(bye), std::chrono::seconds{5});
}

void zookeeper_proxy::run() {
  for (;;) {
    std::vector<pollfd> fds{{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
    {
      const std::lock_guard lock{m_};
      for (auto at = links_.begin(); at != links_.end();) {
        if (!at->over && !closing_) {
          const bool still = stalled_ || at->dozes;
          fds.push_back({still ? -1 : at->client.fd, POLLIN, 0});  // poll passes over -1
          fds.push_back({still ? -1 : at->server.fd, POLLIN, 0});
          ++at;
          continue;
        }
        ::close(at->client.fd);
        ::close(at->server.fd);
        at = links_.erase(at);
      }
      if (closing_) return;
    }
    ::poll(fds.data(), fds.size(), -1);
    std::uint64_t ignored = 0;
    [[maybe_unused]] const auto n = ::read(wake_, &ignored, sizeof ignored);
    const std::lock_guard lock{m_};
    std::size_t i = 2;
    for (link& l : links_) {
      if (i + 1 >= fds.size()) break;
      if (fds[i].revents != 0 && !l.over && !stalled_) pump(l, true);
      if (fds[i + 1].revents != 0 && !l.over && !stalled_) pump(l, false);
      i += 2;
    }
    if (fds[0].revents != 0) accept_one();
  }
}

void zookeeper_proxy::accept_one() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to = loopback(server_);
  if (cut_ || ::connect(server, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    ::close(client);
    ::close(server);
    return;
  }
  for (link& l : links_) l.dozes = false;
  link& l = links_.emplace_back();
  l.client.fd = client;
  l.server.fd = server;
  l.dozes = dozing_ > 0 && --dozing_ == 0;
}

void zookeeper_proxy::pump(link& l, bool to_server) {
  side& from = to_server ? l.client : l.server;
  const side& to = to_server ? l.server : l.client;
  char bytes[16'384];
  const auto n = ::recv(from.fd, bytes, sizeof bytes, 0);
  if (n <= 0) {
    l.over = true;
    return;
  }
  from.read.append(bytes, static_cast<std::size_t>(n));
  while (from.read.size() >= 4) {
    const auto size = static_cast<std::size_t>(number_at(from.read, 0));
    if (from.read.size() < size + 4) return;
    const std::string frame = from.read.substr(4, size);
    if (!pass(l, to_server, frame)) {
      l.over = true;
      return;
    }
    send_all(to.fd, from.read.substr(0, size + 4));
    from.read.erase(0, size + 4);
  }
}

// False: it is lost here.
bool zookeeper_proxy::pass(link& l, bool to_server, const std::string& frame) {
  bool& greeted = l.greeted[to_server ? 0 : 1];
  if (!greeted) {
    greeted = true;  // protocol, time-out, session, password
    if (!to_server && frame.size() >= 36) session_ = frame.substr(8, 8) + frame.substr(20, 16);
    return true;
  }
  const std::int32_t xid = number_at(frame, 0);
  if (!to_server) {
    if (!l.doomed || *l.doomed != xid) return true;
    struck_ = true;
    return false;
  }
  const bool meant = nth_ > 0 && number_at(frame, 4) == static_cast<std::int32_t>(op_) &&
                     frame.find(text_) != std::string::npos;
  if (!meant || --nth_ > 0) return true;
  if (what_ == loses::request) {
    struck_ = true;
    return false;
  }
  l.doomed = xid;
  return true;
}

}  // namespace afar::test
