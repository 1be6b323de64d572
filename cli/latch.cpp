#include "context.hpp"
#include "failure.hpp"
#include "interruption.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/latch.hpp>

#include <fmt/format.h>

#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  std::string action = "show";
  std::ptrdiff_t n = 1;
  std::optional<std::ptrdiff_t> expected;
  std::optional<milliseconds> wait;
  bool json = false;
};

void wait_for(const latch& l, const options& o) {
  const interruption end{interruption::also::nothing};
  if (!o.wait) return l.wait(end.token());
  if (!l.wait_for(*o.wait))
    throw failure{exit_code::not_acquired, shown(o.name) + " is not open yet"};
}

int act(latch& l, const options& o) {
  if (o.action == "down" || o.action == "arrive") l.count_down(o.n);
  if (o.action == "show" && o.expected) l.count_down(0);  // sets the count, for those who join
  if (o.action == "wait" || o.action == "arrive") wait_for(l, o);
  const auto left = l.remaining();
  if (o.json)
    print_json({{"name", o.name}, {"remaining", left ? json{*left} : json{}}});
  else if (left)
    print(std::to_string(*left));
  if (left) return number(exit_code::ok);
  message("nobody has set the count of " + shown(o.name) + " yet (--count N)");
  return number(exit_code::negative);
}

int use(const options& o) {
  const client locks = o.where.open();
  if (o.expected) {
    latch l{locks, o.name, *o.expected};
    return act(l, o);
  }
  latch l{locks, o.name};
  return act(l, o);
}

}  // namespace

work add_latch(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("NAME", o->name, "The latch").required();
  line.add_option("ACTION", o->action, "show (default), down, wait, arrive (down, then wait)")
      .one_of({"show", "down", "wait", "arrive"});
  line.add_number("N", o->n, "How much to count down (1)");
  line.add_number("--count", o->expected, "What it counts from; whoever comes first sets it");
  line.add_duration("-w,--wait", o->wait, "Wait at most so long");
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer(
      "Prints what is left to count. Once it is 0 it stays open. Exit code 75: not open in time.");
  return [o] { return use(*o); };
}

}  // namespace afar::cli
