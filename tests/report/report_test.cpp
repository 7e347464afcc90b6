// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reports of plans. test_schema.py holds the golden report against docs/schema/report.schema.json.
#include "usmp/report/report.hpp"

#include <doctest/doctest.h>

#include "plan_support/golden.hpp"
#include "plan_support/planned.hpp"
#include "report/layout.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/report/memory_map.hpp"

namespace usmp::report::report_test {

using usmp::plan_file::PlanDocument;
using usmp::report::plan_text;
using usmp::report::report_csv;
using usmp::report::report_json;
using usmp::report::report_markdown;
using usmp::report::report_text;

namespace {

PlanDocument example() {
  Planned planned;
  fill_example(planned);
  return planned.finish();
}

// The text with one blank where there are several or a line ends: wherever it is folded.
std::string in_a_line(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank) result += c;
    if (is_blank && !result.ends_with(' ')) result += ' ';
  }
  return result;
}

}  // namespace

TEST_CASE("the report begins with the plan's text, then says what is lost and who made what is live") {
  const PlanDocument plan = example();
  CHECK(report_text(plan, {}) == folded(plan_text(plan, {.peak = true})) + R"(
dtcm: 64 bytes = 64 live at the peak; 96 bytes without reuse
  Occupied   Share  Operator that made them
        48  75.00%  between operators
        16  25.00%  #1 conv
  without a (main) the other buffers would need at least 32 bytes
  without b (#1 conv) the other buffers would need at least 48 bytes

  Most live          In operator
         64  ######  #1 conv
         32  ###     #2 extern_relu

sram: 100 bytes = 100 live at the peak; 100 bytes without reuse
  no plan uses less than 100: at step 0 of 6, 1 buffer is live: big (100), 100
      bytes in all
  Occupied    Share  Operator that made them
       100  100.00%  between operators
  without big (main) the other buffers would need at least 0 bytes

  Most live          In operator
        100  ######  #1 conv
        100  ######  #2 extern_relu
)");
}

TEST_CASE("the report says what proves a bound, unless that is not known of these buffers alone") {
  PlanDocument plan = example();
  PlanDocument::Pool& pool = plan.pools[1];
  const auto says = [&](const std::string& text) {
    return in_a_line(report_text(plan, {})).find(text) != std::string::npos;
  };
  CHECK(says("no plan uses less than 100: at step 0 of 6, 1 buffer is live: big (100), 100 bytes in all "));
  pool.lower_bound_reason = "largest buffer";
  CHECK(says("no plan uses less than 100: big has 100 bytes "));
  pool.lower_bound_reason = "end of a pinned buffer";
  CHECK(!says("no plan uses less"));
  pool.lower_bound_reason = "sums of sizes";
  CHECK(!says("no plan uses less"));
  pool.lower_bound_reason = "proved by optimal";
  plan.search = PlanDocument::Search{.minimized = {}, .iterations = 12};
  CHECK(says(
      "no plan uses less than 100: a search of 12 nodes, each the lowest offset of a buffer, left no choice of less "
      "than 100 bytes "));
  plan.search->iterations = 0;
  CHECK(says("no plan uses less than 100: the rules of the search contradict every smaller size, without a choice "));
  pool.lower_bound_reason = "load";
  const auto big = std::ranges::find(plan.buffers, "big", &PlanDocument::Buffer::name);
  big->candidates.push_back(plan.pools[0].name);
  CHECK(!says("no plan uses less"));
  big->candidates.pop_back();
  pool.lower_bound = 60;  // what is live has more
  CHECK(!says("no plan uses less"));
}

TEST_CASE("reports of a module say which modules set the sizes of its pools") {
  const PlanDocument alone = example();
  const PlanDocument plan = with_other_modules(alone);
  CHECK(plan_text(plan, {}) == plan_text(alone, {}));  // where all modules are planned, a list behind them says it
  CHECK(report_text(alone, {}).find("all modules") == std::string::npos);
  CHECK(report_text(plan, {}).find("\nPools of all modules\n"
                                   "  dtcm: 96 bytes, set by default and vww side by side\n"
                                   "  sram: 200 bytes, set by kws\n"
                                   "  flash: 500 bytes of constants of kws and default\n") != std::string::npos);
  CHECK(report_markdown(alone).find("all modules") == std::string::npos);
  CHECK(report_markdown(plan).find("\n- dtcm of all modules: 96 bytes, set by default and vww side by side\n"
                                   "- sram of all modules: 200 bytes, set by kws\n") != std::string::npos);
  for (const std::string& picture : {memory_map_svg(plan), memory_map_html(plan)}) {
    CHECK(picture.find("of all modules 96 bytes, set by default and vww side by side") != std::string::npos);
  }
  PlanDocument hostile = plan;
  hostile.pools[1].all_modules->set_by = {"a\x1b|<b>"};
  CHECK(report_text(hostile, {}).find('\x1b') == std::string::npos);
  CHECK(report_markdown(hostile).find("|<b>") == std::string::npos);
  CHECK(memory_map_svg(hostile).find("<b>") == std::string::npos);
}

TEST_CASE("instructions in the table have the sum that the summary tells: what the entry adds has a row") {
  PlanDocument plan = example();
  plan.cpu = "cortex-m4";
  plan.instructions = 137;
  plan.multiply_accumulates = 8;
  for (PlanDocument::Call& call : plan.calls) call.kind = "conv2d";
  plan.calls[0].instructions = 100;
  plan.calls[1].instructions = 30;
  plan.inputs = {{"x", 4}};
  const auto shows = [&](const std::string& part) {
    return in_a_line(report_text(plan, {})).find(part) != std::string::npos;
  };
  CHECK(shows("; instructions (estimate for cortex-m4): 137 "));
  CHECK(shows("the entry itself 7 "));
  plan.calls[0].by_rows = {{2, "a", "depthwise conv2d", 60, {"lane_window"}}, {3, "b", "conv2d"}};
  CHECK(shows("#1.2 depthwise conv2d 60 lane_window "));
  CHECK_FALSE(shows("#1.3"));
  CHECK(shows("the entry itself 7 "));
  plan.instructions = 130;
  CHECK_FALSE(shows("the entry itself"));
  plan.instructions.reset();
  CHECK_FALSE(shows("the entry itself"));
  plan.instructions = 137;
  plan.calls[1].instructions.reset();
  CHECK_FALSE(shows("the entry itself"));
  plan.cpu.clear();
  CHECK(shows("; instructions (estimate): 137 "));
}

TEST_CASE("bytes that buffers occupy at the peak are told from those that are live") {
  PlanDocument plan = example();
  CHECK(report_text(plan, {}).find("Live: ") == std::string::npos);
  plan.distances = {{BufferId(0), BufferId(1), 40}};  // b may be 40 bytes above a, and is 48
  const std::string live = "Live: 56 bytes, as if buffers shared all the bytes that they may.\n";
  const std::string text = report_text(plan, {});
  CHECK(text.find("Occupied at the peak of dtcm (64 bytes at step 1 of 6)\n") != std::string::npos);
  CHECK(text.find("\n  " + live) != std::string::npos);
  CHECK(text.find("dtcm: 64 bytes = 56 live at the peak + ") != std::string::npos);
  CHECK(report_markdown(plan).find("\n\n" + live) != std::string::npos);
}

TEST_CASE("a plan that was written and read is reported as the plan itself") {
  const PlanDocument plan = example();
  CHECK(report_text(usmp::plan_file::parse_plan_document(plan_json(plan)), {}) == report_text(plan, {}));
}

TEST_CASE("the example's report as JSON") {
  Planned planned;
  fill_example(planned);
  planned.document.transformed = example_steps();
  check_golden("report.json", report_json(with_other_modules(with_rows(planned.finish()))));
}

TEST_CASE("the example's buffers as CSV") {
  CHECK(report_csv(example()) == R"(id,name,function,kind,pool,offset,size,alignment,pinned,live,operator
0,a,main,tensor,dtcm,0,48,16,false,0-2,
1,b,conv,scratch,dtcm,48,16,4,false,1-3,conv
2,c,main,tensor,dtcm,0,32,16,false,3-5,
3,big,main,input,sram,0,100,1,false,0-1 2-6,
4,k,conv,constant,flash,0,10,8,false,0-6,conv
)");
}

TEST_CASE("names neither break a table nor become formulas or markup") {
  PlanDocument plan = example();
  plan.buffers[0].name = "a,\"b\"\n";
  plan.buffers[1].name = "=cmd|'x'";
  plan.buffers[3].name = "<b>|`x`";
  const std::string csv = report_csv(plan);
  CHECK(csv.find("\n0,\"a,\"\"b\"\"\\n\",main") != std::string::npos);
  CHECK(csv.find("\n1,'=cmd|'x',conv") != std::string::npos);
  CHECK(report_markdown(plan).find("| &lt;b&gt;\\|\\`x\\` | 100 |") != std::string::npos);
}

TEST_CASE("Markdown names the transformations that did something or were left out") {
  Planned planned;
  fill_example(planned);
  CHECK(report_markdown(planned.finish()).find("Transformations") == std::string::npos);
  planned.document.transformed = example_steps();
  PlanDocument plan = planned.finish();
  CHECK(report_markdown(plan).find(R"(
Transformations before planning:

| transformation | peak live bytes before | after | outcome |
|---|--:|--:|---|
| fuse | 160 | 112 | 2 changes |
| narrow | 112 | 112 | left out, the plan is as small without it |
| constants | 112 | 112 | 1 change, constants 24 -&gt; 10 bytes |
| recompute | 112 | 96 | 1 change, 1.5% more work |

Occupied at the peak)") != std::string::npos);
  plan.transformed[0].step = "<b>|";
  CHECK(report_markdown(plan).find("\n| &lt;b&gt;\\| | 160 |") != std::string::npos);
}

TEST_CASE("Markdown has the warnings and, as the text, the comparison with the unplanned build") {
  PlanDocument plan = example();
  plan.warnings = {"no plan | fits"};
  plan.unplanned_workspace = 656;
  const std::string text = report_markdown(plan);
  CHECK(text.find("\n\n- warning: no plan \\| fits\n\n- workspace: 164 bytes, 492 (75.00%) fewer than the 656 of the "
                  "unplanned build\n") != std::string::npos);
}

TEST_CASE("the example as Markdown") {
  const std::string text = report_markdown(example());
  CHECK(text.find("| dtcm | 64 | 1024 |  | 64 | 0 | 0 | 0 | 96 |\n") != std::string::npos);
  CHECK(text.find("Occupied at the peak of dtcm (64 bytes at step 1 of 6):\n\n| buffer |") != std::string::npos);
  CHECK(text.find("| b | 16 | 48 | scratch | \\[1,3) | #1 conv |\n\n- without a (main) the other buffers would need at "
                  "least 32 bytes\n- without b (#1 conv) the other buffers would need at least 48 bytes\n") !=
        std::string::npos);
}

TEST_CASE("operators by rows as Markdown") {
  const std::string text = report_markdown(with_rows(example()));
  CHECK(text.find("\n- #1 runs operators 1 to 3: 2 conv2d, add; 1 ring holds 16 of 48 bytes\n") != std::string::npos);
  CHECK(text.find("| b | 16 | 48 | ring of 4 of 12 rows, 4 bytes each |") != std::string::npos);
}

}  // namespace usmp::report::report_test
