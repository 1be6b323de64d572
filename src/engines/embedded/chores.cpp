#include "engines/embedded/chores.hpp"

#include "engines/embedded/failure.hpp"
#include "engines/embedded/stored.hpp"

#include <string_view>

namespace afar::engines::embedded {
namespace {

constexpr std::size_t names_per_round = 8;
constexpr std::size_t orders_per_round = 64;
constexpr char name_mark = static_cast<char>(key_kind::name);
constexpr char erased_mark = static_cast<char>(key_kind::erased);

struct visited {
  std::string key;
  std::string name;
};

// A few keys of one kind from `from` on; `from` becomes the key after them, or empty at the end.
std::vector<visited> some(environment& env, std::string& from, char mark, std::size_t most) {
  std::vector<visited> out;
  environment::view view{env};
  for (auto item = view.first_from(from);; item = view.next()) {
    if (!item || item->key[0] != mark) {
      from.clear();
      return out;
    }
    if (out.size() == most) {
      from = item->key;
      return out;
    }
    out.push_back({std::string{item->key}, std::string{envelope::name_of(item->value, item->key)}});
  }
}

// True: the record can go.
bool tidy_claims(environment& env, const visited& at, const records::moment& m,
                 std::vector<touched>& found) {
  records::claims c;
  stored<records::claims> record{env, at.name, spi::kind::mutex, m.calendar_us, c};
  if (!record.exists()) return false;
  records::effects e;
  records::sweep(c, m, e);
  if (records::collectable(c, m.now)) return true;
  if (e.changed) record.save(c, [] {});
  if (!e.call.empty() || e.holders_changed) found.push_back({at.name, std::move(e)});
  return false;
}

bool tidy_cell(environment& env, const visited& at, const records::moment& m) {
  records::cell c;
  const stored<records::cell> record{env, at.name, spi::kind::counter, m.calendar_us, c};
  return record.exists() && records::collectable(c, m.now);
}

bool tidy_name(environment& env, const visited& at, const records::moment& m,
               std::vector<touched>& found) {
  try {
    auto what = family::ledger;
    {
      environment::view view{env};
      if (const auto value = view.find(at.key)) what = envelope{*value, at.name}.family();
    }
    if (what == family::claims) return tidy_claims(env, at, m, found);
    return what == family::cell && tidy_cell(env, at, m);
  } catch (const failure&) {
    return false;  // damaged: whoever uses it is told
  }
}

void erase_all(environment& env, const std::vector<std::string>& keys) {
  if (keys.empty()) return;
  environment::transaction change{env};
  for (const std::string& key : keys) change.erase(key);
  change.commit();
}

// A part of what an erased ledger left. `mark`: erased_mark + its number.
void tidy_erased(environment& env, const std::string& mark, std::size_t& removed) {
  std::vector<std::string> keys;
  for (const key_kind kind : {key_kind::order, key_kind::buyer, key_kind::deadline}) {
    const std::string prefix = static_cast<char>(kind) + mark.substr(1);
    environment::view view{env};
    for (auto item = view.first_from(prefix); item && item->key.starts_with(prefix);
         item = view.next()) {
      if (keys.size() == orders_per_round) {
        removed += keys.size();
        return erase_all(env, keys);
      }
      keys.emplace_back(item->key);
    }
  }
  keys.push_back(mark);
  removed += keys.size();
  erase_all(env, keys);
}

}  // namespace

std::string tidy(environment& env, const std::string& from, const records::moment& m, tidied& out) {
  std::string next = from.empty() ? std::string{name_mark} : from;
  if (next[0] == erased_mark) {
    for (const visited& at : some(env, next, erased_mark, 1)) tidy_erased(env, at.key, out.removed);
    return next;
  }
  std::vector<std::string> idle;
  for (const visited& at : some(env, next, name_mark, names_per_round))
    if (tidy_name(env, at, m, out.found)) idle.push_back(at.key);
  out.removed += idle.size();
  erase_all(env, idle);
  return next.empty() ? std::string{erased_mark} : next;
}

}  // namespace afar::engines::embedded
