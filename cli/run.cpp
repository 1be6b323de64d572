// The options of `afar run`, and what they must not be.
#include "failure.hpp"
#include "options.hpp"
#include "run_plan.hpp"
#include "verbs.hpp"

#include <memory>

namespace afar::cli {
namespace {

constexpr const char* examples =
    "afar run [options] NAME [--] CMD [ARG…], or NAME -c LINE\n\n"
    "Examples:\n"
    "  afar run nightly -- ./backup.sh              waits until it is free\n"
    "  afar run -n nightly -- ./backup.sh           leaves with 75 if it is held\n"
    "  afar run -w 10m nightly -c './a.sh && ./b.sh'\n"
    "  afar run --permits 1 --limit 3 gpu -- ./train.sh\n"
    "  afar run --at-least 50s hourly -- ./mail.sh  once, however skewed the hosts' clocks are\n"
    "The command finds AFAR_NAME, AFAR_TOKEN and AFAR_HOLDER in its environment.\n"
    "Exit codes: the command's, 128 + signal; 75 not acquired (-E); 69 engine unreachable;\n"
    "64 usage; 78 configuration; 80 lock lost; 126 cannot execute; 127 not found.\n";

// As they were given; what they mean together is decided in plan_of.
struct run_options {
  run_plan plan;
  bool nonblock = false;
  bool exclusive = false;
  bool shared = false;
  bool fair = false;
  std::uint32_t permits = 0;
  std::uint32_t limit = 0;
  std::optional<milliseconds> at_least;
  std::string on_lost = "kill";
  std::string shell_line;
};

[[noreturn]] void refuse(const std::string& why) {
  throw failure{exit_code::usage, why + " (afar help run)"};
}

void add_waiting(command_line& line, run_options& o) {
  const auto nonblock = line.add_flag("-n,--nonblock", o.nonblock, "Do not wait");
  line.add_duration("-w,--wait", o.plan.wait, "Wait at most so long (0: do not); else for ever")
      .excludes(nonblock);
  line.add_option("-E", o.plan.not_acquired, "Exit code when it was not acquired")
      .within(0, 255)
      .type_name("CODE")
      .showing_default();
}

void add_kinds(command_line& line, run_options& o) {
  const auto exclusive = line.add_flag("-x", o.exclusive, "Exclusive (default)");
  const auto shared = line.add_flag("-s", o.shared, "Shared: beside other holders with -s");
  const auto fair = line.add_flag("--fair", o.fair, "First come, first served");
  const auto permits = line.add_option("--permits", o.permits, "So many permits of --limit");
  const auto limit = line.add_option("--limit", o.limit, "How many permits there are");
  shared.excludes(exclusive);
  fair.excludes(exclusive).excludes(shared);
  permits.within(1U, UINT32_MAX).type_name("N").needs(limit);
  permits.excludes(exclusive).excludes(shared).excludes(fair);
  limit.within(1U, UINT32_MAX).type_name("M").needs(permits);
}

void add_lease(command_line& line, run_options& o) {
  line.add_duration("--lease", o.plan.lease, "How long others wait if this host dies (30s)");
  line.add_duration("--at-least", o.at_least, "Keep the lock at least so long");
  line.add_duration(
      "--kill-after", o.plan.kill_after,
      "Grace between TERM and KILL when the lock is lost (10s, at most a third of the lease)");
  line.add_option("--on-lost", o.on_lost, "kill (default) or warn")
      .one_of({"kill", "warn"})
      .type_name("WHAT");
  line.add_option("--label", o.plan.label, "Shown to others beside host, pid, user and command")
      .type_name("TEXT");
}

lock_kind kind_of(const run_options& o) noexcept {
  if (o.limit != 0) return lock_kind::permits;
  if (o.fair) return lock_kind::fair;
  if (o.shared) return lock_kind::shared;
  return o.exclusive ? lock_kind::exclusive : lock_kind::mutex;
}

run_plan plan_of(run_options o, std::vector<std::string> words) {
  run_plan& p = o.plan;
  read_command(p, o.shell_line, std::move(words), "run");
  p.kind = kind_of(o);
  if (p.kind == lock_kind::permits) {
    if (o.permits > o.limit) refuse("--permits is more than --limit");
    p.permits = o.permits;
    p.limit = o.limit;
  }
  if (o.nonblock) p.wait = milliseconds{0};
  if (p.lease && p.kill_after && *p.kill_after > *p.lease / 3)
    refuse("--kill-after is more than a third of --lease: there would be no time to renew it");
  p.at_least = o.at_least.value_or(milliseconds{0});
  p.when_lost = o.on_lost == "warn" ? run_plan::on_lost::warn : run_plan::on_lost::kill;
  return std::move(p);
}

}  // namespace

work add_run(command_line& line) {
  const auto o = std::make_shared<run_options>();
  line.add_option("NAME", o->plan.name, "Of the lock").required();
  line.add_option("-c", o->shell_line, "A line for /bin/sh instead of a command").type_name("LINE");
  add_waiting(line, *o);
  add_kinds(line, *o);
  add_lease(line, *o);
  o->plan.where.add_to(line);
  line.footer(examples);
  line.ends_with_command();  // what follows the command is the command's
  return [o, &line] { return run(plan_of(*o, line.rest())); };
}

}  // namespace afar::cli
