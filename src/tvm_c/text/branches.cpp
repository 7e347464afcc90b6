// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks a file's directives once.
#include "tvm_c/text/branches.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "usmp/c/preprocessor.hpp"

namespace usmp::tvm_c {
namespace {

std::string text_of(const Code& file, const Directive& one) {
  std::string text(one.word);
  for (std::size_t i = one.first; i < one.behind; ++i) text += " " + std::string(file.lexed->tokens[i].text);
  return text;
}

}  // namespace

Branches::Branches(const Code& file, const std::shared_ptr<const Conditions>& known) {
  struct Open {
    std::size_t branch = no_branch;  // no_branch: what the group asks for is certain
    std::string others;              // that its parts in front do not hold
    bool is_known = true;            // all that its parts ask for so far
  };
  std::vector<Open> open;
  const auto innermost = [&] {
    const auto found =
        std::find_if(open.rbegin(), open.rend(), [](const Open& one) { return one.branch != no_branch; });
    return found == open.rend() ? no_branch : found->branch;
  };
  const auto enter = [&](const Directive& one, Open group) {
    const bool is_else = one.word == "else";
    const std::string asked = is_else ? std::string() : text_of(file, one);
    const bool is_known = is_else || one.name == "__cplusplus" || (known != nullptr && known->contains(one.begin)) ||
                          one.only == "0" || one.only == "1";
    group.is_known = group.is_known && is_known;
    const std::size_t outer = innermost();
    group.branch = branches_.size();
    innermost_.emplace_back(one.end, branches_.size());
    branches_.push_back({outer, group.is_known ? std::string() : group.others + asked});
    group.others += "not " + asked + ", ";
    open.push_back(std::move(group));
  };
  const auto leave = [&](std::size_t at) {
    Open group = std::move(open.back());
    open.pop_back();
    innermost_.emplace_back(at, innermost());
    return group;
  };
  const std::vector<Directive> directives = directives_in(file);
  for (std::size_t i = 0; i < directives.size(); ++i) {
    const Directive& one = directives[i];
    const auto line = std::span(file.lexed->tokens).subspan(one.first - 1, one.behind - one.first + 1);
    const bool is_guard = i + 1 < directives.size() && directives[i + 1].word == "define" &&
                          !directives[i + 1].name.empty() && directives[i + 1].name == c::asked_undefined(line);
    if (is_guard) {
      open.push_back({no_branch, "not " + text_of(file, one) + ", ", false});
    } else if (opens_group(one.word)) {
      enter(one, {});
    } else if (belongs_to_group(one.word) && !open.empty()) {
      Open group = leave(one.begin);
      if (one.word != "endif") enter(one, std::move(group));
    }
  }
}

std::size_t Branches::branch_of(std::size_t at) const {
  const auto behind =
      std::partition_point(innermost_.begin(), innermost_.end(), [&](const auto& one) { return one.first <= at; });
  return behind == innermost_.begin() ? no_branch : std::prev(behind)->second;
}

std::vector<std::string> Branches::conditions(std::size_t at) const {
  std::vector<std::string> result;
  for (std::size_t i = branch_of(at); i != no_branch; i = branches_[i].outer) {
    if (!branches_[i].condition.empty()) result.push_back(branches_[i].condition);
  }
  return result;
}

}  // namespace usmp::tvm_c
