// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/held_tensors_test.cpp.
#include "tvm_c/stays/address_keepers.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "tvm_c/text/declared_names.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"

namespace usmp::tvm_c {
namespace {

class KeeperFunction {
 public:
  KeeperFunction(const FunctionText& function, const Names& constants, const FileScope& scope)
      : params_(tokens_of(function.params)), tokens_(tokens_of(function.body)), constants_(constants), scope_(scope) {
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
      if (tokens_[i].is("(") && tokens_[i - 1].is_identifier()) {
        const std::string_view variable = keeps_by_call(i - 1);
        if (!variable.empty()) return std::string(variable);
      }
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
        const bool is_call = tokens_[i].is("(") && tokens_[i - 1].is_identifier();
        are_calls.push_back(tokens_[i].is("[") || (is_call && !returns_address(tokens_[i - 1].text)));
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
      while (behind < tokens_.size() && tokens_[behind].is(")")) ++behind;         // ((int32_t*)p)[3]
      const bool is_element = behind < tokens_.size() && tokens_[behind].is("[");  // p->data may be an address
      if (is_taken || (!is_element && !is_followed)) return true;
    }
    return false;
  }

  // static int8_t* half(int8_t* p), of the files
  [[nodiscard]] bool returns_address(std::string_view callee) const {
    const auto function = scope_.functions.find(callee);
    if (function == scope_.functions.end()) return false;
    std::string_view line = function->second.params.text().substr(0, function->second.offset);
    const std::size_t end = line.find_last_of(";}\n");
    if (end != std::string_view::npos) line.remove_prefix(end);
    return line.find('*') != std::string_view::npos;
  }

  // A variable of the file that a function which these files do not define, or a macro, may set to an address:
  // memcpy(&job, &mine, sizeof job), SET(job.out, out), __atomic_store_n(&to, out, 0). Empty: none.
  [[nodiscard]] std::string_view keeps_by_call(std::size_t callee) const {
    const auto end = behind_bracketed(tokens_, callee + 1);
    const bool is_read = scope_.functions.contains(tokens_[callee].text) || is_control(tokens_[callee]);
    if (!end || is_read) return {};
    const bool copies = tokens_[callee].is("memcpy") || tokens_[callee].is("memmove");
    const bool is_macro = !scope_.prototypes.contains(tokens_[callee].text) && is_in_capitals(tokens_[callee].text);
    std::string_view variable;
    bool has_address = false;
    bool is_first = true;
    for (std::size_t i = callee + 2; i + 1 < *end; ++i) {
      if (tokens_[i].is(",")) is_first = false;
      if (!tokens_[i].is_identifier() || is_member(tokens_, i) || tokens_[i + 1].is("(")) continue;
      std::size_t front = i;
      while (tokens_[front - 1].is("(") && front - 1 > callee + 1) --front;
      const bool is_taken = tokens_[front - 1].is("&");
      const bool is_own = own_.contains(tokens_[i].text);
      const bool is_argument = tokens_[front - 1].is(",") || front == callee + 2 || tokens_[front - 1].is(")");
      if (!is_own && is_first && (is_taken || is_macro || copies) && !constants_.contains(tokens_[i].text)) {
        variable = tokens_[i].text;
      }
      if (addresses_.contains(tokens_[i].text) && !(copies && is_first)) {
        has_address = has_address || is_taken || (copies ? !is_param(tokens_[i].text) : is_argument);
      }
    }
    return has_address ? variable : std::string_view();
  }

  [[nodiscard]] bool is_param(std::string_view name) const {
    return std::any_of(params_.begin(), params_.end(), [&](const Token& token) { return token.is(name); });
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
  const Names& constants_;
  const FileScope& scope_;
  std::set<std::string_view> own_;        // parameters and variables of the function
  std::set<std::string_view> pointers_;   // of these
  std::set<std::string_view> addresses_;  // of these: that may have the address of what the function is passed
};

// Of the files, that nothing is written to.
Names constants_in(const FileScope& scope) {
  std::map<std::size_t, std::string_view> texts;
  for (const auto& [name, function] : scope.functions) texts.emplace(function.file, function.body.text());
  Names result;
  for (const Item& item : scope.items) {
    const auto text = texts.find(item.file);
    if (item.kind == Item::Kind::function || text == texts.end()) continue;
    const std::string_view all = text->second.substr(item.begin, item.end - item.begin);
    const std::string_view front = all.substr(0, all.find('='));
    if (front.find("const ") != std::string_view::npos && front.find('*') == std::string_view::npos) {
      result.emplace(item.name);
    }
  }
  return result;
}

}  // namespace

AddressKeepers address_keepers(const FileScope& scope, const std::function<bool(const std::string&)>& asked) {
  AddressKeepers result;
  const Names constants = constants_in(scope);
  std::map<std::string_view, std::vector<std::string_view>> callers;
  std::vector<std::string_view> pending;
  for (const auto& [name, text] : scope.functions) {
    if (!asked(name)) continue;
    try {
      KeeperFunction function(text, constants, scope);
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

std::string kept_address(const FunctionText& function, const FileScope& scope) {
  const Names constants = constants_in(scope);
  return KeeperFunction(function, constants, scope).keeps();
}

}  // namespace usmp::tvm_c
