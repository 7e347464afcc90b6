// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the statements of a helper where it is called, with the values of the arguments: sizes and strides are
// constants there.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/body/helpers.hpp"
#include "tvm_c/body/values.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

// The call of a helper is beyond what is read: its C stays, and the function that calls it is read once more.
struct HelperNotRead {
  std::string name;
};

// A variable of the module with that name, that type and, of a pointer, those elements.
using NewVar = std::function<tir::VarId(std::string_view name, tir::DataType type, tir::DataType element)>;

// Adds to `body` what the function does with these arguments. Read are constant conditions, loops from a constant to a
// constant, numbers that change, pointers that a loop moves by the same number of elements each time, stores, calls of
// functions of the same file, memcpy and memset, instructions on words (words.hpp), and jumps forward in its own block;
// it has to return 0. Storage begins at a multiple of 4 bytes. Throws HelperNotRead. O(what it does); beyond
// most_helper_statements it is not read.
inline constexpr std::size_t most_helper_statements = 10'000;
void read_helper_call(Helpers& helpers, const std::string& name, std::size_t file, const std::vector<Value>& arguments,
                      Values& values, const NewVar& new_var, tir::BodyBuilder& body);

}  // namespace usmp::tvm_c
