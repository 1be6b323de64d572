// Whether a name is free for this kind. The name's node has no data where claims live; cells and
// ledgers keep theirs in it. The names of its children say which kind of claims there is.
#include "engines/records/wrong_use.hpp"
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"
#include "engines/zookeeper/stored.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using spi::kind;

constexpr kind layout_of(kind k) { return k == kind::fair_mutex ? kind::mutex : k; }

bool is_folder_of_permits(const std::string& name) { return name == "locks" || name == "leases"; }

// A kind that stands there beside `wanted`.
std::optional<kind> other_claims(const std::vector<std::string>& names, kind wanted) {
  for (const std::string& n : names) {
    const contender c = read_contender(n);
    if (c.is == marker::foreign) continue;
    if (kind_of(c.is) != layout_of(wanted)) return kind_of(c.is);
  }
  return std::nullopt;
}

// The folders of a semaphore stay when nobody uses it.
void check_permits(const world_ptr& w, const std::string& path, kind wanted,
                   detail::function<void(spi::status)> then) {
  const std::string locks = path + std::string{locks_folder};
  const std::string leases = path + std::string{leases_folder};
  w->session.fly(
      {ask::children(locks), ask::children(leases), ask::get(leases)},
      [w, wanted, locks, leases, then = std::move(then)](std::vector<answer>& got) mutable {
        if (!got[0].names.empty() || !got[1].names.empty()) {
          const auto limit = stored_limit(got[2].text).value_or(1);
          return then(records::wrong_use({kind::permits, limit}, {wanted}));
        }
        w->session.fly({ask::remove(locks), ask::remove(leases)},
                       [then = std::move(then)](std::vector<answer>&) mutable { then({}); });
      });
}

}  // namespace

void check_use(const world_ptr& w, const std::string& path, kind wanted,
               const std::vector<std::string>& names, const Stat& stat,
               detail::function<void(spi::status)> then) {
  if (const auto other = other_claims(names, wanted))
    return then(records::wrong_use({*other}, {wanted}));
  const bool permits = wanted != kind::permits && std::ranges::any_of(names, is_folder_of_permits);
  if (stat.dataLength == 0) {
    if (permits) return check_permits(w, path, wanted, std::move(then));
    return then({});
  }
  w->session.fly(ask::get(path), [w, path, wanted, permits,
                                  then = std::move(then)](std::vector<answer>& got) mutable {
    if (!got.front().ok() && got.front().rc != ZNONODE)
      return then(failure_of_read(got.front().rc));
    if (const auto is = stored_kind(got.front().text))
      return then(records::wrong_use({*is}, {wanted}));
    if (permits) return check_permits(w, path, wanted, std::move(then));
    then({});
  });
}

}  // namespace afar::engines::zookeeper
