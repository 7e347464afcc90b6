// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The page's style and script are files of their own (memory_map.css, memory_map.js), which the build puts into
// memory_map_assets.cpp.
#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "report/alignment_gaps.hpp"
#include "report/layout.hpp"
#include "report/markup.hpp"
#include "report/memory_map_assets.hpp"
#include "report/operator_colors.hpp"
#include "report/peak.hpp"
#include "report/pool_lines.hpp"
#include "report/steps.hpp"
#include "report/summary.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/report/memory_map.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::operator_name;
using compare::OperatorIndex;
using compare::plan_figures;
using compare::PlanFigures;
using compare::PoolFigures;
using plan_file::PlanDocument;

using Json = nlohmann::ordered_json;

// Names as they may be shown: the page shows what other reports show.
Json name_json(const std::string& name) { return printable(name); }

Json pool_json(const PlanDocument& document, std::size_t index, const PoolFigures& figures) {
  const PlanDocument::Pool& pool = document.pools[index];
  Json json;
  json["name"] = name_json(pool.name);
  json["kind"] = to_string(pool.kind);
  json["capacity"] = pool.capacity ? Json(*pool.capacity) : Json(nullptr);
  json["reserved"] = pool.reserved;
  json["used"] = pool.used;
  json["lower_bound"] = pool.lower_bound && figures.smaller_is_better ? Json(*pool.lower_bound) : Json(nullptr);
  json["text"] = Json::array();
  for (const std::string& line : pool_lines(pool, figures)) json["text"].push_back(printable(line));
  json["shared"] = Json::array();
  for (const PoolFigures::SharedBytes& shared : figures.shared_bytes) {
    Json one = {shared.first, shared.second, shared.begin, shared.end};
    for (const LiveRange& range : shared.ticks) {
      one.push_back(range.begin);
      one.push_back(range.end);
    }
    json["shared"].push_back(std::move(one));
  }
  json["gaps"] = Json::array();
  for (const AlignmentGap& gap : alignment_gaps(document, figures)) {
    json["gaps"].push_back({gap.ticks.begin, gap.ticks.end, gap.low, gap.high});
  }
  json["load"] = figures.load;
  json["peak_at"] = figures.peak_at;
  json["timeline"] = Json::array();
  for (const PoolFigures::TimelinePoint& point : figures.timeline) json["timeline"].push_back({point.at, point.live});
  return json;
}

// Functions declare many buffers each: their names stand once.
class Functions {
 public:
  std::size_t index_of(const std::string& name) {
    const auto [found, is_new] = indices_.emplace(name, names_.size());
    if (is_new) names_.push_back(name_json(name));
    return found->second;
  }
  [[nodiscard]] const Json& names() const { return names_; }

 private:
  std::map<std::string, std::size_t> indices_;
  Json names_ = Json::array();
};

// The operators that make buffers, in the order of calls and of the rows in them.
class Operators {
 public:
  Operators(const PlanDocument& document, const PlanFigures& figures) {
    const OperatorColors colors = operator_colors(document, figures);
    for (const auto& [maker, color] : colors.of) {
      indices_.emplace(maker, names_.size());
      names_.push_back(printable(operator_name(document, maker.first, maker.second)));
      kind_of_.push_back(color.hue);
      colors_.push_back(color_text(color.hue, color.shade));
    }
    for (std::size_t hue = 0; hue < colors.kinds.size(); ++hue) {
      kinds_.push_back({{"name", printable(colors.kinds[hue].name)},
                        {"operators", colors.kinds[hue].operators},
                        {"color", color_text(hue, 0)}});
    }
  }
  [[nodiscard]] std::size_t index_of(std::size_t call, std::size_t row_operator) const {
    return indices_.at({call, row_operator});
  }
  [[nodiscard]] const Json& names() const { return names_; }
  [[nodiscard]] const Json& kind_of() const { return kind_of_; }  // indices into kinds()
  [[nodiscard]] const Json& colors() const { return colors_; }
  [[nodiscard]] const Json& kinds() const { return kinds_; }

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> indices_;
  Json names_ = Json::array();
  Json kind_of_ = Json::array();
  Json colors_ = Json::array();
  Json kinds_ = Json::array();
};

Json buffer_json(const PlanDocument::Buffer& buffer, std::size_t id, std::size_t pool, const PlanFigures& figures,
                 const Operators& operators, Functions& functions) {
  const OperatorIndex& call = figures.operators[id];
  Json json;
  json["id"] = id;
  json["name"] = name_json(buffer.name);
  json["function"] = functions.index_of(buffer.function);
  json["kind"] = to_string(buffer.kind);
  json["pool"] = pool;
  json["offset"] = buffer.offset;
  json["size"] = buffer.size;
  json["alignment"] = buffer.alignment;
  if (buffer.pinned) json["pinned"] = true;
  if (buffer.rows) json["ring"] = to_string(*buffer.rows);
  json["call"] = call ? Json(*call) : Json(-1);
  json["operator"] = call ? Json(operators.index_of(*call, buffer.row_operator)) : Json(-1);
  if (!figures.more_operators[id].empty()) json["more"] = figures.more_operators[id].size();
  json["live"] = Json::array();
  for (const LiveRange& range : *buffer.live) {
    json["live"].push_back(range.begin);
    json["live"].push_back(range.end);
  }
  return json;
}

Json data_json(const PlanDocument& document, const PlanFigures& figures) {
  const Operators operators(document, figures);
  Functions functions;
  Json json;
  json["horizon"] = document.horizon;
  json["pools"] = Json::array();
  Json buffers = Json::array();
  for (std::size_t i = 0; i < document.pools.size(); ++i) {
    json["pools"].push_back(pool_json(document, i, figures.pools[i]));
    for (const std::size_t id : figures.pools[i].buffers) {
      buffers.push_back(buffer_json(document.buffers[id], id, i, figures, operators, functions));
    }
  }
  json["calls"] = Json::array();
  for (std::size_t i = 0; i < document.calls.size(); ++i) {
    Json call;
    call["name"] = printable(operator_name(document, i));
    call["begin"] = document.calls[i].ticks.begin;
    call["end"] = document.calls[i].ticks.end;
    call["kind"] = name_json(document.calls[i].kind);
    call["callee"] = name_json(document.calls[i].callee);
    call["operands"] = name_json(operands_text(document.calls[i]));
    if (!document.calls[i].by_rows.empty()) call["by_rows"] = name_json(by_rows_text(document.calls[i]));
    json["calls"].push_back(std::move(call));
  }
  json["functions"] = functions.names();
  json["operators"] = operators.names();
  json["kinds"] = operators.kinds();
  json["kind_of"] = operators.kind_of();
  json["colors"] = operators.colors();
  json["buffers"] = std::move(buffers);
  return json;
}

std::string row_paragraphs(const PlanDocument& document) {
  std::string text;
  for (const std::string& line : row_lines(document)) text += "<p>" + markup_text(line) + "</p>\n";
  return text;
}

std::string warning_paragraphs(const PlanDocument& document) {
  std::string text;
  for (const std::string& warning : document.warnings) {
    text += "<p class=\"warning\">warning: " + markup_text(printable(warning)) + "</p>\n";
  }
  return text;
}

std::string summary_section(const PlanDocument& document) {
  std::string items;
  for (const std::string& line : summary_lines(document)) items += "<li>" + markup_text(line) + "</li>\n";
  return items.empty() ? items : "<h2>Summary</h2>\n<ul class=\"summary\">\n" + items + "</ul>\n";
}

// Empty if nothing was done.
std::string transformed_section(const PlanDocument& document) {
  std::string rows;
  for (const PlanDocument::StepOutcome& step : document.transformed) {
    if (!step.is_worth_a_line()) continue;
    rows += "<tr><td>" + markup_text(step.step) + "</td><td class=\"number\">" + std::to_string(step.load_before) +
            "</td><td class=\"number\">" + std::to_string(step.load_after) + "</td><td>" +
            markup_text(outcome_text(step)) + "</td></tr>\n";
  }
  if (rows.empty()) return rows;
  return "<h2>Transformations</h2>\n<table class=\"transformed\">\n"
         "<tr><th>transformation</th><th>peak live bytes" +
         without_io(document) + " before</th><th>after</th><th>outcome</th></tr>\n" + rows + "</table>\n" +
         row_paragraphs(document);
}

std::string number_cell(const std::string& text) { return "<td class=\"number\">" + text + "</td>"; }
std::string cell(const std::string& text) { return "<td>" + markup_text(text) + "</td>"; }

// A part of a bar. The browser's decimal point is that of percent().
std::string bar_part(std::string_view name, Bytes part, Bytes whole, const std::string& what) {
  if (part <= 0) return {};
  return "<i class=\"" + std::string(name) + "\" style=\"width:" + percent(std::min(part, whole), whole) +
         "\" title=\"" + markup_text(bytes_text(part) + " " + what) + "\"></i>";
}

// A line for each pool: what its used bytes are, how many of how many, and the percentage.
std::string pool_bars(const PlanDocument& document, const PlanFigures& figures) {
  std::string rows;
  for (std::size_t i = 0; i < document.pools.size(); ++i) {
    const PlanDocument::Pool& pool = document.pools[i];
    const PoolFigures& of_pool = figures.pools[i];
    const Bytes whole = std::max({pool.capacity.value_or(pool.used), pool.used, Bytes{1}});
    const std::string size = pool.capacity ? std::to_string(pool.used) + " of " + bytes_text(*pool.capacity)
                                           : bytes_text(pool.used) + ", no limit";
    const std::string share = pool.capacity && *pool.capacity > 0 ? percent(pool.used, *pool.capacity) : "";
    rows += "<tr><th scope=\"row\">" + markup_text(pool.name) + "</th><td class=\"bar\"><div>" +
            bar_part("reserved", pool.reserved, whole, "reserved") +
            bar_part("used", of_pool.load, whole, "live at the peak") +
            bar_part("gap", of_pool.lost_to_alignment, whole, "lost to alignment") +
            bar_part("free", of_pool.lost_to_fragmentation(), whole, "in gaps") + "</div></td>" +
            number_cell(markup_text(size)) + number_cell(share) + "</tr>\n";
  }
  return rows.empty() ? rows : "<table class=\"bars\">\n" + rows + "</table>\n";
}

std::string more_rows(std::size_t all, std::size_t shown) {
  return all <= shown ? "" : "<p>and " + std::to_string(all - shown) + " more</p>\n";
}

std::string scrolled(const std::string& table) { return "<div class=\"scroll\">" + table + "</div>\n"; }

std::string first_ranges(const std::vector<LiveRange>& live) {
  constexpr std::size_t most = 4;
  if (live.size() <= most + 1) return live_text(live);
  return live_text({live.begin(), live.begin() + most}) + " and " + std::to_string(live.size() - most) + " more";
}

// The buffers at the peak of a pool; the page's script shows a buffer whose row is clicked.
std::string peak_section(const PlanDocument& document, const PlanFigures& figures, std::size_t pool) {
  constexpr std::size_t most = 20;
  const PoolFigures& of_pool = figures.pools[pool];
  std::string rows;
  const std::vector<std::size_t> shown = shown_at_peak(document, of_pool, most);
  for (const std::size_t i : shown) {
    const std::size_t id = of_pool.at_peak[i];
    const PlanDocument::Buffer& buffer = document.buffers[id];
    rows += "<tr data-id=\"" + std::to_string(id) + "\">" + cell(printable(buffer.name)) +
            number_cell(std::to_string(buffer.size)) + number_cell(std::to_string(of_pool.counted[i])) +
            number_cell(std::to_string(buffer.offset)) + cell(first_ranges(*buffer.live)) +
            cell(printable(figures.operators_text(document, id))) + "</tr>\n";
  }
  std::string shares;
  for (std::size_t i = 0; i < std::min(most, of_pool.shares.size()); ++i) {
    const PoolFigures::Share& share = of_pool.shares[i];
    shares += "<tr>" +
              cell(share.call ? printable(operator_name(document, *share.call, share.row_operator))
                              : std::string("between operators")) +
              number_cell(std::to_string(share.bytes)) + number_cell(percent(share.bytes, of_pool.occupied_at_peak)) +
              "</tr>\n";
  }
  return "<h2>At the peak of " + markup_text(printable(document.pools[pool].name)) + "</h2>\n<p>" +
         markup_text(peak_text(document, of_pool)) + "</p>\n" +
         scrolled(
             "<table class=\"at-peak\">\n<tr><th>buffer</th><th>size</th><th>counted once</th><th>offset</th>"
             "<th>live in steps</th><th>operator</th></tr>\n" +
             rows + "</table>") +
         more_rows(of_pool.at_peak.size(), shown.size()) +
         scrolled("<table class=\"shares\">\n<tr><th>made by operator</th><th>occupied</th><th>share</th></tr>\n" +
                  shares + "</table>") +
         more_rows(of_pool.shares.size(), most);
}

std::string count_text(const std::optional<std::int64_t>& count) { return count ? std::to_string(*count) : "?"; }

// What is live in each operator, and what it costs.
std::string operators_section(const PlanDocument& document, const PlanFigures& figures) {
  constexpr std::size_t most = 500;
  std::vector<std::size_t> pools;
  for (std::size_t i = 0; i < document.pools.size(); ++i) {
    if (document.pools[i].kind == PoolKind::workspace && figures.pools[i].load > 0) pools.push_back(i);
  }
  if (pools.empty() || document.calls.empty()) return {};
  std::string head = "<tr><th>operator</th>";
  for (const std::size_t i : pools) {
    head += "<th colspan=\"2\">most live in " + markup_text(printable(document.pools[i].name)) + "</th>";
  }
  head += "<th>multiply-accumulates</th><th>instructions</th><th>reads → writes</th></tr>\n";
  std::string rows;
  for (std::size_t call = 0; call < std::min(most, document.calls.size()); ++call) {
    rows += "<tr>" + cell(printable(operator_name(document, call)));
    for (const std::size_t i : pools) {
      const Bytes live = figures.pools[i].most_live(document.calls[call].ticks);
      rows += number_cell(std::to_string(live)) + "<td class=\"bar\"><div>" +
              bar_part("used", live, figures.pools[i].load, "live") + "</div></td>";
    }
    rows += number_cell(count_text(document.calls[call].multiply_accumulates)) +
            number_cell(count_text(document.calls[call].instructions)) + cell(operands_text(document.calls[call])) +
            "</tr>\n";
  }
  return "<h2>By operator</h2>\n" + scrolled("<table class=\"operators\">\n" + head + rows + "</table>") +
         more_rows(document.calls.size(), most);
}

std::string tables(const PlanDocument& document, const PlanFigures& figures) {
  std::string text;
  for (std::size_t i = 0; i < document.pools.size(); ++i) {
    if (document.pools[i].kind == PoolKind::workspace && figures.pools[i].load > 0) {
      text += peak_section(document, figures, i);
    }
  }
  return text + operators_section(document, figures);
}

constexpr std::string_view controls = R"(<div class="tools">
<input id="search" type="search" placeholder="search: name, operator, kind" aria-label="Search buffers" autocomplete="off">
<span><button id="larger" title="zoom in" aria-label="Zoom in">+</button>
<button id="smaller" title="zoom out" aria-label="Zoom out">−</button>
<button id="to-peak" title="zoom to the peak">peak</button>
<button id="reset">all</button></span>
<span class="coloring"><label>colour by <select id="coloring"><option value="operator">operator</option><option value="kind">buffer</option></select></label>
<ul id="legend" class="legend"></ul></span>
<span id="status" role="status"></span>
<div id="matches"></div>
</div>
<div id="panels"></div>
<p>Solid line: live bytes. Dashed: lower bound. Red line: capacity, if it is in view. Red band: the peak. Orange: lost to
alignment. Hatched: bytes that two buffers share while both are live.</p>
<p><kbd>/</kbd> search, <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> <kbd>p</kbd> zoom, in a panel <kbd>←</kbd> <kbd>→</kbd> the buffers by time,
<kbd>↑</kbd> <kbd>↓</kbd> by address, <kbd>Enter</kbd> zooms to the chosen one, <kbd>Shift</kbd> with arrows or dragging moves,
<kbd>Ctrl</kbd> with the wheel zooms, a double click zooms to a buffer or shows all, <kbd>Esc</kbd> clears.</p>
<div id="tip" hidden></div>
)";

std::string name_of(const PlanDocument& document) {
  return markup_text("module " + document.module + " of " + document.archive);
}

// What is above the map, and below.
std::string head_of(const PlanDocument& document, const PlanFigures& figures, std::size_t index) {
  return "<section data-module=\"" + std::to_string(index) + "\">\n<h1>" + name_of(document) + "</h1>\n<p>" +
         markup_text(planned_text(document) + "; " + counted(document.buffers.size(), "buffer") + ", " +
                     counted(document.calls.size(), "operator") + ", " + std::to_string(document.horizon) + " steps") +
         "</p>\n" + warning_paragraphs(document) + pool_bars(document, figures) + "</section>\n";
}

std::string tail_of(const PlanDocument& document, const PlanFigures& figures, std::size_t index) {
  return "<section data-module=\"" + std::to_string(index) + "\">\n" + tables(document, figures) +
         summary_section(document) + transformed_section(document) + "</section>\n";
}

// Which module is shown; empty for one.
std::string module_selector(std::span<const PlanDocument> documents) {
  if (documents.size() < 2) return {};
  std::string options;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    options += "<option value=\"" + std::to_string(i) + "\">" + name_of(documents[i]) + "</option>";
  }
  return "<label class=\"module\">" + std::to_string(documents.size()) + " modules: <select id=\"module\">" + options +
         "</select></label>\n";
}

}  // namespace

std::string memory_map_html(std::span<const PlanDocument> documents) {
  const std::string title = documents.size() == 1 ? name_of(documents.front()) : counted(documents.size(), "module");
  std::string page =
      "<!DOCTYPE html>\n" + std::string(markup_terms) +
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Memory map: " +
      title + "</title>\n<style>\n";
  page += memory_map_css;
  page += "</style>\n</head>\n<body>\n" + module_selector(documents);
  std::string tails;
  Json data;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const PlanFigures figures = plan_figures(documents[i]);
    page += head_of(documents[i], figures, i);
    tails += tail_of(documents[i], figures, i);
    data["modules"].push_back(data_json(documents[i], figures));
  }
  page += controls;
  page += tails;
  page += "<script type=\"application/json\" id=\"plan\">";
  page += script_json(data.dump());
  page += "</script>\n<script>\n";
  page += memory_map_js;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

std::string memory_map_html(const PlanDocument& document) { return memory_map_html({&document, 1}); }

}  // namespace usmp::report
