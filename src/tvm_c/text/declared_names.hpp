// SPDX-License-Identifier: Apache-2.0
// Names in a piece of a function that moves to another place: what it declares, and what its macros stand for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macro_expansion.hpp"

namespace usmp::tvm_c {

struct DeclaredName {
  std::string name;
  std::size_t at = 0;       // token
  std::size_t depth = 0;    // in how many braces
  bool is_sure = false;     // the statement begins with a type: int n = 2; and not a = b * n;
  bool is_pointer = false;  // of these: a star stands in front of the name
};

// The variables that the tokens may declare, in their order; also names in expressions that look alike. O(tokens).
[[nodiscard]] std::vector<DeclaredName> declared_names(const std::vector<Token>& tokens);

// What stands behind the macros that a piece of C names, and behind those that these name.
struct UsedMacros {
  Names names;                  // in them, but for their own parameters
  Names declared;               // variables that they may declare
  Names declared_behind;        // of these: outside of braces, so for what follows
  bool have_unknown = false;    // a name in capitals is called that no file defines
  bool have_arguments = false;  // whose text they may use: # and ##
};

// `macros`: all definitions of all macros of the file. O(definitions · log names).
[[nodiscard]] UsedMacros used_macros(const std::vector<Token>& tokens, const AllDefinitions& macros);

// A type with members or enumerators is defined, which have names of their own.
[[nodiscard]] bool define_type(const std::vector<Token>& tokens);

}  // namespace usmp::tvm_c
