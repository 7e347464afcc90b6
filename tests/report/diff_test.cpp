// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Differences between plans as text. test_schema.py holds diff.json against docs/schema/diff.schema.json.
#include "usmp/report/diff.hpp"

#include <doctest/doctest.h>

#include "plan_support/diffs.hpp"
#include "plan_support/golden.hpp"

namespace usmp::report::diff_test {

using compare::Diff;
using plan_file::PlanDocument;
using namespace usmp::plan_support::diffs;

TEST_CASE("a difference in every format") {
  PlanDocument after = changed();
  after.pools.at(0).all_modules = {96, {"default", "vww"}};
  const Diff diff = diff_of(example(), after);
  CHECK(diff.differs());
  check_golden("diff.txt", diff_text(diff, {}));
  check_golden("diff.md", diff_markdown(diff));
  check_golden("diff.json", diff_json(diff));
  check_golden("diff.csv", diff_csv(diff));
}

TEST_CASE("other modules alone are no difference, but are told") {
  PlanDocument before = with_other_modules(example());
  const Diff diff = diff_of(before, with_other_modules(example()));
  CHECK(diff_text(diff, {}).find("as before; of all modules 96 bytes, set by default and vww side by side\n") !=
        std::string::npos);
  before.pools[1].all_modules = {300, {"vww"}};
  const Diff other = diff_of(before, with_other_modules(example()));
  CHECK_FALSE(other.differs());
  CHECK(diff_text(other, {}).find("; of all modules 300 bytes, set by vww -> 200 bytes, set by kws\n") !=
        std::string::npos);
  CHECK(diff_text(diff_of(example(), example()), {}).find("all modules") == std::string::npos);
  PlanDocument without = with_other_modules(example());
  without.pools.erase(without.pools.begin());
  for (PlanDocument::Buffer& buffer : without.buffers) buffer.pool = without.pools[0].name;
  const std::string added = diff_text(diff_of(without, with_other_modules(example())), {});
  CHECK(added.find(" is new and uses 64 bytes; of all modules 96 bytes, set by default and vww side by side\n") !=
        std::string::npos);
}

TEST_CASE("warnings of the later plan stand below what happened to the pools") {
  PlanDocument after = changed();
  after.warnings = {"no plan | fits"};
  const Diff diff = diff_of(example(), after);
  CHECK(diff_text(diff, {}).find("it used 100 bytes\n  warning: no plan | fits\n\n") != std::string::npos);
  CHECK(diff_markdown(diff).find("it used 100 bytes\n- warning: no plan \\| fits\n\n") != std::string::npos);
  CHECK(diff_json(diff).find(R"("warnings":["no plan | fits"])") != std::string::npos);
}

TEST_CASE("a module that is planned alone, then with others") {
  const Diff diff = diff_of(example(), with_other_modules(example()));
  CHECK(diff_text(diff, {}).find("; of all modules planned alone -> 96 bytes, set by") != std::string::npos);
}

TEST_CASE("in CSV a name becomes no formula, and a negative figure stays one") {
  Diff diff = diff_of(example(), changed());
  diff.modules.at(0).buffers.back().after.value().name = "=cmd|'x'";
  const std::string csv = diff_csv(diff);
  CHECK(csv.find(",'=cmd|'x',") != std::string::npos);
  CHECK(csv.find(",-") != std::string::npos);
  CHECK(csv.find("'-") == std::string::npos);
}

TEST_CASE("of many changes the text shows twenty, and all if asked") {
  std::vector<PlanDocument::Change> changes;
  for (int i = 0; i < 23; ++i) changes.push_back({"conv", "number " + std::to_string(i)});
  changes.push_back({"dense", "as ever"});
  PlanDocument moved = fused(changes);
  moved.buffers[0].pool = "sram";
  const Diff diff = diff_of(fused({{"dense", "as ever"}}), moved);
  const auto shows = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(shows(diff_text(diff, {}), "number 19  conv\n  and 3 more (--verbose lists all)\n"));
  CHECK_FALSE(shows(diff_text(diff, {}), "number 20"));
  CHECK(shows(diff_text(diff, {.verbose = true}), "number 22  conv\n"));
  CHECK(shows(diff_markdown(diff), "number 19 | conv |\n\nand 3 more.\n"));
  CHECK(shows(diff_json(diff), "number 22"));
  CHECK(shows(diff_csv(diff), "transformation,default,new,fuse,conv,,,,,,,,,,,number 22\n"));
}

TEST_CASE("a buffer that changes pools shows the change of each") {
  PlanDocument moved = example();
  moved.buffers[0].pool = "sram";  // a, live at the peaks of both
  moved.buffers[0].offset = 100;
  const std::string text = diff_text(diff_of(example(), moved), {});
  CHECK(text.find("  dtcm -48, sram +48       -  moved   a ") != std::string::npos);
  // Then dtcm's peak is where c is live, and b no more, and neither has moved.
  CHECK(text.find("\n  at the peak, buffers not listed: dtcm +16\n") != std::string::npos);
  CHECK(diff_markdown(diff_of(example(), moved)).find("\n\nat the peak, buffers not listed: dtcm +16.\n") !=
        std::string::npos);
}

TEST_CASE("what is live at the peak is told where it alone differs") {
  PlanDocument sharing = example();
  sharing.distances = {{BufferId(0), BufferId(1), 40}};
  CHECK(diff_text(diff_of(example(), sharing), {}).find("  64 (live 64 -> 56)  ") != std::string::npos);
  CHECK(diff_text(diff_of(example(), changed()), {}).find("(live ") == std::string::npos);
}

TEST_CASE("of many buffers those that are not shown count together") {
  PlanDocument more = example();
  for (int i = 0; i < 25; ++i) {
    PlanDocument::Buffer one = more.buffers[1];
    one.name = "more" + std::to_string(i);
    one.offset = 64 + 16 * i;
    more.buffers.push_back(one);
  }
  const std::string text = diff_text(diff_of(example(), more), {});
  CHECK(text.find("  and 5 more (--verbose lists all)\n  at the peak, buffers not listed: dtcm +80\n") !=
        std::string::npos);
  CHECK(diff_text(diff_of(example(), more), {.verbose = true}).find("not listed") == std::string::npos);
}

TEST_CASE("constants that differ are one line, and a row each if asked") {
  PlanDocument larger = example();
  larger.buffers[4].size = 90;
  const Diff diff = diff_of(example(), larger);
  const std::string text = diff_text(diff, {});
  CHECK(text.ends_with("Buffers: 1 resized, 4 unchanged\n  constants: 1 resized, 10 -> 90 bytes\n"));
  CHECK(diff_text(diff, {.verbose = true}).find("10 -> 90  flash 0") != std::string::npos);
  CHECK(diff_markdown(diff).ends_with("4 unchanged\n\nconstants: 1 resized, 10 -&gt; 90 bytes.\n"));
  // One that is never live takes no room.
  PlanDocument unused = larger;
  unused.buffers[4].live->clear();
  CHECK(diff_text(diff_of(example(), unused), {}).find("constants: 1 resized, 10 -> 0 bytes\n") != std::string::npos);
}

TEST_CASE("equal plans are told to be, and a module that is gone") {
  PlanDocument other = example();
  other.algorithm = "optimal";
  const Diff diff = diff_of(example(), other);
  CHECK(diff_text(diff, {}) ==
        "module default: old.plan.json (hill_climb) -> new.plan.json (optimal)\n"
        "  dtcm uses 64 bytes as before\n  sram uses 100 bytes as before\n  flash uses 10 bytes as before\n"
        "  no difference in pools and buffers (5 unchanged)\n");
  other.module = "a";
  CHECK(
      diff_text(compare::diff_modules({other, example()}, {example()}, "x", "y"), {}).ends_with("module a is gone\n"));
}

TEST_CASE("the changes of equal plans, and of one without transformations, are listed only if asked") {
  const std::vector<PlanDocument::Change> changes = {{"conv", "one"}};
  const std::string equal = diff_text(diff_of(fused({}), fused(changes)), {});
  CHECK(equal.find("Transformations: 0 gone, 1 new (--verbose lists them)\n") != std::string::npos);
  CHECK(equal.find("  conv\n") == std::string::npos);
  CHECK(diff_markdown(diff_of(fused({}), fused(changes))).find("| conv |") == std::string::npos);

  PlanDocument after = fused(changes);
  after.buffers[0].pool = "sram";
  const std::string lists_none = diff_text(diff_of(fused({}), after), {});
  CHECK(lists_none.find("Transformations: 0 gone, 1 new (--verbose lists them)\n") != std::string::npos);
  CHECK(diff_text(diff_of(fused({}), after), {.verbose = true}).ends_with("  new     fuse            one   conv\n"));
}

TEST_CASE("other transformations are told") {
  PlanDocument other = example();
  other.transformed.clear();
  const Diff diff = diff_of(other, example());
  const std::string text = diff_text(diff, {.verbose = true});
  CHECK(text.find(R"(  no difference in pools and buffers (5 unchanged)

Transformations: 0 gone, 4 new
  Transformation  Before  After
  fuse            -       peak live 160 -> 112 bytes, 2 changes
  constants       -       peak live 112 -> 112 bytes, 1 change, constants 24 -> 10 bytes
  recompute       -       peak live 112 -> 96 bytes, 1 change, 1.5% more work

  Change  Transformation  What                               Function
  new     fuse            T_add: computed where it is read   conv_1
  new     fuse            sid_7: a scalar                    main
  new     constants       k: stored as int8 (10 bytes less)  conv_1
  new     recompute       b: a row at a time                 conv_1
)") != std::string::npos);
  CHECK(diff_markdown(diff_of(example(), example())).find("Transformations") == std::string::npos);
}

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

// Three buffers of 16 bytes, one above the other, in one pool.
PlanDocument stacked() {
  PlanDocument plan = example();
  const PlanDocument::Buffer buffer = plan.buffers.at(0);
  plan.buffers.clear();
  for (int i = 0; i < 3; ++i) {
    plan.buffers.push_back(buffer);
    plan.buffers.back().name = std::string(1, static_cast<char>('a' + i));
    plan.buffers.back().size = 16;
    plan.buffers.back().offset = 16 * i;
    plan.buffers.back().live = {{0, plan.horizon}};
  }
  plan.pools.resize(1);
  plan.pools[0].name = buffer.pool;
  plan.pools[0].used = 48;
  return plan;
}

std::string svg_of(const PlanDocument& before, const PlanDocument& after) {
  return diff_svg(diff_of(before, after), {{&before, 1}, {&after, 1}});
}

std::string html_of(const PlanDocument& before, const PlanDocument& after) {
  return diff_html(diff_of(before, after), {{&before, 1}, {&after, 1}});
}

}  // namespace

TEST_CASE("pictures have both plans side by side, and tell what moved, grew, shrank, came and went") {
  PlanDocument before = stacked();
  const std::string same = svg_of(before, before);
  CHECK(count(same, "<g class=\"buffers\">") == 2);
  CHECK(count(same, ">before: 48 bytes") == 1);
  CHECK(count(same, ">after: 48 bytes") == 1);
  CHECK(count(same, ", unchanged</title></rect>") == 6);
  CHECK(count(same, ">unchanged<") == 1);
  CHECK(count(same, ">moved<") == 0);
  PlanDocument after = stacked();
  std::swap(after.buffers[0].offset, after.buffers[2].offset);
  after.buffers[1].size = 8;
  const std::string moved = svg_of(before, after);
  CHECK(count(moved, "a: 16 bytes at 0, moved: 16 bytes at 0 in " + before.pools[0].name + " -&gt; 16 bytes at 32") ==
        1);
  CHECK(count(moved, "a: 16 bytes at 32, moved") == 1);
  CHECK(count(moved, "b: 8 bytes at 16, shrank") == 1);
  CHECK(count(moved, "b: 16 bytes at 16, shrank") == 1);
  CHECK((count(moved, ">moved<") == 1 && count(moved, ">shrank<") == 1 && count(moved, ">unchanged<") == 0));
  CHECK(count(svg_of(after, before), "b: 16 bytes at 16, grew") == 1);
  PlanDocument fewer = stacked();
  fewer.buffers.pop_back();
  CHECK(count(svg_of(before, fewer), "c: 16 bytes at 32, gone</title>") == 1);
  CHECK(count(svg_of(fewer, before), "c: 16 bytes at 32, new</title>") == 1);
}

TEST_CASE("both panels of a picture have one scale; a pool of one plan alone has one panel") {
  PlanDocument before = stacked();
  PlanDocument after = stacked();
  after.pools[0].used = 96;
  after.buffers[2].offset = 80;
  const std::string svg = svg_of(before, after);
  // The y of each rectangle with the title, or of the panels.
  const auto heights_of = [&](const std::string& title) {
    std::vector<double> heights;
    for (std::size_t at = 0; (at = svg.find(title, at)) != std::string::npos; at += title.size()) {
      heights.push_back(std::stod(svg.substr(svg.rfind(" y=\"", at) + 4, 8)));
    }
    return heights;
  };
  const std::vector<double> same = heights_of("a: 16 bytes at 0, unchanged");
  REQUIRE(same.size() == 2);
  CHECK(same[0] == same[1]);
  const std::vector<double> moved = heights_of("c: 16 bytes at 80, moved");
  const std::vector<double> panels = heights_of(" class=\"panel\"");
  REQUIRE((moved.size() == 1 && panels.size() == 2));
  CHECK(moved[0] > panels[1]);
  after.pools[0].name = "other";
  for (PlanDocument::Buffer& buffer : after.buffers) buffer.pool = "other";
  const std::string other = svg_of(before, after);
  CHECK(count(other, ">before: no such pool<") == 1);
  CHECK(count(other, ">after: no such pool<") == 1);
  CHECK(count(other, "<g class=\"buffers\">") == 2);
}

TEST_CASE("the page of differences has the cells of the text, and no script") {
  const PlanDocument before = example();
  PlanDocument after = changed();
  after.warnings = {"</p><script>"};
  const std::string page = html_of(before, after);
  CHECK(count(page, "<svg ") == 1);
  CHECK(count(page, "<script") == 0);
  CHECK(count(page, "<p class=\"warning\">warning: &lt;/p&gt;&lt;script&gt;</p>") == 1);
  CHECK(count(page, "default-src 'none'; style-src 'unsafe-inline'") == 1);
  CHECK((count(page, "href=") == 0 && count(page, "src=") == 0));
  const Diff diff = diff_of(before, after);
  const std::size_t buffers = diff.modules.at(0).buffers.size();
  const std::size_t table = page.find("<th>Effect</th>");
  REQUIRE(table != std::string::npos);
  CHECK(count(page.substr(table, page.find("</table>", table) - table), "<tr>") == buffers);
  CHECK(page == html_of(before, after));
  Diff lone = diff;
  lone.only_after = {"<b>"};
  CHECK(count(diff_html(lone, {{&before, 1}, {&after, 1}}), "<p>module &lt;b&gt; is new</p>") == 1);
  CHECK(count(diff_svg(lone, {{&before, 1}, {&after, 1}}), "module &lt;b&gt; is new</text>") == 1);
}

TEST_CASE("hostile names stay text in pictures of differences") {
  for (const char* name :
       {"</script><b>", "]]><script>", "\"><img src=x>", "<!--", "&lt;", "\x1b[31m", "\xEF\xBF\xBF"}) {
    PlanDocument after = stacked();
    after.module = after.archive = after.algorithm = name;
    for (PlanDocument::Buffer& buffer : after.buffers) buffer.name = buffer.function = name;
    after.buffers[0].offset = 64;
    CAPTURE(name);
    for (const std::string& text : {svg_of(stacked(), after), html_of(stacked(), after)}) {
      for (const char* part : {"<script", "<img", "<b>", "]]>", "\x1b", "\xEF\xBF\xBF"}) {
        CHECK(count(text, part) == 0);
      }
      CHECK(count(text, "<!--") == count(text, "<!-- Written by usmp-plan. It may be used without conditions. -->\n"));
    }
  }
}

}  // namespace usmp::report::diff_test
