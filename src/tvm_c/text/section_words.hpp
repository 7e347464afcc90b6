// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What says where functions and tables are to be: IRAM_ATTR, PROGMEM, __attribute__((section("…"))).
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"

namespace usmp::tvm_c {

// By its text in the file.
struct SectionWord {
  std::string_view word;  // "IRAM_ATTR"
  std::size_t offset = 0;
};

// Macros that a file of these tokens defines as nothing: what it defines so, it defines for itself. O(tokens · log).
[[nodiscard]] std::set<std::string_view> defined_as_nothing(const std::vector<Token>& tokens);

// The first such word in the declaration of a function or table: a macro whose meaning is not known here, or an
// attribute with a section, for tables if `sections` says so. Nothing: there is none. Macros for `nothing` say nothing.
// O(the declaration · log).
[[nodiscard]] std::optional<SectionWord> section_word_of(const Item& item, const FileTree& file,
                                                         const std::set<std::string_view>& nothing, bool sections);

// The same, of the groups in front of the declaration (begin_with_groups) that are [begin,end) of the file.
[[nodiscard]] std::optional<SectionWord> conditional_section_word(const Code& file, std::size_t begin, std::size_t end);

}  // namespace usmp::tvm_c
