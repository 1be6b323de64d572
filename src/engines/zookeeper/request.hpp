// Requests to a server and their answers, as values: what a step sends in one flight.
#pragma once

#include <zookeeper/zookeeper.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace afar::engines::zookeeper {

enum class node_mode : std::uint8_t {  // the wire's numbers
  persistent = 0,
  ephemeral = 1,
  ephemeral_sequential = 3,
  container = 4
};

struct request {
  enum class verb : std::uint8_t { create, remove, set, check, get, exists, children, sync, multi };

  verb what = verb::sync;
  std::string path = {};
  std::string data = {};
  int version = -1;  // any
  node_mode mode = node_mode::persistent;
  std::uint64_t watch = 0;  // get, exists, children: which watch this sets; 0: none
  std::vector<request> parts = {};
};

struct answer {
  int rc = 0;
  std::string text = {};                // the path that was created, or the data
  Stat stat = {};                       // children: of the parent
  std::vector<std::string> names = {};  // children; multi: paths that its parts created
  std::vector<int> parts = {};

  bool ok() const noexcept { return rc == ZOK; }
  std::uint64_t created() const noexcept { return static_cast<std::uint64_t>(stat.czxid); }
};

namespace ask {

inline request create(std::string path, std::string data, node_mode mode) {
  return {.what = request::verb::create,
          .path = std::move(path),
          .data = std::move(data),
          .mode = mode};
}
inline request remove(std::string path, int version = -1) {
  return {.what = request::verb::remove, .path = std::move(path), .version = version};
}
inline request set(std::string path, std::string data, int version = -1) {
  return {.what = request::verb::set,
          .path = std::move(path),
          .data = std::move(data),
          .version = version};
}
inline request check(std::string path, int version = -1) {
  return {.what = request::verb::check, .path = std::move(path), .version = version};
}
inline request get(std::string path, std::uint64_t watch = 0) {
  return {.what = request::verb::get, .path = std::move(path), .watch = watch};
}
inline request exists(std::string path, std::uint64_t watch = 0) {
  return {.what = request::verb::exists, .path = std::move(path), .watch = watch};
}
inline request children(std::string path, std::uint64_t watch = 0) {
  return {.what = request::verb::children, .path = std::move(path), .watch = watch};
}
// Everything that was done before at the leader is seen by what follows.
inline request sync(std::string path) {
  return {.what = request::verb::sync, .path = std::move(path)};
}
// All or nothing.
inline request multi(std::vector<request> parts) {
  return {.what = request::verb::multi, .parts = std::move(parts)};
}

}  // namespace ask
}  // namespace afar::engines::zookeeper
