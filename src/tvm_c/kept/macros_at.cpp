// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks a file's directives once. Tests: tests/tvm_c/escape_test.cpp.
#include "tvm_c/kept/macros_at.hpp"

#include <algorithm>

#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {
namespace {

struct OpenGroup {
  std::size_t branch = 0;  // no_branch: what it asks for is certain
  bool is_left_out = false;
};

}  // namespace

MacrosAt::MacrosAt(std::string_view text) {
  std::vector<OpenGroup> open;
  const auto enter = [&](std::size_t at, OpenGroup group) {
    if (group.branch != no_branch) {
      group.branch = branches_.size();
      branches_.emplace_back(at, text.size());
      innermost_.emplace_back(at, group.branch);
    }
    open.push_back(group);
  };
  const auto leave = [&](std::size_t at) {
    if (open.empty()) return;
    if (open.back().branch != no_branch) branches_[open.back().branch].second = at;
    open.pop_back();
    const auto outer =
        std::find_if(open.rbegin(), open.rend(), [](const OpenGroup& one) { return one.branch != no_branch; });
    innermost_.emplace_back(at, outer == open.rend() ? no_branch : outer->branch);
  };
  const std::vector<Directive> directives = directives_in(text);
  for (std::size_t i = 0; i < directives.size(); ++i) {
    const Directive& one = directives[i];
    const std::string_view name = one.name;
    if (opens_group(one.word)) {
      const bool is_guard = one.word == "ifndef" && i + 1 < directives.size() && directives[i + 1].word == "define" &&
                            directives[i + 1].name == name;
      const bool is_known = is_guard && find(name, one.begin).state == State::defined;
      enter(one.end, {is_guard ? no_branch : 0, is_known});
    } else if (one.word == "else" || one.word == "elif") {
      leave(one.begin);
      enter(one.end, {});
    } else if (one.word == "endif") {
      leave(one.begin);
    } else if (one.word == "define" || one.word == "undef") {
      const bool is_left_out =
          std::any_of(open.begin(), open.end(), [](const OpenGroup& group) { return group.is_left_out; });
      if (is_left_out) continue;
      Definition definition{State::unknown};
      if (branch_of(one.begin) == no_branch && one.word == "define")
        definition = {State::defined, one.rest.substr(name.size())};
      if (branch_of(one.begin) == no_branch && one.word == "undef") definition.state = State::none;
      definitions_[name].emplace_back(one.begin, definition);
    }
  }
}

MacrosAt::Definition MacrosAt::find(std::string_view name, std::size_t at) const {
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return {};
  const auto behind =
      std::partition_point(found->second.begin(), found->second.end(), [&](const auto& one) { return one.first < at; });
  return behind == found->second.begin() ? Definition() : std::prev(behind)->second;
}

std::size_t MacrosAt::branch_of(std::size_t at) const {
  const auto behind =
      std::partition_point(innermost_.begin(), innermost_.end(), [&](const auto& one) { return one.first <= at; });
  return behind == innermost_.begin() ? no_branch : std::prev(behind)->second;
}

bool MacrosAt::is_around(std::size_t from, std::size_t to) const {
  const std::size_t branch = branch_of(to);
  return branch == no_branch || (branches_[branch].first <= from && from < branches_[branch].second);
}

}  // namespace usmp::tvm_c
