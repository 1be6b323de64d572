#include "failure.hpp"
#include "interruption.hpp"
#include "json.hpp"
#include "options.hpp"
#include "run_plan.hpp"
#include "shown.hpp"
#include "take.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <memory>
#include <semaphore>

namespace afar::cli {
namespace {

struct options {
  run_plan plan;  // without a command
  bool nonblock = false;
  bool exclusive = false;
  bool shared = false;
  bool fair = false;
  bool json = false;
};

// Until the caller lets go or the hold is lost.
void keep(const hold& mine, const std::stop_token& stop) {
  std::counting_semaphore<> over{0};
  const auto wake = [&over] { over.release(); };
  const std::stop_callback let_go{stop, wake};
  const std::stop_callback lost{mine.lost(), wake};
  over.acquire();
}

int left_by(const interruption& end) {
  return end.signal() == 0 ? number(exit_code::ok) : number(exit_code::signalled) + end.signal();
}

hold take_it(const client& locks, const run_plan& p, const interruption& end) {
  // A lock that is free is taken even if standard input is closed already.
  hold mine = try_take(locks, p);
  if (!mine && p.wait != milliseconds{0}) mine = take_once(locks, p, limit_of(p.wait), end.token());
  if (!mine) throw failure{exit_code::not_acquired, conflict(locks, p.name)};
  return mine;
}

int keep_it(hold mine, const options& o, const interruption& end) {
  const auto token = mine.token();
  if (o.json)
    print_json({{"name", o.plan.name}, {"token", token}});
  else
    print(std::to_string(token));
  keep(mine, end.token());
  std::error_code lost;
  // Somebody may have broken it since the last renewal: then nobody has told us why.
  const auto why = mine.why() == loss_reason::none ? loss_reason::evicted : mine.why();
  mine.release(lost);
  if (lost == errc::lost)
    throw failure{exit_code::lost, fmt::format("{} was lost ({}); token {} is over",
                                               shown(o.plan.name), word(why), token)};
  return left_by(end);
}

int hold_it(const options& o) {
  const interruption end{interruption::also::end_of_input};
  const client locks =
      o.plan.where.open({.lease = o.plan.lease, .label = o.plan.label, .command = "afar hold"});
  try {
    return keep_it(take_it(locks, o.plan, end), o, end);
  } catch (const lock_error& e) {
    if (e.code() != errc::cancelled) throw;
    if (end.signal() != 0) return left_by(end);
    throw failure{exit_code::not_acquired,
                  "standard input was closed before " + shown(o.plan.name) + " was free"};
  }
}

}  // namespace

work add_hold(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("NAME", o->plan.name, "What to hold").required();
  const auto nonblock = line.add_flag("-n,--nonblock", o->nonblock, "Do not wait");
  line.add_duration("-w,--wait", o->plan.wait, "Wait at most so long").excludes(nonblock);
  const auto exclusive = line.add_flag("-x,--exclusive", o->exclusive, "Exclusive (default)");
  const auto shared = line.add_flag("-s,--shared", o->shared, "As one of several readers");
  shared.excludes(exclusive);
  line.add_flag("--fair", o->fair, "First come, first served").excludes(shared).excludes(exclusive);
  line.add_duration("--lease", o->plan.lease, "How long others wait if this host dies (30s)");
  line.add_option("--label", o->plan.label, "Shown to others").type_name("TEXT");
  line.add_flag("--json", o->json, "As JSON");
  o->plan.where.add_to(line);
  line.footer(
      "Prints the token when it holds, and holds until its standard input closes.\n"
      "  coproc afar hold backup; read -r token <&\"${COPROC[0]}\"\n"
      "  …; exec {COPROC[1]}>&-; wait \"$COPROC_PID\"     # 80: it was lost");
  return [o] {
    if (o->nonblock) o->plan.wait = milliseconds{0};
    if (o->fair) o->plan.kind = lock_kind::fair;
    if (o->exclusive) o->plan.kind = lock_kind::exclusive;
    if (o->shared) o->plan.kind = lock_kind::shared;
    return hold_it(*o);
  };
}

}  // namespace afar::cli
