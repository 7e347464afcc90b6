// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Two plans side by side as pictures: what moved, grew, shrank, came and went. Coordinates are whole tenths of a pixel.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "report/diff_tables.hpp"
#include "report/label_room.hpp"
#include "report/layout.hpp"
#include "report/markup.hpp"
#include "report/svg_elements.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/report/diff.hpp"

namespace usmp::report {
namespace {

using compare::BufferChange;
using compare::BufferDiff;
using compare::BufferPlace;
using compare::Diff;
using compare::PlanDiff;
using compare::PlanFigures;
using compare::PoolDiff;
using compare::PoolFigures;
using plan_file::PlanDocument;

constexpr Tenths page_width = 10000;
constexpr Tenths gutter = 700;  // left of each panel: its addresses
constexpr Tenths panel_width = 4200;
constexpr Tenths height = 2400;
constexpr Tenths line_height = 160;
constexpr Tenths margin = 160;

// What became of a buffer, as colours tell it.
enum class Fate : std::uint8_t { same, moved, grew, shrank, came, went };

struct FateText {
  std::string_view name;
  std::string_view color;  // light enough for dark letters
};

constexpr std::array<FateText, 6> fates = {{{"unchanged", "#c3c9d1"},
                                            {"moved", "#8ecae6"},
                                            {"grew", "#f28482"},
                                            {"shrank", "#90be6d"},
                                            {"new", "#ffc145"},
                                            {"gone", "#b8a1e3"}}};

const FateText& text_of(Fate fate) { return fates.at(static_cast<std::size_t>(fate)); }

Fate fate_of(const BufferDiff& buffer) {
  switch (buffer.change) {
    case BufferChange::added:
      return Fate::came;
    case BufferChange::removed:
      return Fate::went;
    case BufferChange::moved:
      return Fate::moved;
    case BufferChange::resized:
      break;
  }
  return buffer.growth() > 0 ? Fate::grew : Fate::shrank;
}

std::string place_text(const BufferPlace& place) {
  const std::string size = bytes_text(place.size);
  return place.pool.empty() ? size + " without a place"
                            : size + " at " + std::to_string(place.offset) + " in " + place.pool;
}

std::string change_text(const BufferDiff& buffer) {
  std::string fate(text_of(fate_of(buffer)).name);
  if (!buffer.before || !buffer.after) return fate;
  return fate + ": " + place_text(*buffer.before) + " -> " + place_text(*buffer.after);
}

// One of the two plans of a module.
struct Side {
  const PlanDocument& plan;
  PlanFigures figures;
  std::map<std::size_t, const BufferDiff*> changes = {};  // by buffer; those that differ
};

const PlanDocument& plan_of(std::span<const PlanDocument> plans, const std::string& module) {
  return *std::ranges::find(plans, module, &PlanDocument::module);
}

class Drawing {
 public:
  // Panels from `top` on.
  Drawing(const PlanDiff& diff, const DiffPlans& plans, Tenths top)
      : y_(top), before_(side_of(plans.before, diff.before)), after_(side_of(plans.after, diff.after)) {
    for (const BufferDiff& buffer : diff.buffers) {
      if (buffer.before) before_.changes[buffer.before->index] = &buffer;
      if (buffer.after) after_.changes[buffer.after->index] = &buffer;
    }
    for (const PoolDiff& pool : diff.pools) draw(pool);
    legend();
  }

  [[nodiscard]] const std::string& text() const { return out_; }
  [[nodiscard]] Tenths bottom() const { return y_; }

 private:
  static Side side_of(std::span<const PlanDocument> plans, const PlanDiff::Side& side) {
    const PlanDocument& plan = plan_of(plans, side.module);
    return {.plan = plan, .figures = compare::plan_figures(plan)};
  }

  static std::optional<std::size_t> index_of(const Side& side, const std::string& pool) {
    const auto found = std::ranges::find(side.plan.pools, pool, &PlanDocument::Pool::name);
    if (found == side.plan.pools.end()) return std::nullopt;
    return static_cast<std::size_t>(found - side.plan.pools.begin());
  }

  void draw(const PoolDiff& pool) {
    y_ += 200;
    out_ += text_element(margin, y_, " class=\"pool\"", printable(pool.name));
    const Bytes used = std::max(pool.before ? pool.before->used : 0, pool.after ? pool.after->used : 0);
    extent_ = used + std::max<Bytes>(1, used / 16);
    top_ = y_ + 260;
    panel(before_, pool.name, "before", gutter);
    panel(after_, pool.name, "after", page_width / 2 + gutter);
    y_ = top_ + height + 200;
  }

  // Its head says how much is used; where the plan has no such pool, that is all.
  void panel(const Side& side, const std::string& name, std::string_view when, Tenths left) {
    left_ = left;
    const std::optional<std::size_t> index = index_of(side, name);
    std::string head = std::string(when) + ": ";
    if (!index) {
      out_ += text_element(left, top_ - 60, " class=\"dim\"", head + "no such pool");
      return;
    }
    const PlanDocument::Pool& pool = side.plan.pools[*index];
    const PoolFigures& figures = side.figures.pools[*index];
    head += bytes_text(pool.used) + (pool.capacity ? " of " + std::to_string(*pool.capacity) : "");
    out_ += text_element(left, top_ - 60, " class=\"dim\"", head);
    out_ += rectangle(left, top_, panel_width, height) + " class=\"panel\"/>\n";
    addresses();
    horizon_ = std::max<Tick>(1, side.plan.horizon);
    std::string labels;
    out_ += "<g class=\"buffers\">\n";
    for (const std::size_t buffer : figures.buffers) labels += draw(side, buffer);
    out_ += "</g>\n";
    if (pool.kind == PoolKind::workspace && figures.load > 0) {
      const Tenths at = x(figures.peak_at);
      out_ += rectangle(at, top_, std::max<Tenths>(20, x(figures.peak_at + 1) - at), height) +
              " class=\"peak\"><title>" +
              markup_text("peak: " + bytes_text(figures.load) + " live at step " + std::to_string(figures.peak_at)) +
              "</title></rect>\n";
    }
    out_ += line_element("bound", left, y(pool.used), left + panel_width, y(pool.used));
    out_ += "<g class=\"labels\">\n" + labels + "</g>\n";
  }

  void addresses() {
    Bytes step = 1;
    while (extent_ / step > 6) step *= 2;
    for (Bytes at = 0; at <= extent_; at += step) {
      out_ += line_element("grid", left_ - 40, y(at), left_ + panel_width, y(at));
      out_ += text_element(left_ - 60, y(at) + 40, " class=\"dim\" text-anchor=\"end\"", std::to_string(at));
    }
  }

  [[nodiscard]] Tenths x(Tick tick) const { return left_ + scaled(tick, horizon_, panel_width); }
  [[nodiscard]] Tenths y(Bytes address) const { return top_ + height - scaled(address, extent_, height); }

  // Returns its labels, which are drawn last: only of what changed.
  std::string draw(const Side& side, std::size_t index) {
    constexpr Tenths thin = 30;
    constexpr Tenths least_height = 125;
    const PlanDocument::Buffer& buffer = side.plan.buffers[index];
    const auto change = side.changes.find(index);
    const bool is_same = change == side.changes.end();
    const Fate fate = is_same ? Fate::same : fate_of(*change->second);
    counts_.at(static_cast<std::size_t>(fate)) += 1;
    const std::string name = printable(buffer.name);
    const std::string title =
        markup_text(name + ": " + bytes_text(buffer.size) + " at " + std::to_string(buffer.offset) + ", " +
                    (is_same ? std::string(text_of(fate).name) : printable(change_text(*change->second))));
    const Tenths top = y(buffer.offset + buffer.size);
    const Tenths tall = std::max<Tenths>(10, y(buffer.offset) - top);
    std::string labels;
    for (const LiveRange& range : *buffer.live) {
      const Tenths begin = x(range.begin);
      const Tenths width = std::max<Tenths>(10, x(range.end) - begin);
      out_ += rectangle(begin, top, width, tall) + " fill=\"" + std::string(text_of(fate).color) + "\"" +
              (tall < thin || width < thin ? " class=\"thin\"" : "") + "><title>" + title + "</title></rect>\n";
      const std::string label = is_same || tall < least_height ? "" : fitted_label(name, "", width - 80);
      if (!label.empty()) labels += text_element(begin + 40, top + tall / 2 + 40, "", label);
    }
    return labels;
  }

  // Explains the colours that are drawn.
  void legend() {
    y_ += 60;
    Tenths at = margin;
    for (std::size_t i = 0; i < fates.size(); ++i) {
      if (counts_.at(i) == 0) continue;
      out_ += rectangle(at, y_ - 100, 140, 110) + " fill=\"" + std::string(fates.at(i).color) + "\"/>\n";
      out_ += text_element(at + 200, y_, " class=\"dim\"", fates.at(i).name);
      at += 400 + width_of_text(fates.at(i).name);
    }
    out_ += line_element("bound", at, y_ - 40, at + 240, y_ - 40);
    out_ += text_element(at + 300, y_, " class=\"dim\"", "used");
    y_ += 200;
  }

  Tenths y_;  // how far the page is written
  Side before_;
  Side after_;
  std::array<std::size_t, fates.size()> counts_ = {};  // of buffers that are drawn, by fate
  // The panel that is being drawn.
  Tenths top_ = 0;
  Tenths left_ = 0;
  Bytes extent_ = 1;  // addresses that its height shows
  Tick horizon_ = 1;
  std::string out_;
};

std::string svg_of(const std::string& title, Tenths bottom, const std::string& content) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + pixels(page_width) + "\" height=\"" + pixels(bottom) +
         "\" viewBox=\"0 0 " + pixels(page_width) + " " + pixels(bottom) + "\" role=\"img\">\n" +
         std::string(markup_terms) + "<title>" + markup_text(title) + "</title>\n" + std::string(svg_style) +
         "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" + content + "</svg>\n";
}

// Modules of one plan alone.
std::vector<std::string> lone_modules(const Diff& diff) {
  std::vector<std::string> lines;
  for (const std::string& name : diff.only_before) lines.push_back("module " + printable(name) + " is gone");
  for (const std::string& name : diff.only_after) lines.push_back("module " + printable(name) + " is new");
  return lines;
}

constexpr std::string_view page_style =
    R"(:root { color-scheme: light dark; --page: #fff; --text: #1b2128; --dim: #5b6672; --line: #d5dae0; --warning: #c4262e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181d; --text: #e6eaef; --dim: #9aa5b1; --line: #39424d; --warning: #ff7b72; }
}
body { margin: 0 auto; padding: 16px 20px 40px; max-width: 1200px; background: var(--page); color: var(--text);
  font: 14px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0 0 8px; font-size: 19px; }
h2 { margin: 24px 0 0; font-size: 16px; }
h3 { margin: 16px 0 0; font-size: 14px; }
p { margin: 2px 0; color: var(--dim); }
body > svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { margin-top: 6px; border-collapse: collapse; }
th, td { padding: 2px 14px 2px 0; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.warning { color: var(--warning); }
)";

}  // namespace

std::string diff_svg(const Diff& diff, const DiffPlans& plans) {
  std::string content;
  Tenths bottom = 100;
  for (const PlanDiff& module : diff.modules) {
    bottom += 200;
    content += text_element(margin, bottom, " class=\"title\"", printable(diff_title(module)));
    const Drawing drawing(module, plans, bottom + 60);
    content += drawing.text();
    bottom = drawing.bottom();
  }
  for (const std::string& line : lone_modules(diff)) {
    bottom += line_height;
    content += text_element(margin, bottom, "", line);
  }
  return svg_of("Differences of two memory plans", bottom + 160, content);
}

std::string diff_html(const Diff& diff, const DiffPlans& plans) {
  std::string page =
      "<!DOCTYPE html>\n" + std::string(markup_terms) +
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Memory plans compared</title>\n"
      "<style>\n" +
      std::string(page_style) + "</style>\n</head>\n<body>\n<h1>Memory plans compared</h1>\n";
  for (const PlanDiff& module : diff.modules) {
    const std::string title = printable(diff_title(module));
    const Drawing drawing(module, plans, 0);
    page += "<h2>" + markup_text(title) + "</h2>\n" + svg_of(title, drawing.bottom(), drawing.text()) +
            diff_tables_html(module);
  }
  for (const std::string& line : lone_modules(diff)) page += "<p>" + markup_text(line) + "</p>\n";
  return page + "</body>\n</html>\n";
}

}  // namespace usmp::report
