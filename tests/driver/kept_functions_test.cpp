// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is said of functions whose C stays as it is.
#include "driver/files.hpp"
#include "usmp/driver/driver.hpp"

using namespace usmp::driver;

TEST_CASE("of functions that stay for one reason three are named, the others are counted") {
  const TemporaryDirectory temporary;
  const auto said = [&](int copies, int sums) {
    std::string operators;
    std::string entry = "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* output_buffer_var) {\n";
    const auto add = [&](const std::string& name, const std::string& body) {
      operators += "int32_t tvmgen_m_fused_" + name + "(int8_t* p0, int8_t* p1) {\n" + body + "  return 0;\n}\n";
      entry += "  if (tvmgen_m_fused_" + name + "(x_buffer_var, output_buffer_var) != 0 ) return -1;\n";
    };
    for (int i = 0; i < copies; ++i) add("copy_" + std::to_string(i), "  memcpy_a(p1, p0, sizeof queue);\n");
    for (int i = 0; i < sums; ++i) add("sum_" + std::to_string(i), "  static int sum;\n  sum += p0[0];\n");
    write(temporary.path / "m.c", "// tvm target: c\n" + operators + entry + "  return 0;\n}\n");
    PlanOptions options;
    options.model.model = temporary.file("m.c");
    options.dry_run = true;
    return outcome_of(plan, options).out;
  };
  const auto lines = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  const std::string one = "is not TVM's C and stays as it is (line ";
  std::string text = said(3, 3);
  CHECK_MESSAGE(lines(text, one) == 6, text);
  CHECK_MESSAGE(lines(text, " likewise: ") == 0, text);
  text = said(4, 6);
  CHECK_MESSAGE(lines(text, one) == 6, text);
  CHECK_MESSAGE(lines(text, "m.c: 1 other function likewise: found ") == 1, text);
  CHECK_MESSAGE(lines(text, "m.c: 3 other functions likewise: found 'static'") == 1, text);
}
