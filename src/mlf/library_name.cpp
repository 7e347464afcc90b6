// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises and makes the names.
#include "mlf/library_name.hpp"

#include <algorithm>
#include <cstddef>

#include "usmp/support/characters.hpp"

namespace usmp::mlf {

std::optional<LibraryName> library_name(std::string_view member) {
  constexpr std::string_view mark = "_lib";
  const std::string_view leaf = member.substr(member.rfind('/') + 1);
  const std::size_t at = leaf.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = leaf.substr(at + mark.size());
  const std::string_view number = rest.substr(0, rest.find('.'));
  const bool digits = std::all_of(number.begin(), number.end(), is_digit);
  if (number.empty() || number.size() == rest.size() || !digits) return std::nullopt;
  return LibraryName{leaf.substr(0, at), number};
}

}  // namespace usmp::mlf
