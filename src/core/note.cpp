#include "core/note.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace afar::detail {
namespace {

constexpr std::size_t longest_host = 128;
constexpr std::size_t longest_user = 64;

// At most `most` bytes, without half a UTF-8 character at the end.
std::string_view cut(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

void add_line(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  out.append(key).append("=");
  std::transform(text.begin(), text.end(), std::back_inserter(out), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  });
  out += '\n';
}

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::string user_name() {
  const uid_t uid = ::geteuid();
  std::vector<char> room(16 * 1'024);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found) {
    return found->pw_name;
  }
  return std::to_string(uid);  // containers often have no name for it
}

std::string command_name() {
  std::string words;
  std::ifstream file{"/proc/self/cmdline", std::ios::binary};
  std::getline(file, words, '\0');
  if (words.empty()) {
    std::ifstream comm{"/proc/self/comm"};
    std::getline(comm, words);
  }
  return words.substr(words.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

std::string note::encode() const {
  const auto shown_value = cut(value, longest_value);
  std::string out;
  add_line(out, "host", cut(host, longest_host));
  if (pid != 0) add_line(out, "pid", std::to_string(pid));
  add_line(out, "user", cut(user, longest_user));
  constexpr std::size_t keys = std::string_view{"command=\nlabel=\nvalue="}.size();
  const std::size_t room = longest_note - out.size() - keys - shown_value.size();
  // The label was chosen for others to read, so it is cut last.
  const auto shown_label = cut(label, room);
  add_line(out, "command", cut(command, room - shown_label.size()));
  add_line(out, "label", shown_label);
  if (!shown_value.empty()) out.append("value=").append(shown_value);
  return out;
}

note note::decode(std::string_view text) noexcept {
  note out;
  while (!text.empty()) {
    if (text.starts_with("value=")) {
      out.value = text.substr(6);
      break;
    }
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = line.substr(0, equals);
    const auto content = line.substr(equals + 1);
    if (key == "host") out.host = content;
    if (key == "user") out.user = content;
    if (key == "command") out.command = content;
    if (key == "label") out.label = content;
    if (key == "pid") std::from_chars(content.data(), content.data() + content.size(), out.pid);
  }
  return out;
}

note note::of_this_process(std::string_view label) {
  return {.host = host_name(),
          .pid = ::getpid(),
          .user = user_name(),
          .command = command_name(),
          .label = std::string{label},
          .value = {}};
}

}  // namespace afar::detail
