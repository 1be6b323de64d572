#include "engines/redis/resp.hpp"

#include "engines/client_library.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace afar::engines::redis {
namespace {

// Where hiredis wants the next object: a slot of its parent, or a new root.
reply* place(const redisReadTask* task) noexcept {
  if (!task->parent) return new (std::nothrow) reply;
  auto* parent = static_cast<reply*>(task->parent->obj);
  const auto at = static_cast<std::size_t>(task->idx);
  return at < parent->items.size() ? &parent->items[at] : nullptr;
}

// hiredis is C: nothing may be thrown through it. Null makes it stop with an error.
template <class Fill>
void* make(const redisReadTask* task, Fill fill) noexcept {
  reply* r = place(task);
  if (!r) return nullptr;
  try {
    fill(*r);
    return r;
  } catch (...) {
    if (!task->parent) delete r;
    return nullptr;
  }
}

void* make_text(const redisReadTask* task, char* bytes, std::size_t size) {
  return make(task, [&](reply& r) {
    r.what = task->type == REDIS_REPLY_ERROR ? reply::type::error : reply::type::text;
    r.text.assign(bytes, size);
  });
}
void* make_array(const redisReadTask* task, int size) {
  // A few bytes announce a level that would cost megabytes, so all of them count together.
  auto& announced = *static_cast<std::size_t*>(task->privdata);
  if (size < 0 || static_cast<std::size_t>(size) > decoder::most_items - announced) return nullptr;
  announced += static_cast<std::size_t>(size);
  return make(task, [&](reply& r) {
    r.what = reply::type::array;
    r.items.resize(static_cast<std::size_t>(size));
  });
}
void* make_integer(const redisReadTask* task, long long n) {
  return make(task, [&](reply& r) {
    r.what = reply::type::integer;
    r.number = n;
  });
}
void* make_nil(const redisReadTask* task) {
  return make(task, [](reply&) {});
}
void free_reply(void* r) { delete static_cast<reply*>(r); }  // only ever called for a root

#define AFAR_TEXT_(x) #x
#define AFAR_TEXT(x) AFAR_TEXT_(x)
#define AFAR_HIREDIS(name) decltype(::name)* const name = library.function<decltype(::name)>(#name)

// Of exactly the version that we were compiled with: we look into its reader.
struct hiredis {
  const client_library library{"libhiredis.so." AFAR_TEXT(HIREDIS_SONAME),
                               "libhiredis" AFAR_TEXT(HIREDIS_SONAME)};
  AFAR_HIREDIS(redisReaderCreateWithFunctions);
  AFAR_HIREDIS(redisReaderFeed);
  AFAR_HIREDIS(redisReaderGetReply);
  AFAR_HIREDIS(redisReaderFree);
};

const hiredis& codec() {
  static const hiredis loaded;
  return loaded;
}

redisReplyObjectFunctions functions{make_text, make_array, make_integer, make_nil, free_reply};

const reply nothing;

// At most 22 bytes: a sign, a number and the end of a line.
char* head(char* at, char sign, std::size_t n) noexcept {
  *at++ = sign;
  at = std::to_chars(at, at + 20, n).ptr;
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

// (std::string::append of two pointers takes the long way through a temporary.)
std::string_view between(const char* from, const char* to) noexcept {
  return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

const reply& reply::at(std::size_t i) const noexcept {
  return i < items.size() ? items[i] : nothing;
}

std::optional<std::int64_t> reply::integer() const noexcept {
  if (what == type::integer) return number;
  if (what != type::text) return std::nullopt;
  std::int64_t n = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, n);
  return failed == std::errc{} && stop == end ? std::optional{n} : std::nullopt;
}

command::command(std::string& out, std::size_t words) : out_(out) {
  char text[32];
  out += between(text, head(text, '*', words));
}

void command::word(std::string& out, std::string_view w) {
  constexpr std::size_t small = 100;
  char text[32 + small];
  char* at = head(text, '$', w.size());
  if (w.size() > small) {
    ((out += between(text, at)) += w) += "\r\n";
    return;
  }
  at = std::ranges::copy(w, at).out;
  *at++ = '\r';
  *at++ = '\n';
  out += between(text, at);
}

void command::word(std::string& out, std::int64_t n) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, n).ptr;
  word(out, std::string_view{text, end});
}

void append(std::string& out, std::initializer_list<std::string_view> words) {
  command c{out, words.size()};
  for (const std::string_view w : words) c.add(w);
}

void decoder::freed::operator()(redisReader* r) const noexcept { codec().redisReaderFree(r); }

decoder::decoder() : reader_(codec().redisReaderCreateWithFunctions(&functions)) {
  if (!reader_) throw std::bad_alloc{};
  reader_->privdata = &items_;
}
decoder::~decoder() = default;

bool decoder::fail(std::string why) {
  broken_ = true;
  why_ = std::move(why);
  return false;
}

bool decoder::feed(std::string_view bytes) {
  if (broken_) return false;
  fed_ = bytes;
  return waiting_ == 0 || keep_rest();
}

// Hands over to hiredis.
bool decoder::keep_rest() {
  const auto bytes = std::exchange(fed_, {});
  waiting_ += bytes.size();
  if (waiting_ > longest_text) return fail("an answer of more than 64 MiB");
  if (codec().redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK)
    return fail(reader_->errstr);
  return true;
}

// Most answers are a number of at most 18 digits, and come whole.
bool decoder::next_number(reply& out) {
  constexpr std::size_t longest = 18;
  if (!fed_.starts_with(':')) return false;
  std::int64_t n = 0;
  std::size_t at = 1;
  for (; at < fed_.size() && at <= longest && fed_[at] >= '0' && fed_[at] <= '9'; ++at)
    n = n * 10 + (fed_[at] - '0');
  const bool odd = at == 1 || (fed_[1] == '0' && at > 2);  // hiredis shall say what it thinks of it
  if (odd || fed_.substr(at, 2) != "\r\n") return false;
  fed_.remove_prefix(at + 2);
  out = {.what = reply::type::integer, .number = n};
  return true;
}

bool decoder::next(reply& out) {
  if (broken_) return false;
  if (!fed_.empty()) {
    if (next_number(out)) return true;
    if (!keep_rest()) return false;
  }
  if (waiting_ == 0) return false;
  void* made = nullptr;
  if (codec().redisReaderGetReply(reader_.get(), &made) != REDIS_OK) return fail(reader_->errstr);
  if (!made) return false;
  const std::unique_ptr<reply> root{static_cast<reply*>(made)};
  out = std::move(*root);
  waiting_ = reader_->len - reader_->pos;
  items_ = 0;
  return true;
}

}  // namespace afar::engines::redis
