#include "engines/embedded/shard.hpp"

#include "engines/embedded/failure.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

namespace afar::engines::embedded {
namespace {
constexpr std::chrono::milliseconds chores_every{100};
}

shard::shard(gate_cell& cell, std::string path, bool durable)
    : door_(cell, ::getpid()), path_(std::move(path)), durable_(durable) {}

environment& shard::opened() {
  if (!env_) env_.emplace(path_, durable_, door_.cell().room);
  return *env_;
}

std::vector<touched> shard::do_chores(const records::moment& now) {
  chores_at_ = now.now + chores_every;
  tidied out;
  caught([&]() -> spi::status {
    chores_from_ = tidy(opened(), chores_from_, now, out);
    return {};
  });
  return std::move(out.found);
}

}  // namespace afar::engines::embedded
