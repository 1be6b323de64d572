#include "engines/embedded/steps.hpp"
#include "engines/embedded/stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace afar::engines::embedded {
namespace {

constexpr std::size_t names_per_visit = 64;  // the gate is held for microseconds
constexpr char name_mark = static_cast<char>(key_kind::name);

spi::entry valued(spi::kind kind, const std::string& name, std::int64_t value) {
  spi::entry out;
  out.kind = kind;
  out.name = name;
  out.value = value;
  return out;
}

// What a record says to people, or nothing if the name is only remembered (a token floor, results).
std::optional<spi::entry> describe(const envelope& where, const std::string& name,
                                   const records::moment& m) {
  switch (where.family()) {
    case family::claims: {
      records::claims c;
      decode_or_fail(where, name, c);
      spi::entry out = records::describe(c, name, m);
      if (out.holders.empty() && out.waiters.empty()) return std::nullopt;
      for (std::size_t i = 0; i < out.history.size(); ++i)
        out.history[i].pid = pid_of(c.history[i].session);
      return out;
    }
    case family::cell: {
      records::cell c;
      decode_or_fail(where, name, c);
      if (!c.exists) return std::nullopt;
      return valued(c.kind, name, c.value);
    }
    case family::ledger: {
      ledger_record r;
      decode_or_fail(where, name, r);
      return valued(spi::kind::stock, name, r.head.remaining);
    }
  }
  return std::nullopt;
}

void add_origin(const folder& where, const site& at, spi::entry& found) {
  found.key = fmt::format("shard-{:02}/n{}", at.shard(), found.name);
  found.format = "native";
  if (found.kind >= spi::kind::counter) return;  // no tokens
  found.token_source = "the last one + 1, or the clock's microseconds; ";
  found.token_source +=
      where.in_memory() ? "after a reboot the calendar's" : "grows across reboots";
}

void add(const environment::view::item& item, const spi::survey_query& query,
         const records::moment& m, spi::survey_reply& reply) {
  const std::string name{envelope::name_of(item.value, item.key)};
  auto found = describe(envelope{item.value, name}, name, m);
  if (found && (!query.kind || *query.kind == found->kind))
    reply.entries.push_back(std::move(*found));
}

spi::status survey_name(store& in, const spi::survey_query& query, spi::time_point by,
                        spi::survey_reply& reply) {
  if (auto refused = check_name(query.name)) return refused;
  const site at{query.name};
  reply.watch_key = watch_key(query.name);
  return in.step(at.shard(), by, [&](environment& env, const records::moment& m) -> spi::status {
    environment::view view{env};
    const key k{key_kind::name, query.name};
    if (const auto value = view.find(k.view())) add({k.view(), *value}, query, m, reply);
    for (auto& found : reply.entries) add_origin(in.where(), at, found);
    return {};
  });
}

// Where to go on: a shard (one byte) and a key in it.
struct position {
  std::size_t shard = 0;
  std::string key{name_mark};

  static position from(std::string_view cursor) {
    position at;
    if (cursor.empty()) return at;
    at.shard = static_cast<unsigned char>(cursor[0]);
    at.key = cursor.substr(1);
    return at;
  }
  std::string text() const { return static_cast<char>(shard) + key; }
  void next_shard() {
    ++shard;
    key = std::string{name_mark};
  }
};

spi::status visit(environment& env, const spi::survey_query& query, const records::moment& m,
                  position& at, spi::survey_reply& reply) {
  environment::view view{env};
  std::size_t seen = 0;
  for (auto item = view.first_from(at.key); item && item->key[0] == name_mark; item = view.next()) {
    if (seen++ == names_per_visit || reply.entries.size() == query.most) {
      at.key = item->key;
      return {};
    }
    add(*item, query, m, reply);
  }
  at.next_shard();
  return {};
}

}  // namespace

spi::status survey(store& in, const spi::survey_query& query, spi::time_point by,
                   spi::survey_reply& reply) {
  if (!query.name.empty()) return survey_name(in, query, by, reply);
  position at = position::from(query.cursor);
  if (at.key.empty() || at.key[0] != name_mark) return {errc::bad_argument, "no such cursor"};
  while (at.shard < shard_count) {
    if (reply.entries.size() >= std::max<std::size_t>(query.most, 1)) {
      reply.cursor = at.text();
      break;
    }
    const auto failed = in.step(at.shard, by, [&](environment& env, const records::moment& m) {
      return visit(env, query, m, at, reply);
    });
    if (failed) return failed;
  }
  return {};
}

}  // namespace afar::engines::embedded
