// What C files declare at file scope: functions, by the text of their bodies, and tables of constants.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tvm_c/lexer.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

struct FunctionText {
  std::size_t file = 0;  // that defines it
  std::size_t offset = 0;
  Lexer params;  // behind the bracket that opens them
  Lexer body;    // behind the brace
};

struct Table {
  std::size_t file = 0;
  std::shared_ptr<const tir::Constant> data;
};

struct FileScope {
  std::map<std::string, FunctionText, std::less<>> functions;
  std::map<std::string, Table, std::less<>> tables;  // const arrays of numbers with their values
};

// Adds what the file declares; what stands there already stays. What is neither is passed over. Throws SyntaxError: not
// C's tokens, brackets that do not end, a table that is no list of numbers of its type. O(bytes · log names).
void read_file_scope(std::string_view text, std::size_t file, FileScope& scope);

}  // namespace usmp::tvm_c
