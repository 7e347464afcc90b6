// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the name of a linker section says about its contents.
#pragma once

#include <string_view>

namespace usmp::config {

// Whether compilers leave the section out of the image, so that it holds nothing, or zeros, when the program starts:
// .bss, .sbss (RISC-V), .noinit and those below them.
[[nodiscard]] bool stays_out_of_image(std::string_view section);

}  // namespace usmp::config
