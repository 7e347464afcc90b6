// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the macros and conditional groups of one file mean at a place in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace usmp::tvm_c {

class MacrosAt {
 public:
  explicit MacrosAt(std::string_view text);

  enum class State : std::uint8_t { none, defined, unknown };  // unknown: a conditional group decides
  struct Definition {
    State state = State::none;
    std::string_view text = {};  // behind the name
  };
  // By the file itself, not by what it includes. O(log names).
  [[nodiscard]] Definition find(std::string_view name, std::size_t at) const;

  // Whether the conditional groups around `to` are also around `from`; without `from`: whether there are none. A group
  // that begins with the definition of the macro that it asks for is none. O(log directives).
  [[nodiscard]] bool is_around(std::size_t from, std::size_t to) const;
  [[nodiscard]] bool is_around_all(std::size_t to) const { return branch_of(to) == no_branch; }

 private:
  static constexpr std::size_t no_branch = SIZE_MAX;

  [[nodiscard]] std::size_t branch_of(std::size_t at) const;

  std::vector<std::pair<std::size_t, std::size_t>> branches_;   // from where to where
  std::vector<std::pair<std::size_t, std::size_t>> innermost_;  // from where on: an index into branches_
  std::map<std::string_view, std::vector<std::pair<std::size_t, Definition>>> definitions_;  // from where on
};

}  // namespace usmp::tvm_c
