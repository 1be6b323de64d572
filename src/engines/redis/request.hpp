// One command on its way. Answered or failed exactly once, by whoever reads the connection, with no
// lock held.
#pragma once

#include "engines/redis/resp.hpp"
#include "engines/redis/script.hpp"

#include <afar/spi/engine.hpp>

#include <memory>
#include <string>
#include <utility>

namespace afar::engines::redis {

class link;

// One connection of a link.
struct route {
  std::shared_ptr<link> over = {};
  std::uint64_t connection = 0;
};

class request {
 public:
  explicit request(spi::time_point limit) : by(limit) {}
  request(const request&) = delete;
  request& operator=(const request&) = delete;
  virtual ~request() = default;

  virtual void answer(reply&&) noexcept = 0;
  virtual void fail(spi::status) noexcept = 0;

  const spi::time_point by;
  const script* code = nullptr;  // null: `words` is a whole command
  std::size_t count = 0;         // words in `words`
  std::string words;             // behind "EVALSHA <sha>": number of keys, keys, arguments

  // Where in `words` a moment stands, in microseconds, of 16 digits: of the server's clock when the
  // connection was made, if that is later. 0: nowhere.
  std::size_t moment_at = 0;

  bool may_linger = false;      // for a moment, until something else is sent
  bool asking = false;          // in a cluster: the slot is on its way to this server
  int detours = 0;              // how many servers have sent it elsewhere
  std::uint64_t only_over = 0;  // fails over any other connection of the link; 0: all
  std::shared_ptr<route> sent_over = nullptr;  // filled in where somebody has to know

  void write_to(std::string& out, bool whole_script, std::string_view connected) const;
};

// Calls `give(status, reply)`, once.
template <class Give>
class call final : public request {
 public:
  call(spi::time_point limit, Give give) : request(limit), give_(std::move(give)) {}
  void answer(reply&& r) noexcept override { give_(spi::status{}, std::move(r)); }
  void fail(spi::status s) noexcept override { give_(std::move(s), reply{}); }

 private:
  Give give_;
};

template <class Give>
std::unique_ptr<request> make_request(spi::time_point by, Give give) {
  return std::make_unique<call<Give>>(by, std::move(give));
}

// Fills in a script's keys and arguments.
class arguments {
 public:
  arguments(request& to, const script& code, std::size_t keys, std::size_t others);
  arguments& add(std::string_view word);
  arguments& add(std::int64_t n);
  arguments& add(std::uint64_t n) { return add(static_cast<std::int64_t>(n)); }
  arguments& add(spi::milliseconds d) { return add(std::int64_t{d.count()}); }
  arguments& add_words(std::string_view ready) {  // by command::word
    out_.append(ready);
    return *this;
  }
  arguments& add(char sign) { return add(std::string_view{&sign, 1}); }

 private:
  std::string& out_;
};

}  // namespace afar::engines::redis
