// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Definitions of macros, merged where a conditional group has several parts that may be taken.
#include "c/macro_table.hpp"

#include <algorithm>
#include <utility>

namespace usmp::c {
namespace {

bool is_same(const Macro& a, const Macro& b) {
  const auto is_same_token = [](const Token& x, const Token& y) {
    return x.kind == y.kind && x.text == y.text && x.has_gap == y.has_gap;
  };
  return a.is_function == b.is_function && a.is_variadic == b.is_variadic && a.params == b.params &&
         std::equal(a.body.begin(), a.body.end(), b.body.begin(), b.body.end(), is_same_token);
}

void merge(MacroState& into, const MacroState& one) {
  for (const Macro* macro : one.definitions) {
    const bool is_new = std::none_of(into.definitions.begin(), into.definitions.end(),
                                     [&](const Macro* other) { return other == macro || is_same(*other, *macro); });
    if (is_new) into.definitions.push_back(macro);
  }
  into.may_be_undefined = into.may_be_undefined || one.may_be_undefined;
  into.may_be_foreign = into.may_be_foreign || one.may_be_foreign;
}

}  // namespace

MacroState MacroTable::state(std::string_view name) const {
  if (const MacroState* found = find(name)) return *found;
  const bool is_undefined = undefined_outside_.contains(name) || name == "__cplusplus" ||
                            (environment_.is_undefined && environment_.is_undefined(name));
  return {{}, true, !is_undefined};
}

MacroTable::Defined MacroTable::defined(std::string_view name) const {
  const MacroState state = this->state(name);
  const bool may_be_defined = !state.definitions.empty() || state.may_be_foreign;
  return !may_be_defined ? Defined::no : state.may_be_undefined ? Defined::unknown : Defined::yes;
}

void MacroTable::set(std::string_view name, MacroState state) {
  if (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (!frame.before.contains(name)) frame.before[name] = this->state(name);
    frame.changed.insert(name);
  }
  states_[name] = std::move(state);
}

void MacroTable::next_alternative() {
  Frame& frame = frames_.back();
  States& part = frame.parts.emplace_back();
  for (const std::string_view name : frame.changed) {
    part[name] = std::move(states_[name]);
    states_[name] = frame.before[name];
  }
  frame.changed.clear();
}

void MacroTable::close_alternatives(bool one_is_taken) {
  next_alternative();
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (!one_is_taken) frame.parts.emplace_back();
  for (const auto& [name, before] : frame.before) {
    MacroState merged;
    for (const States& part : frame.parts) {
      const auto found = part.find(name);
      merge(merged, found == part.end() ? before : found->second);
    }
    set(name, std::move(merged));
  }
}

}  // namespace usmp::c
