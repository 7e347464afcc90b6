// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One function of C as TIR, with what is known of it behind.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/body/planned_memory.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/kept/outlined.hpp"
#include "tvm_c/kept/pool_params.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

class Helpers;
struct NestedTexts;

struct ReadFunction {
  tir::Function function;
  std::vector<std::string> called;  // in order
  Names inlined;                    // operators whose statements stand here in place of a call
  PlannedMemory memory;
  std::vector<std::string> tables;  // of the C that it reads
  std::vector<std::string> pools;   // of workspace that TVM has planned
  std::vector<AddedText> guarded;   // of AddedStatements::guarded, what stays as text
  std::vector<AddedText> dropped;   // likewise, what never happens
  std::vector<OutlinedFunction> outlined;
  // Functions of the C that may fail, and of which a call asks for no result: where the call is.
  std::map<std::string, std::size_t> unasked;
};

// Reads parameters and body; the function's variables are added to `module`. `kept`: of functions that it calls and
// whose C stays, which get a buffer for each pool that they use. `added`: what may stay as text. `outlined`: statements
// of the function's own block that become functions, in order. `helpers`: other functions of the files, which are read
// where they are called; null: they are called. `nested`: of operators whose statements are read in place of a call
// whose result is not checked as TVM checks it; null: such calls are not read.
// Throws SyntaxError, and Error of kind archive without a place.
[[nodiscard]] ReadFunction read_function(const FunctionText& text, const FileScope& scope, const KeptPools& kept,
                                         const Limits& limits, tir::Module& module, bool is_entry,
                                         const AddedStatements& added = {}, std::span<const Outlined> outlined = {},
                                         Helpers* helpers = nullptr, const NestedTexts* nested = nullptr);

// The parameters of a function whose body is somebody else's, pools included. As read_function.
[[nodiscard]] tir::Function read_prototype(const FunctionText& text, const FileScope& scope, const Limits& limits,
                                           tir::Module& module);

}  // namespace usmp::tvm_c
