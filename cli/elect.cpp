// `afar run` for services: one of several hosts runs the command, and one that lost the leadership
// stands for it again.
#include "options.hpp"
#include "run_plan.hpp"
#include "verbs.hpp"

#include <unistd.h>

#include <memory>

namespace afar::cli {
namespace {

struct options {
  run_plan plan;
  std::string shell_line;
};

// What others see of the leader if it proclaims nothing else.
std::string this_process() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return std::string{name} + ":" + std::to_string(::getpid());
}

}  // namespace

work add_elect(command_line& line) {
  const auto o = std::make_shared<options>();
  o->plan.kind = lock_kind::election;
  o->plan.again = true;
  line.add_option("NAME", o->plan.name, "Of the election").required();
  line.add_option("-c", o->shell_line, "A line for /bin/sh instead of a command").type_name("LINE");
  line.add_option("--value", o->plan.value, "What the leader proclaims (host:pid)")
      .type_name("TEXT");
  line.add_duration("-w,--wait", o->plan.wait, "Stand for it at most so long; else for ever");
  line.add_duration("--lease", o->plan.lease, "How long others wait if this host dies (30s)");
  line.add_duration(
      "--kill-after", o->plan.kill_after,
      "Grace between TERM and KILL when leadership is lost (10s, at most half the lease)");
  line.add_option("--label", o->plan.label, "Shown to others").type_name("TEXT");
  o->plan.where.add_to(line);
  line.footer(
      "afar elect [options] NAME [--] CMD [ARG…]\n\n"
      "Runs the command while this host leads. If leadership is lost the command is stopped, in "
      "time,\n"
      "and this host stands again. Leaves with the command's exit code when it ends by itself.\n"
      "Who leads: afar inspect NAME. The command finds its term in AFAR_TOKEN.\n");
  line.ends_with_command();
  return [o, &line] {
    read_command(o->plan, o->shell_line, line.rest(), "elect");
    if (o->plan.value.empty()) o->plan.value = this_process();
    return run(o->plan);
  };
}

}  // namespace afar::cli
