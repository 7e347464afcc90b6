// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Coordinates are whole tenths of a pixel, so that no rounding of a machine's own reaches the text.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "report/alignment_gaps.hpp"
#include "report/label_room.hpp"
#include "report/layout.hpp"
#include "report/markup.hpp"
#include "report/operator_colors.hpp"
#include "report/pool_lines.hpp"
#include "report/summary.hpp"
#include "report/svg_elements.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/report/memory_map.hpp"

namespace usmp::report {
namespace {

using compare::operator_name;
using compare::OperatorIndex;
using compare::plan_figures;
using compare::PlanFigures;
using compare::PoolFigures;
using plan_file::PlanDocument;

constexpr Tenths page_width = 10000;
constexpr Tenths gutter = 1180;  // left of a panel: addresses, and where the leftmost operator's name reaches
constexpr Tenths panel_width = page_width - gutter - 160;
constexpr Tenths workspace_height = 3200;
constexpr Tenths parameter_height = 1400;
constexpr Tenths steps_height = 140;  // below a panel of workspace: numbers of steps, then names of operators
constexpr Tenths names_height = 1120;
constexpr Tenths line_height = 160;
constexpr std::size_t name_length = 25;  // of an operator below a panel
// Told of a buffer in the title of each of its rectangles: with all of them the picture would grow with their square.
constexpr std::size_t most_ranges_told = 16;
constexpr std::size_t most_shared_told = 4;

constexpr std::string_view no_operator_color = "#c3c9d1";

// "64 KiB", "12.5 KiB", "48 B" of a multiple of a grid's step, which chooses the unit of all.
std::string address_text(Bytes bytes, Bytes step) {
  constexpr Bytes half_kib = 512;
  constexpr Bytes half_mib = half_kib * 1024;
  const auto in_halves = [](Bytes halves) { return std::to_string(halves / 2) + (halves % 2 != 0 ? ".5" : ""); };
  if (step % half_mib == 0) return in_halves(bytes / half_mib) + " MiB";
  if (step % half_kib == 0) return in_halves(bytes / half_kib) + " KiB";
  return std::to_string(bytes) + " B";
}

// The least power of two that divides the span into at most `most` parts.
Bytes address_step(Bytes span, Bytes most) {
  Bytes step = 1;
  while (span / step > most) step *= 2;
  return step;
}

class Drawing {
 public:
  explicit Drawing(const PlanDocument& document)
      : document_(document),
        figures_(plan_figures(document)),
        horizon_(std::max<Tick>(1, document.horizon)),
        colors_(operator_colors(document, figures_)) {}

  std::string text() && {
    title();
    for (std::size_t i = 0; i < document_.pools.size(); ++i) pool(document_.pools[i], figures_.pools[i]);
    legend();
    const std::string size = pixels(page_width) + " " + pixels(y_);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + pixels(page_width) + "\" height=\"" + pixels(y_) +
           "\" viewBox=\"0 0 " + size + "\" role=\"img\">\n" + std::string(markup_terms) + "<title>" +
           markup_text("Memory map of module " + document_.module) + "</title>\n" + std::string(svg_style) +
           std::string(svg_hatch) + "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" + out_ + "</svg>\n";
  }

 private:
  void title() {
    y_ = 260;
    out_ += text_element(160, y_, " class=\"title\"", "module " + document_.module + " of " + document_.archive);
    y_ += line_height + 20;
    out_ += text_element(160, y_, " class=\"dim\"",
                         planned_text(document_) + "; " + std::to_string(document_.buffers.size()) + " buffers, " +
                             std::to_string(document_.calls.size()) + " operators, " +
                             std::to_string(document_.horizon) + " steps");
    y_ += line_height;
  }

  void pool(const PlanDocument::Pool& pool, const PoolFigures& figures) {
    y_ += 240;
    out_ += text_element(160, y_, " class=\"pool\"", pool.name);
    for (const std::string& line : pool_lines(pool, figures)) {
      y_ += line_height;
      out_ += text_element(160, y_, " class=\"dim\"", line);
    }
    if (figures.buffers.empty()) return;
    top_ = y_ + 280;
    const bool workspace = pool.kind == PoolKind::workspace;
    height_ = workspace ? workspace_height : parameter_height;
    extent_ = extent_of(pool, figures);
    out_ += rectangle(gutter, top_, panel_width, height_) + " class=\"panel\"/>\n";
    addresses();
    y_ = top_ + height_;
    if (workspace) operators();
    const std::string labels = buffers(pool, figures);
    if (workspace) peak(figures);
    limits(pool, figures);
    out_ += "<g class=\"labels\">\n" + labels + "</g>\n";
  }

  // A little more than what is drawn.
  [[nodiscard]] Bytes extent_of(const PlanDocument::Pool& pool, const PoolFigures& figures) const {
    constexpr Bytes margin = 16;
    Bytes extent = std::max({pool.used, pool.lower_bound.value_or(0), figures.load, Bytes{1}});
    for (const std::size_t index : figures.buffers) {
      extent = std::max(extent, document_.buffers[index].offset + document_.buffers[index].size);
    }
    return extent + std::max<Bytes>(1, extent / margin);
  }

  [[nodiscard]] Tenths x(Tick tick) const { return gutter + scaled(tick, horizon_, panel_width); }
  [[nodiscard]] Tenths y(Bytes address) const { return top_ + height_ - scaled(address, extent_, height_); }

  void addresses() {
    const Bytes step = address_step(extent_, height_ / 320);
    for (Bytes at = 0; at <= extent_; at += step) {
      out_ += line_element("grid", gutter - 40, y(at), gutter + panel_width, y(at));
      out_ += text_element(gutter - 70, y(at) + 40, " class=\"dim\" text-anchor=\"end\"", address_text(at, step));
    }
  }

  void operators() {
    const Tenths bottom = top_ + height_;
    const Tick step = round_step(horizon_, panel_width / 800);
    for (Tick at = 0; at <= horizon_; at += step) {
      out_ += line_element("grid", x(at), bottom, x(at), bottom + 40);
      out_ += text_element(x(at), bottom + 150, " class=\"dim\" text-anchor=\"middle\"",
                           (at == 0 ? "step " : "") + std::to_string(at));
    }
    y_ += steps_height;
    if (document_.calls.empty()) {
      y_ += line_height;
      return;
    }
    constexpr Tenths least = 180;  // between two names
    Tenths last = -least;          // where the last name is
    bool is_left_out = false;      // one behind it
    for (std::size_t i = 0; i < document_.calls.size(); ++i) {
      const LiveRange ticks = document_.calls[i].ticks;
      const Tenths left = x(ticks.begin);
      out_ += line_element("grid", left, top_, left, bottom);
      const Tenths middle = (left + x(ticks.end)) / 2;
      if (middle < last + least) {
        is_left_out = true;
        continue;
      }
      if (is_left_out) omission((last + middle) / 2);
      is_left_out = false;
      last = middle;
      const std::string name = operator_name(document_, i);
      out_ += "<text class=\"dim\" text-anchor=\"end\" transform=\"translate(" + pixels(middle + 30) + " " +
              pixels(bottom + steps_height + 120) + ") rotate(-40)\"><title>" +
              markup_text(name + rows_of(document_.calls[i]) + ", steps " + live_text({ticks})) + "</title>" +
              markup_text(shortened(printable(name), name_length)) + "</text>\n";
    }
    if (is_left_out) omission(last + least);
    y_ += names_height;
  }

  // Where names of operators have no room.
  void omission(Tenths at) {
    out_ += text_element(at, top_ + height_ + steps_height + 120, " class=\"dim\" text-anchor=\"middle\"", "…");
  }

  static std::string rows_of(const PlanDocument::Call& call) {
    return call.by_rows.empty() ? std::string() : " (" + by_rows_text(call) + ")";
  }

  // Returns the labels, which are drawn last.
  std::string buffers(const PlanDocument::Pool& pool, const PoolFigures& figures) {
    if (pool.reserved > 0) {
      out_ += rectangle(gutter, y(pool.reserved), panel_width, y(0) - y(pool.reserved)) +
              " class=\"reserved\"><title>reserved</title></rect>\n";
    }
    gaps(figures);
    out_ += "<g class=\"buffers\">\n";
    std::string labels;
    std::string outlines;
    std::vector<std::tuple<Tick, Tick, std::size_t>> crowded;  // buffers that share all of a live range
    shared_of_.clear();
    for (const PoolFigures::SharedBytes& shared : figures.shared_bytes) {
      shared_of_[shared.first].push_back(&shared);
      shared_of_[shared.second].push_back(&shared);
    }
    for (const std::size_t index : figures.buffers) {
      const PlanDocument::Buffer& buffer = document_.buffers[index];
      const Tenths top = y(buffer.offset + buffer.size);
      const Tenths height = std::max<Tenths>(10, y(buffer.offset) - top);
      const std::string title = markup_text(description(index));
      for (const LiveRange& range : *buffer.live) {
        const Tenths left = x(range.begin);
        const Tenths width = std::max<Tenths>(10, x(range.end) - left);
        out_ += rectangle(left, top, width, height) + " fill=\"" + color_of(index) + "\"" +
                (height < 30 || width < 30 ? " class=\"thin\"" : "") + "><title>" + title + "</title></rect>\n";
        const auto shared = shared_of_.find(index);
        const std::string text = label(index, range, shared == shared_of_.end() ? no_shared_ : shared->second);
        labels += text;
        if (text.empty() && shared != shared_of_.end()) crowded.emplace_back(range.begin, range.end, index);
        if (shared != shared_of_.end()) outlines += rectangle(left, top, width, height) + "/>\n";
      }
    }
    out_ += "</g>\n";
    if (!figures.shared_bytes.empty()) {
      out_ += "<g class=\"shared\">\n" + hatched(figures) + "</g>\n<g class=\"outlines\">\n" + outlines + "</g>\n";
    }
    std::sort(crowded.begin(), crowded.end());
    for (std::size_t i = 0; i < crowded.size(); ++i) labels += crowded_label(crowded[i], static_cast<Tenths>(i));
    return labels;
  }

  // Below the buffers, of which a third one may lie over a gap.
  void gaps(const PoolFigures& figures) {
    std::string text;
    for (const AlignmentGap& gap : alignment_gaps(document_, figures)) {
      text += rectangle(x(gap.ticks.begin), y(gap.high), std::max<Tenths>(10, x(gap.ticks.end) - x(gap.ticks.begin)),
                        std::max<Tenths>(10, y(gap.low) - y(gap.high))) +
              "><title>" + bytes_text(gap.high - gap.low) + " at " + std::to_string(gap.low) +
              " lost to alignment, steps " + live_text({gap.ticks}) + "</title></rect>\n";
    }
    if (text.empty()) return;
    draws_gaps_ = true;
    out_ += "<g class=\"gaps\">\n" + text + "</g>\n";
  }

  [[nodiscard]] std::string hatched(const PoolFigures& figures) const {
    std::string text;
    for (const PoolFigures::SharedBytes& shared : figures.shared_bytes) {
      const std::string title =
          markup_text(bytes_text(shared.bytes()) + " at " + std::to_string(shared.begin) + " are of both " +
                      document_.buffers[shared.first].name + " and " + document_.buffers[shared.second].name +
                      ", live " + first_ranges(shared.ticks));
      for (const LiveRange& range : shared.ticks) {
        text += rectangle(x(range.begin), y(shared.end), std::max<Tenths>(10, x(range.end) - x(range.begin)),
                          std::max<Tenths>(10, y(shared.begin) - y(shared.end))) +
                "><title>" + title + "</title></rect>\n";
      }
    }
    return text;
  }

  // The operator that makes the buffer, if the plan says what it is.
  [[nodiscard]] std::string operator_of(std::size_t index) const {
    const OperatorIndex call = figures_.operators[index];
    if (!call || document_.calls[*call].kind.empty()) return {};
    return printable(figures_.operators_text(document_, index));
  }

  [[nodiscard]] std::string label(std::size_t index, const LiveRange& range,
                                  const std::vector<const PoolFigures::SharedBytes*>& shared) const {
    for (const Room& room : label_rooms(document_.buffers[index], range, shared)) {
      std::string text = label(index, x(room.ticks.begin), y(room.high), x(room.ticks.end) - x(room.ticks.begin),
                               y(room.low) - y(room.high));
      if (!text.empty()) return text;
    }
    return {};
  }

  // Over what is shared: neighbours in time take turns in the thirds of their heights.
  [[nodiscard]] std::string crowded_label(const std::tuple<Tick, Tick, std::size_t>& where, Tenths turn) const {
    const auto& [begin, end, index] = where;
    const PlanDocument::Buffer& buffer = document_.buffers[index];
    const Tenths top = y(buffer.offset + buffer.size);
    const Tenths height = (y(buffer.offset) - top) / 3;
    return label(index, x(begin), top + turn % 3 * height, x(end) - x(begin), height);
  }

  // Empty if there is no room for some letters.
  [[nodiscard]] std::string label(std::size_t index, Tenths left, Tenths top, Tenths width, Tenths height) const {
    constexpr Tenths least_height = 125;
    if (height < least_height) return {};
    const std::string text = fitted_label(printable(document_.buffers[index].name), operator_of(index), width - 80);
    return text.empty() ? text : text_element(left + 40, top + height / 2 + 40, "", text);
  }

  [[nodiscard]] std::string color_of(std::size_t buffer) const {
    const OperatorIndex call = figures_.operators[buffer];
    if (!call) return std::string(no_operator_color);
    const OperatorColor& color = colors_.of.at({*call, document_.buffers[buffer].row_operator});
    return color_text(color.hue, color.shade);
  }

  static std::string first_ranges(const std::vector<LiveRange>& live) {
    if (live.size() <= most_ranges_told) return live_text(live);
    return live_text({live.begin(), live.begin() + most_ranges_told}) + " and " +
           std::to_string(live.size() - most_ranges_told) + " more";
  }

  [[nodiscard]] std::string description(std::size_t index) const {
    const PlanDocument::Buffer& buffer = document_.buffers[index];
    std::string text = buffer.name + ": " + bytes_text(buffer.size) + " at " + std::to_string(buffer.offset) +
                       ", live " + first_ranges(*buffer.live) + ", " +
                       (buffer.rows ? "ring of " + to_string(*buffer.rows) : to_string(buffer.kind));
    if (figures_.operators[index]) text += ", " + figures_.operators_text(document_, index);
    if (const auto found = shared_of_.find(index); found != shared_of_.end()) {
      const std::vector<const PoolFigures::SharedBytes*>& shared = found->second;
      for (std::size_t i = 0; i < std::min(shared.size(), most_shared_told); ++i) {
        const std::size_t other = shared[i]->first == index ? shared[i]->second : shared[i]->first;
        text += ", shares " + bytes_text(shared[i]->bytes()) + " with " + document_.buffers[other].name;
      }
      if (shared.size() > most_shared_told) text += " and others";
    }
    return text;
  }

  void peak(const PoolFigures& figures) {
    std::string path = "M";
    for (const PoolFigures::TimelinePoint& point : figures.timeline) {
      const std::string height = pixels(y(point.live));
      path += path == "M" ? pixels(x(point.at)) + "," + height : "H" + pixels(x(point.at)) + "V" + height;
    }
    out_ += "<path class=\"live\" d=\"" + path + "H" + pixels(x(horizon_)) + "\"/>\n";
    draws_live_ = true;
    if (figures.load == 0) return;
    draws_peak_ = true;
    const Tenths left = x(figures.peak_at);
    const Tenths width = std::max<Tenths>(20, x(figures.peak_at + 1) - left);
    out_ += rectangle(left, top_, width, height_) + " class=\"peak\"/>\n";
    const std::string text = "peak: " + bytes_text(figures.load) + " live at step " + std::to_string(figures.peak_at);
    const Tenths half = width_of_text(text) / 2 + 40;  // it is bold
    out_ += text_element(std::clamp<Tenths>(left, gutter + half, gutter + panel_width - half), top_ - 50,
                         " class=\"peak-text\" text-anchor=\"middle\"", text);
  }

  void limits(const PlanDocument::Pool& pool, const PoolFigures& figures) {
    const auto across = [&](std::string_view name, const std::optional<Bytes>& address, bool& is_drawn) {
      if (!address || *address > extent_) return;
      is_drawn = true;
      out_ += line_element(name, gutter, y(*address), gutter + panel_width, y(*address));
    };
    if (figures.smaller_is_better) across("bound", pool.lower_bound, draws_bound_);
    across("capacity", pool.capacity, draws_capacity_);
  }

  // Explains what is drawn.
  void legend() {
    y_ += 240;
    Tenths at = 160;
    const auto text_of = [&](std::string_view text) {
      out_ += text_element(at + 300, y_, " class=\"dim\"", text);
      at += 300 + width_of_text(text) + 200;
    };
    const auto entry = [&](bool is_drawn, std::string_view name, std::string_view text) {
      if (!is_drawn) return;
      out_ += line_element(name, at, y_ - 40, at + 240, y_ - 40);
      text_of(text);
    };
    entry(draws_live_, "live", "live bytes");
    entry(draws_bound_, "bound", "lower bound");
    entry(draws_capacity_, "capacity", "capacity");
    if (draws_peak_) {
      out_ += rectangle(at, y_ - 100, 240, 110) + " class=\"peak\"/>\n";
      text_of("the peak");
    }
    const bool shares = std::any_of(figures_.pools.begin(), figures_.pools.end(),
                                    [](const PoolFigures& pool) { return !pool.shared_bytes.empty(); });
    if (shares) {
      out_ += "<g class=\"shared\">" + rectangle(at, y_ - 100, 240, 110) + "/></g>\n";
      text_of("shared by two live buffers");
    }
    if (draws_gaps_) {
      out_ += "<g class=\"gaps\">" + rectangle(at, y_ - 100, 240, 110) + "/></g>\n";
      text_of("lost to alignment");
    }
    kinds();
    y_ += 200;
  }

  // The hues, in lines as wide as the page.
  void kinds() {
    if (colors_.kinds.empty()) return;
    y_ += line_height + 40;
    Tenths at = 160;
    for (std::size_t hue = 0; hue < colors_.kinds.size(); ++hue) {
      const OperatorColors::Kind& kind = colors_.kinds[hue];
      const std::string text = shortened(printable(kind.name), name_length) +
                               (kind.operators > 1 ? " ×" + std::to_string(kind.operators) : "");
      const Tenths width = 200 + width_of_text(text) + 200;
      if (at > 160 && at + width > page_width) {
        at = 160;
        y_ += line_height;
      }
      out_ += rectangle(at, y_ - 100, 140, 110) + " fill=\"" + color_text(hue, 0) + "\"/>\n";
      out_ += text_element(at + 200, y_, " class=\"dim\"", text);
      at += width;
    }
  }

  const PlanDocument& document_;
  PlanFigures figures_;
  Tick horizon_ = 1;
  OperatorColors colors_;
  bool draws_live_ = false;
  bool draws_bound_ = false;
  bool draws_capacity_ = false;
  bool draws_gaps_ = false;
  bool draws_peak_ = false;
  Tenths y_ = 0;  // how far the page is written
  // The panel that is being drawn.
  Tenths top_ = 0;
  Tenths height_ = 0;
  Bytes extent_ = 1;                                                               // addresses that its height shows
  std::map<std::size_t, std::vector<const PoolFigures::SharedBytes*>> shared_of_;  // by buffer
  const std::vector<const PoolFigures::SharedBytes*> no_shared_;
  std::string out_;
};

}  // namespace

std::string memory_map_svg(const PlanDocument& document) { return Drawing(document).text(); }

}  // namespace usmp::report
