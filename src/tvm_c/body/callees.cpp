// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parses functions when somebody asks for them; of what is not understood nothing is known.
#include "tvm_c/body/callees.hpp"

#include <utility>
#include <vector>

#include "tvm_c/body/called_names.hpp"
#include "tvm_c/body/checks.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"

namespace usmp::tvm_c {

const FunctionTree& Callees::tree_of(const FunctionText& text, const std::map<std::size_t, std::size_t>& texts) {
  const auto found = trees_.find(&text);
  return found != trees_.end() ? found->second : trees_.emplace(&text, function_tree(text, texts)).first->second;
}

// What `says` says of the function; nothing is known of one that is not understood, which is told where it is read.
template <class Says>
bool Callees::is_sure(const FunctionText& function, const Says& says, bool otherwise) {
  try {
    return says(tree_of(function));
  } catch (const SyntaxError&) {
    return otherwise;
  }
}

bool Callees::takes_packed(std::string_view name) const {
  const auto function = scope_.functions.find(name);
  return function != scope_.functions.end() && tvm_c::takes_packed(function->second);
}

std::int64_t Callees::packed_arguments(std::string_view name) {
  std::int64_t taken = 0;
  (void)is_sure(scope_.functions.find(name)->second, [&](const FunctionTree& callee) {
    taken = tvm_c::packed_arguments(callee.tree);
    return true;
  });
  return taken;
}

bool Callees::returns_only_0(std::string_view name) {
  if (name == free_function) return true;
  const auto function = scope_.functions.find(name);
  return function != scope_.functions.end() && !kept_.contains(name) && !scope_.doubts.contains(name) &&
         !scope_.foreign.contains(name) && is_sure(function->second, never_fails);
}

bool Callees::may_fail(const std::string& name) {
  Names seen = {name};
  std::vector<std::string> pending = {name};
  while (!pending.empty()) {
    const std::string one = std::move(pending.back());
    pending.pop_back();
    const auto function = scope_.functions.find(one);
    if (function == scope_.functions.end()) continue;
    if (scope_.doubts.contains(one)) return true;
    const bool is_read = !kept_.contains(one);
    if (is_read && is_sure(function->second, never_fails)) continue;
    Names asked;
    const bool says_zero = is_sure(function->second, [&](const FunctionTree& tree) {
      return returns_zero(tree, scope_, is_read, is_read ? &asked : nullptr);
    });
    if (!says_zero) return true;
    for (const std::string& callee : asked) {
      if (seen.insert(callee).second) pending.push_back(callee);
    }
  }
  return false;
}

bool Callees::returns_once(std::string_view name) {
  return is_sure(scope_.functions.find(name)->second, tvm_c::returns_once, true);
}

}  // namespace usmp::tvm_c
