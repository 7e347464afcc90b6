// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which parts of conditional groups a place of a file is in.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c {

class Branches {
 public:
  explicit Branches(const Code& file, const std::shared_ptr<const Conditions>& known = nullptr);  // O(directives)

  // Whether the conditional groups around `to` are also around `from`; without `from`: whether there are none. A group
  // that begins with the definition of the macro that it asks for is none. O(log directives).
  [[nodiscard]] bool is_around(std::size_t from, std::size_t to) const;
  [[nodiscard]] bool is_around_all(std::size_t to) const { return branch_of(to) == no_branch; }

  // What has to hold for the place to be compiled, but for what is known; the same texts for the same conditions.
  [[nodiscard]] std::vector<std::string> conditions(std::size_t at) const;

 private:
  static constexpr std::size_t no_branch = SIZE_MAX;
  struct Branch {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t outer = no_branch;
    std::string condition;  // empty: it is known
  };

  [[nodiscard]] std::size_t branch_of(std::size_t at) const;

  std::vector<Branch> branches_;
  std::vector<std::pair<std::size_t, std::size_t>> innermost_;  // from where on: an index into branches_
};

}  // namespace usmp::tvm_c
