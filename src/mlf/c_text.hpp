// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The little that is read from the C files of an archive: functions, headers included, struct members, macros.
//
// From tokens (usmp/c/lexer.hpp), not from a tree: directives are passed over, so both sides of an #if are seen. Odd
// input gives fewer findings, never a fault. All in O(text).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/c/lexer.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/mapped_file.hpp"

namespace usmp::mlf {

struct CFunction {
  std::string name;
  std::string prototype;  // on one line, single spaces, without TVM_DLL, extern "C" and attributes
  bool is_always_inline = false;
};

// #define NAME value
struct CMacro {
  std::string_view name;
  std::size_t offset = 0;  // of the name
  bool is_function = false;
  std::span<const c::Token> value;
};

// A text and its tokens, which are views of it.
class CText {
 public:
  explicit CText(std::string_view text);
  CText(const CText&) = delete;
  CText& operator=(const CText&) = delete;

  // All tokens, and those outside of directives.
  [[nodiscard]] const std::vector<c::Token>& tokens() const { return lexed_.tokens; }
  [[nodiscard]] const std::vector<c::Token>& code() const { return code_; }

  // The functions with external linkage that the file defines, and those that it declares without a body, in order.
  [[nodiscard]] std::vector<CFunction> defined_functions() const { return functions("{"); }
  [[nodiscard]] std::vector<CFunction> declared_functions() const { return functions(";"); }

  [[nodiscard]] bool mentions(std::string_view name) const;  // in directives, too

  // "<name>" and "\"name\"" of #include, in order.
  [[nodiscard]] std::vector<std::string> includes() const;
  [[nodiscard]] std::vector<CMacro> macros() const;
  // NAME of #ifndef NAME.
  [[nodiscard]] std::vector<std::string_view> guards() const;

  // Member names of `struct name { … }` in order; nothing if it is not defined here.
  [[nodiscard]] std::optional<std::vector<std::string>> struct_members(std::string_view name) const;

  // The macros that `#define NAME 123` gives a plain decimal number to.
  [[nodiscard]] std::map<std::string, Bytes, std::less<>> number_macros() const;

 private:
  struct Directive {
    std::string_view word;
    std::span<const c::Token> rest;
  };
  [[nodiscard]] std::vector<CFunction> functions(std::string_view end) const;

  std::string_view text_;
  c::Lexed lexed_;
  std::vector<c::Token> code_;
  std::vector<Directive> directives_;
};

// On one line, with single spaces where the text has blanks.
[[nodiscard]] std::string spelled(std::span<const c::Token> tokens);

// `text` without lists of numbers in braces, which tables of constants are, as a part of `file`, which leaves memory:
// what is left means the same otherwise. Nothing: more than `most` bytes are left; then the rest of the file is not
// looked at.
[[nodiscard]] std::optional<std::string> without_tables(std::string_view text, const MappedFile& file,
                                                        std::size_t most);

[[nodiscard]] bool is_c_source(std::string_view name);

// What CText has of a text.
[[nodiscard]] std::vector<CFunction> functions_of_file(std::string_view text);
[[nodiscard]] std::vector<std::string> included_headers(std::string_view text);  // names alone

// Whether the text holds an identifier that ends in `suffix`, followed by `(` … `)` `{`. A text without the suffix,
// such as an operator library with megabytes of constants, costs one search.
[[nodiscard]] bool defines_ending_in(std::string_view text, std::string_view suffix);

// What stands in the brackets of the function's first definition, `name(…) {`; nothing if there is none. Prototypes and
// calls do not count.
[[nodiscard]] std::optional<std::string_view> defined_parameters(std::string_view text, std::string_view name);

// Whether the identifier `name` occurs, in comments, too.
[[nodiscard]] bool mentions(std::string_view text, std::string_view name);

}  // namespace usmp::mlf
