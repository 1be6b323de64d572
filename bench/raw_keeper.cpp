#include "raw_keeper.hpp"

#include "crowd.hpp"
#include "engines/zookeeper/library.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace bench {

namespace {

using afar::engines::zookeeper::the_library;

constexpr int ephemeral_sequential = 3;
constexpr int persistent = 0;  // a container goes when it is empty for a moment
char world[] = "world";
char anyone[] = "anyone";
ACL for_all{31, {world, anyone}};
const ACL_vector open_acl{1, &for_all};

}  // namespace

raw_keeper::raw_keeper(const std::string& servers) {
  handle_ = the_library().init(
      servers.c_str(), [](zhandle_t*, int, int, const char*, void*) {}, 30'000, nullptr, nullptr,
      0);
  if (!handle_) throw std::runtime_error("libzookeeper has no memory");
  const auto nothing = [](int, const char*, const Stat*, const void*) {};
  the_library().acreate2(handle_, "/raw", "", 0, &open_acl, persistent, nothing, nullptr);
  for (std::size_t i = 0; i < callers; ++i) {
    const std::string folder = fmt::format("/raw/{}", i);
    the_library().acreate2(handle_, folder.c_str(), "", 0, &open_acl, persistent, nothing, nullptr);
    slots_.push_back({*this, folder + "/_c_4f456e98-6515-45cf-ad1f-f2ffbdb4fe28-lock-"});
  }
}

raw_keeper::~raw_keeper() { the_library().close(handle_); }

void raw_keeper::check(int rc) {
  if (rc != ZOK) failed_ = rc;
}

void raw_keeper::begin(slot& s) {
  check(the_library().acreate2(handle_, s.prefix.c_str(), "127.0.0.1", 9, &open_acl,
                               ephemeral_sequential, &raw_keeper::created, &s));
}

void raw_keeper::created(int rc, const char* path, const Stat*, const void* of) {
  slot& s = *static_cast<slot*>(const_cast<void*>(of));
  s.of.check(rc);
  if (rc == ZOK)
    s.of.check(the_library().adelete(s.of.handle_, path, -1, &raw_keeper::removed, &s));
  else
    --s.of.busy_;
}

void raw_keeper::removed(int rc, const void* of) {
  slot& s = *static_cast<slot*>(const_cast<void*>(of));
  s.of.check(rc);
  if (rc == ZOK) ++s.of.done_;
  if (rc == ZOK && !s.of.over_)
    s.of.begin(s);
  else
    --s.of.busy_;
}

double raw_keeper::run(nanoseconds time) {
  done_ = 0;
  over_ = false;
  busy_ = slots_.size();
  const auto start = now_ns();
  for (slot& s : slots_) begin(s);
  sleep_for(time);
  over_ = true;
  while (busy_ > 0 && failed_ == 0) sleep_for(std::chrono::microseconds(100));
  if (failed_ != 0) throw std::runtime_error(fmt::format("libzookeeper: {}", failed_.load()));
  return static_cast<double>(done_.load()) * 1e9 / static_cast<double>(now_ns() - start);
}

}  // namespace bench
