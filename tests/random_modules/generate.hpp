// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random modules of TIR: well defined nearly always by construction (the reference interpreter refuses the rest), the
// same for a seed on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "random_modules/interpreter.hpp"
#include "usmp/model/description.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::random_modules {

// The module's name; in upper case too, no other name and no text of an emitted file holds it, so that it can be
// replaced in them.
inline constexpr const char* module_name = "zqx";

struct TestModule {
  std::uint64_t seed = 0;
  tir::Module module;
  std::vector<std::size_t> inputs;  // indices into the entry's params
  std::vector<std::size_t> outputs;
  bool packed = false;  // the archive has TVM's packed interface
};

enum class Contents : std::uint8_t {
  all,
  in_c,  // what TVM has C for, with the unpacked interface
};

[[nodiscard]] TestModule generate(std::uint64_t seed, Contents contents = Contents::all);

// One expression, evaluated for each of a few elements of inputs of all types: the entry is a loop around a store.
[[nodiscard]] TestModule generate_expression(std::uint64_t seed);

// Contents of the inputs, drawn from the module's seed.
[[nodiscard]] std::vector<Argument> arguments_of(const TestModule& test);

// What an archive would say of the module.
[[nodiscard]] model::Description info_of(const TestModule& test);

// C of the functions that the modules call and do not define: imported by operators (pragma_import_c), and a library of
// another code generator.
[[nodiscard]] std::string imported_sum();
[[nodiscard]] std::string imported_reverse();
[[nodiscard]] std::string foreign_source();

}  // namespace usmp::random_modules
