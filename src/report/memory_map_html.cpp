// SPDX-License-Identifier: Apache-2.0
// The page's style and script are files of their own (memory_map.css, memory_map.js), which the build puts into
// memory_map_assets.cpp.
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/layout.hpp"
#include "report/markup.hpp"
#include "report/memory_map_assets.hpp"
#include "report/operator_colors.hpp"
#include "report/pool_lines.hpp"
#include "report/steps.hpp"
#include "report/summary.hpp"
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

using Json = nlohmann::ordered_json;

// Names as they may be shown: the page shows what other reports show.
Json name_json(const std::string& name) { return printable(name); }

Json pool_json(const PlanDocument::Pool& pool, const PoolFigures& figures) {
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
    for (const auto& [maker, color] : operator_colors(document, figures)) {
      indices_.emplace(maker, names_.size());
      names_.push_back(printable(operator_name(document, maker.first, maker.second)));
      colors_.push_back(color);
    }
  }
  [[nodiscard]] std::size_t index_of(std::size_t call, std::size_t row_operator) const {
    return indices_.at({call, row_operator});
  }
  [[nodiscard]] const Json& names() const { return names_; }
  [[nodiscard]] const Json& colors() const { return colors_; }  // indices into the script's palette

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> indices_;
  Json names_ = Json::array();
  Json colors_ = Json::array();
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

Json data_json(const PlanDocument& document) {
  const PlanFigures figures = plan_figures(document);
  const Operators operators(document, figures);
  Functions functions;
  Json json;
  json["horizon"] = document.horizon;
  json["pools"] = Json::array();
  Json buffers = Json::array();
  for (std::size_t i = 0; i < document.pools.size(); ++i) {
    json["pools"].push_back(pool_json(document.pools[i], figures.pools[i]));
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
  json["colors"] = operators.colors();
  if (operators.names().size() > palette_size) json["repeated_colors"] = repeated_colors_text;
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
  return items.empty() ? items : "<h2>Summary</h2>\n<ul id=\"summary\">\n" + items + "</ul>\n";
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
  return "<h2>Transformations</h2>\n<table id=\"transformed\">\n"
         "<tr><th>transformation</th><th>peak live bytes" +
         without_io(document) + " before</th><th>after</th><th>outcome</th></tr>\n" + rows + "</table>\n" +
         row_paragraphs(document);
}

constexpr std::string_view controls = R"(<div class="tools">
<input id="search" type="search" placeholder="search: name, operator, kind" aria-label="Search buffers" autocomplete="off">
<label>colour by <select id="coloring"><option value="operator">operator</option><option value="kind">kind</option></select></label>
<span><button id="larger" title="zoom in" aria-label="Zoom in">+</button>
<button id="smaller" title="zoom out" aria-label="Zoom out">−</button>
<button id="reset">all</button></span>
<span id="status" role="status"></span>
<div id="matches"></div>
</div>
<div id="panels"></div>
<ul id="legend" class="legend"></ul>
<p>Solid line: live bytes. Dashed: lower bound. Red line: capacity, if it is in view. Red band: the peak. Hatched: bytes that two buffers share while both are live.</p>
<p><kbd>/</kbd> search, <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom, in a panel <kbd>←</kbd> <kbd>→</kbd> the buffers by time,
<kbd>↑</kbd> <kbd>↓</kbd> by address, <kbd>Enter</kbd> zooms to the chosen one, <kbd>Shift</kbd> with arrows or dragging moves,
<kbd>Ctrl</kbd> with the wheel zooms, a double click zooms to a buffer or shows all, <kbd>Esc</kbd> clears.</p>
<div id="tip" hidden></div>
)";

}  // namespace

std::string memory_map_html(const PlanDocument& document) {
  const std::string name = markup_text("module " + document.module + " of " + document.archive);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Memory map: " +
      name + "</title>\n<style>\n";
  page += memory_map_css;
  page += "</style>\n</head>\n<body>\n<h1>" + name + "</h1>\n<p>" +
          markup_text(planned_text(document) + "; " + std::to_string(document.buffers.size()) + " buffers, " +
                      std::to_string(document.calls.size()) + " operators, " + std::to_string(document.horizon) +
                      " steps") +
          "</p>\n" + warning_paragraphs(document);
  page += controls;
  page += summary_section(document) + transformed_section(document);
  page += "<script type=\"application/json\" id=\"plan\">";
  page += script_json(data_json(document).dump());
  page += "</script>\n<script>\n";
  page += memory_map_js;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace usmp::report
