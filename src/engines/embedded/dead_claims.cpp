#include "engines/embedded/dead_claims.hpp"

#include "engines/embedded/stored.hpp"

#include <algorithm>
#include <string>

namespace afar::engines::embedded {
namespace {

constexpr std::size_t names_per_visit = 64;  // the gate is held for microseconds
constexpr char name_mark = static_cast<char>(key_kind::name);

void count(const envelope& where, const records::moment& m, dead_claims& out) {
  records::claims c;
  if (where.family() != family::claims || !decode(where.valid(), c)) return;
  bool found = false;
  const auto look = [&](const auto& x) {
    if (x.session == 0 || x.session == m.session || (*m.alive)(x.session)) return;
    out.sessions.insert(x.session);
    found = true;
  };
  std::ranges::for_each(c.holders, look);
  std::ranges::for_each(c.line, look);
  if (found) ++out.names;
}

// From `at` on; `at` becomes the key to go on with, or empty at the shard's end.
void visit(environment& env, const records::moment& m, std::string& at, dead_claims& out) {
  environment::view view{env};
  std::size_t seen = 0;
  for (auto item = view.first_from(at); item && item->key[0] == name_mark; item = view.next()) {
    if (seen++ == names_per_visit) {
      at = item->key;
      return;
    }
    const std::string name{envelope::name_of(item->value, item->key)};
    count(envelope{item->value, name}, m, out);
  }
  at.clear();
}

}  // namespace

spi::status find_dead(store& in, spi::time_point by, dead_claims& out) {
  for (std::size_t shard = 0; shard < shard_count; ++shard) {
    std::string at{name_mark};
    while (!at.empty()) {
      auto failed = in.step(shard, by, [&](environment& env, const records::moment& m) {
        visit(env, m, at, out);
        return spi::status{};
      });
      if (failed) return failed;
    }
  }
  return {};
}

}  // namespace afar::engines::embedded
