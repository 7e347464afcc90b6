// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What stands around a test module: contents of its inputs, its archive's words, C that it calls.
#include <cstring>

#include "random_modules/generate.hpp"
#include "random_modules/random.hpp"
#include "random_modules/values.hpp"

namespace usmp::random_modules {
namespace {

std::string random_contents(tir::DataType element, std::size_t bytes, Random& random) {
  std::string contents(bytes, '\0');
  const auto size = static_cast<std::size_t>(element.element_bytes());
  for (std::size_t i = 0; i + size <= bytes; i += size) {
    std::uint64_t bits = random.next();
    if (random.chance(40)) bits = static_cast<std::uint64_t>(random.between(-100, 100));
    if (element.is_float() && !random.chance(5)) {
      const double number = static_cast<double>(random.between(-40000, 40000)) / 256;
      bits = bits_of(real(rounded(number, element)), element);
    }
    std::memcpy(contents.data() + i, &bits, size);
  }
  return contents;
}

}  // namespace

std::vector<Argument> arguments_of(const TestModule& test) {
  Random random(test.seed ^ 0x5eed0fda7aU);
  std::vector<Argument> arguments;
  for (const tir::Param& param : test.module.functions[test.module.entry].params) {
    Argument argument;
    argument.bytes = static_cast<std::size_t>((*param.shape)[0] * param.element.element_bytes());
    arguments.push_back(argument);
  }
  const tir::Function& entry = test.module.functions[test.module.entry];
  for (const std::size_t input : test.inputs) {
    arguments[input].contents = random_contents(entry.params[input].element, arguments[input].bytes, random);
  }
  return arguments;
}

model::Description info_of(const TestModule& test) {
  model::Description info;
  info.name = module_name;
  info.packed_interface = test.packed;
  const tir::Function& entry = test.module.functions[test.module.entry];
  const auto tensor = [&](std::size_t index) -> model::Tensor {
    const tir::Param& param = entry.params[index];
    return {param.name, tir::to_string(param.element), (*param.shape)[0] * param.element.element_bytes()};
  };
  for (const std::size_t input : test.inputs) info.inputs.push_back(tensor(input));
  for (const std::size_t output : test.outputs) info.outputs.push_back(tensor(output));
  const std::string opaque = std::string("tvmgen_") + module_name + "_opaque";
  info.foreign_functions.push_back({.name = opaque,
                                    .prototype = "int32_t " + opaque + "(int32_t* from, int32_t* to, int32_t n)",
                                    .member = "codegen/host/src/" + std::string(module_name) + "_lib2.c",
                                    .allocates_workspace = false});
  return info;
}

std::string imported_sum() {
  return "#include <stdint.h>\n"
         "static __attribute__((unused)) int32_t " +
         std::string(module_name) +
         "_sum(const int8_t* data, int32_t n) {\n"
         "  int32_t sum = 0;\n"
         "  while (n > 0) sum += data[--n];\n"
         "  return sum;\n"
         "}\n";
}

std::string imported_reverse() {
  return "#include <stdint.h>\n"
         "static __attribute__((unused)) int32_t " +
         std::string(module_name) +
         "_reverse(int32_t* data, int32_t n) {\n"
         "  int32_t i;\n"
         "  for (i = 0; i < n / 2; ++i) {\n"
         "    const int32_t first = data[i];\n"
         "    data[i] = data[n - 1 - i];\n"
         "    data[n - 1 - i] = first;\n"
         "  }\n"
         "  return 0;\n"
         "}\n";
}

std::string foreign_source() {
  return "#include <stdint.h>\n"
         "int32_t tvmgen_" +
         std::string(module_name) +
         "_opaque(int32_t* from, int32_t* to, int32_t n);\n"
         "int32_t tvmgen_" +
         std::string(module_name) +
         "_opaque(int32_t* from, int32_t* to, int32_t n) {\n"
         "  int32_t i;\n"
         "  int32_t all[64];\n"
         "  for (i = 0; i < n; ++i) all[i] = from[i];\n"
         "  for (i = 0; i < n; ++i) to[n - 1 - i] = all[i];\n"
         "  return 0;\n"
         "}\n";
}

}  // namespace usmp::random_modules
