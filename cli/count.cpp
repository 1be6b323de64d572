#include "context.hpp"
#include "failure.hpp"
#include "interruption.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/counter.hpp>

#include <fmt/format.h>

#include <limits>
#include <memory>

namespace afar::cli {
namespace {

using number64 = std::numeric_limits<std::int64_t>;

struct options {
  context where;
  std::string name;
  std::string action = "show";
  std::optional<std::int64_t> operand;
  std::int64_t min = number64::min();
  std::int64_t max = number64::max();
  std::optional<milliseconds> wait;
  bool json = false;
};

std::int64_t operand(const options& o) {
  if (o.operand) return *o.operand;
  if (o.action == "add" || o.action == "sub") return 1;
  throw failure{exit_code::usage, "count " + o.action + " needs a number"};
}

std::int64_t add(counter& c, const options& o, std::int64_t n) {
  if (const auto before = c.fetch_add_within(n, o.min, o.max)) return *before + n;
  throw failure{exit_code::negative, fmt::format("{} is {}; {:+} would leave {} to {}",
                                                 shown(o.name), c.load(), n, o.min, o.max)};
}

std::int64_t wait_for_change(const counter& c, const options& o) {
  const interruption end{interruption::also::nothing};
  const auto old = operand(o);
  if (!o.wait) return c.wait(old, end.token());
  if (const auto value = c.wait_for(old, *o.wait)) return *value;
  throw failure{exit_code::not_acquired, fmt::format("{} is still {}", shown(o.name), old)};
}

std::int64_t act(counter& c, const options& o) {
  if (o.action == "add") return add(c, o, operand(o));
  if (o.action == "sub") return add(c, o, -operand(o));
  if (o.action == "set") {
    c.store(operand(o));
    return operand(o);
  }
  if (o.action == "wait") return wait_for_change(c, o);
  if (o.action == "erase") c.erase();
  return c.load();
}

int count(const options& o) {
  const client locks = o.where.open();
  counter c{locks, o.name};
  const auto value = act(c, o);
  if (o.json)
    print_json({{"name", o.name}, {"value", value}});
  else
    print(std::to_string(value));
  return number(exit_code::ok);
}

}  // namespace

work add_count(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("NAME", o->name, "The counter").required();
  line.add_option("ACTION", o->action, "show (default), add, sub, set, wait, erase")
      .one_of({"show", "add", "sub", "set", "wait", "erase"});
  line.add_number("N", o->operand,
                  "How much (add, sub: 1), or the value that it shall not have any more (wait)");
  line.add_number("--min", o->min, "Refuse to go below");
  line.add_number("--max", o->max, "Refuse to go above");
  line.add_duration("-w,--wait", o->wait, "Wait at most so long");
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer(
      "Prints the value afterwards. Exit code 1: refused by --min or --max, nothing was changed;\n"
      "75: it did not change in time.");
  return [o] { return count(*o); };
}

}  // namespace afar::cli
