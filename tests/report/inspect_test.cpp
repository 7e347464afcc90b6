// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What `usmp-plan inspect` prints.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "plan_support/golden.hpp"
#include "usmp/report/inspect.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::report::inspect_test {

using nlohmann::json;
using usmp::BufferKind;
using usmp::liveness::Site;
using usmp::report::inspect_json;
using usmp::report::inspect_text;

namespace {

struct Model {
  usmp::model::Description info;
  usmp::tir::Module module;
  usmp::liveness::Analysis analysis;
};

Site site(const std::string& name, std::size_t function, BufferKind kind, usmp::Bytes size,
          std::vector<usmp::LiveRange> live) {
  Site result;
  result.name = name;
  result.function = function;
  result.kind = kind;
  result.size = size;
  result.alignment = 16;
  result.live = std::move(live);
  result.targets = {"c"};
  return result;
}

Model example() {
  Model model;
  model.info.name = "default";
  model.info.workspace_bytes = 4096;
  model.info.inputs = {{"x", "int8", 490}};
  model.info.outputs = {{"y", "", std::nullopt}};
  model.module.tvm_version = "0.12.0";
  model.module.functions.resize(2);
  model.module.functions[0].name = "tvmgen_default___tvm_main__";
  model.module.functions[0].target = "c";
  model.module.functions[1].name = "tvmgen_default_fused_conv";
  model.module.entry = 0;
  model.analysis.horizon = 40;
  model.analysis.sites = {site("sid_1", 0, BufferKind::tensor, 1024, {{0, 17}}),
                          site("pad", 1, BufferKind::scratch, 64, {{1, 5}, {20, 24}}),
                          site("unused", 1, BufferKind::scratch, 8, {}),
                          site("weights", 1, BufferKind::constant, 300, {{0, 40}})};
  model.analysis.sites[1].candidate_pools = {"dtcm", "sram"};
  model.analysis.calls = {{"tvmgen_default_fused_conv", {0, 17}}, {"cmsis_nn_relu", {17, 40}}};
  model.analysis.unplanned = {{usmp::tir::VarId(0), "dyn", 1, "extent 0 is not a constant"}};
  model.analysis.extern_callees = {"cmsis_nn_relu"};
  return model;
}

}  // namespace

TEST_CASE("what a module is read from") {
  Model model = example();
  model.info.c_members = {"codegen/host/src/default_lib1.c"};
  const auto text = [&] { return inspect_text(model.info, model.module, model.analysis); };
  CHECK(text().starts_with("module default, TVM 0.12.0 by its style, unpacked interface, read from its C\n"));
  CHECK(inspect_json(model.info, model.module, model.analysis).find("\"source\": \"c\"") != std::string::npos);
  const std::vector<tvm_c::PlannedPool> planned = {{"flash", true, 20}, {"sram", false, 64}, {"dtcm", false, {}}};
  CHECK(inspect_text(model.info, model.module, model.analysis, {planned, {}})
            .find("  planned by TVM: flash 20 bytes of constants, sram 64 bytes, dtcm of unknown\n      size\n") !=
        std::string::npos);
  CHECK(json::parse(inspect_json(model.info, model.module, model.analysis, {planned, {}}))["tvm_plan"] ==
        json::parse(R"([{"pool": "flash", "kind": "constants", "size": 20},
                        {"pool": "sram", "kind": "workspace", "size": 64},
                        {"pool": "dtcm", "kind": "workspace", "size": null}])"));
  CHECK(text().find("planned by TVM") == std::string::npos);
  model.info.tir_member = "src/default.tir.json";
  CHECK(text().starts_with("module default, TVM 0.12.0, unpacked interface\n"));
}

TEST_CASE("the unplanned build is called so only where TVM did not plan") {
  Model model = example();
  model.module.annotated_pools.emplace_back().name = "sram";
  const std::string text = inspect_text(model.info, model.module, model.analysis);
  CHECK(text.find("\n  the build that TVM planned takes 4096 bytes of workspace\n") != std::string::npos);
}

TEST_CASE("constants that are never read are told, since other figures are without them") {
  Model model = example();
  for (liveness::Site& site : model.analysis.sites) {
    if (site.kind == BufferKind::constant) site.live.clear();
  }
  const std::string text = inspect_text(model.info, model.module, model.analysis);
  CHECK(text.find("  3 buffers of 1096 bytes, 1 constant of 300 bytes (300 never read), before any") !=
        std::string::npos);
}

TEST_CASE("a module as text") {
  const Model model = example();
  CHECK(inspect_text(model.info, model.module, model.analysis) == R"(module default, TVM 0.12.0, unpacked interface
  3 buffers of 1096 bytes, 1 constant of 300 bytes, before any transformation
  the unplanned build takes 4096 bytes of workspace

Interface
          Tensor  Type  Size
  input   x       int8   490
  output  y       ?        ?

Functions
         Target  Function
  entry  c       tvmgen_default___tvm_main__
         -       tvmgen_default_fused_conv

Buffers, live in steps of [0,40)
  Buffer   Size  Align  Kind      Live           Function
  sid_1    1024     16  tensor    [0,17)         tvmgen_default___tvm_main__
  pad        64     16  scratch   [1,5) [20,24)  tvmgen_default_fused_conv
  unused      8     16  scratch   never          tvmgen_default_fused_conv
  weights   300     16  constant  [0,40)         tvmgen_default_fused_conv

Calls in order
  #  Kind  Multiply-accumulates  Reads -> writes  Steps    Function
  1  ?                        0                   [0,17)
      tvmgen_default_fused_conv
  2  relu                     ?                   [17,40)  cmsis_nn_relu

Allocated at run time, since the size is not known at compile time
  dyn in tvmgen_default_fused_conv: extent 0 is not a constant

Called, but defined outside the module
  cmsis_nn_relu
)");
}

TEST_CASE("functions whose C stays, and why") {
  const Model model = example();
  const std::vector<tvm_c::UnreadCall> unread = {{"cmsis_nn_relu", "lib1.c", "line 3, column 5: found 'while'"},
                                                 {"gemm", "lib1.c", "line 9, column 1: found a result"}};
  CHECK(inspect_text(model.info, model.module, model.analysis, {{}, unread})
            .ends_with("Called, but defined outside the module\n"
                       "  cmsis_nn_relu, whose C stays: lib1.c, line 3, column 5: found 'while'\n"));
  const json parsed = json::parse(inspect_json(model.info, model.module, model.analysis, {{}, unread}));
  CHECK(parsed["unread_calls"] ==
        json::parse(R"([{"name": "cmsis_nn_relu", "file": "lib1.c", "reason": "line 3, column 5: found 'while'"},
                        {"name": "gemm", "file": "lib1.c", "reason": "line 9, column 1: found a result"}])"));
}

TEST_CASE("statements that stay as text are no function of somebody else") {
  Model model = example();
  model.analysis.calls.back().callee = tir::kept_text;
  model.analysis.extern_callees = {tir::kept_text};
  const std::string text = inspect_text(model.info, model.module, model.analysis);
  CHECK(text.find(
            "  2  text                     ?                   [17,40)\n      (statements that stay as they are)\n") !=
        std::string::npos);
  CHECK(text.find("usmp_kept_text") == std::string::npos);
  CHECK(text.find("defined outside") == std::string::npos);
}

TEST_CASE("on a narrow terminal names give way in the middle, then lines are folded") {
  const Model model = example();
  const std::string whole = inspect_text(model.info, model.module, model.analysis, {}, {.width = 200});
  CHECK(whole.find("  1  ?                        0                   [0,17)   tvmgen_default_fused_conv\n") !=
        std::string::npos);
  CHECK(inspect_text(model.info, model.module, model.analysis, {}, {.width = 84}) == whole);
  const std::string narrow =
      inspect_text(model.info, model.module, model.analysis, {}, {.width = 71, .transformed = true});
  CHECK(narrow.find("bytes, after the\n      transformations\n") != std::string::npos);
  CHECK(narrow.find("  sid_1    1024     16  tensor    [0,17)         tvmgen_def…_tvm_main__\n") != std::string::npos);
  CHECK(narrow.find("  entry  c       tvmgen_default___tvm_main__\n") != std::string::npos);
  const std::string narrowest = inspect_text(model.info, model.module, model.analysis, {}, {.width = 1});
  CHECK(narrowest.find("  pad        64     16  scratch\n      [1,5)…20,24)  tvmge…d_conv\n") != std::string::npos);
}

TEST_CASE("an empty module leaves the empty parts out") {
  Model model;
  model.info.name = "m";
  model.info.packed_interface = true;
  CHECK(inspect_text(model.info, model.module, model.analysis) ==
        "module m, packed interface\n  0 buffers of 0 bytes, 0 constants of 0 bytes, before any "
        "transformation\n\nFunctions\n    Target  Function\n");
  const json parsed = json::parse(inspect_json(model.info, model.module, model.analysis));
  CHECK(parsed["packed_interface"] == true);
  CHECK(parsed["unplanned_workspace"].is_null());
  CHECK(parsed["buffers"] == json::array());
  CHECK(parsed["extern_callees"] == json::array());
}

TEST_CASE("a module as JSON") {
  const Model model = example();
  check_golden("inspect.json", inspect_json(model.info, model.module, model.analysis));
}

TEST_CASE("names of an archive cannot command the terminal") {
  Model model = example();
  model.info.name = "\x1b[2J";
  model.analysis.sites[0].name = "a\nb";
  model.analysis.calls[0].callee = "\x07";
  model.module.functions[1].name = "\xff";
  const std::string text = inspect_text(model.info, model.module, model.analysis);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
  CHECK(text.find('\xff') == std::string::npos);
  CHECK(text.find("  a\\nb ") != std::string::npos);
  CHECK(json::parse(inspect_json(model.info, model.module, model.analysis))["buffers"][0]["name"] == "a\nb");
}

}  // namespace usmp::report::inspect_test
