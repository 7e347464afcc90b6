// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Draws a chart for each module: workspace over work, with a stair below which no plan lies.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "report/markup.hpp"
#include "report/svg_elements.hpp"
#include "usmp/report/frontier.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::report {
namespace {

using compare::FrontierPoint;
using compare::ModuleFrontier;

constexpr Tenths chart_width = 6400;
constexpr Tenths plot_left = 900;
constexpr Tenths plot_width = chart_width - plot_left - 300;
constexpr Tenths plot_height = 2400;
constexpr Tenths title_height = 400;
constexpr Tenths module_height = plot_height + 900;
constexpr Tenths radius = 35;
constexpr int grid_lines = 4;

// Plans, by work; of the same work the smaller one first.
std::vector<FrontierPoint> by_work(const ModuleFrontier& module) {
  std::vector<FrontierPoint> points;
  std::ranges::copy_if(module.points, std::back_inserter(points),
                       [](const FrontierPoint& point) { return point.status.has_value(); });
  std::ranges::stable_sort(points, [](const FrontierPoint& a, const FrontierPoint& b) {
    return std::pair(a.extra_work_permille, a.workspace) < std::pair(b.extra_work_permille, b.workspace);
  });
  return points;
}

std::string work_label(std::int64_t permille) {
  constexpr std::int64_t hundred = 100;
  const std::int64_t hundredths = hundred + permille / 10;
  return std::to_string(hundredths / hundred) + "." + std::to_string(hundred + hundredths % hundred).substr(1);
}

std::string panel(const ModuleFrontier& module, Tenths top) {
  std::string text = text_element(plot_left, top - 80, " class=\"pool\"", printable(module.module));
  text += rectangle(plot_left, top, plot_width, plot_height) + " class=\"panel\"/>\n";
  const std::vector<FrontierPoint> points = by_work(module);
  if (points.empty()) return text + text_element(plot_left + 100, top + 200, " class=\"dim\"", "no plan");
  Bytes most = 1;
  for (const FrontierPoint& point : points) most = std::max(most, point.workspace);
  const std::int64_t work = std::max<std::int64_t>(points.back().extra_work_permille, grid_lines);
  const auto x_of = [&](std::int64_t permille) { return plot_left + scaled(permille, work, plot_width); };
  const auto y_of = [&](Bytes bytes) { return top + plot_height - scaled(bytes, most, plot_height - 200); };
  const Bytes grid_bytes = round_step(most, grid_lines);
  for (Bytes bytes = 0; bytes <= most; bytes += grid_bytes) {
    text += line_element("grid", plot_left, y_of(bytes), plot_left + plot_width, y_of(bytes));
    text += text_element(plot_left - 60, y_of(bytes) + 40, " class=\"dim\" text-anchor=\"end\"", std::to_string(bytes));
  }
  const std::int64_t grid_work = round_step(work, grid_lines, 10);
  for (std::int64_t permille = 0; permille <= work; permille += grid_work) {
    text += text_element(x_of(permille), top + plot_height + 170, " class=\"dim\" text-anchor=\"middle\"",
                         work_label(permille));
  }
  text += text_element(plot_left + plot_width / 2, top + plot_height + 350, " class=\"dim\" text-anchor=\"middle\"",
                       "work, relative to the program without recomputing");
  const Tenths middle = top + plot_height / 2;
  text += text_element(250, middle,
                       " class=\"dim\" text-anchor=\"middle\" transform=\"rotate(-90 25 " + pixels(middle) + ")\"",
                       "bytes of workspace");
  // What is no smaller than a plan of less work is a dot beside the line.
  Bytes least = std::numeric_limits<Bytes>::max();
  Tenths from = 0;
  for (const FrontierPoint& point : points) {
    const Tenths x = x_of(point.extra_work_permille);
    if (point.workspace < least) {
      if (from > 0) {
        text += line_element("bound", from, y_of(least), x, y_of(least));
        text += line_element("bound", x, y_of(least), x, y_of(point.workspace));
      }
      least = point.workspace;
      from = x;
    }
    text += "<circle" + svg_attribute("cx", x) + svg_attribute("cy", y_of(point.workspace)) +
            svg_attribute("r", radius) + "><title>" + std::to_string(point.percent) +
            "% allowed: " + std::to_string(point.workspace) + " bytes, work " + work_label(point.extra_work_permille) +
            "</title></circle>\n";
  }
  text += line_element("bound", from, y_of(least), plot_left + plot_width, y_of(least));
  return text;
}

}  // namespace

std::string frontier_svg(const compare::Frontier& frontier) {
  const Tenths whole_height = title_height + module_height * static_cast<Tenths>(frontier.modules.size());
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + pixels(chart_width) + " " +
                     pixels(whole_height) + "\"" + svg_attribute("width", chart_width) +
                     svg_attribute("height", whole_height) + ">\n" + std::string(markup_terms);
  text += svg_style;
  text += "<style>circle{fill:var(--bound)}</style>\n";
  text += rectangle(0, 0, chart_width, whole_height) + " class=\"page\"/>\n";
  text += text_element(160, 250, " class=\"title\"", "Memory and work: " + printable(frontier.archive));
  for (std::size_t i = 0; i < frontier.modules.size(); ++i) {
    text += panel(frontier.modules[i], title_height + 250 + module_height * static_cast<Tenths>(i));
  }
  return text + "</svg>\n";
}

}  // namespace usmp::report
