// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C files → module → storage taken apart.
#pragma once

#include <span>

#include "usmp/tvm_c/reader.hpp"

namespace usmp::fuzz {

// What the C of module "default" becomes is well formed, before and after its storage is split; else there is a message
// of the documented kind.
void check_c(std::span<const tvm_c::Source> files);
void check_c(std::span<const tvm_c::Source> files, tvm_c::Unread unread);
// The same text as another code generator's.
void check_foreign_c(std::span<const tvm_c::Source> files);

}  // namespace usmp::fuzz
