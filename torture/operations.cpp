#include "torture/operations.hpp"

#include <algorithm>
#include <optional>

namespace afar::torture {
namespace {

std::optional<operation::kind> begins(act what) {
  if (what == act::changing) return operation::kind::change;
  if (what == act::reading) return operation::kind::read;
  if (what == act::asked) return operation::kind::wait;
  return std::nullopt;
}

std::optional<operation::end> ends(act what) {
  if (what == act::changed || what == act::saw || what == act::passed) return operation::end::done;
  if (what == act::unknown) return operation::end::doubtful;
  if (what == act::gave_up) return operation::end::gave_up;
  return std::nullopt;
}

}  // namespace

std::map<std::uint64_t, std::vector<operation>> operations(const evidence& e,
                                                           std::uint16_t object) {
  std::map<std::uint64_t, std::vector<operation>> all;
  for (const life& l : e.lives) {
    std::map<std::uint16_t, operation> open;  // by thread
    for (const fact& f : l.facts) {
      if (f.object != object) continue;
      if (const auto kind = begins(f.what))
        // A read that failed says nothing, and has no answer in the record.
        open.insert_or_assign(f.thread, operation{.is = *kind,
                                                  .round = f.token,
                                                  .from = f.at,
                                                  .to = l.death,
                                                  .until = f.until,
                                                  .weight = f.weight,
                                                  .worker = l.worker,
                                                  .life = l.number,
                                                  .killed = l.death != never});
      const auto end = ends(f.what);
      const auto at = open.find(f.thread);
      if (!end || at == open.end()) continue;
      at->second.ended = *end;
      at->second.to = f.at;
      at->second.value = f.value;
      all[at->second.round].push_back(at->second);
      open.erase(at);
    }
    for (const auto& [thread, o] : open) all[o.round].push_back(o);
  }
  for (auto& [round, some] : all) std::ranges::sort(some, {}, &operation::from);
  return all;
}

}  // namespace afar::torture
