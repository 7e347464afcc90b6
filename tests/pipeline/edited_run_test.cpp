// SPDX-License-Identifier: Apache-2.0
// C whose tvmgen_M_run does more than planned C would.
#include <doctest/doctest.h>

#include <string>

#include "usmp/pipeline/program.hpp"
#include "usmp/support/error.hpp"

namespace usmp::pipeline::edited_run_test {

TEST_CASE("a module whose tvmgen_M_run somebody edited is read, and planned if that is understood") {
  const std::string call = "tvmgen_m___tvm_main__(inputs->in, outputs->output)";
  const auto planned = [](const std::string& statements) {
    const std::string c =
        "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var) {\n"
        "  for (int32_t i = 0; i < 16; ++i) {\n    output_buffer_var[i] = in_buffer_var[i];\n  }\n  return 0;\n}\n"
        "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs) {\n" +
        statements + "}\n";
    model::Description info;
    info.name = "m";
    info.inputs = {{"in", "int8", 16}};
    info.outputs = {{"output", "int8", 16}};
    SourceModule source = read_module(info, CFiles{.own = {{"lib0.c", c}}, .foreign = {}});
    Request request;
    request.pools = config::default_pools();
    try {
      const bool has_own_run = source.has_own_run;
      (void)assemble_module(std::move(source), {}, request);
      return std::string(has_own_run ? "planned, with its own" : "planned");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(planned("  return " + call + ";\n") == "planned");
  CHECK(planned("  gpio_set(1);\n  return " + call + ";\n") == "planned, with its own");
  CHECK(planned("  gpio_set(1);\n  return (" + call + ", 0) + run();\n") == "planned, with its own");
  CHECK(planned("  gpio_set(1);\n  return 0;\n")
            .starts_with("lib0.c: line 8, column 3: found 'gpio_set' in 'tvmgen_m_run'"));
  CHECK(planned("  gpio_set(1);\n  return tvmgen_m___tvm_main__(outputs->output, inputs->in);\n") ==
        "planned, with its own");  // which parameter is which, that says
  CHECK(planned("  gpio_set(1);\n  return tvmgen_m___tvm_main__(inputs->in);\n") ==
        "tvmgen_m_run passes nothing as parameter 1 of the entry, expected outputs.output");
}

}  // namespace usmp::pipeline::edited_run_test
