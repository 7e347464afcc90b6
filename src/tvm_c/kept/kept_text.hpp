// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions whose C stays as it is, text for text, with what of their files they need.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/kept/pool_params.hpp"
#include "tvm_c/text/files_read.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// These functions and those that they call, directly or not, of all files. O(bytes · log names).
[[nodiscard]] Names with_called(const Names& functions, const FilesRead& read);

// int (*f)(int) = g; or uint8_t (*at)[64] = &sram; whose name is not known here, so that it stays with its file.
[[nodiscard]] bool is_unnamed_variable(const Item& item);

// A table whose text means the same in any file: it has numbers, its name and words of the language alone.
[[nodiscard]] bool is_plain_table(const Item& item, const FilesRead& read);

// Names that text of a file uses which stands elsewhere, by file.
using UsedNames = std::set<std::pair<std::size_t, std::string>>;

// Items that these functions, `used`, and variables in files of `also` mention, directly or not, with them; nothing is
// looked for behind `stops`.
[[nodiscard]] std::vector<bool> mentioned_items(const Names& functions, const UsedNames& used, const Names& stops,
                                                const FilesRead& read, const std::set<std::size_t>& also = {});

// Adds the files that have those of the items that are marked.
void add_files_of(const std::vector<bool>& marked, const FileScope& scope, std::set<std::size_t>& files);

// The text of the file that defines these functions and is the only one of `also`, without other functions, without
// constants and memory that neither they mention nor `used`, and without prototypes of functions that are not kept;
// offsets in pools are counted anew (pool_params.hpp). In front of it stand tables of other files. `functions` is
// closed under calls. Throws Error of kind archive: there are several such files, or the text names constants that TVM
// has planned. O(bytes · log names).
[[nodiscard]] std::string kept_text(const Names& functions, const std::set<std::size_t>& also, const UsedNames& used,
                                    const Names& stops, const KeptPools& pools, const FilesRead& read);

// "int32_t f(int8_t* a, int32_t n)" of the item's text: one line, without attributes, linkage and macros of TVM's.
// Throws SyntaxError, whose offset counts from the item: a conditional group begins in front of it.
[[nodiscard]] std::string prototype_of(const Item& item, const FileTree& file);

}  // namespace usmp::tvm_c
