// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Variables of a function of C that statements change, and values that may not change with them.
#pragma once

#include <cstddef>
#include <string>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/values.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

// A variable has turned out to be changed, so all of the function is to be read once more.
struct ChangedVariable {
  std::string name;
  std::size_t offset = 0;
};

// Declares one in storage: its place.
Value declare_variable(const Token& name, tir::DataType type, BodyNames& names, tir::BodyBuilder& body);

// The same value, whatever is stored afterwards.
[[nodiscard]] tir::Tree fixed(const tir::Tree& value, BodyNames& names, const Values& values, tir::BodyBuilder& body);
[[nodiscard]] Value fixed_pointer(Value pointer, BodyNames& names, const Values& values, tir::BodyBuilder& body);

}  // namespace usmp::tvm_c
