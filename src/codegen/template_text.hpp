// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Text with places to fill in.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace usmp::codegen {

// Every "$k" of the pattern becomes the value of k, which must be there.
[[nodiscard]] std::string fill(std::string_view pattern, const std::map<char, std::string>& values);

}  // namespace usmp::codegen
