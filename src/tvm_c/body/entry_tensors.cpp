// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/entry_tensors_test.cpp.
#include "tvm_c/body/entry_tensors.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::string_view suffix = "_buffer_var";

std::string without_suffix(std::string_view name) {
  return std::string(name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name);
}

struct Member {
  bool is_input = false;
  std::string name;  // empty: the argument is something else
  std::size_t at = 0;
  std::size_t output = 0;  // which
};

// Of (…, struct SYMBOL_inputs* inputs, …): "inputs".
std::string_view struct_param(const std::vector<Token>& params, const std::string& type) {
  for (std::size_t i = 0; i + 2 < params.size(); ++i) {
    if (params[i].is(type) && params[i + 1].is("*") && params[i + 2].is_identifier()) return params[i + 2].text;
  }
  return {};
}

// Tokens of a cast, of brackets.
bool is_beside_member(const Token& token) {
  return token.is("(") || token.is(")") || token.is("*") || token.is("const") || token.is("void") ||
         token.is("float") || token.is("double") || token.is("bool") ||
         (token.is_identifier() && token.text.ends_with("_t"));
}

// By position. Nothing: the entry is not called there, twice with others, or with more than members.
std::optional<std::vector<Member>> members_passed(const FunctionText& run, const std::string& symbol,
                                                  const std::string& entry) {
  const std::vector<Token> params = tokens_of(run.params);
  const std::string_view inputs = struct_param(params, symbol + "_inputs");
  const std::string_view outputs = struct_param(params, symbol + "_outputs");
  const std::vector<Token> tokens = tokens_of(run.body);
  std::optional<std::vector<Member>> result;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is(entry) || !tokens[i + 1].is("(")) continue;
    const auto end = behind_bracketed(tokens, i + 1);
    if (!end) return std::nullopt;
    std::vector<Member> members(1);
    std::size_t outputs_passed = 0;
    bool is_plain = true;  // the argument, so far
    std::size_t depth = 0;
    for (std::size_t k = i + 2; k + 1 < *end; ++k) {
      const Token& token = tokens[k];
      if (token.is("(")) ++depth;
      if (token.is(")")) --depth;
      if (token.is(",") && depth == 0) {
        if (!is_plain && !members.back().name.empty()) return std::nullopt;
        members.emplace_back();
        is_plain = true;
        continue;
      }
      const bool is_input = !inputs.empty() && token.is(inputs);
      const bool is_struct = is_input || (!outputs.empty() && token.is(outputs));
      if (is_struct && k + 2 < *end && tokens[k + 1].is("->") && tokens[k + 2].is_identifier()) {
        if (!members.back().name.empty()) return std::nullopt;
        members.back() = {is_input, std::string(tokens[k + 2].text), token.offset, outputs_passed};
        if (!is_input) ++outputs_passed;
        k += 2;
      } else {
        is_plain = is_plain && is_beside_member(token);
      }
    }
    if (!is_plain && !members.back().name.empty()) return std::nullopt;
    const auto is_same = [](const Member& a, const Member& b) { return a.is_input == b.is_input && a.name == b.name; };
    if (result && !std::equal(members.begin(), members.end(), result->begin(), result->end(), is_same))
      return std::nullopt;
    result = std::move(members);
  }
  return result;
}

// Equal names; or TVM's for an output that nobody names: its second is output1 in the header, and output2 here.
bool is_alike(const std::string& param, const Member& member) {
  const std::string number = member.output == 0 ? std::string() : std::to_string(member.output + 1);
  const bool is_unnamed = param == "output" + number && member.name == "output" + std::to_string(member.output);
  return (is_unnamed && !member.is_input) || c_identifier(param) == c_identifier(member.name);
}

// In front of commas and the end.
std::vector<std::string> param_names(const FunctionText& function) {
  const std::vector<Token> tokens = tokens_of(function.params);
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool is_end = tokens[i + 1].is(",") || i + 2 == tokens.size();
    if (is_end && tokens[i].is_identifier()) names.push_back(without_suffix(tokens[i].text));
  }
  return names;
}

}  // namespace

void name_params(tir::Function& function, tir::Module& module) {
  const auto uses = program::storage_uses(function.body);
  for (tir::Param& param : function.params) {
    if (function.is_entry) param.name = without_suffix(param.name);
    tir::Var& var = module.vars[param.var.index()];
    const auto used = uses.find(param.var);
    if (!var.type.is_handle() || !var.element.is_void() || used == uses.end() || used->second.types.size() != 1)
      continue;
    var.element = used->second.types[0];
    param.is_tensor = true;
    param.element = var.element;
  }
}

void type_entry_params(tir::Module& module) {
  std::map<tir::VarId, tir::Param*> untyped;
  for (tir::Param& param : module.functions[module.entry].params) {
    if (!param.is_tensor && module.var(param.var).type.is_handle()) untyped.emplace(param.var, &param);
  }
  for (const program::EntryCall& call : program::entry_calls(module).calls) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const tir::Param& passed = module.functions[call.callee].params[i];
      const auto found = untyped.find(call.arguments[i]);
      if (found == untyped.end() || !passed.is_tensor) continue;
      found->second->is_tensor = true;
      found->second->element = passed.element;
      module.vars[found->first.index()].element = passed.element;
    }
  }
}

void require_typed_params(const FunctionText& entry, const FileScope& scope, const tir::Module& module) {
  const tir::Function& function = module.functions[module.entry];
  for (const tir::Param& param : function.params) {
    if (param.is_tensor || !module.var(param.var).type.is_handle()) continue;
    const std::string* callee = nullptr;
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      const auto call = tir::named_call(expr);
      if (!call || call->name->starts_with("tvmgen_") || !scope.functions.contains(*call->name)) return;
      const bool gets = std::any_of(call->arguments.begin(), call->arguments.end(), [&](const tir::ExprRef& one) {
        return one->kind == tir::ExprKind::var && one->var == param.var;
      });
      if (gets) callee = call->name;
    });
    if (callee == nullptr) continue;
    const std::vector<Token> tokens = tokens_of(entry.params);
    const auto name = std::find_if(tokens.begin(), tokens.end(),
                                   [&](const Token& one) { return without_suffix(one.text) == param.name; });
    const std::size_t at = name == tokens.end() ? entry.offset : name->offset;
    throw SyntaxError{at, "found a parameter without type, and " + in_quotes(*callee) +
                              " does not say of what, expected one with the type of its elements, such as int8_t*"};
  }
}

void name_by_run(const FunctionText& run, const FunctionText& entry, const std::string& symbol,
                 const std::string& entry_name, tir::Module& module) {
  const auto members = members_passed(run, symbol, entry_name);
  const std::vector<std::string> names = param_names(entry);
  if (!members || members->size() != names.size()) return;
  std::map<std::string_view, const Member*> by_name;  // of the parameter
  std::set<std::string_view> inputs;
  std::size_t outputs = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((*members)[i].name.empty()) continue;
    by_name.emplace(names[i], &(*members)[i]);
    if ((*members)[i].is_input) inputs.insert((*members)[i].name);
    if (!(*members)[i].is_input) ++outputs;
  }
  std::vector<std::pair<tir::Param*, const Member*>> passed;
  bool is_named_otherwise = false;
  for (tir::Param& param : module.functions[module.entry].params) {
    const auto found = by_name.find(param.name);
    if (found == by_name.end()) continue;
    passed.emplace_back(&param, found->second);
    is_named_otherwise = is_named_otherwise || !is_alike(param.name, *found->second);
  }
  if (!is_named_otherwise) return;
  for (const auto& [param, member] : passed) {
    param->name = member->name;
    if (member->is_input || !inputs.contains(member->name)) continue;
    if (outputs > 1) {
      throw SyntaxError{member->at, "found an input and an output " + in_quotes(member->name) +
                                        ", expected parameters of the entry with the members' names, or other members"};
    }
    param->name += "_output";  // the one that is left
  }
}

}  // namespace usmp::tvm_c
