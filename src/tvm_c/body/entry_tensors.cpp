// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the members that are passed for each parameter, and takes their names and types.
#include "tvm_c/body/entry_tensors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/packed.hpp"
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

enum class From : std::uint8_t { nowhere, inputs, outputs, unknown };

struct Member {
  From from = From::nowhere;  // nowhere: the argument is something else
  std::string name;
  std::size_t at = 0;
  std::size_t output = 0;  // which
};

// What the firmware's function gets: (…, struct SYMBOL_inputs* inputs, …). Other types are unknown.
std::map<std::string_view, From> struct_params(const std::vector<Token>& params, const std::string& symbol) {
  std::map<std::string_view, From> result;
  From from = From::unknown;
  for (std::size_t i = 0; i + 1 < params.size(); ++i) {
    if (params[i].is(symbol + "_inputs")) from = From::inputs;
    if (params[i].is(symbol + "_outputs")) from = From::outputs;
    const bool is_tvms = from == From::unknown && params[i].text.starts_with(symbol + "_");
    if (is_tvms) from = From::nowhere;  // pools, devices
    const bool is_end = params[i + 1].is(",") || i + 2 == params.size();
    const bool is_named = is_end && params[i].is_identifier();
    if (is_named && from != From::nowhere) result.emplace(params[i].text, from);
    if (params[i].is(",")) from = From::unknown;
  }
  return result;
}

// Tokens of a cast, of brackets.
bool is_beside_member(const Token& token) {
  return token.is("(") || token.is(")") || token.is("*") || token.is("const") || token.is("void") ||
         token.is("float") || token.is("double") || token.is("bool") ||
         (token.is_identifier() && token.text.ends_with("_t"));
}

class RunCall {
 public:
  RunCall(const FunctionText& run, const std::string& symbol)
      : params_(tokens_of(run.params)), tokens_(tokens_of(run.body)), structs_(struct_params(params_, symbol)) {}

  // By position. Nothing: the entry is not called there, twice with others, or with more than members.
  std::optional<std::vector<Member>> members(const std::string& entry) {
    std::optional<std::vector<Member>> result;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      std::size_t open = i + 1;
      while (open + 1 < tokens_.size() && tokens_[open].is(")")) ++open;  // (entry)(…)
      if (!tokens_[i].is(entry) || !tokens_[open].is("(")) continue;
      const auto end = behind_bracketed(tokens_, open);
      auto members = end ? of_call({open + 1, *end - 1}) : std::nullopt;
      const auto is_same = [](const Member& a, const Member& b) { return a.from == b.from && a.name == b.name; };
      if (!members ||
          (result && !std::equal(members->begin(), members->end(), result->begin(), result->end(), is_same)))
        return std::nullopt;
      result = std::move(members);
    }
    return result;
  }

 private:
  std::optional<std::vector<Member>> of_call(TokenPart arguments) const {
    std::vector<Member> members;
    std::size_t outputs = 0;
    std::size_t begin = arguments.begin;
    std::size_t depth = 0;
    for (std::size_t i = arguments.begin; i <= arguments.end; ++i) {
      if (tokens_[i].is("(")) ++depth;
      if (i < arguments.end && tokens_[i].is(")")) --depth;
      if (i < arguments.end && (depth > 0 || !tokens_[i].is(","))) continue;
      auto member = of_argument({begin, i});
      if (!member) return std::nullopt;
      member->output = outputs;
      if (member->from == From::outputs) ++outputs;
      members.push_back(std::move(*member));
      begin = i + 1;
    }
    return members;
  }

  // Nothing: it is computed of members. Throws: it may be one, and is not understood.
  std::optional<Member> of_argument(TokenPart argument) const {
    Member member;
    bool is_plain = true;
    bool is_tvms = true;       // nothing but what planned C writes anew
    bool has_members = false;  // a parameter of another type may be a tensor
    for (std::size_t i = argument.begin; i < argument.end; ++i) has_members = has_members || is_member(tokens_, i);
    for (std::size_t i = argument.begin; i < argument.end; ++i) {
      const auto found = structs_.find(tokens_[i].text);
      const auto name = found != structs_.end() && !is_member(tokens_, i) ? behind(i) : std::nullopt;
      if (name && *name < argument.end && member.from == From::nowhere) {
        member = {found->second, std::string(tokens_[*name].text), tokens_[i].offset};
        i = *name;
        continue;
      }
      const bool is_struct = found != structs_.end() && (found->second != From::unknown || has_members);
      if (is_struct && member.from == From::nowhere) member.at = tokens_[i].offset;
      is_plain = is_plain && is_beside_member(tokens_[i]);
      is_tvms = is_tvms && (is_beside_member(tokens_[i]) || is_struct || tokens_[i].is("&") || tokens_[i].is(".") ||
                            tokens_[i].is("->") || is_member(tokens_, i));
    }
    if (member.from == From::nowhere && member.at == 0) return member;
    if (member.from != From::nowhere && is_plain) return member;
    if (is_tvms) {
      throw SyntaxError{member.at,
                        "found an argument of the entry that is not understood, expected inputs->name or "
                        "outputs->name"};
    }
    return std::nullopt;
  }

  // Where the member's name is behind that of a struct: x->a, (x)->a or (*x).a.
  [[nodiscard]] std::optional<std::size_t> behind(std::size_t i) const {
    std::size_t end = i + 1;
    while (end < tokens_.size() && tokens_[end].is(")")) ++end;
    if (end + 1 >= tokens_.size() || !tokens_[end + 1].is_identifier()) return std::nullopt;
    const bool is_followed = i > 1 && tokens_[i - 1].is("*") && tokens_[i - 2].is("(") && end == i + 2;
    const bool is_one = tokens_[end].is("->") ? !is_followed : tokens_[end].is(".") && is_followed;
    return is_one ? std::optional(end + 1) : std::nullopt;
  }

  std::vector<Token> params_;
  std::vector<Token> tokens_;
  std::map<std::string_view, From> structs_;
};

// Equal names; or TVM's for an output that nobody names: its second is output1 in the header, and output2 here.
bool is_alike(const std::string& param, const Member& member) {
  const std::string number = member.output == 0 ? std::string() : std::to_string(member.output + 1);
  const bool is_unnamed = param == "output" + number && member.name == "output" + std::to_string(member.output);
  return (is_unnamed && member.from != From::inputs) || c_identifier(param) == c_identifier(member.name);
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

namespace {

void name_by_members(const std::vector<std::string>& names, const std::vector<Member>& members, tir::Module& module) {
  if (members.size() != names.size()) return;
  std::map<std::string_view, const Member*> by_name;  // of the parameter
  std::set<std::pair<From, std::string_view>> passed_members;
  std::set<std::string_view> inputs;
  std::size_t outputs = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (members[i].from == From::nowhere) continue;
    if (!passed_members.emplace(members[i].from, members[i].name).second) {
      throw SyntaxError{members[i].at,
                        "found " + in_quotes(members[i].name) + " passed to the entry twice, expected each once"};
    }
    by_name.emplace(names[i], &members[i]);
    if (members[i].from == From::inputs) inputs.insert(members[i].name);
    if (members[i].from == From::outputs) ++outputs;
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
    if (member->from == From::unknown) {
      throw SyntaxError{member->at,
                        "found a struct of which nothing says whether it has inputs or outputs, expected a "
                        "parameter struct tvmgen_MODULE_inputs* or …_outputs*"};
    }
    param->name = member->name;
    if (member->from == From::inputs || !inputs.contains(member->name)) continue;
    if (outputs > 1) {
      throw SyntaxError{member->at, "found an input and an output " + in_quotes(member->name) +
                                        ", expected parameters of the entry with the members' names, or other members"};
    }
    param->name += "_output";  // the one that is left
  }
}

}  // namespace

void name_by_run(const FunctionText& run, const FunctionText& entry, const std::string& symbol,
                 const std::string& entry_name, tir::Module& module) {
  if (takes_packed(run.params)) return;
  const auto members = RunCall(run, symbol).members(entry_name);
  if (members) name_by_members(param_names(entry), *members, module);
}

}  // namespace usmp::tvm_c
