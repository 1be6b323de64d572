// The protocol: commands as bytes, bytes as replies. hiredis parses; the objects that it builds are
// ours, so that what a hostile server announces is refused before memory is spent on it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace afar::engines::redis {

struct reply {
  enum class type : std::uint8_t { nil, integer, text, error, array };

  type what = type::nil;
  std::int64_t number = 0;
  std::string text = {};  // of text (a status counts as one) and error
  std::vector<reply> items = {};

  bool is(type t) const noexcept { return what == t; }
  bool failed() const noexcept { return what == type::error; }
  // The i-th item; a nil if there is none, so that readers of a wrong answer find nothing.
  const reply& at(std::size_t i) const noexcept;
  // The integer, or the text if it is one as a whole.
  std::optional<std::int64_t> integer() const noexcept;
};

// Appends one command. (hiredis would allocate each one; a command is only counted strings.)
class command {
 public:
  command(std::string& out, std::size_t words);
  command& add(std::string_view w) {
    word(out_, w);
    return *this;
  }
  // One word of a command.
  static void word(std::string& out, std::string_view);
  static void word(std::string& out, std::int64_t);

 private:
  std::string& out_;
};
void append(std::string& out, std::initializer_list<std::string_view> words);

class decoder {
 public:
  static constexpr std::size_t longest_text = std::size_t{64} << 20;
  static constexpr std::size_t most_items = std::size_t{1} << 16;  // in one reply, at all levels

  decoder();  // throws lock_error without hiredis
  ~decoder();
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;

  // False: what came is not the protocol, or larger than any answer of ours; see why(). Nothing
  // works any more then.
  bool feed(std::string_view bytes);  // which stay until next() has returned false
  bool next(reply&);                  // false: no complete reply yet, or broken()
  bool broken() const noexcept { return broken_; }
  const std::string& why() const noexcept { return why_; }

 private:
  bool fail(std::string why);
  bool keep_rest();
  bool next_number(reply&);
  struct freed {
    void operator()(redisReader*) const noexcept;
  };
  std::unique_ptr<redisReader, freed> reader_;
  std::string_view fed_;     // what hiredis has not got yet
  std::size_t waiting_ = 0;  // bytes fed since the last complete reply
  std::size_t items_ = 0;    // announced in the reply that is being read
  bool broken_ = false;
  std::string why_;
};

}  // namespace afar::engines::redis
