#include "context.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/stock.hpp>

#include <fmt/format.h>

#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  std::string action = "show";
  std::optional<std::int64_t> units;
  std::string order;
  std::string buyer;
  std::uint32_t per_buyer = 0;
  std::optional<milliseconds> hold_for;
  bool json = false;
};

// What the stock answered, in its own words.
struct answer {
  std::string_view word;
  bool good = false;
};
answer of(take_result r) { return {word(r), r == take_result::taken}; }
answer of(order_result r) { return {word(r), r == order_result::done}; }

std::int64_t units(const options& o) {
  if (o.units) return *o.units;
  if (o.action == "take" || o.action == "reserve") return 1;
  throw failure{exit_code::usage, "stock " + o.action + " needs a number of units"};
}

const std::string& order(const options& o) {
  if (!o.order.empty()) return o.order;
  throw failure{
      exit_code::usage,
      "stock " + o.action + " needs --order: repeated with the same one it takes effect once"};
}

milliseconds hold_for(const options& o) {
  if (o.hold_for) return *o.hold_for;
  throw failure{exit_code::usage, "stock reserve needs --for"};
}

answer act(stock& s, const options& o) {
  if (o.action == "set") {
    s.set(units(o), {.per_buyer = o.per_buyer});
    return {"done", true};
  }
  if (o.action == "add" || o.action == "remove") {
    const bool done = s.add(o.action == "add" ? units(o) : -units(o));
    return {done ? "done" : s.remaining() ? "sold out" : "no such stock", done};
  }
  if (o.action == "take") return of(s.take(units(o), order(o), o.buyer));
  if (o.action == "reserve") return of(s.reserve(units(o), order(o), o.buyer, hold_for(o)));
  if (o.action == "commit") return of(s.commit(order(o)));
  if (o.action == "cancel") return of(s.cancel(order(o)));
  if (o.action == "put-back") return of(s.put_back(order(o)));
  if (o.action == "erase") {
    s.erase();
    return {"done", true};
  }
  const bool known = s.levels().has_value();
  return {known ? "done" : "no such stock", known};
}

json in_json(const options& o, const answer& a, const std::optional<stock_levels>& l) {
  if (!l) return {{"name", o.name}, {"result", a.word}};
  return {{"name", o.name},
          {"result", a.word},
          {"remaining", l->remaining},
          {"reserved", l->reserved},
          {"taken", l->taken}};
}

int use(const options& o) {
  const client locks = o.where.open();
  stock s{locks, o.name};
  const answer a = act(s, o);
  const auto levels = s.levels();
  if (o.json)
    print_json(in_json(o, a, levels));
  else if (a.good && levels)
    print(fmt::format("remaining {}  reserved {}  taken {}", levels->remaining, levels->reserved,
                      levels->taken));
  if (!a.good) message(fmt::format("{}: {}", shown(o.name), a.word));
  return number(a.good ? exit_code::ok : exit_code::negative);
}

}  // namespace

work add_stock(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("NAME", o->name, "The stock").required();
  line.add_option(
          "ACTION", o->action,
          "show (default), set, add, remove, take, put-back, reserve, commit, cancel, erase")
      .one_of({"show", "set", "add", "remove", "take", "put-back", "reserve", "commit", "cancel",
               "erase"});
  line.add_number("UNITS", o->units, "How many (take, reserve: 1)");
  line.add_option("--order", o->order, "The order's id: repeated, it takes effect once")
      .type_name("ID");
  line.add_option("--buyer", o->buyer, "Who buys").type_name("TEXT");
  line.add_number("--per-buyer", o->per_buyer, "set: units that one buyer may have (no limit)");
  line.add_duration("--for", o->hold_for, "reserve: how long");
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer("Exit code 1: not done; standard error says why (sold out, limit reached, …).");
  return [o] { return use(*o); };
}

}  // namespace afar::cli
