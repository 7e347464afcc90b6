// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What macros and conditional groups may make of names in C that is read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/files_read.hpp"

namespace usmp::tvm_c {

// Names in the function mean what C says they mean: no macro, no function of the C library that the C defines itself,
// and nothing that a conditional group has otherwise; throws SyntaxError. Texts that are `added` stay as they are, and
// may be anything. Macros and enumerators that are numbers go into scope.numbers. O(tokens · log names).
void require_plain_names(const std::string& name, const FunctionText& text, const std::vector<AddedText>& added,
                         const FilesRead& read, FileScope& scope);

// Constants in headers are as if they stood in the file that includes them; those of which a conditional group has
// others, or whose types a macro changes, are not known. O(text of the headers).
void read_included_tables(std::size_t file, const Included& included, FileScope& scope);
void forget_uncertain_tables(std::size_t file, const Included& included, FileScope& scope);

}  // namespace usmp::tvm_c
