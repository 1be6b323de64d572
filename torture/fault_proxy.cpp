#include "torture/fault_proxy.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace afar::torture {
namespace {

constexpr std::size_t most_going = std::size_t{1} << 20;  // then the sender has to wait

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

struct malformed {};

// Where the value of Redis's protocol ends that begins at `at`; nothing: it is not all there.
std::optional<std::size_t> end_of(const std::string& text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  const std::size_t line = text.find("\r\n", at);
  if (std::string_view{"+-:$*"}.find(text[at]) == std::string_view::npos) throw malformed{};
  if (line == std::string::npos) return std::nullopt;
  std::size_t end = line + 2;
  if (text[at] != '$' && text[at] != '*') return end;
  const long count = std::strtol(text.c_str() + at + 1, nullptr, 10);
  if (text[at] == '$') {
    if (count >= 0) end += static_cast<std::size_t>(count) + 2;
    return end <= text.size() ? std::optional{end} : std::nullopt;
  }
  for (long i = 0; i < count; ++i) {
    const auto next = end_of(text, end);
    if (!next) return std::nullopt;
    end = *next;
  }
  return end;
}

}  // namespace

fault_proxy::fault_proxy(std::uint16_t server) : fault_proxy("127.0.0.1", server) {}

fault_proxy::fault_proxy(const std::string& host, std::uint16_t port)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0)
    throw std::runtime_error{"no host " + host};
  std::memcpy(&server_, found->ai_addr, found->ai_addrlen);
  server_size_ = found->ai_addrlen;
  ::freeaddrinfo(found);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(listener_, 128) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error{"the proxy has no port"};
  port_ = ntohs(at.sin_port);
  thread_ = std::thread{[this] { run(); }};
}

fault_proxy::~fault_proxy() {
  {
    const std::lock_guard lock{m_};
    closing_ = true;
  }
  wake();
  thread_.join();
  for (link& l : links_) end(l, false);
  ::close(listener_);
  ::close(wake_);
}

void fault_proxy::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

// ---- verbs --------------------------------------------------------------------------------------

void fault_proxy::strike(mishap what, std::vector<std::string> texts, int nth) {
  const std::lock_guard lock{m_};
  what_ = what;
  texts_ = std::move(texts);
  nth_ = nth;
  struck_ = false;
}

bool fault_proxy::struck() const {
  const std::lock_guard lock{m_};
  return struck_;
}

void fault_proxy::lose_answers(int times, mishap how) {
  const std::lock_guard lock{m_};
  to_lose_ = times;
  losing_by_ = how;
}

int fault_proxy::lost() const {
  const std::lock_guard lock{m_};
  return lost_;
}

void fault_proxy::delay(std::chrono::milliseconds d) {
  const std::lock_guard lock{m_};
  delay_ = d;
}

void fault_proxy::narrow(std::uint32_t bytes_per_second) {
  const std::lock_guard lock{m_};
  rate_ = bytes_per_second;
  wake();
}

void fault_proxy::hold(way w) {
  const std::lock_guard lock{m_};
  for (link& l : links_) (w == way::to_server ? l.up : l.down).held = true;
  wake();
}

void fault_proxy::hold_answers_from(int nth) {
  const std::lock_guard lock{m_};
  said_until_hold_ = nth;
}

void fault_proxy::heal() {
  const std::lock_guard lock{m_};
  said_until_hold_ = 0;
  for (link& l : links_) l.up.held = l.down.held = false;
  wake();
}

bool fault_proxy::waiting(way w) const {
  const std::lock_guard lock{m_};
  return std::ranges::any_of(links_, [&](const link& l) {
    const direction& d = w == way::to_server ? l.up : l.down;
    pollfd readable{d.from, POLLIN, 0};
    return !l.over && d.held && ::poll(&readable, 1, 0) == 1;
  });
}

void fault_proxy::half_close(way w) {
  const std::lock_guard lock{m_};
  for (link& l : links_) (w == way::to_server ? l.up : l.down).read_end = true;
  wake();
}

void fault_proxy::reset() {
  const std::lock_guard lock{m_};
  for (link& l : links_) end(l, true);
  wake();
}

// ---- the thread ---------------------------------------------------------------------------------

void fault_proxy::run() {
  for (;;) {
    std::vector<pollfd> fds{{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
    std::vector<std::pair<link*, direction*>> who;
    auto next = clock::now() + std::chrono::seconds{1};
    {
      const std::lock_guard lock{m_};
      if (closing_) return;
      std::erase_if(links_, [](const link& l) { return l.over; });
      const auto now = clock::now();
      for (link& l : links_)
        for (direction* d : {&l.up, &l.down}) {
          std::size_t bytes = 0;
          for (const chunk& c : d->going) bytes += c.bytes.size();
          const auto goes = d->going.empty() ? now : std::max(d->going.front().due, d->free_at);
          const bool due = !d->going.empty() && goes <= now;
          if (goes > now) next = std::min(next, goes);
          if (d->held) continue;
          if (!d->read_end && bytes < most_going) {
            fds.push_back({d->from, POLLIN, 0});
            who.emplace_back(&l, d);
          }
          if (due || (d->going.empty() && d->read_end && !d->write_end)) {
            fds.push_back({d->to, POLLOUT, 0});
            who.emplace_back(&l, d);
          }
        }
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()).count();
    ::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(wait, 0)));
    const std::lock_guard lock{m_};
    std::uint64_t count = 0;
    (void)!::read(wake_, &count, sizeof count);
    if (fds[0].revents != 0) accept_one();
    for (std::size_t i = 2; i < fds.size(); ++i) {
      auto& [l, d] = who[i - 2];
      if (fds[i].revents == 0 || l->over || d->held) continue;  // a verb may have come meanwhile
      if (fds[i].events == POLLIN)
        read(*l, *d);
      else
        write(*l, *d);
    }
  }
}

void fault_proxy::accept_one() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = ::socket(server_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{2, 0};  // a server that is away must not hold up the others' connections
  ::setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&server_), server_size_) != 0) {
    ::close(server);
    ::close(client);
    return;
  }
  const int on = 1;
  for (const int fd : {client, server}) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  link& l = links_.emplace_back();
  l.up.from = l.down.to = client;
  l.up.to = l.down.from = server;
}

void fault_proxy::read(link& l, direction& d) {
  if (d.read_end) return;
  char bytes[16384];
  const auto n = ::recv(d.from, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) return end(l, false);
  if (n == 0) {
    d.read_end = true;
    return;
  }
  if (&d == &l.up && said_until_hold_ > 0) {
    --said_until_hold_;
    if (said_until_hold_ == 0) l.down.held = true;
  }
  if (d.cut_after) return;
  d.unframed.append(bytes, static_cast<std::size_t>(n));
  if (&d == &l.down && to_lose_ > 0 && (losing_by_ != mishap::garble || !d.raw)) {
    --to_lose_;
    ++lost_;
    std::string came = std::exchange(d.unframed, {});
    if (spoil(l, came, losing_by_)) d.going.push_back({clock::now() + delay_, std::move(came)});
    return;
  }
  try {
    while (!d.raw && !l.over) {
      const auto size = end_of(d.unframed, 0);
      if (!size) return;
      std::string frame = d.unframed.substr(0, *size);
      d.unframed.erase(0, *size);
      take(l, d, std::move(frame));
    }
  } catch (const malformed&) {
    d.raw = true;
  }
  if (d.raw) d.going.push_back({clock::now() + delay_, std::exchange(d.unframed, {})});
}

void fault_proxy::take(link& l, direction& d, std::string frame) {
  if (&d == &l.down) return answer(l, std::move(frame));
  l.asked.push_back(frame);
  d.going.push_back({clock::now() + delay_, std::move(frame)});
}

bool fault_proxy::matches(const std::string& request) const {
  return std::ranges::all_of(
      texts_, [&](const std::string& t) { return request.find(t) != std::string::npos; });
}

void fault_proxy::answer(link& l, std::string frame) {
  bool hit = false;
  if (!l.asked.empty()) {  // else a message of a subscription
    const bool counts = nth_ > 0 && matches(l.asked.front()) && !frame.starts_with("-NOSCRIPT");
    if (counts) --nth_;
    hit = counts && nth_ == 0;
    l.asked.pop_front();
  }
  if (hit) {
    struck_ = true;
    if (!spoil(l, frame, what_)) return;
  }
  l.down.going.push_back({clock::now() + delay_, std::move(frame)});
}

// Whether anything is left of it.
bool fault_proxy::spoil(link& l, std::string& bytes, mishap how) {
  switch (how) {
    case mishap::drop:
      end(l, false);
      return false;
    case mishap::truncate:
      bytes.resize(bytes.size() / 2);
      l.down.cut_after = true;
      return true;
    case mishap::garble:
      std::ranges::fill(bytes, '\x7f');
      return true;
  }
  return true;
}

void fault_proxy::write(link& l, direction& d) {
  for (auto now = clock::now(); !d.going.empty() && std::max(d.going.front().due, d.free_at) <= now;
       now = clock::now()) {
    std::string& bytes = d.going.front().bytes;
    // A narrow way: what goes in 10 ms.
    const auto most =
        rate_ == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), rate_ / 100 + 1);
    const auto n = ::send(d.to, bytes.data(), most, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) return end(l, false);
    if (rate_ != 0) d.free_at = now + n * std::chrono::nanoseconds{1'000'000'000} / rate_;
    bytes.erase(0, static_cast<std::size_t>(n));
    if (!bytes.empty() && rate_ != 0) continue;
    if (!bytes.empty()) return;
    d.going.pop_front();
  }
  if (!d.going.empty()) return;
  if (d.cut_after) return end(l, false);
  if (!d.read_end || std::exchange(d.write_end, true)) return;
  ::shutdown(d.to, SHUT_WR);
  if (l.up.write_end && l.down.write_end) end(l, false);
}

void fault_proxy::end(link& l, bool with_reset) {
  if (std::exchange(l.over, true)) return;
  for (const int fd : {l.up.from, l.up.to}) {
    const linger now{.l_onoff = 1, .l_linger = 0};
    if (with_reset) ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(fd);
  }
}

}  // namespace afar::torture
