// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Under which conditions of the preprocessor a place of a file is.
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
  // `known` may be null. O(directives).
  Branches(const Code& file, const std::shared_ptr<const Conditions>& known);

  // What has to hold for the place to be compiled, but for what is known; the same texts for the same conditions. A
  // group that begins with the definition of the macro that it asks for is none. O(log directives).
  [[nodiscard]] std::vector<std::string> conditions(std::size_t at) const;

 private:
  static constexpr std::size_t no_branch = SIZE_MAX;
  struct Branch {
    std::size_t outer = no_branch;
    std::string condition;  // empty: it is known
  };

  [[nodiscard]] std::size_t branch_of(std::size_t at) const;

  std::vector<Branch> branches_;
  std::vector<std::pair<std::size_t, std::size_t>> innermost_;  // from where on: an index into branches_
};

}  // namespace usmp::tvm_c
