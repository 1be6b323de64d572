#include "engines/embedded/ledger_book.hpp"
#include "engines/embedded/steps.hpp"

#include <afar/detail/fault.hpp>

#include <chrono>

namespace afar::engines::embedded {
namespace {

constexpr std::size_t longest_text = 4'096;

}  // namespace

spi::status record(store& in, const spi::ledger_change& ch, spi::time_point by,
                   spi::ledger_reply& reply) {
  if (auto refused = check_name(ch.what.name)) return refused;
  if (ch.order.size() > longest_text || ch.buyer.size() > longest_text)
    return {errc::bad_argument, "order ids and buyers have at most 4096 bytes"};
  const site at{ch.what.name};
  bool changed = false;
  AFAR_FAULT("embedded.record.begin");
  spi::status failed = in.step(at.shard(), by, [&](environment& env, const records::moment& now) {
    // The window is in calendar time, which may be stepped; reservations are not.
    const auto today = std::chrono::floor<spi::milliseconds>(std::chrono::system_clock::now());
    ledger_book book{env, ch.what.name, now.calendar_us};
    spi::status refused = records::record(book, ch, now.now, today, reply);
    if (!book.changed()) return refused;
    AFAR_FAULT("embedded.record.before_commit");
    book.commit();
    changed = true;
    return refused;
  });
  AFAR_FAULT("embedded.record.after_commit");
  if (changed) in.bell().ring(at.bucket(), [&] { return watch_key(ch.what.name); });
  return failed;
}

}  // namespace afar::engines::embedded
