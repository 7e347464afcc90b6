// SPDX-License-Identifier: Apache-2.0
// Statements that somebody added to the entry between those of TVM's: counters, timers, logging.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/file_scope.hpp"

namespace usmp::tvm_c {

using NameSet = std::set<std::string, std::less<>>;

// What macros of a file stand for.
class Macros {
 public:
  explicit Macros(std::string_view file);

  [[nodiscard]] bool contains(std::string_view name) const { return bodies_.contains(name); }

  // The names in the tokens, and in what they stand for. Where that is too much, 'return' is among them, which says
  // that anything may be.
  [[nodiscard]] NameSet names_of(const std::vector<Token>& tokens) const;

  // The same of a C text, in which comments and literals do not count.
  [[nodiscard]] NameSet names_in(std::string_view text) const;

 private:
  std::map<std::string_view, std::vector<std::string_view>> bodies_;
  mutable std::size_t most_ = 10'000'000;  // names that are looked at
};

// Of the file's text. A conditional group of the preprocessor is one statement.
struct AddedText {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct AddedStatements {
  std::vector<AddedText> texts;  // in order, neighbours as one, with the comments in front and behind on their line
  struct Other {
    AddedText place;
    std::string reason;  // why it may not stay as text: "has 'return'"
  };
  std::vector<Other> others;  // in order
};

// Of the function's own block those that share no name with what TVM wrote there, types aside, and do not leave it:
// they neither read nor write what the model computes, so they may stand between its calls in whatever program.
// Macros of the file count by what they stand for. Calls of functions with constants alone are none of them: they are
// read. O(bytes · log names).
[[nodiscard]] AddedStatements added_statements(const FunctionText& entry, const FileScope& scope);

// Whether there is anything but what TVM writes around functions between two items of a file: code in conditional
// groups that are passed over.
[[nodiscard]] bool has_hidden_code(std::string_view gap);

}  // namespace usmp::tvm_c
