// Reads a URL from left to right. What cannot be read may be a password in the wrong place, so errors
// quote no part of the URL that lies before the end of the hosts, nor any value of the query.
#include "core/url.hpp"

#include <afar/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace afar::detail {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_alpha(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

// The part before `mark`, which is removed from `text` together with the mark; all if there is none.
std::string_view cut(std::string_view& text, char mark) {
  const auto at = text.find(mark);
  const auto head = text.substr(0, at);
  text = at == npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

class reader {
 public:
  spi::url read(std::string_view text) {
    check_bytes(text);
    std::string_view rest = text;
    read_scheme(rest);
    const bool has_authority = rest.starts_with("//");
    if (has_authority) {
      shown_ = out_.scheme + "://***";
      rest.remove_prefix(2);
      const auto end = std::min(rest.find_first_of("/?"), rest.size());
      read_authority(rest.substr(0, end));
      rest.remove_prefix(end);
      if (end > 0 && rest.find('@') != npos) {
        fail("an '@', '/' or '?' in a password, path or option is written %40, %2F or %3F");
      }
    }
    if (rest.find('#') != npos) fail("a '#' is written %23");
    const auto raw_path = cut(rest, '?');
    out_.printable = out_.scheme + (has_authority ? "://" + authority_ : ":");
    // Without "//" there is no password, but somebody may have forgotten just that.
    const auto at = has_authority ? npos : raw_path.rfind('@');
    out_.printable += at == npos ? std::string{raw_path} : "***" + std::string{raw_path.substr(at)};
    shown_ = out_.printable;
    out_.path = decode(raw_path, "path");
    read_query(rest);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw lock_error(errc::bad_url, shown_, why);
  }

  void check_bytes(std::string_view text) const {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(text.begin(), text.end(), control)) fail("it contains control characters");
  }

  void read_scheme(std::string_view& rest) {
    const auto end = rest.find(':');
    const auto scheme = rest.substr(0, end);
    const auto legal = [](char c) {
      return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
    };
    if (end == npos || scheme.empty() || !is_alpha(scheme[0]) ||
        !std::all_of(scheme.begin(), scheme.end(), legal)) {
      fail("it must start with a scheme, such as local: or file://");
    }
    std::transform(scheme.begin(), scheme.end(), std::back_inserter(out_.scheme), lower);
    shown_ = out_.scheme + ":***";
    rest.remove_prefix(end + 1);
  }

  void read_authority(std::string_view text) {
    const auto at = text.rfind('@');
    if (at != npos) {
      auto password = text.substr(0, at);
      const bool has_password = password.find(':') != npos;
      const auto user = cut(password, ':');
      out_.user = decode(user, "user name");
      out_.password = spi::secret{decode(password, "password")};
      authority_ = std::string{user} + (has_password ? ":***@" : "@");
      text.remove_prefix(at + 1);
      if (text.empty()) fail("the host is missing");
    }
    authority_ += text;
    for (bool more = !text.empty(); more;) {
      more = text.find(',') != npos;
      read_host(cut(text, ','));
    }
  }

  void read_host(std::string_view text) {
    spi::url::host host;
    if (text.starts_with('[')) {
      const auto end = text.find(']');
      if (end == npos) fail("the ']' of an IPv6 address is missing");
      host.name = text.substr(1, end - 1);
      const auto legal = [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; };
      const std::string_view address = std::string_view{host.name}.substr(0, host.name.find('%'));
      if (address.find(':') == npos || !std::all_of(address.begin(), address.end(), legal)) {
        fail("what stands in brackets is not an IPv6 address");
      }
      text.remove_prefix(end + 1);
      if (!text.empty() && !text.starts_with(':'))
        fail("only :port may follow an address in brackets");
    } else {
      host.name = text.substr(0, text.find(':'));
      text.remove_prefix(host.name.size());
      const auto legal = [](char c) {
        return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' ||
               static_cast<unsigned char>(c) >= 0x80;
      };
      if (host.name.empty()) fail("a host is missing");
      if (!std::all_of(host.name.begin(), host.name.end(), legal)) {
        fail("a host name contains a character that no host name has");
      }
    }
    if (!text.empty()) host.port = read_port(text.substr(1));
    out_.hosts.push_back(std::move(host));
  }

  std::uint16_t read_port(std::string_view text) const {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
      fail("a port is a number from 1 to 65535 (and an IPv6 address stands in brackets)");
    }
    return port;
  }

  void read_query(std::string_view rest) {
    char separator = '?';
    while (!rest.empty()) {
      auto value = cut(rest, '&');
      const auto raw_key = cut(value, '=');
      if (raw_key.empty()) fail("an option has no name");
      const auto key = decode(raw_key, "option name");
      if (!out_.options.emplace(key, decode(value, "option \"" + key + "\"")).second) {
        fail("option \"" + key + "\" is given twice");
      }
      const bool hide = key.find("pass") != npos || key.find("secret") != npos;
      out_.printable +=
          separator + std::string{raw_key} + "=" + (hide ? "***" : std::string{value});
      separator = '&';
    }
  }

  std::string decode(std::string_view text, std::string_view where) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        out += text[i];
        continue;
      }
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        fail(std::string{where} +
             ": two hexadecimal digits must follow '%', and '%' itself is %25");
      }
      if (high == 0 && low == 0) fail(std::string{where} + ": %00 is not allowed");
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
    return out;
  }

  spi::url out_;
  std::string authority_;      // as it may be printed
  std::string shown_ = "URL";  // as much as errors may show so far
};

template <class Number>
std::optional<Number> leading_number(std::string_view& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

spi::url parse_url(std::string_view text) { return reader{}.read(text); }

std::chrono::milliseconds parse_duration(std::string_view key, std::string_view text) {
  struct unit {
    std::string_view name;
    std::int64_t milliseconds;
  };
  static constexpr std::array<unit, 5> units{
      {{"ms", 1}, {"s", 1'000}, {"", 1'000}, {"m", 60'000}, {"h", 3'600'000}}};
  std::string_view rest = text;
  const auto count = leading_number<std::int64_t>(rest);
  const auto* const found =
      std::find_if(units.begin(), units.end(), [&](const unit& u) { return u.name == rest; });
  if (!count || *count < 0 || found == units.end() ||
      *count > std::numeric_limits<std::int64_t>::max() / found->milliseconds) {
    throw lock_error(errc::bad_url, std::string{key},
                     "\"" + std::string{text} + "\" is not a time such as 250ms, 10s, 5m or 24h");
  }
  return std::chrono::milliseconds{*count * found->milliseconds};
}

std::uint32_t parse_number(std::string_view key, std::string_view text) {
  std::string_view rest = text;
  const auto value = leading_number<std::uint32_t>(rest);
  if (!value || !rest.empty()) {
    throw lock_error(errc::bad_url, std::string{key},
                     "\"" + std::string{text} + "\" is not a whole number from 0 to 4294967295");
  }
  return *value;
}

}  // namespace afar::detail
