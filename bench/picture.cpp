#include "picture.hpp"

#include "torture/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

namespace {

constexpr double line_height = 20;
constexpr double label_width = 560;
constexpr double bar_width = 320;
constexpr double margin = 20;
constexpr double octaves = 3;  // to either side of a goal; what is beyond is drawn at the end
constexpr std::string_view good = "#2a7f4f";
constexpr std::string_view unsteady = "#c58b00";
constexpr std::string_view bad = "#b3322c";
constexpr std::string_view ours = "#2a5fa8";
constexpr std::string_view theirs = "#8a8f98";

using afar::torture::escaped;

class drawing {
 public:
  drawing(double width, double height) : width_(width), height_(height) {}

  void bar(double x, double y, double width, std::string_view colour) {
    body_ += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"/>)"
                         "\n",
                         x, y, std::max(width, 1.0), line_height - 6, colour);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour) {
    body_ += fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"/>)"
                         "\n",
                         x1, y1, x2, y2, colour);
  }
  void dot(double x, double y, std::string_view colour) {
    body_ += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>)"
                         "\n",
                         x, y, colour);
  }
  // `anchor`: start, middle or end.
  void text(double x, double y, std::string_view words, std::string_view anchor = "start") {
    body_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
                         "\n",
                         x, y, anchor, escaped(words));
  }
  std::string svg() const {
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" font-family="sans-serif" font-size="12">)"
        "\n"
        R"(<rect width="100%" height="100%" fill="white"/>)"
        "\n{}</svg>\n",
        width_, height_, body_);
  }

 private:
  double width_;
  double height_;
  std::string body_;
};

// How many times better than the goal; 1 is the goal. Where the goal is none at all, that is reached or far away.
double distance(const row& r) {
  const double v = r.ratio.value_or(r.afar);
  if (r.goal.kind == goal_kind::at_least) return v / r.goal.value;
  if (v == 0) return 1;
  return r.goal.value / v;
}

std::string shortened(const std::string& text, std::size_t length) {
  if (text.size() <= length) return text;
  std::size_t end = length;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

std::string_view colour_of(const report& all, const row& r) {
  if (all.met(r)) return good;
  return all.verdict(r) == "NOT MET" ? bad : unsteady;
}

}  // namespace

std::string picture_of_goals(const report& all) {
  std::vector<const row*> rows;
  for (const row& r : all.rows())
    if (r.goal.kind != goal_kind::none) rows.push_back(&r);
  if (rows.empty()) return {};
  const double height = line_height * static_cast<double>(rows.size() + 2) + 2 * margin;
  const auto x_of = [](double octave) {
    return label_width +
           bar_width * (std::clamp(octave, -octaves, octaves) + octaves) / (2 * octaves);
  };
  drawing d{label_width + bar_width + 120, height};
  for (int octave = -3; octave <= 3; ++octave) {
    const double x = x_of(octave);
    d.line(x, margin + line_height, x, height - margin, octave == 0 ? "#000000" : "#dddddd");
    d.text(x, margin + 12,
           octave < 0 ? fmt::format("1/{}", 1 << -octave) : fmt::format("{}", 1 << octave),
           "middle");
  }
  d.text(margin, margin + 12, "How many times better than the goal (log scale; 1 is the goal)");
  double y = margin + 1.5 * line_height;
  for (const row* r : rows) {
    const double end = x_of(std::log2(std::max(distance(*r), 1e-9)));
    const double from = std::min(end, x_of(0));
    d.text(margin, y + 11, shortened(r->id + "  " + r->what, 86));
    d.bar(from, y, std::abs(end - x_of(0)), colour_of(all, *r));
    d.text(label_width + bar_width + 8, y + 11,
           number(r->ratio.value_or(r->afar)) + " (" + sign(r->goal, "≥ ", "≤ ") + ")");
    y += line_height;
  }
  return d.svg();
}

std::string picture_of_costs(const std::vector<cost>& all, const std::string& group) {
  std::vector<const cost*> lines;
  for (const cost& c : all)
    if (c.group == group) lines.push_back(&c);
  std::sort(lines.begin(), lines.end(),
            [](const cost* a, const cost* b) { return a->rate > b->rate; });
  constexpr double labels = 260;
  drawing d{labels + bar_width + 100,
            line_height * static_cast<double>(lines.size() + 1) + 2 * margin};
  d.text(margin, margin + 12, group + ": pairs per second");
  double y = margin + line_height;
  for (const cost* c : lines) {
    d.text(margin, y + 11, c->who);
    d.bar(labels, y, bar_width * c->rate / lines.front()->rate,
          c->who.starts_with("afar") ? ours : theirs);
    d.text(labels + bar_width + 8, y + 11, number(c->rate));
    y += line_height;
  }
  return d.svg();
}

std::string picture_of_curves(const std::vector<curve>& all, const std::string& over) {
  constexpr std::array<std::string_view, 6> colours{"#2a5fa8", "#2a7f4f", "#b3322c",
                                                    "#c58b00", "#6b3fa0", "#4a4a4a"};
  constexpr double left = 60;
  constexpr double top = 40;
  constexpr double width = 520;
  constexpr double height = 220;
  double most_at = 2;
  double most = 2;
  double lines = 0;
  for (const curve& c : all) {
    if (c.over != over) continue;
    ++lines;
    most_at = std::max(most_at, c.points.back().at);
    for (const point& p : c.points) most = std::max(most, p.value / c.points.front().value);
  }
  const auto x_of = [&](double at) { return left + width * std::log(at) / std::log(most_at); };
  const auto y_of = [&](double multiple) { return top + height * (1 - multiple / most); };
  drawing d{left + width + 40, top + height + 40 + lines * line_height};
  d.text(margin, 20, over + ": cost as a multiple of that at the smallest size");
  for (const double multiple : {0.0, 1.0, most}) {
    d.line(left, y_of(multiple), left + width, y_of(multiple),
           multiple == 1 ? "#000000" : "#dddddd");
    d.text(left - 8, y_of(multiple) + 4, number(multiple), "end");
  }
  std::size_t number_of_curve = 0;
  for (const curve& c : all) {
    if (c.over != over) continue;
    const std::string_view colour = colours[number_of_curve % colours.size()];
    const point* before = nullptr;
    for (const point& p : c.points) {
      const double y = y_of(p.value / c.points.front().value);
      if (before)
        d.line(x_of(before->at), y_of(before->value / c.points.front().value), x_of(p.at), y,
               colour);
      d.dot(x_of(p.at), y, colour);
      if (number_of_curve == 0) d.text(x_of(p.at), top + height + 18, number(p.at), "middle");
      before = &p;
    }
    const double y = top + height + 30 + static_cast<double>(number_of_curve) * line_height;
    d.bar(left, y, 14, colour);
    d.text(left + 22, y + 11, c.what);
    ++number_of_curve;
  }
  return d.svg();
}

}  // namespace bench
