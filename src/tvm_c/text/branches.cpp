// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks a file's directives once.
#include "tvm_c/kept/branches.hpp"

#include <algorithm>
#include <iterator>

namespace usmp::tvm_c {

Branches::Branches(const Code& file) {
  std::vector<std::size_t> open;  // no_branch: what the group asks for is certain
  const auto enter = [&](std::size_t at, bool is_guard) {
    open.push_back(is_guard ? no_branch : branches_.size());
    if (is_guard) return;
    innermost_.emplace_back(at, branches_.size());
    branches_.emplace_back(at, file.text.size());
  };
  const auto leave = [&](std::size_t at) {
    if (open.empty()) return;
    if (open.back() != no_branch) branches_[open.back()].second = at;
    open.pop_back();
    const auto outer = std::find_if(open.rbegin(), open.rend(), [](std::size_t one) { return one != no_branch; });
    innermost_.emplace_back(at, outer == open.rend() ? no_branch : *outer);
  };
  const std::vector<Directive> directives = directives_in(file);
  for (std::size_t i = 0; i < directives.size(); ++i) {
    const Directive& one = directives[i];
    const bool is_guard = one.word == "ifndef" && i + 1 < directives.size() && directives[i + 1].word == "define" &&
                          directives[i + 1].name == one.name;
    if (one.word == "else" || one.word == "elif" || one.word == "endif") leave(one.begin);
    if (opens_group(one.word) || one.word == "else" || one.word == "elif") enter(one.end, is_guard);
  }
}

std::size_t Branches::branch_of(std::size_t at) const {
  const auto behind =
      std::partition_point(innermost_.begin(), innermost_.end(), [&](const auto& one) { return one.first <= at; });
  return behind == innermost_.begin() ? no_branch : std::prev(behind)->second;
}

bool Branches::is_around(std::size_t from, std::size_t to) const {
  const std::size_t branch = branch_of(to);
  return branch == no_branch || (branches_[branch].first <= from && from < branches_[branch].second);
}

}  // namespace usmp::tvm_c
