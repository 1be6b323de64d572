#include "torture/markup.hpp"
#include "torture/operations.hpp"
#include "torture/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace afar::torture {
namespace {

// Where to look, in nanoseconds.
struct window {
  std::uint16_t object = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t broken = 0;  // when; 0: nothing is
};

window worth_seeing(const verdict& v) {
  constexpr std::int64_t around = 100'000'000;
  for (const violation& what : v.violations)
    if (what.at != 0) return {what.object, what.at - around, what.at + around, what.at};
  if (!v.seen.incidents.empty()) {
    const auto at = v.seen.incidents.front().from;
    return {0, at - around, at + around, 0};
  }
  return {};
}

// One stroke of a row.
struct stroke {
  std::uint32_t worker = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  const char* colour = "";
  std::string text;
};

// When processes believed to hold the object.
std::vector<stroke> holds(const verdict& v, std::uint16_t object) {
  std::vector<stroke> all;
  for (const belief& b : beliefs(v.seen))
    if (b.object == object)
      all.push_back({b.worker, b.from, b.to, "#48c",
                     fmt::format("worker {}.{}, token {}", b.worker, b.life, b.token)});
  return all;
}

// What they asked of an object that nobody holds, and what came of it.
std::vector<stroke> questions(const verdict& v, std::uint16_t object) {
  static constexpr const char* deeds[] = {"change", "read", "wait"};
  static constexpr const char* ends[] = {"done", "gave up", "unknown", "died"};
  static constexpr const char* colours[] = {"#48c", "#bbb", "#e90", "#222"};
  std::vector<stroke> all;
  for (const auto& [round, some] : operations(v.seen, object))
    for (const operation& o : some) {
      const auto end = static_cast<std::size_t>(o.ended);
      all.push_back({o.worker, o.from, o.to, colours[end],
                     fmt::format("worker {}.{}, round {}: {} {}, {}", o.worker, o.life, round,
                                 deeds[static_cast<std::size_t>(o.is)], ends[end], o.value)});
    }
  return all;
}

std::vector<stroke> strokes(const verdict& v, const window& w) {
  if (w.object >= v.seen.objects.size()) return {};
  auto all = v.seen.objects[w.object].is_lock() ? holds(v, w.object) : questions(v, w.object);
  std::erase_if(all, [&](const stroke& s) { return s.to < w.from || s.from > w.to; });
  return all;
}

constexpr double left = 90;
constexpr double width = 900;
constexpr double row = 22;

double x(const window& w, std::int64_t t) {
  const auto part = static_cast<double>(std::clamp(t, w.from, w.to) - w.from) /
                    static_cast<double>(w.to - w.from);
  return left + part * width;
}

std::string box(const window& w, const stroke& s, double y, double height) {
  return fmt::format(
      "<rect x='{:.1f}' y='{:.0f}' width='{:.1f}' height='{:.0f}' "
      "fill='{}'><title>{}</title></rect>",
      x(w, s.from), y, std::max(1.0, x(w, s.to) - x(w, s.from)), height, s.colour, escaped(s.text));
}

// One row a process: what it believed or asked, and what was done to the run; a line where it broke.
std::string picture(const verdict& v) {
  const window w = worth_seeing(v);
  if (w.to == 0) return {};
  const auto shown = strokes(v, w);
  std::set<std::uint32_t> workers;
  for (const stroke& s : shown) workers.insert(s.worker);
  const double height = row * static_cast<double>(workers.size() + 2);
  std::string out = fmt::format("<svg viewBox='0 0 1000 {:.0f}' role='img'>", height);
  for (const incident& i : v.seen.incidents)
    if (i.to >= w.from && i.from <= w.to)
      out += box(w, {0, i.from, i.to, "#fdd", i.fault}, 0, height);
  for (const stroke& s : shown) {
    const auto place = std::distance(workers.begin(), workers.find(s.worker));
    out += box(w, s, row * static_cast<double>(place) + 3, 16);
  }
  if (w.broken != 0)
    out += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='0' y2='{1:.0f}' stroke='#c00'/>",
                       x(w, w.broken), height);
  double y = 16;
  for (const std::uint32_t worker : workers) {
    out += fmt::format("<text x='0' y='{:.0f}'>worker {}</text>", y, worker);
    y += row;
  }
  return out + fmt::format("<text x='{}' y='{:.0f}'>{:.0f} ms of {}; red: a fault{}</text></svg>",
                           left, y + row, static_cast<double>(w.to - w.from) / 1e6,
                           w.object < v.seen.objects.size() ? word(v.seen.objects[w.object].sort)
                                                            : std::string_view{},
                           w.broken != 0 ? ", red line: the first violation" : "");
}

}  // namespace

std::string as_page(const verdict& v, const std::string& replay) {
  return "<!doctype html><meta charset='utf-8'><title>afar torture</title>"
         "<style>body{font:14px system-ui;margin:2em;max-width:1000px}svg{width:100%;border:1px "
         "solid #ccc}"
         "text{font:12px system-ui}</style><h1>afar torture</h1><pre>" +
         escaped(as_text(v, replay)) + "</pre>" + picture(v) +
         fmt::format("<p>Seed {}. Again: <code>{}</code></p>\n", v.seed, escaped(replay));
}

}  // namespace afar::torture
