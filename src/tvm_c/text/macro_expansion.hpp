// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the preprocessor (usmp/c/preprocessor.hpp) makes of macros in a piece of C.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/c/preprocessor.hpp"

namespace usmp::tvm_c {

// What stands behind the names of macros in each of their definitions: "(x) do { … } while (0)".
using AllDefinitions = std::map<std::string_view, std::vector<std::string_view>, std::less<>>;
// The same of one definition; nothing: no macro.
using Definition = std::function<std::optional<std::string_view>(std::string_view name)>;

// A text with all macros expanded.
struct Expanded {
  std::string text;  // with the definitions in front
  c::Files files;
  c::Unit unit;  // its tokens point into the others
};

// Expands a text without directives. Null: a macro comes to itself, C does not allow its call, the text with the
// definitions that it needs is longer than that or the result very long, or a literal does not end.
[[nodiscard]] std::unique_ptr<const Expanded> expanded(std::string_view text, const Definition& definition,
                                                       std::size_t most_bytes = std::size_t{1} << 22);

}  // namespace usmp::tvm_c
