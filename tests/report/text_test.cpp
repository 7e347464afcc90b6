// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The plan as people see it.
#include <doctest/doctest.h>

#include "plan_support/planned.hpp"
#include "report/layout.hpp"
#include "usmp/report/report.hpp"
#include "usmp/report/text.hpp"
#include "usmp/report/verification.hpp"

namespace usmp::report::text_test {

using usmp::BufferId;
using usmp::BufferKind;
using usmp::Bytes;
using usmp::PoolId;
using usmp::PoolKind;
using usmp::report::plan_text;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The lines of `text` from the one that starts with `first`, `count` of them.
std::string lines_from(const std::string& text, const std::string& first, int count) {
  const std::size_t begin = text.find("\n" + first);
  REQUIRE(begin != std::string::npos);
  std::size_t end = begin + 1;
  for (int i = 0; i < count; ++i) end = text.find('\n', end) + 1;
  return text.substr(begin + 1, end - begin - 1);
}

}  // namespace

TEST_CASE("a table shows no control characters") {
  Table table({{"Name", Align::left}, {"Kernels", Align::left}});
  table.add({"a", "dot4\x1b]0;owned\x07\n::error::forged"});
  CHECK(table.text("") == "Name  Kernels\na     dot4\\x1b]0;owned\\x07\\n::error::forged\n");
}

TEST_CASE("lines for people are folded at 80 columns, at the columns of a table if there are any") {
  const std::string word(30, 'w');
  const std::string half(40, 'h');
  CHECK(folded("short\n\nlines\n") == "short\n\nlines\n");
  CHECK(folded(std::string(80, 'x') + "\n") == std::string(80, 'x') + "\n");
  CHECK(folded(word + " " + word + " " + word + "\n") == word + " " + word + "\n    " + word + "\n");
  CHECK(folded("  " + half + "  b c d " + word + " " + word + "\n") ==
        "  " + half + "\n      b c d " + word + " " + word + "\n");
  CHECK(folded(std::string(81, 'x') + " y\n") == std::string(81, 'x') + "\n    y\n");
  CHECK(folded("a " + std::string(81, 'x') + "\n") == "a\n    " + std::string(81, 'x') + "\n");
  // Letters of two bytes and escape sequences.
  std::string wide;
  for (int i = 0; i < 78; ++i) wide += "\xC3\xA4";
  CHECK(folded(wide + " \x1b[32mb\x1b[0m\n") == wide + " \x1b[32mb\x1b[0m\n");
  CHECK(folded(wide + " bc\n") == wide + "\n    bc\n");
  const std::string narrow = folded("one two three four five six\n", 12);
  CHECK(narrow == "one two\n    three\n    four\n    five six\n");
  const std::string once = folded("  " + word + "  " + word + " " + word + " " + word + " " + word + "\n");
  CHECK(folded(once) == once);
}

TEST_CASE("what was done to the program: the load, the changes, the constants, what it costs") {
  Planned planned;
  fill_example(planned);
  planned.document.transformed = example_steps();
  const std::string lines = R"(Transformations (peak live bytes before -> after)
  fuse            160 ->      112 bytes  2 changes
  narrow          112 ->      112 bytes  left out, the plan is as small without it
  constants       112 ->      112 bytes  1 change, constants 24 -> 10 bytes
  recompute       112 ->       96 bytes  1 change, 1.5% more work
)";
  CHECK(lines_from(plan_text(planned.finish(), {}), "Transformations", 5) == lines);
  CHECK(contains(plan_text(planned.finish(), {.verbose = true}),
                 "constants 24 -> 10 bytes\n    conv_1: k: stored as int8 (10 bytes less)\n"));
  usmp::plan_file::PlanDocument::StepOutcome& constants = planned.document.transformed[3];
  constants.changes.clear();
  CHECK(contains(plan_text(planned.finish(), {}), "  equal constants count once, 24 -> 10 bytes\n"));
  constants.constants = {10, 10};
  CHECK_FALSE(contains(plan_text(planned.finish(), {}), "constants   "));
}

TEST_CASE("operators by rows: which they are, their rings and what these save") {
  Planned planned;
  fill_example(planned);
  const usmp::plan_file::PlanDocument plan = with_rows(planned.finish());
  CHECK(lines_from(plan_text(plan, {}), "Transformations", 3) == R"(Transformations (peak live bytes before -> after)
  rolling         112 ->       96 bytes  1 change
    #1 runs operators 1 to 3: 2 conv2d, add; 1 ring holds 16 of 48 bytes
)");
  usmp::plan_file::PlanDocument one = plan;
  one.calls[0].by_rows.resize(1);
  CHECK(contains(plan_text(one, {}), "    #1 runs operator 1: conv2d; 1 ring holds 16 of 48 bytes\n"));
  CHECK(lines_from(plan_text(plan, {.peak = true}), "Occupied at the peak of dtcm", 4) ==
        R"(Occupied at the peak of dtcm (64 bytes at step 1 of 6)
  Pool  Offset  Size  Kind     Buffer  Operator     Ring
  dtcm       0    48  tensor   a       main
  dtcm      48    16  scratch  b       #1.3 conv2d  4 of 12 rows, 4 bytes each
)");
}

TEST_CASE("the example, whole") {
  Planned planned;
  fill_example(planned);
  planned.document.unplanned = {{"dyn", "conv", "extent 0 is not a constant"}};
  planned.document.warnings = {"lib2.c is copied unchanged"};
  const std::string brief = plan_text(planned.finish(), {});
  CHECK_FALSE(contains(brief, "Occupied at the peak"));
  CHECK(plan_text(planned.document, {.peak = true}) == R"(module default of net.tar, planned by hill_climb

Memory region         Used Size  Region Size  %age Used
            dtcm:            64         1KiB      6.25%
            sram:           100    unbounded          -
           flash:            10         2KiB      0.49%

dtcm: 64 bytes
sram: 100 bytes, proved minimal (as many bytes are live at once)
flash: 10 bytes, proved minimal (as many bytes are live at once)
workspace: 164 bytes, 48 (22.64%) fewer than the 212 of the unplanned build

Occupied at the peak of dtcm (64 bytes at step 1 of 6)
  Pool  Offset  Size  Kind     Buffer  Function
  dtcm       0    48  tensor   a       main
  dtcm      48    16  scratch  b       conv

Occupied at the peak of sram (100 bytes at step 0 of 6)
  Pool  Offset  Size  Kind   Buffer  Function
  sram       0   100  input  big     main

Allocated at run time, since the size is not known at compile time
  dyn in conv: extent 0 is not a constant

warning: lib2.c is copied unchanged
)");
}

TEST_CASE("what the whole firmware needs: RAM, stack, constants, work; operators by their kinds") {
  Planned planned;
  fill_example(planned);
  planned.document.inputs = {{"big", 100, true}, {"x", 30, false}};
  planned.document.outputs = {{"y", 5, false}, {"z", 2, false}};
  planned.document.stack_estimate = 345;
  planned.document.constant_bytes = 10;
  planned.document.multiply_accumulates = 12'501'632;
  planned.document.calls[0].kind = "conv2d";
  const auto has = [&](const std::string& line) {
    return contains(plan_text(planned.finish(), {.peak = true}), "\n" + line + "\n");
  };
  CHECK(has("RAM: 201 bytes = 164 workspace + 30 inputs + 7 outputs"));
  const std::string named = "stack: at most 345 bytes (estimate) without external kernels and the C library";
  const std::string stack = named + ", and without Helium; --cpu gives a nearer one";
  planned.document.cpu = "cortex-m4";
  CHECK(has(named));
  planned.document.cpu = "generic";
  CHECK(has(stack));
  CHECK(has("constants: 10 bytes"));
  CHECK(has("work: 12501632 multiply-accumulates (12.50 million)"));
  CHECK(has("  dtcm      48    16  scratch  b       #1 conv2d"));
  CHECK(has("  dtcm       0    48  tensor   a       main"));
  planned.document.multiply_accumulates = 1'005'000;
  CHECK(has("work: 1005000 multiply-accumulates (1.01 million)"));
  planned.document.multiply_accumulates = 999'999;
  CHECK(has("work: 999999 multiply-accumulates"));
  planned.document.multiply_accumulates.reset();
  planned.document.calls[0].multiply_accumulates = 7;
  CHECK(has("work: 7 multiply-accumulates, without operators for which they are not known"));
  CHECK(has("constants: 10 bytes"));
  planned.document.calls[0].multiply_accumulates.reset();
  CHECK(has("work: multiply-accumulates are not known"));
  CHECK(has("constants: 10 bytes, without those inside external code and functions that stay as they are"));
  planned.document.calls[0].multiply_accumulates = 7;
  planned.document.outputs[1].size.reset();
  planned.document.stack_arrays = 600;
  CHECK(has(stack + "; of up to 600 bytes of local arrays at once, 600 stay"));
  planned.document.stack_saved = 512;
  CHECK(has("RAM: at least 194 bytes = 164 workspace + 30 inputs"));
  CHECK(has(stack + "; of up to 600 bytes of local arrays at once, 88 stay"));
  planned.document.stack_arrays.reset();
  planned.document.stack_saved.reset();
  planned.document.stack_estimate.reset();
  CHECK(has("RAM: at least 194 bytes = 164 workspace + 30 inputs"));
  planned.plan.allocations[4] = {};
  CHECK(has("constants: 10 bytes, outside of the pools"));
  planned.document.constant_bytes = 0;
  CHECK(has("constants: 0 bytes"));
}

TEST_CASE("verbose lists every buffer by pool and offset, with its live ranges") {
  Planned planned;
  fill_example(planned);
  CHECK(lines_from(plan_text(planned.finish(), {.color = false, .verbose = true}), "All buffers", 7) == R"(All buffers
  Pool   Offset  Size  Kind      Buffer  Function  Live
  dtcm        0    48  tensor    a       main      [0,2)
  dtcm        0    32  tensor    c       main      [3,5)
  dtcm       48    16  scratch   b       conv      [1,3)
  sram        0   100  input     big     main      [0,1) [2,6)
  flash       0    10  constant  k       conv      [0,6)
)");
  CHECK_FALSE(contains(plan_text(planned.finish(), {}), "All buffers"));
}

TEST_CASE("colours only where asked for, and nothing else changes") {
  Planned planned;
  fill_example(planned);
  planned.document.warnings = {"careful"};
  const std::string plain = plan_text(planned.finish(), {});
  CHECK_FALSE(contains(plain, "\x1b"));
  std::string colored = plan_text(planned.document, {.color = true, .verbose = false});
  CHECK(contains(colored, "\x1b[32mproved minimal\x1b[0m"));
  CHECK(contains(colored, "\x1b[33mwarning:\x1b[0m careful"));
  for (std::size_t at = 0; (at = colored.find('\x1b', at)) != std::string::npos;) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }
  CHECK(colored == plain);
}

TEST_CASE("a module without buffers") {
  Planned planned;
  planned.add_pool("sram", PoolKind::workspace, std::nullopt);
  CHECK(plan_text(planned.finish(), {.color = false, .verbose = true}) ==
        R"(module default of net.tar, planned by hill_climb

Memory region         Used Size  Region Size  %age Used
            sram:             0    unbounded          -

sram: 0 bytes
)");
}

TEST_CASE("buffers of size 0 and buffers that are never live") {
  Planned planned;
  planned.add_pool("sram", PoolKind::workspace, Bytes{100});
  planned.problem.horizon = 2;
  planned.add_buffer({"empty", "f", BufferKind::tensor, 0, 1, {PoolId(0)}, {{0, 2}}}, 0, 0);
  planned.add_buffer({"unused", "f", BufferKind::scratch, 25, 1, {PoolId(0)}, {}}, 0, 0);
  const std::string text = plan_text(planned.finish(), {.color = false, .verbose = true});
  CHECK(contains(text, "            sram:            25          100     25.00%\n"));
  CHECK(contains(text, "\nsram: 25 bytes, gap of 25 to the lower bound 0\n"));
  CHECK_FALSE(contains(text, "peak"));
  CHECK(contains(text, "\n  sram       0    25  scratch  unused  f         never\n"));
}

TEST_CASE("region sizes are written as pools files take them, used sizes in bytes") {
  Planned planned;
  planned.add_pool("gb", PoolKind::workspace, Bytes{3} << 30);
  planned.add_pool("mb", PoolKind::workspace, Bytes{2} << 20);
  planned.add_pool("kb", PoolKind::workspace, Bytes{64} << 10);
  planned.add_pool("b", PoolKind::workspace, Bytes{65537});
  planned.add_buffer({"x", "f", BufferKind::tensor, 60416, 1, {PoolId(2)}, {}}, 2, 0);
  const std::string text = plan_text(planned.finish(), {});
  CHECK(contains(text, "              gb:             0         3GiB      0.00%\n"));
  CHECK(contains(text, "              mb:             0         2MiB      0.00%\n"));
  CHECK(contains(text, "              kb:         60416        64KiB     92.19%\n"));
  CHECK(contains(text, "               b:             0        65537      0.00%\n"));
}

TEST_CASE("long pool names widen the first column") {
  Planned planned;
  planned.add_pool("a_pool_with_a_long_name", PoolKind::workspace, Bytes{1024});
  planned.add_pool("x", PoolKind::workspace, std::nullopt);
  CHECK(lines_from(plan_text(planned.finish(), {}), "Memory", 3) ==
        "Memory region                Used Size  Region Size  %age Used\n"
        "a_pool_with_a_long_name:             0         1KiB      0.00%\n"
        "                      x:             0    unbounded          -\n");
}

TEST_CASE("inputs and outputs in the workspace: what counts them and what does not") {
  Planned planned;
  fill_example(planned);
  planned.document.workspace_io = true;
  planned.document.inputs = {{"x", 30, true}};
  planned.document.outputs = {{"y", 5, true}};
  planned.document.unplanned_workspace = 656;
  planned.document.transformed = example_steps();
  const auto plan = planned.finish();
  const std::string text = plan_text(plan, {});
  CHECK(contains(
      text,
      "\nworkspace: 164 bytes, 492 (75.00%) fewer than the 656 of the unplanned build without inputs and outputs\n"));
  CHECK(contains(text, "\nRAM: 164 bytes = 164 workspace, inputs and outputs included\n"));
  CHECK(contains(text, "\nTransformations (peak live bytes without inputs and outputs before -> after)\n"));
  CHECK(contains(report_markdown(plan), "| peak live bytes without inputs and outputs before | after |"));
}

TEST_CASE("against the unplanned build") {
  const auto line = [](std::optional<Bytes> unplanned) {
    Planned planned;
    fill_example(planned);
    planned.document.unplanned_workspace = unplanned;
    const std::string text = plan_text(planned.finish(), {});
    return contains(text, "\nworkspace: ") ? lines_from(text, "workspace: ", 1) : "";
  };
  CHECK(line(std::nullopt) == "");
  CHECK(line(164) == "workspace: 164 bytes, as many as the unplanned build\n");
  CHECK(line(656) == "workspace: 164 bytes, 492 (75.00%) fewer than the 656 of the unplanned build\n");
  CHECK(line(160) == "workspace: 164 bytes, 4 (2.50%) more than the 160 of the unplanned build\n");
  CHECK(line(0) == "workspace: 164 bytes, 164 more than the 0 of the unplanned build\n");
}

TEST_CASE("against TVM's plan, which says more than the unplanned build") {
  Planned planned;
  fill_example(planned);
  planned.document.tvm_workspace = 247392;
  planned.document.unplanned_workspace = 247392;
  const std::string text = plan_text(planned.finish(), {});
  CHECK(contains(text, "\nworkspace: 164 bytes, 247228 (99.93%) fewer than the 247392 of TVM's plan\n"));
  CHECK(!contains(text, "unplanned build"));
}

TEST_CASE("the largest ten at the peak by offset, all of them when verbose") {
  Planned planned;
  planned.add_pool("sram", PoolKind::workspace, std::nullopt);
  planned.problem.horizon = 1;
  Bytes offset = 0;
  for (int i = 0; i < 13; ++i) {
    const Bytes size = i == 5 ? 9 : 10 + i;
    planned.add_buffer({"t" + std::to_string(i), "f", BufferKind::tensor, size, 1, {PoolId(0)}, {{0, 1}}}, 0, offset);
    offset += size;
  }
  const std::string text = plan_text(planned.finish(), {.peak = true});
  CHECK(contains(text, "(202 bytes at step 0 of 1)\n"));
  CHECK(lines_from(text, "  sram", 1) == "  sram      21    12  tensor  t2      f\n");
  CHECK(contains(text, "  t2 "));
  CHECK_FALSE(contains(text, "  t1 "));
  CHECK_FALSE(contains(text, "  t5 "));
  CHECK(contains(text, "\n  and 3 smaller ones (--verbose lists all)\n"));
  const std::string verbose = plan_text(planned.document, {.color = false, .verbose = true});
  CHECK(contains(verbose, "  t5 "));
  CHECK_FALSE(contains(verbose, "smaller"));
  planned.problem.buffers.resize(11);
  planned.plan.allocations.resize(11);
  CHECK(contains(plan_text(planned.finish(), {.peak = true}), "  t5 "));  // one more takes no more lines
}

TEST_CASE("names cannot command the terminal") {
  Planned planned;
  fill_example(planned);
  planned.problem.buffers[0].name = "\x1b[2J\xc2\x9bx\xff\nänd";
  planned.problem.buffers[0].function = std::string("f\0g", 3);
  planned.problem.pools[0].name = "dt\x1b]0;cm";
  planned.document.archive = "\x07.tar";
  const std::string text = plan_text(planned.finish(), {.peak = true});
  CHECK(contains(text, "\\x1b[2J\\u009bx\\xff\\nänd"));
  CHECK(contains(text, "  f\\x00g\n"));
  CHECK(contains(text, "of \\x07.tar,"));
  CHECK(contains(text, "dt\\x1b]0;cm: "));
  CHECK_FALSE(contains(text, "\x1b"));
}

TEST_CASE("C that the archive brings along is named, with its function, its size and how it begins") {
  Planned planned;
  fill_example(planned);
  planned.document.imported_c = {{"f\x1b", 25, "int g(void) {\x1b[2J"}, {"f\x1b", 100, std::string(60, 'x') + "..."}};
  const std::string text = plan_text(planned.finish(), {});
  CHECK(contains(text, "\nC of the archive that is copied to the output unchanged\n"));
  CHECK(contains(text, "  f\\x1b: 25 bytes, int g(void) {\\x1b[2J\n"));
  CHECK(contains(text, "  f\\x1b: 100 bytes, " + std::string(60, 'x') + "...\n"));
  CHECK_FALSE(contains(text, "  h:"));
  CHECK_FALSE(contains(text, "headers of TVM"));
}

TEST_CASE("headers of TVM that copied C includes are named") {
  Planned planned;
  fill_example(planned);
  planned.document.tvm_headers = {"dlpack/dlpack.h", "tvm/\x1b.h"};
  CHECK(contains(plan_text(planned.finish(), {}),
                 "\nC of the archive that is copied to the output unchanged\n  It includes headers of TVM, whose "
                 "directories the compiler needs (-I): dlpack/dlpack.h, tvm/\\x1b.h\n"));
}

TEST_CASE("columns count characters, not bytes") {
  Planned planned;
  fill_example(planned);
  planned.problem.buffers[0].name = "größe";
  CHECK(contains(plan_text(planned.finish(), {.peak = true}),
                 "  dtcm       0    48  tensor   größe   main\n  dtcm      48    16  scratch  b       conv\n"));
}

TEST_CASE("unplanned allocates of no function that is known") {
  Planned planned;
  fill_example(planned);
  planned.document.unplanned = {{"dyn", "", "extent 0 is not a constant"}};
  CHECK(contains(plan_text(planned.finish(), {}), "\n  dyn: extent 0 is not a constant\n"));
}

namespace {

// One bounded pool of two and a half buffers in front of an unbounded one: b found no room in the first.
struct TwoPools : Planned {
  TwoPools() {
    add_pool("dtcm", PoolKind::workspace, Bytes{100});
    add_pool("sram", PoolKind::workspace, std::nullopt);
    problem.pools[0].reserved = 32;
    problem.horizon = 2;
    const std::vector<PoolId> both = {PoolId(0), PoolId(1)};
    add_buffer({"a", "f", BufferKind::tensor, 40, 1, {PoolId(0)}, {{0, 2}}, 40}, 0, 40);
    add_buffer({"b", "f", BufferKind::tensor, 50, 1, both, {{0, 2}}}, 1, 0);
    finish();
  }

  void prove(std::size_t pool, Bytes bound, const std::string& reason) {
    document.pools[pool].lower_bound = bound;
    document.pools[pool].lower_bound_reason = reason;
  }

  std::string text() {
    const std::string all = plan_text(finish(), {});
    const std::size_t begin = all.find("\ndtcm: ") + 1;
    return all.substr(begin, all.find("\n\n", begin) + 1 - begin);
  }
};

}  // namespace

TEST_CASE("what is proved of each pool, and of bytes outside their first choice, is told with its reason") {
  TwoPools planned;
  planned.prove(0, 80, "load");
  planned.prove(1, 50, "proved by optimal");
  planned.document.spilled[0].lower_bound = 20;
  CHECK(planned.text() ==
        "dtcm: 80 bytes (32 reserved), proved minimal (as many bytes are live at once)\n"
        "sram: 50 bytes, proved minimal by optimal\n"
        "not in dtcm: 1 buffer of 50 bytes, gap of 30 (150.00%) to the lower bound 20\n");
  planned.prove(0, 72, "load");
  planned.prove(1, 10, "load");
  planned.document.spilled[0].lower_bound = 0;
  planned.problem.buffers.push_back(planned.problem.buffers[1]);  // never placed, with another first choice
  planned.problem.buffers.back().candidates = {PoolId(1), PoolId(0)};
  planned.plan.allocations.push_back({});
  CHECK(contains(planned.text(), "\noutside their first choice: 1 buffer of 50 bytes\n"));
  planned.problem.buffers.pop_back();
  planned.plan.allocations.pop_back();
  CHECK(planned.text() ==
        "dtcm: 80 bytes (32 reserved), gap of 8 (11.11%) to the lower bound 72 (as many bytes are live at once)\n"
        "sram: 50 bytes, gap of 40 (400.00%) to the lower bound 10 (as many bytes are live at once)\n"
        "not in dtcm: 1 buffer of 50 bytes\n");
}

TEST_CASE("sizes of several buffers outside their first choice are a sum, of so many") {
  TwoPools planned;
  planned.add_buffer({"c", "f", BufferKind::tensor, 6, 1, {PoolId(0), PoolId(1)}, {{0, 2}}}, 1, 50);
  planned.prove(1, 50, "load");
  CHECK(contains(planned.text(), "\nnot in dtcm: 2 buffers of 56 bytes in all\n"));
}

TEST_CASE("of a pool that is filled on purpose a proof is told if nothing lies elsewhere for want of room") {
  TwoPools planned;
  planned.problem.buffers[0].candidates = {PoolId(0), PoolId(1)};
  planned.problem.buffers[0].pinned.reset();
  planned.prove(1, 50, "load");
  planned.prove(0, 80, "proved by optimal");
  CHECK(planned.text().starts_with("dtcm: 80 bytes (32 reserved)\nsram: 50 bytes, proved minimal"));
  planned.problem.buffers[1].candidates = {PoolId(1)};
  CHECK(planned.text().starts_with("dtcm: 80 bytes (32 reserved), proved minimal by optimal\n"));
  planned.prove(0, 32, "load");
  CHECK(planned.text().starts_with("dtcm: 80 bytes (32 reserved)\n"));
  CHECK(plan_text(planned.document, {}).starts_with("module default of net.tar, planned by hill_climb\n"));
  planned.document.status = PlanStatus::optimal;
  CHECK(plan_text(planned.document, {})
            .starts_with("module default of net.tar, planned by hill_climb, proved optimal\n"));
}

TEST_CASE("reserved bytes of modules side by side are told apart from those of the pools file") {
  TwoPools planned;
  planned.document.pools[0].beside = 32;
  CHECK(planned.text().starts_with("dtcm: 80 bytes (32 of modules that run side by side with it)"));
  planned.document.pools[0].beside = 24;
  CHECK(planned.text().starts_with("dtcm: 80 bytes (32 reserved, 24 of modules that run side by side with it)"));
}

TEST_CASE("of a plan that was read, the distance to the bound says nothing") {
  TwoPools planned;
  planned.prove(0, 80, "load");
  planned.prove(1, 10, "load");
  const plan_file::PlanDocument& document = planned.finish();
  Verified verified;
  verified.plan = &document;
  CHECK(contains(verification_text(verified, false), "  sram: 50 bytes, gap of 40 (400.00%) to the lower bound 10"));
  verified.is_read = true;
  const std::string text = verification_text(verified, false);
  CHECK(contains(text, "  sram: 50 bytes\n"));
  CHECK(contains(text, "  dtcm: 80 of 100 bytes, proved minimal (as many bytes are live at once)\n"));
}

TEST_CASE("the pool that came first is named") {
  TwoPools planned;
  planned.prove(0, 80, "load");
  planned.document.search->minimized = "dtcm";
  CHECK(planned.text().starts_with(
      "dtcm: 80 bytes (32 reserved), proved minimal (as many bytes are live at once), minimized first\n"));
}

TEST_CASE("why a search ended, unless nothing was left to do") {
  TwoPools planned;
  planned.document.search->iterations = 1234;
  CHECK_FALSE(contains(planned.text(), "search"));
  planned.document.search->stopped = usmp::StopReason::node_limit;
  CHECK(contains(planned.text(), "\nsearch: stopped by the node limit after 1234 steps\n"));
  planned.document.search->stopped = usmp::StopReason::time_limit;
  CHECK(contains(planned.text(),
                 "\nsearch: stopped by the time limit after 1234 steps; the plan depends on this machine\n"));
  planned.document.search->stopped = usmp::StopReason::interrupted;
  CHECK(contains(planned.text(), "\nsearch: interrupted after 1234 steps; the plan depends on this machine\n"));
}

TEST_CASE("pinned buffers are marked") {
  TwoPools planned;
  CHECK(contains(plan_text(planned.document, {.peak = true}), "  dtcm      40    40  tensor, pinned  a       f\n"));
}

}  // namespace usmp::report::text_test
