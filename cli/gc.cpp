#include "context.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/upkeep.hpp>

#include <fmt/format.h>

#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  bool json = false;
};

int clear_away(const options& o) {
  const client locks = o.where.open();
  const auto records = collect(locks);
  if (o.json)
    print_json({{"url", locks.url()}, {"removed", records}});
  else
    print(
        fmt::format("{} record{} removed from {}", records, records == 1 ? "" : "s", locks.url()));
  return number(exit_code::ok);
}

}  // namespace

work add_gc(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer("Never necessary: engines clear away in passing. It gives room back at once.");
  return [o] { return clear_away(*o); };
}

}  // namespace afar::cli
