#include "engines/embedded/steps.hpp"
#include "engines/embedded/stored.hpp"

#include <afar/detail/fault.hpp>

namespace afar::engines::embedded {

spi::status change(store& in, const spi::cell_change& ch, spi::time_point by,
                   spi::cell_reply& reply) {
  if (auto refused = check_name(ch.what.name)) return refused;
  const site at{ch.what.name};
  records::cell_effects effects;
  AFAR_FAULT("embedded.change.begin");
  spi::status failed = in.step(at.shard(), by, [&](environment& env, const records::moment& now) {
    static thread_local records::cell cell;  // keeps its memory from step to step
    stored<records::cell> record{env, ch.what.name, ch.what.kind, now.calendar_us, cell};
    if (!record.exists()) {
      cell.exists = false;
      cell.results.clear();
    }
    spi::status refused = records::change(cell, ch, now.now, reply, effects);
    if (effects.changed) record.save(cell, [] { AFAR_FAULT("embedded.change.before_commit"); });
    return refused;
  });
  AFAR_FAULT("embedded.change.after_commit");
  if (!failed && effects.woke) in.bell().ring(at.bucket(), [&] { return watch_key(ch.what.name); });
  if (!failed) reply.watch_key = watch_key(ch.what.name);
  return failed;
}

}  // namespace afar::engines::embedded
