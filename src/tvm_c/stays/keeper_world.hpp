// SPDX-License-Identifier: Apache-2.0
// What functions that keep addresses may name: variables, macros and members of structs of their files.
#pragma once

#include <map>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

// What functions and macros have in common.
struct KeeperWorld {
  const FileScope& scope;
  Names constants;  // of the files, that nothing is written to
  Names variables;
  Names returns;                                            // functions whose results may be addresses
  Names macros;                                             // with arguments
  Names array_members;                                      // of structs of the files: int8_t* to[3];
  std::map<std::string_view, std::string_view> statements;  // macros without, that assign something
};

// `definitions` stay, and the scope. O(text · log names).
[[nodiscard]] KeeperWorld keeper_world(const FileScope& scope, const MacroDefinitions& definitions);

// int32_t, float, q7_t: no address.
[[nodiscard]] bool is_number_type(const Token& token);

}  // namespace usmp::tvm_c
