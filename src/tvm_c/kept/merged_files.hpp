// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Code of several files that comes into one: what it needs to mean the same there.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/included.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// What a core's header says for static.
[[nodiscard]] bool is_static_word(std::string_view name);

// For two functions or variables of one name, from two files. Throws Error of kind archive: they are not the same text.
void require_one_text(const Item& first, const Item& second, std::span<const Source> files);

// Of a conditional group, from a place in it on: with its other parts, up to its end.
[[nodiscard]] std::string_view text_of_group(const Code& code, std::size_t begin);

// Types that these files declare as another in front does, in no conditional group: once is enough. By index into the
// items of the scope. Throws Error of kind archive: two declare one name, each otherwise; or one under a condition, and
// both may not stay.
[[nodiscard]] std::set<std::size_t> repeated_types(const std::set<std::size_t>& kept_files, const FileScope& scope,
                                                   std::span<const Source> files);

// The texts follow one another, in the order of their files. Throws Error of kind archive: a macro of one file, or of a
// header that it includes, has a name that the next file or a header of its mentions, and that is another macro there
// or none. O(bytes of the texts and of their headers · log names · files).
void require_own_macros(const std::map<std::size_t, std::string>& texts, std::span<const Source> files,
                        const Included& included);

}  // namespace usmp::tvm_c
