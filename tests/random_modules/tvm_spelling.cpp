// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes an entry around one loop, whose value TvmExpressions prints.
#include "random_modules/tvm_spelling.hpp"

#include <string>
#include <vector>

#include "random_modules/tvm_expressions.hpp"
#include "usmp/support/text.hpp"

namespace usmp::random_modules {
std::optional<Emitted> in_tvm_spelling(const TestModule& test) {
  const tir::Function& entry = test.module.functions[test.module.entry];
  const auto& loop = std::get<tir::For>(entry.body.at(0).node);
  const auto& store = std::get<tir::Store>(loop.body.at(0).node);
  TvmExpressions speller({});
  const std::string symbol = std::string("tvmgen_") + module_name;
  std::string members[2];
  const auto declare = [&](const std::vector<std::size_t>& params, const char* side, std::string& text) {
    for (const std::size_t i : params) {
      text += "  void* " + entry.params[i].name + ";\n";
      speller.name(entry.params[i].var, std::string(side) + "->" + entry.params[i].name);
    }
  };
  declare(test.inputs, "inputs", members[0]);
  declare(test.outputs, "outputs", members[1]);
  speller.name(loop.var, "i");
  Emitted emitted{.origin = "TVM's spelling",
                  .workspace_io = false,
                  .external_pools = {},
                  .header = {},
                  .entry = {},
                  .operators = {}};
  try {
    const tir::DataType type = store.value->type;
    const std::string value = speller.value(*store.value);
    const std::string target = "outputs->" + entry.params[test.outputs.at(0)].name;
    emitted.header = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\nstruct " + symbol + "_inputs {\n" +
                     members[0] + "};\nstruct " + symbol + "_outputs {\n" + members[1] + "};\n";
    emitted.operators = "static int32_t " + symbol + "_run(struct " + symbol + "_inputs* inputs, struct " + symbol +
                        "_outputs* outputs) {\n  int32_t i;\n  for (i = 0; i < " +
                        std::to_string(*tir::as_int(*loop.extent)) + "; ++i) {\n" + speller.statements() + "    ((" +
                        (type.is_bool() ? std::string("uint8_t") : c_type(type)) + "*)" + target + ")[i] = " + value +
                        ";\n  }\n  return 0;\n}\n";
    return emitted;
  } catch (const NoSpelling&) {
    return std::nullopt;
  }
}

}  // namespace usmp::random_modules
