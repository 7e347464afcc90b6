// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Memory maps as SVG and HTML. test_memory_map.py holds them against parsers and a browser.
#include "usmp/report/memory_map.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "plan_support/golden.hpp"
#include "plan_support/planned.hpp"
#include "report/label_room.hpp"
#include "report/operator_colors.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/report/report.hpp"

namespace usmp::report::memory_map_test {

using usmp::plan_file::PlanDocument;
using usmp::report::memory_map_html;
using usmp::report::memory_map_svg;

namespace {

PlanDocument example() {
  Planned planned;
  fill_example(planned);
  return planned.finish();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

// What stands in the page's first script element, which is the plan.
std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"plan\">";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

}  // namespace

TEST_CASE("the example as SVG") { check_golden("memory_map.svg", memory_map_svg(example())); }

TEST_CASE("a module of which there is nothing to say, as SVG") {
  Planned planned;
  const std::string svg = memory_map_svg(planned.finish());
  CHECK(count(svg, "<rect") == 2);  // the page, and the pattern of what is shared
  CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("every live range of a placed buffer is a rectangle of the SVG") {
  const std::string svg = memory_map_svg(example());
  CHECK(count(svg, "</title></rect>") == 6);  // five buffers, one of two ranges
  CHECK(count(svg, "class=\"peak\"") == 3);   // and in the legend
  CHECK(svg.find("big: 100 bytes at 0, live [0,1) [2,6), input") != std::string::npos);
}

TEST_CASE("a title of the SVG tells of sixteen live ranges and how many more there are") {
  PlanDocument document = example();
  document.horizon = 200;
  std::vector<LiveRange> live;
  for (Tick tick = 0; tick < 16; ++tick) live.push_back({4 * tick, 4 * tick + 1});
  document.buffers[0].live = live;
  CHECK(memory_map_svg(document).find("[56,57) [60,61), tensor") != std::string::npos);
  live.push_back({100, 101});
  live.push_back({102, 103});
  document.buffers[0].live = live;
  const std::string svg = memory_map_svg(document);
  CHECK(svg.find("[56,57) [60,61) and 2 more, tensor") != std::string::npos);
  CHECK(count(svg, "live [0,1) [4,5)") == 18);
}

TEST_CASE("the SVG counts ticks, in steps of 1, 2, 5, 10, …") {
  PlanDocument document = example();
  document.calls.clear();
  const std::size_t pools = 2;  // each has its ticks
  const std::string svg = memory_map_svg(document);
  const std::string middle = " class=\"dim\" text-anchor=\"middle\">";
  CHECK(count(svg, middle) == pools * (static_cast<std::size_t>(document.horizon) + 1));
  document.horizon = 1000;
  const std::string longer = memory_map_svg(document);
  CHECK(count(longer, ">step 0<") == pools);
  CHECK(count(longer, ">1000<") == pools);
  CHECK(count(longer, middle) <= pools * 20);
}

TEST_CASE("reserved bytes are drawn") {
  PlanDocument document = example();
  CHECK(count(memory_map_svg(document), "class=\"reserved\"") == 0);
  document.pools.front().reserved = 8;
  CHECK(count(memory_map_svg(document), "class=\"reserved\"") == 1);
}

TEST_CASE("what two buffers share is hatched over both, outlined, told and kept free of labels") {
  PlanDocument document = example();
  document.distances = {{usmp::BufferId(1), usmp::BufferId(0), 0}};
  document.buffers[1].offset = 32;  // b, live in [1,3), over the last 16 bytes of a, live in [0,2)
  document.calls[0].kind = "conv2d";
  const std::string svg = memory_map_svg(document);
  CHECK(count(svg, "<g class=\"shared\">") == 2);  // and in the legend
  CHECK(count(svg, "16 bytes at 32 are of both a and b, live [1,2)") == 1);
  CHECK(count(svg, ", shares 16 bytes with b</title>") == 1);
  CHECK(count(svg, ", shares 16 bytes with a</title>") == 1);
  const std::size_t outlines = svg.find("<g class=\"outlines\">");
  REQUIRE(outlines != std::string::npos);
  CHECK(count(svg.substr(outlines, svg.find("</g>", outlines) - outlines), "<rect") == 2);
  const std::size_t labels = svg.find("<g class=\"labels\">");  // of the first pool
  CHECK(count(svg.substr(labels, svg.find("</g>", labels) - labels), ">b #1 conv2d</text>") == 1);
  CHECK(count(memory_map_svg(example()), "class=\"shared\"") == 0);
  const nlohmann::json data = nlohmann::json::parse(data_of(memory_map_html(document)))["modules"][0];
  CHECK(data["pools"][0]["shared"] == nlohmann::json::parse("[[0, 1, 32, 48, 1, 2]]"));
  CHECK(data["pools"][0]["lower_bound"].is_null());  // filled on purpose
  CHECK(data["pools"][1]["lower_bound"] == 100);
  CHECK(data["calls"][0]["kind"] == "conv2d");
}

TEST_CASE("labels stand in the longest time, else the most bytes, that a buffer has to itself") {
  PlanDocument::Buffer buffer;
  buffer.offset = 100;
  buffer.size = 50;
  using Shared = compare::PoolFigures::SharedBytes;
  const Shared late{0, 1, 100, 130, {{6, 9}}};
  const Shared early{0, 2, 140, 150, {{0, 2}}};
  const Shared elsewhere{0, 3, 100, 150, {{20, 30}}};
  const auto rooms = [&](std::vector<const Shared*> shared) { return label_rooms(buffer, {0, 9}, shared); };
  CHECK(rooms({}) == std::vector<Room>{{{0, 9}, 100, 150}});
  CHECK(rooms({&elsewhere}) == std::vector<Room>{{{0, 9}, 100, 150}});
  CHECK(rooms({&late}) == std::vector<Room>{{{0, 6}, 100, 150}, {{0, 9}, 130, 150}});
  CHECK(rooms({&late, &early}) == std::vector<Room>{{{2, 6}, 100, 150}, {{0, 9}, 130, 140}});
  const Shared all{0, 4, 100, 150, {{0, 9}}};
  CHECK(rooms({&all}).empty());
}

TEST_CASE("labels are the buffer, its operator if there is room; names are cut in the middle") {
  const std::string name = "conv2d_nhwc";
  const std::string both = name + " #5 conv2d";
  CHECK(fitted_label(name, "#5 conv2d", width_of_text(both)) == both);
  CHECK(fitted_label(name, "#5 conv2d", width_of_text(both) - 1) == name);
  CHECK(fitted_label(name, "", width_of_text(both)) == name);
  CHECK(fitted_label(name, "#5 conv2d", width_of_text(name) - 1) == "conv…_nhwc");
  CHECK(fitted_label(name, "#5 conv2d", width_of_text("co…hwc")) == "co…hwc");
  CHECK(fitted_label(name, "#5 conv2d", width_of_text("co…hwc") - 1) == "");
  CHECK(fitted_label("sid_7", "", width_of_text("sid_7")) == "sid_7");
  CHECK(fitted_label("sid_7", "", width_of_text("sid_7") - 1) == "");
  CHECK(fitted_label("", "#1 add", 1000) == "");
}

TEST_CASE("the page's data are the plan's buffers") {
  const nlohmann::json data = nlohmann::json::parse(data_of(memory_map_html(example())))["modules"][0];
  REQUIRE(data["buffers"].size() == 5);
  CHECK(data["buffers"][3]["name"] == "big");
  CHECK(data["buffers"][3]["live"] == nlohmann::json({0, 1, 2, 6}));
  CHECK(data["buffers"][3]["pool"] == 1);
  CHECK(data["pools"][0]["timeline"].size() == 5);
  CHECK(data["functions"][data["buffers"][1]["function"].get<std::size_t>()] == "conv");
}

TEST_CASE("pictures tell of rings and of operators by rows") {
  const PlanDocument plan = with_rows(example());
  const std::string svg = memory_map_svg(plan);
  CHECK(svg.find(", ring of 4 of 12 rows, 4 bytes each, #1.3 conv2d</title>") != std::string::npos);
  CHECK(svg.find("<title>#1 operators by rows (1 to 3: 2 conv2d, add), steps [1,3)</title>") != std::string::npos);
  const std::string page = memory_map_html(plan);
  CHECK(page.find("<p>#1 runs operators 1 to 3: 2 conv2d, add; 1 ring holds 16 of 48 bytes</p>") != std::string::npos);
  const nlohmann::json data = nlohmann::json::parse(data_of(page))["modules"][0];
  CHECK(data["buffers"][1]["ring"] == "4 of 12 rows, 4 bytes each");
  CHECK_FALSE(data["buffers"][0].contains("ring"));
  CHECK(data["calls"][0]["by_rows"] == "1 to 3: 2 conv2d, add");
}

TEST_CASE("scratch of a function that is called again names how many calls use it") {
  PlanDocument plan = example();
  plan.calls = {{"conv", {0, 3}}, {"relu", {3, 4}}, {"conv", {4, 5}}, {"conv", {5, 7}}};
  plan.horizon = 7;
  for (PlanDocument::Call& call : plan.calls) call.kind = call.callee;
  plan.buffers.at(1).live = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};  // twice in the first call
  const std::string owner = "#1 conv and 2 more";
  CHECK(memory_map_svg(plan).find("scratch, " + owner + "</title>") != std::string::npos);
  CHECK(report_text(plan, {}).find("  scratch  b       " + owner + "\n") != std::string::npos);
  CHECK(report_markdown(plan).find(" | " + owner + " |\n") != std::string::npos);
  const nlohmann::json data = nlohmann::json::parse(data_of(memory_map_html(plan)))["modules"][0];
  CHECK(data["buffers"][1]["more"] == 2);
  CHECK_FALSE(data["buffers"][0].contains("more"));
  const nlohmann::json at_peak = nlohmann::json::parse(report_json(plan))["pools"][0]["peak"]["buffers"];
  REQUIRE(at_peak.size() == 2);
  CHECK(at_peak[1]["name"] == "b");
  CHECK(at_peak[1]["more_operators"] ==
        nlohmann::json::parse(R"([{"index": 2, "callee": "conv"}, {"index": 3, "callee": "conv"}])"));
  CHECK_FALSE(at_peak[0].contains("more_operators"));
  plan.buffers.at(1).live = {{1, 2}};
  CHECK(memory_map_svg(plan).find(" more</title>") == std::string::npos);
}

TEST_CASE("buffers of operators by rows have the colours of the operators inside") {
  PlanDocument plan = with_rows(example());
  const auto colors = [&] {
    const nlohmann::json data = nlohmann::json::parse(data_of(memory_map_html(plan)))["modules"][0];
    return std::pair(data["buffers"][1]["operator"], data["operators"]);
  };
  plan.buffers.at(0).live = {{1, 2}};
  plan.buffers.at(0).row_operator = 1;
  CHECK(colors() ==
        std::pair<nlohmann::json, nlohmann::json>(2, {"#1 operators by rows", "#1.1 conv2d", "#1.3 conv2d"}));
  const std::vector<std::string> all = nlohmann::json::parse(data_of(memory_map_html(plan)))["modules"][0]["colors"];
  REQUIRE(all.size() == 3);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == 3);
  CHECK(count(memory_map_svg(plan), "fill=\"" + all[2] + "\"") >= 1);
  plan.buffers.at(1).row_operator = 1;
  CHECK(colors().first == 1);
}

namespace {

// Call i makes buffer i, which is live from its begin to `life` calls later.
PlanDocument chain(std::size_t calls, Tick life) {
  PlanDocument plan = example();
  const PlanDocument::Buffer buffer = plan.buffers.at(0);
  plan.buffers.clear();
  plan.calls.clear();
  plan.horizon = static_cast<Tick>(calls) + life;
  for (std::size_t i = 0; i < calls; ++i) {
    const auto at = static_cast<Tick>(i);
    plan.calls.push_back({"f" + std::to_string(i), {at, at + 1}});
    plan.buffers.push_back(buffer);
    plan.buffers.back().live = {{at, at + life}};
  }
  return plan;
}

nlohmann::json module_of(const PlanDocument& plan) {
  return nlohmann::json::parse(data_of(memory_map_html(plan)))["modules"][0];
}

std::vector<std::string> colors_of(const PlanDocument& plan) { return module_of(plan)["colors"]; }

// Names of kinds, and how many operators are of each.
std::vector<std::pair<std::string, std::size_t>> kinds_of(const PlanDocument& plan) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  const nlohmann::json module = module_of(plan);
  for (const nlohmann::json& kind : module["kinds"]) kinds.emplace_back(kind["name"], kind["operators"]);
  return kinds;
}

}  // namespace

TEST_CASE("a kind has a hue, the kind with the most bytes the first; its operators have shades of it") {
  PlanDocument plan = chain(4, 2);
  for (std::size_t i = 0; i < 4; ++i) plan.calls[i].kind = i % 2 == 0 ? "conv2d" : "add";
  plan.buffers[1].size = 4000;
  CHECK(kinds_of(plan) == std::vector<std::pair<std::string, std::size_t>>{{"add", 2}, {"conv2d", 2}});
  const std::vector<std::string> colors = {color_text(1, 0), color_text(0, 0), color_text(1, 1), color_text(0, 1)};
  CHECK(colors_of(plan) == colors);
  const std::string svg = memory_map_svg(plan);
  for (const std::string& color : colors) CHECK(count(svg, "fill=\"" + color + "\"") >= 1);
  CHECK(count(svg, ">add ×2<") == 1);
  CHECK(module_of(plan)["kind_of"] == nlohmann::json({1, 0, 1, 0}));
  // A plan that knows no kinds: names without the compiler's numbers.
  for (std::size_t i = 0; i < 4; ++i) plan.calls[i] = {"f_" + std::to_string(i), plan.calls[i].ticks};
  CHECK(kinds_of(plan) == std::vector<std::pair<std::string, std::size_t>>{{"f", 4}});
}

TEST_CASE("all colours differ, and dark letters can be read on them") {
  std::set<std::string> all;
  for (std::size_t hue = 0; hue < hue_count; ++hue) {
    for (std::size_t shade = 0; shade < shade_count; ++shade) {
      const std::string text = color_text(hue, shade);
      REQUIRE(text.size() == 7);
      int sum = 0;
      for (const std::size_t at : {1U, 3U, 5U}) sum += std::stoi(text.substr(at, 2), nullptr, 16);
      CHECK_MESSAGE(sum > 3 * 110, text);
      all.insert(text);
    }
  }
  CHECK(all.size() == hue_count * shade_count);
}

TEST_CASE("more kinds than hues: those with the fewest bytes share the last one") {
  const auto plan_of = [](std::size_t kinds) {
    PlanDocument plan = chain(kinds, 1);
    for (std::size_t i = 0; i < kinds; ++i) {
      plan.calls[i].kind = "kind" + std::string(1, static_cast<char>('a' + i));
      plan.buffers[i].size = static_cast<Bytes>(100 - i);
    }
    return plan;
  };
  CHECK(kinds_of(plan_of(12)).back() == std::pair<std::string, std::size_t>("kindl", 1));
  const std::vector<std::pair<std::string, std::size_t>> kinds = kinds_of(plan_of(14));
  REQUIRE(kinds.size() == 12);
  CHECK(kinds[10] == std::pair<std::string, std::size_t>("kindk", 1));
  CHECK(kinds[11] == std::pair<std::string, std::size_t>("other kinds", 3));
}

TEST_CASE(
    "operators of a kind whose buffers are live at the same time have different shades, as long as there are any") {
  PlanDocument plan = chain(30, 2);
  for (PlanDocument::Call& call : plan.calls) call.kind = "conv2d";
  plan.buffers.at(0).live = {{0, 6}};  // #5 would have its shade
  const std::vector<std::string> colors = colors_of(plan);
  REQUIRE(colors.size() == 30);
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (plan.buffers[k].live->front().end < plan.buffers[i].live->front().begin) continue;
      CHECK_MESSAGE(colors[i] != colors[k], i << " and " << k);
    }
  }
  PlanDocument touching = chain(5, 1);
  for (PlanDocument::Call& call : touching.calls) call.kind = "conv2d";
  touching.buffers.at(0).live = {{0, 4}};  // ends where #5's begins, whose turn it is to have this shade
  CHECK(colors_of(touching).at(4) != colors_of(touching).at(0));
  // Constants are all there all the time: they take turns.
  for (PlanDocument::Buffer& buffer : plan.buffers) buffer.kind = BufferKind::constant;
  for (std::size_t i = 0; i < 30; ++i) plan.buffers[i].function = plan.calls[i].callee;
  CHECK(colors_of(plan).at(29) == color_text(0, 29 % shade_count));
}

TEST_CASE("bytes between neighbours that alignment leaves free are drawn while both are live") {
  PlanDocument plan = chain(3, 3);  // live in [0, 3), [1, 4), [2, 5)
  const auto place = [&](std::size_t buffer, Bytes offset, Bytes size, Bytes alignment) {
    plan.buffers[buffer].offset = offset;
    plan.buffers[buffer].size = size;
    plan.buffers[buffer].alignment = alignment;
  };
  place(0, 0, 10, 16);
  place(1, 16, 16, 16);  // 6 bytes behind #1's
  place(2, 64, 16, 16);  // 32 bytes behind: not for its alignment
  const auto gaps_of = [](const PlanDocument& one) { return module_of(one)["pools"][0]["gaps"]; };
  CHECK(gaps_of(plan) == nlohmann::json::parse("[[1, 3, 10, 16]]"));
  CHECK(count(memory_map_svg(plan), "6 bytes at 10 lost to alignment, steps [1,3)") == 1);
  CHECK(count(memory_map_svg(plan), "<g class=\"gaps\">") == 2);  // and in the legend
  place(2, 16, 16, 16);                                           // while the second is live: between it and the first
  plan.buffers[1].live = {{1, 2}};
  plan.buffers[2].live = {{2, 3}};
  CHECK(gaps_of(plan) == nlohmann::json::parse("[[1, 2, 10, 16], [2, 3, 10, 16]]"));
  place(1, 10, 6, 2);  // fills it, for a while
  plan.buffers[1].live = {{0, 1}, {2, 3}};
  plan.buffers[2].live = {{0, 3}};
  CHECK(gaps_of(plan) == nlohmann::json::parse("[[1, 2, 10, 16]]"));
  place(2, 16, 16, 1);
  CHECK(gaps_of(plan).empty());
  CHECK(count(memory_map_svg(plan), "class=\"gaps\"") == 0);
}

TEST_CASE("the page begins with a bar for each pool: what is used, of how much") {
  PlanDocument plan = example();
  CHECK(count(memory_map_html(plan), "<td class=\"bar\">") >= plan.pools.size());
  plan.pools[0].capacity = 4 * plan.pools[0].used;
  const std::string page = memory_map_html(plan);
  const std::string used = std::to_string(plan.pools[0].used);
  CHECK(count(page, "<td class=\"number\">" + used + " of " + std::to_string(4 * plan.pools[0].used) +
                        " bytes</td>"
                        "<td class=\"number\">25.00%</td>") == 1);
  const auto unbounded = std::ranges::count_if(plan.pools, [](const auto& pool) { return !pool.capacity; });
  CHECK(count(page, " bytes, no limit</td>") == static_cast<std::size_t>(unbounded));
}

TEST_CASE("the page has the buffers at the peak, and the operators with what is live in them") {
  const PlanDocument plan = example();
  const compare::PlanFigures figures = compare::plan_figures(plan);
  const std::string page = memory_map_html(plan);
  std::size_t at_peak = 0;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (plan.pools[i].kind == PoolKind::workspace) at_peak += figures.pools[i].at_peak.size();
  }
  REQUIRE(at_peak > 0);
  CHECK(count(page, "<tr data-id=") == at_peak);
  CHECK(count(page, "<h2>By operator</h2>") == 1);
  const std::size_t table = page.find("<table class=\"operators\">");
  REQUIRE(table != std::string::npos);
  CHECK(count(page.substr(table, page.find("</table>", table) - table), "<tr>") == plan.calls.size() + 1);
  PlanDocument hostile = plan;
  for (PlanDocument::Call& call : hostile.calls) call.callee = call.kind = "<b>";
  CHECK(count(memory_map_html(hostile), "<b>") == 0);
}

TEST_CASE("a page of several modules has all of them, and a selector") {
  std::vector<PlanDocument> plans = {example(), example()};
  plans[1].module = "other</script>";
  const std::string page = memory_map_html(plans);
  CHECK(count(page, "<select id=\"module\">") == 1);
  CHECK(count(page, "<section data-module=\"1\">") == 2);
  CHECK(count(page, "<script") == 2);
  const nlohmann::json data = nlohmann::json::parse(data_of(page));
  REQUIRE(data["modules"].size() == 2);
  CHECK(data["modules"][0] == module_of(plans[0]));
  CHECK(count(memory_map_html(plans[0]), "id=\"module\"") == 0);
}

TEST_CASE("the legend lists what is drawn") {
  PlanDocument plan = example();
  const std::string svg = memory_map_svg(plan);
  for (const char* text : {">live bytes<", ">lower bound<", ">the peak<", ">conv<"})
    CHECK_MESSAGE(count(svg, text) == 1, text);
  CHECK(count(svg, ">capacity<") == 0);
  plan.pools[0].capacity = 64;
  plan.calls.clear();
  for (PlanDocument::Pool& pool : plan.pools) pool.lower_bound.reset();
  const std::string other = memory_map_svg(plan);
  CHECK(count(other, ">capacity<") == 1);
  CHECK(count(other, ">lower bound<") == 0);
  CHECK(count(other, ">conv<") == 0);
}

TEST_CASE("addresses have one unit; names of operators that have no room are marked") {
  PlanDocument plan = example();
  plan.buffers[0].size = 4000;
  plan.pools[0].used = 4000;
  const std::string svg = memory_map_svg(plan);
  CHECK(count(svg, ">3.5 KiB<") == 1);
  CHECK(count(svg, ">3584 B<") == 0);
  CHECK(count(svg, ">…<") == 0);
  plan.horizon = 1000;
  plan.calls = {{"f", {0, 10}}, {"g", {10, 20}}, {"h", {20, 30}}, {"i", {900, 901}}, {"j", {901, 902}}};
  CHECK(count(memory_map_svg(plan), ">…<") == 2 * 2);
}

TEST_CASE("hostile names stay text in SVG and HTML") {
  for (const char* name : {"</script><b>", "]]><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "<!--",
                           "&lt;", "'", "\x1b[31m", "\xff\xfe", "\xEF\xBF\xBF", "${1}", "\xE2\x80\xAE"}) {
    PlanDocument document = example();
    document.module = name;
    document.archive = name;
    document.algorithm = name;
    for (PlanDocument::Pool& pool : document.pools) pool.lower_bound_reason = name;
    for (PlanDocument::Buffer& buffer : document.buffers) buffer.name = buffer.function = name;
    for (PlanDocument::Call& call : document.calls) call.callee = name;
    CAPTURE(name);
    const std::string svg = memory_map_svg(document);
    CHECK(count(svg, "<script") == 0);
    CHECK(count(svg, "<img") == 0);
    CHECK(count(svg, "]]>") == 0);
    CHECK(count(svg, "\x1b") == 0);
    CHECK(count(svg, "\xEF\xBF\xBF") == 0);
    const std::string page = memory_map_html(document);
    CHECK(count(page, "<script") == 2);
    CHECK(count(page, "</script") == 2);
    CHECK(count(page, "<img") == 0);
    CHECK(count(page, "<!--") == 1);  // the page's own
    CHECK(nlohmann::json::accept(data_of(page)));
  }
}

TEST_CASE("the same document gives the same bytes") {
  CHECK(memory_map_svg(example()) == memory_map_svg(example()));
  CHECK(memory_map_html(example()) == memory_map_html(example()));
}

TEST_CASE("the page asks for nothing from outside") {
  const std::string page = memory_map_html(example());
  CHECK(count(page, "default-src 'none'") == 1);
  CHECK(count(page, "src=") == 0);
  CHECK(count(page, "href=") == 0);
  CHECK(count(page, "@import") == 0);
  CHECK(count(page, "url(") == 2);  // the script's own clip path and hatch
}

TEST_CASE("the page has a table of the transformations, if there were any") {
  Planned planned;
  fill_example(planned);
  CHECK(count(memory_map_html(planned.finish()), "class=\"transformed\"") == 0);
  planned.document.transformed = example_steps();
  PlanDocument plan = planned.finish();
  const std::string page = memory_map_html(plan);
  const std::size_t table = page.find("<table class=\"transformed\">");
  REQUIRE(table != std::string::npos);
  CHECK(count(page.substr(table, page.find("</table>", table) - table), "<tr>") == 5);
  CHECK(count(page, R"(<tr><td>constants</td><td class="number">112</td><td class="number">112</td>)"
                    "<td>1 change, constants 24 -&gt; 10 bytes</td></tr>\n") == 1);
  plan.transformed[0].step = "</table><script>";
  CHECK(count(memory_map_html(plan), "<tr><td>&lt;/table&gt;&lt;script&gt;</td>") == 1);
}

TEST_CASE("the page has the summary of the text, and the warnings") {
  Planned planned;
  fill_example(planned);
  PlanDocument plan = planned.finish();
  plan.unplanned_workspace.reset();
  CHECK(count(memory_map_html(plan), "<p class=\"warning\">") == 0);
  plan.unplanned_workspace = 656;
  plan.warnings = {"</p><script>"};
  const std::string page = memory_map_html(plan);
  CHECK(count(page, "<p class=\"warning\">warning: &lt;/p&gt;&lt;script&gt;</p>\n") == 1);
  CHECK(count(page, "<li>workspace: 164 bytes, 492 (75.00%) fewer than the 656 of the unplanned build</li>\n") == 1);
}

}  // namespace usmp::report::memory_map_test
