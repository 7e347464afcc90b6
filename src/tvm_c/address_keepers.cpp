// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/held_tensors_test.cpp.
#include "tvm_c/address_keepers.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "tvm_c/declared_names.hpp"
#include "tvm_c/expressions.hpp"
#include "tvm_c/function_tokens.hpp"
#include "tvm_c/lexer.hpp"

namespace usmp::tvm_c {
namespace {

class KeeperFunction {
 public:
  explicit KeeperFunction(const FunctionText& function)
      : params_(tokens_of(function.params)), tokens_(tokens_of(function.body)) {
    for (std::size_t i = 0; i + 1 < params_.size(); ++i) {
      const bool is_name =
          params_[i].is_identifier() && (params_[i + 1].is(",") || params_[i + 1].is(")") || params_[i + 1].is("["));
      if (!is_name) continue;
      own_.insert(params_[i].text);
      if (has_address(i)) addresses_.insert(params_[i].text);
      if (i > 0 && params_[i - 1].is("*")) pointers_.insert(params_[i].text);
    }
    for (const DeclaredName& one : declared_names(tokens_)) {
      if (is_static(one.at)) continue;
      own_.insert(tokens_[one.at].text);
      if (one.is_pointer) pointers_.insert(tokens_[one.at].text);
    }
  }

  // The variable that keeps an address; empty: none does.
  [[nodiscard]] std::string keeps() {
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (!tokens_[i].is("=") && !is_compound_assignment(tokens_[i].text)) continue;
      if (!has_address_behind(i)) continue;
      const auto [name, is_inside] = target_of(i);
      if (name.empty()) continue;
      const bool is_own = own_.contains(name) && !(is_inside && pointers_.contains(name));
      if (!is_own) return std::string(name);
      addresses_.insert(name);
    }
    return {};
  }

  [[nodiscard]] std::set<std::string_view> callees() const {
    std::set<std::string_view> result;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].is_identifier() && tokens_[i + 1].is("(")) result.insert(tokens_[i].text);
    }
    return result;
  }

 private:
  // Of a parameter: a pointer, or of a type that is no number.
  [[nodiscard]] bool has_address(std::size_t name) const {
    if (name + 1 < params_.size() && params_[name + 1].is("[")) return true;
    bool is_number = false;
    for (std::size_t i = name; i-- > 0 && !params_[i].is(",");) {
      if (params_[i].is("*")) return true;
      for (const char* word : {"int", "char", "short", "long", "float", "double", "bool", "unsigned", "signed"}) {
        is_number = is_number || params_[i].is(word);
      }
      is_number = is_number || (params_[i].text.ends_with("_t") && params_[i].text.find("int") < 2);
    }
    return !is_number;
  }

  // static int8_t* last;
  [[nodiscard]] bool is_static(std::size_t i) const {
    while (i > 0 && !begins_statement(tokens_, i)) --i;
    return tokens_[i].is("static") || tokens_[i].is("extern");
  }

  // Whether the value of the assignment has one: not p[i], *p or f(p).
  [[nodiscard]] bool has_address_behind(std::size_t assignment) const {
    std::size_t calls = 0;        // brackets of calls
    std::vector<bool> are_calls;  // of the brackets that are open
    for (std::size_t i = assignment + 1; i < tokens_.size() && !tokens_[i].is(";"); ++i) {
      if (tokens_[i].is("(") || tokens_[i].is("[")) {
        are_calls.push_back(tokens_[i].is("[") || tokens_[i - 1].is_identifier());
        if (are_calls.back()) ++calls;
      }
      if ((tokens_[i].is(")") || tokens_[i].is("]")) && !are_calls.empty()) {
        if (are_calls.back()) --calls;
        are_calls.pop_back();
      }
      if (calls > 0 || !addresses_.contains(tokens_[i].text) || is_member(tokens_, i)) continue;
      std::size_t front = i;
      while (front > 0 && tokens_[front - 1].is("(")) --front;
      const bool is_taken = front > 0 && tokens_[front - 1].is("&");
      const bool is_followed =
          front > 1 && tokens_[front - 1].is("*") && !tokens_[front - 2].is_identifier() && !tokens_[front - 2].is(")");
      std::size_t behind = i + 1;
      while (behind < tokens_.size() && tokens_[behind].is(")")) ++behind;  // ((int32_t*)p)[3]
      const bool is_element = behind < tokens_.size() && (tokens_[behind].is("[") || tokens_[behind].is("->"));
      if (is_taken || (!is_element && !is_followed)) return true;
    }
    return false;
  }

  struct Target {
    std::string_view name;
    bool is_inside = false;  // x->a, *x or x[3]
  };

  // What stands in front of the assignment. Nothing: it is not understood.
  [[nodiscard]] Target target_of(std::size_t assignment) const {
    std::size_t begin = assignment;
    std::size_t depth = 0;
    while (begin > 0) {
      const Token& before = tokens_[begin - 1];
      if (before.is(")") || before.is("]")) ++depth;
      if (depth == 0 && (before.is(";") || before.is("{") || before.is("}") || before.is(",") || before.is("("))) break;
      if ((before.is("(") || before.is("[")) && depth > 0) --depth;
      --begin;
    }
    Target target;
    bool is_index = false;
    for (std::size_t i = begin; i < assignment; ++i) {
      if (tokens_[i].is("[")) is_index = true;
      target.is_inside = target.is_inside || tokens_[i].is("->") || tokens_[i].is("[") || tokens_[i].is("*");
      if (!is_index && tokens_[i].is_identifier() && !is_member(tokens_, i)) target.name = tokens_[i].text;
      if (tokens_[i].is("]")) is_index = false;
    }
    // const int8_t* p = x; declares p.
    const bool is_plain = assignment > begin && tokens_[assignment - 1].text == target.name;
    if (is_plain && begin + 1 < assignment && tokens_[begin].is_identifier()) target.is_inside = false;
    return target;
  }

  std::vector<Token> params_;
  std::vector<Token> tokens_;
  std::set<std::string_view> own_;        // parameters and variables of the function
  std::set<std::string_view> pointers_;   // of these
  std::set<std::string_view> addresses_;  // of these: that may have the address of what the function is passed
};

}  // namespace

AddressKeepers address_keepers(const FileScope& scope, const std::function<bool(const std::string&)>& asked) {
  AddressKeepers result;
  std::map<std::string_view, std::vector<std::string_view>> callers;
  std::vector<std::string_view> pending;
  for (const auto& [name, text] : scope.functions) {
    if (!asked(name)) continue;
    try {
      KeeperFunction function(text);
      for (const std::string_view callee : function.callees()) callers[callee].push_back(name);
      std::string variable = function.keeps();
      if (!variable.empty() && result.emplace(name, std::move(variable)).second) pending.push_back(name);
    } catch (const SyntaxError&) {  // told where it is read, if it is
    }
  }
  while (!pending.empty()) {
    const std::string_view name = pending.back();
    pending.pop_back();
    const std::string variable = result.find(name)->second;
    for (const std::string_view caller : callers[name]) {
      const auto [found, is_new] = result.emplace(caller, variable);
      if (is_new) pending.push_back(found->first);
    }
  }
  return result;
}

}  // namespace usmp::tvm_c
