// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names that files declare outside of functions, and their headers: which are each file's own.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "tvm_c/text/included.hpp"

namespace usmp::tvm_c {

// The texts of files, which follow one another in this order, become one. Throws Error of kind archive, unless what two
// of them or their headers declare by one name is one thing in one file, too: a type (merged_files.hpp compares them);
// what the linker makes one; a static function without variables of its own, or a constant, that both have with the
// same tokens, and in `once` if it is no header's: it is left out of all texts but the first. What is beyond the
// grammar may declare all the names in it. Also throws if the packing of structs goes on behind a text that another
// follows. O(bytes of the texts and of their headers · log names · files).
void require_own_names(std::span<const std::size_t> order, const std::map<std::size_t, std::string>& texts,
                       const Names& once, const Included& included);

}  // namespace usmp::tvm_c
