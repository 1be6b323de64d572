#include "torture/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace afar::torture {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

// Where to look, in nanoseconds.
struct window {
  std::uint16_t object = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

window worth_seeing(const verdict& v) {
  constexpr std::int64_t around = 100'000'000;
  for (const violation& what : v.violations)
    if (what.at != 0) return {what.object, what.at - around, what.at + around};
  if (!v.seen.incidents.empty()) {
    const auto at = v.seen.incidents.front().from;
    return {0, at - around, at + around};
  }
  return {};
}

// One row a process: when it believed to hold the object, and what was done to the run.
std::string picture(const verdict& v) {
  const window w = worth_seeing(v);
  if (w.to == 0) return {};
  constexpr double left = 90;
  constexpr double width = 900;
  constexpr double row = 22;
  const auto x = [&](std::int64_t t) {
    const auto part = static_cast<double>(std::clamp(t, w.from, w.to) - w.from) /
                      static_cast<double>(w.to - w.from);
    return left + part * width;
  };
  std::vector<belief> shown;
  std::set<std::uint32_t> workers;
  for (const belief& b : beliefs(v.seen))
    if (b.object == w.object && b.to > w.from && b.from < w.to) {
      shown.push_back(b);
      workers.insert(b.worker);
    }
  const double height = row * static_cast<double>(workers.size() + 2);
  std::string out = fmt::format("<svg viewBox='0 0 1000 {:.0f}' role='img'>", height);
  for (const incident& i : v.seen.incidents) {
    if (i.to < w.from || i.from > w.to) continue;
    out += fmt::format(
        "<rect x='{:.1f}' y='0' width='{:.1f}' height='{:.0f}' "
        "fill='#fdd'><title>{}</title></rect>",
        x(i.from), std::max(1.0, x(i.to) - x(i.from)), height, escaped(i.fault));
  }
  for (const belief& b : shown) {
    const auto y =
        row * static_cast<double>(std::distance(workers.begin(), workers.find(b.worker)));
    out += fmt::format(
        "<rect x='{:.1f}' y='{:.0f}' width='{:.1f}' height='16' fill='#48c'><title>worker {}.{}, "
        "token {}"
        "</title></rect>",
        x(b.from), y + 3, std::max(1.0, x(b.to) - x(b.from)), b.worker, b.life, b.token);
  }
  double y = 16;
  for (const std::uint32_t worker : workers) {
    out += fmt::format("<text x='0' y='{:.0f}'>worker {}</text>", y, worker);
    y += row;
  }
  return out + fmt::format("<text x='{}' y='{:.0f}'>{:.0f} ms of {}; red: a fault</text></svg>",
                           left, y + row, static_cast<double>(w.to - w.from) / 1e6,
                           w.object < v.seen.objects.size() ? word(v.seen.objects[w.object].sort)
                                                            : std::string_view{});
}

}  // namespace

std::string as_page(const verdict& v, const std::string& replay) {
  return "<!doctype html><meta charset='utf-8'><title>afar torture</title>"
         "<style>body{font:14px system-ui;margin:2em;max-width:1000px}svg{width:100%;border:1px "
         "solid #ccc}"
         "text{font:12px system-ui}</style><h1>afar torture</h1><pre>" +
         escaped(as_text(v, replay)) + "</pre>" + picture(v) + "\n";
}

}  // namespace afar::torture
