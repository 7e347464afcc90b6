// The body of one function, from tokens to statements.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tvm_c/expressions.hpp"
#include "tvm_c/file_scope.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// Reads parameters and body into `function`, whose variables it adds to `module`. Gives the functions that it calls, in
// order. Throws SyntaxError, and Error of kind archive without a place.
[[nodiscard]] std::vector<std::string> read_function(const FunctionText& text, const FileScope& scope,
                                                     const Limits& limits, tir::Module& module,
                                                     tir::Function& function);

}  // namespace usmp::tvm_c
