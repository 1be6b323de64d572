#include "config.hpp"

#include "failure.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

namespace afar::cli {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const auto from = text.find_first_not_of(blanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

std::optional<std::string> whole(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return {};
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

// Only blanks or a comment may follow a value.
bool nothing_more(std::string_view text) noexcept {
  const auto rest = trimmed(text);
  return rest.empty() || rest.front() == '#';
}

class reader {
 public:
  explicit reader(const std::string& file) : file_(file) {}

  config read(std::string_view text) {
    for (line_ = 1; !text.empty(); ++line_) {
      const auto end = text.find('\n');
      take(trimmed(text.substr(0, end)));
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw failure{exit_code::configuration, file_ + ":" + std::to_string(line_) + ": " + why};
  }

  void take(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    if (line.front() == '[') return begin_table(line);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) fail("neither [contexts.name] nor key = \"value\"");
    const auto key = trimmed(line.substr(0, equals));
    store(key, string_in(trimmed(line.substr(equals + 1))));
  }

  void begin_table(std::string_view line) {
    const auto end = line.find(']');
    if (end == std::string_view::npos || !nothing_more(line.substr(end + 1)))
      fail("a table is written [contexts.name]");
    auto name = trimmed(line.substr(1, end - 1));
    constexpr std::string_view contexts = "contexts.";
    if (!name.starts_with(contexts)) fail("the only tables are [contexts.name]");
    name.remove_prefix(contexts.size());
    if (name.size() > 1 && name.front() == '"' && name.back() == '"')
      name = name.substr(1, name.size() - 2);
    if (name.empty()) fail("the context has no name");
    at_ = &out_.contexts[std::string{name}];
  }

  void store(std::string_view key, std::string value) {
    if (at_ == nullptr && key == "default")
      out_.default_context = std::move(value);
    else if (at_ != nullptr && key == "url")
      at_->url = std::move(value);
    else if (at_ != nullptr && key == "url_file")
      at_->url_file = std::move(value);
    else
      fail(at_ == nullptr ? "the only key outside of a table is default"
                          : "the keys of a context are url and url_file");
  }

  // "basic, with \" and \\" or 'literal'.
  std::string string_in(std::string_view text) const {
    if (text.empty() || (text.front() != '"' && text.front() != '\''))
      fail("the value must be a string in quotes");
    const char quote = text.front();
    std::string out;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == quote) {
        if (!nothing_more(text.substr(i + 1))) fail("something follows the value");
        return out;
      }
      if (quote == '"' && text[i] == '\\') {
        ++i;
        if (i == text.size() || (text[i] != '"' && text[i] != '\\'))
          fail("only \\\" and \\\\ may be escaped");
      }
      out += text[i];
    }
    fail("the closing quote is missing");
  }

  const std::string& file_;
  std::size_t line_ = 0;
  config out_;
  config::place* at_ = nullptr;
};

}  // namespace

config parse_config(std::string_view text, const std::string& file) {
  return reader{file}.read(text);
}

std::string config_path() {
  const char* base = std::getenv("XDG_CONFIG_HOME");
  if (base != nullptr && base[0] == '/') return std::string{base} + "/afar/config.toml";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string{home} + "/.config/afar/config.toml";
  return {};
}

config read_config() {
  const auto path = config_path();
  if (path.empty()) return {};
  const auto text = whole(path);
  if (text) return parse_config(*text, path);
  if (errno == ENOENT || errno == ENOTDIR) return {};
  throw failure{exit_code::configuration, "cannot read " + path + ": " + std::strerror(errno)};
}

std::string read_url_file(const std::string& path) {
  const auto text = whole(path);
  if (!text)
    throw failure{exit_code::configuration, "cannot read " + path + ": " + std::strerror(errno)};
  const auto url = trimmed(std::string_view{*text}.substr(0, text->find('\n')));
  if (url.empty()) throw failure{exit_code::configuration, path + " has no URL in its first line"};
  return std::string{url};
}

}  // namespace afar::cli
