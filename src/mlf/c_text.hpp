// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The little that is read from the C files of an archive: functions defined, headers included, struct members, macros.
//
// A tolerant scanner in linear time, not a parser: comments and literals are skipped, preprocessor lines ignored (so
// both sides of an #if are seen) and braces counted. Odd input gives fewer findings, never a fault.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/support/mapped_file.hpp"

namespace usmp::mlf {

struct CFunction {
  std::string name;
  std::string prototype;  // on one line, single spaces, without TVM_DLL, extern "C" and attributes
};

// `text` with every comment and the content of every string and character literal blanked; same length, same lines.
[[nodiscard]] std::string code_only(std::string_view text);

// `text` without lists of numbers in braces, which tables of constants are: what is left means the same otherwise.
[[nodiscard]] std::string without_tables(std::string_view text);
// The same of a part of `file`, which leaves memory. Nothing: more than `most` bytes are left; then the rest of the
// file is not looked at.
[[nodiscard]] std::optional<std::string> without_tables(std::string_view text, const MappedFile& file,
                                                        std::size_t most);

[[nodiscard]] bool is_c_source(std::string_view name);

// The functions with external linkage that a file defines, in order.
[[nodiscard]] std::vector<CFunction> functions_of_file(std::string_view text);

// The same; `code` comes from code_only().
[[nodiscard]] std::vector<CFunction> defined_functions(std::string_view code);

// The functions that are declared without a body, in order. `code` comes from code_only().
[[nodiscard]] std::vector<CFunction> declared_functions(std::string_view code);

// Whether the text holds an identifier that ends in `suffix`, followed by `(` … `)` `{`. Needs no code_only(), so that
// the megabytes of constants in an operator library cost one search.
[[nodiscard]] bool defines_ending_in(std::string_view text, std::string_view suffix);

// What stands in the brackets of the function's first definition, `name(…) {`; nothing if there is none. Prototypes and
// calls do not count.
[[nodiscard]] std::optional<std::string_view> defined_parameters(std::string_view text, std::string_view name);

// Whether the identifier `name` occurs.
[[nodiscard]] bool mentions(std::string_view text, std::string_view name);

// Names in #include "name" and #include <name>, in order.
[[nodiscard]] std::vector<std::string> included_headers(std::string_view text);

// Member names of `struct name { … }` in order; nothing if it is not defined here.
[[nodiscard]] std::optional<std::vector<std::string>> struct_members(std::string_view code, std::string_view name);

// The macros that `#define NAME 123` gives a plain decimal number to.
[[nodiscard]] std::map<std::string, Bytes, std::less<>> number_macros(std::string_view code);

}  // namespace usmp::mlf
