// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/stays/late_users.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

void LateUsers::add_device(const FileScope& scope, MacroDefinitions macros) {
  AddressKeepers keepers = address_keepers(scope, [](const std::string&) { return true; }, {std::move(macros)});
  for (const auto& [function, body] : scope.functions) {
    if (!keepers.empty()) beside_.insert(function);
  }
  keepers_.merge(keepers);
}

void LateUsers::add(const FileScope& scope, const std::function<bool(const std::string& function)>& asked,
                    MacroDefinitions macros, const std::vector<LateStatement>& statements) {
  KeeperTexts keeper_texts{std::move(macros)};
  for (const LateStatement& statement : statements) {
    FileScope own;
    read_file_scope(statement.text, 0, true, own);
    for (const auto& [name, function] : own.functions) keeper_texts.more.emplace_back(statement.function, function);
  }
  keepers_.merge(address_keepers(scope, asked, keeper_texts));
  add_callers(scope, asked);
  for (const LateStatement& statement : statements) {
    const std::vector<Token> tokens = tokens_of(Lexer(statement.text));
    for (const Token& token : tokens) {
      if (token.is_identifier() && beside_.contains(token.text)) beside_.insert(statement.function);
    }
    const auto kept = keepers_.find(statement.function);
    if (kept == keepers_.end()) {  // it may call another file's
      for (const Token& token : tokens) {
        const auto keeper = keepers_.find(token.text);
        if (!token.is_identifier() || keeper == keepers_.end()) continue;
        const KeptAddress through{keeper->second.variable, keeper->first};
        if (keepers_.emplace(statement.function, through).second) {
          calls_keeper_.emplace(statement.function, keeper->first);
        }
      }
    } else if (scope.functions.contains(kept->second.through)) {
      calls_keeper_.emplace(statement.function, kept->second.through);
    } else {
      statements_.emplace(statement.function, "the statement of the entry at " + statement.place);
    }
  }
}

void LateUsers::add_callers(const FileScope& scope, const std::function<bool(const std::string& function)>& asked) {
  if (beside_.empty()) return;
  std::map<std::string_view, std::vector<const std::string*>> callers;
  std::vector<const std::string*> pending;
  for (const auto& function : scope.functions) {
    const std::string* const caller = &function.first;
    if (!asked(*caller)) continue;
    bool calls_beside = false;
    for_each_identifier(body_text(function.second), [&](std::string_view word) {
      calls_beside = calls_beside || beside_.contains(word);
      if (scope.functions.contains(word)) callers[word].push_back(caller);
    });
    if (calls_beside) pending.push_back(caller);
  }
  while (!pending.empty()) {
    const std::string& name = *pending.back();
    pending.pop_back();
    if (!beside_.insert(name).second) continue;
    const auto found = callers.find(name);
    if (found == callers.end()) continue;
    for (const std::string* one : found->second) pending.push_back(one);
  }
}

const std::string& LateUsers::hold(const std::function<bool(const std::string& function)>& is_unknown,
                                   const std::string& entry, tir::Module& module) {
  held_ = hold_tensors({keepers_, is_unknown, beside_}, entry, module);
  return held_.text;
}

std::vector<std::string> LateUsers::warnings(std::set<std::string> watchers) const {
  std::vector<std::string> result;
  std::vector<std::string> keepers;
  std::set<std::string_view> told;
  for (const std::string& name : held_.functions) {
    const auto found = calls_keeper_.find(name);
    const std::string& keeper = found == calls_keeper_.end() ? name : found->second;
    if (told.insert(keeper).second) keepers.push_back(keeper);
  }
  if (held_.by_entry) {
    for (const std::string& name : keepers) watchers.erase(name);  // told here
  }
  std::erase_if(keepers, [&](const std::string& name) { return watchers.contains(name); });
  if (!keepers.empty()) {
    const std::string& name = keepers.front();
    const std::size_t more = keepers.size() - 1;
    const auto statement = statements_.find(name);
    result.push_back(
        (statement == statements_.end() ? "function " + in_quotes(name) : statement->second) +
        " keeps addresses of tensors that it gets, in " + in_quotes(keepers_.find(name)->second.variable) +
        (more > 0 ? " (" + counted(more, "other") + " likewise)" : "") +
        (held_.by_entry
             ? "; planned C keeps these tensors up to the last statement that gets none, or one of them, and may "
               "wait for it"
             : ", and must not use them after it has returned: planned C puts other tensors there"));
  }
  if (held_.by_entry && !held_.passed_on.empty()) {
    result.push_back("operator " + in_quotes(held_.passed_on.front()) +
                     " passes tensors to functions that no file of the model defines" +
                     (held_.passed_on.size() > 1 ? " (" + counted(held_.passed_on.size() - 1, "other") + " likewise)"
                                                 : std::string()) +
                     "; if these go on with them later, they must be done at the last statement of the entry that "
                     "gets none, or one of them: up to there planned C keeps them");
  }
  for (const std::string& name : watchers) {
    result.push_back("function " + in_quotes(name) +
                     " gets memory of the model's tensors, and must not use it after it has returned: planned C puts "
                     "other tensors there");
  }
  return result;
}

}  // namespace usmp::tvm_c
