// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is said of source trees that hold several models.
#include "driver/files.hpp"
#include "usmp/driver/driver.hpp"

using namespace usmp::driver;

TEST_CASE("of several models in a tree those that can be planned come first, the others with the reason") {
  const TemporaryDirectory temporary;
  const auto add = [&](const std::string& directory, const std::string& entry_end) {
    fs::create_directories(temporary.path / "nets" / directory);
    write(temporary.path / "nets" / directory / "m.c",
          "// tvm target: c\nint32_t tvmgen_m_fused_copy(int8_t* p0, int8_t* p1) {\n  p1[0] = p0[0];\n  return 0;\n}\n"
          "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* output_buffer_var) {\n"
          "  if (tvmgen_m_fused_copy(x_buffer_var, output_buffer_var) != 0 ) return -1;\n" +
              entry_end + "}\n");
  };
  const auto said = [&] {
    PlanOptions options;
    options.model.model = temporary.file("nets");
    options.dry_run = true;
    const Outcome outcome = outcome_of(plan, options);
    return std::to_string(outcome.code) + outcome.err;
  };
  const std::string nets = temporary.file("nets");
  const std::string fault = nets + "/a: m.c: line 8, column 3: found 'goto', ";
  add("a", "  goto end;\nend: return 0;\n");
  add("b", "  return 0;\n");
  add("c", "  return 0;\n");
  CHECK_MESSAGE(said().starts_with("2usmp-plan: error: " + nets +
                                   ": holds models in 3 directories, expected one; type one of:\n  usmp-plan " + nets +
                                   "/b  (m)\n  usmp-plan " + nets + "/c  (m)\n  not one of these:\n  " + fault),
                said());
  add("b", "  goto end;\nend: return 0;\n");
  add("c", "  goto end;\nend: return 0;\n");
  CHECK_MESSAGE(said().starts_with("3usmp-plan: error: " + nets +
                                   ": holds models in 3 directories, of which none can be planned:\n  " + fault),
                said());
  add("a", "  return 0;\n");
  add("b", "  return 0;\n");
  add("c", "  return 0;\n");
  CHECK_MESSAGE(said().find("not one") == std::string::npos, said());
}
