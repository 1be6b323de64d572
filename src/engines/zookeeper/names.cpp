#include "engines/zookeeper/names.hpp"

#include <sys/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace afar::engines::zookeeper {
namespace {

constexpr std::size_t guid_size = 36;
constexpr std::string_view hex = "0123456789ABCDEF";

constexpr bool plain(char c) noexcept { return c > ' ' && c < '\x7f' && c != '/' && c != '%'; }

int digit(char c) noexcept {
  const auto at = hex.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

void escape(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += hex[byte >> 4U];
  out += hex[byte & 0xfU];
}

// ZooKeeper's own rules for a path, and not afar's folder.
bool legal(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.back() == '/') return false;
  if (std::ranges::any_of(path, [](char c) { return c < ' ' || c == '\x7f'; })) return false;
  for (std::size_t from = 0; from <= path.size();) {
    const auto to = std::min(path.find('/', from), path.size());
    const auto segment = path.substr(from, to - from);
    if (segment.empty() || segment == "." || segment == ".." || segment.front() == '%')
      return false;
    from = to + 1;
  }
  return true;
}

std::optional<std::int64_t> sequence(std::string_view digits) {
  std::int64_t n = 0;
  const auto got = std::from_chars(digits.begin(), digits.end(), n);
  if (digits.empty() || got.ec != std::errc{} || got.ptr != digits.end()) return std::nullopt;
  return n;
}

struct form {
  std::string_view text;
  marker is;
};
// kazoo writes __lock__ and __rlock__; Curator the others.
constexpr form forms[] = {{"__READ__", marker::read}, {"__WRIT__", marker::write},
                          {"__lock__", marker::lock}, {"lock-", marker::lock},
                          {"latch-", marker::latch},  {"lease-", marker::lease}};

// As Curator writes it; not of a member or a foreign node.
std::string_view text_of(marker m) {
  return std::ranges::find_if(forms,
                              [&](const form& f) { return f.is == m && f.text != "__lock__"; })
      ->text;
}

bool is_guid(std::string_view s) {
  const auto ok = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
  };
  return (s.size() == guid_size || s.size() == 32) && std::ranges::all_of(s, ok);
}

}  // namespace

std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (plain(c))
      out += c;
    else
      escape(out, c);
  }
  if (name != "." && name != "..") return out;
  out.clear();
  for (const char c : name) escape(out, c);
  return out;
}

std::optional<std::string> unescaped(std::string_view segment) {
  std::string out;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      out += segment[i];
      continue;
    }
    if (i + 2 >= segment.size()) return std::nullopt;
    const int high = digit(segment[i + 1]);
    const int low = digit(segment[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::optional<std::string> path_of(const target& to, std::string_view name) {
  if (!to.names_are_paths) return to.base + '/' + escaped(name);
  if (!legal(name)) return std::nullopt;
  return to.base + '/' + std::string{name};
}

std::string tickets_folder(const target& to) { return to.base + "/%tickets"; }

contender read_contender(std::string_view node) {
  contender c{.name = node};
  for (const form& f : forms) {
    const auto at = node.rfind(f.text);
    if (at == std::string_view::npos) continue;
    const auto n = sequence(node.substr(at + f.text.size()));
    if (!n) continue;
    c.is = f.is;
    c.order = *n;
    return c;
  }
  if (is_guid(node)) c.is = marker::member;
  return c;
}

spi::kind kind_of(marker m) noexcept {
  switch (m) {
    case marker::read:
    case marker::write:
      return spi::kind::shared_mutex;
    case marker::latch:
      return spi::kind::election;
    case marker::lease:
      return spi::kind::permits;
    case marker::member:
      return spi::kind::barrier;
    case marker::lock:
    case marker::foreign:
      break;
  }
  return spi::kind::mutex;
}

std::string protected_prefix(std::string_view guid) { return fmt::format("_c_{}-", guid); }

std::string node_prefix(std::string_view guid, marker m) {
  return fmt::format("_c_{}-{}", guid, text_of(m));
}

std::string node_prefix(std::string_view folder, std::string_view guid, marker m) {
  return fmt::format("{}/_c_{}-{}", folder, guid, text_of(m));
}

std::string downgraded_node(std::string_view guid, std::string_view write_node) {
  constexpr std::string_view write = "__WRIT__";
  const auto digits = write_node.substr(write_node.rfind(write) + write.size());
  return node_prefix(guid, marker::read).append(digits);
}

std::string watch_key(std::string_view folder, const contender& c) {
  return fmt::format("n{}/{}", folder, c.name);
}

std::string new_guid() {
  spi::owner_id bits;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits)
    throw lock_error{errc::unavailable, "zookeeper", "the kernel gives no random numbers"};
  char text[spi::owner_id::longest_text];
  bits.print(text);
  return {text, guid_size};
}

}  // namespace afar::engines::zookeeper
