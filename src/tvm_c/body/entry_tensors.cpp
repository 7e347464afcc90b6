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
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
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
std::map<std::string_view, From> struct_params(const FunctionTree& run, const std::string& symbol) {
  std::map<std::string_view, From> result;
  for (const c::DeclId id : run.params()) {
    const c::Decl& param = run.tree[id];
    const std::string_view type = name_behind(run.tree, param.type);
    const bool is_tvms = type.starts_with(symbol + "_");  // others of these are pools, devices
    const From from = type == symbol + "_inputs"    ? From::inputs
                      : type == symbol + "_outputs" ? From::outputs
                      : is_tvms                     ? From::nowhere
                                                    : From::unknown;
    if (from != From::nowhere) result.emplace(param.name, from);
  }
  return result;
}

class RunCall {
 public:
  RunCall(const FunctionText& run, const std::string& symbol)
      : run_(function_tree(run, {})), structs_(struct_params(run_, symbol)) {}

  // By position. Nothing: the entry is not called there, twice with others, or with more than members.
  [[nodiscard]] std::optional<std::vector<Member>> members(const std::string& entry) const {
    require_understood(entry);
    std::optional<std::vector<Member>> result;
    for (std::size_t i = 0; i < run_.tree.exprs.size(); ++i) {
      if (called_function(run_.tree, c::ExprId(i)) != entry) continue;
      auto members = of_call(run_.tree.operands_of(c::ExprId(i)).subspan(1));
      const auto is_same = [](const Member& a, const Member& b) { return a.from == b.from && a.name == b.name; };
      if (!members ||
          (result && !std::equal(members->begin(), members->end(), result->begin(), result->end(), is_same)))
        return std::nullopt;
      result = std::move(members);
    }
    return result;
  }

 private:
  // Throws: a part that is beyond the grammar may call the entry.
  void require_understood(const std::string& entry) const {
    for (const c::TokenRange part : run_.opaque_parts()) {
      for (std::size_t i = part.begin; i < part.end; ++i) {
        if (!run_.tokens[i].is(entry)) continue;
        throw SyntaxError{run_.offset_of(part.begin), "found " + in_quotes(run_.tokens[part.begin].text) +
                                                          " in front of " + in_quotes(entry) +
                                                          ", expected a call in a statement that is understood"};
      }
    }
  }

  [[nodiscard]] std::optional<std::vector<Member>> of_call(std::span<const c::ExprId> arguments) const {
    std::vector<Member> members;
    std::size_t outputs = 0;
    for (const c::ExprId argument : arguments) {
      auto member = of_argument(argument);
      if (!member) return std::nullopt;
      member->output = outputs;
      if (member->from == From::outputs) ++outputs;
      members.push_back(std::move(*member));
    }
    return members;
  }

  // Nothing: it is computed of members. Throws: it may be one, and is not understood.
  [[nodiscard]] std::optional<Member> of_argument(c::ExprId argument) const {
    if (auto member = member_at(without_casts(run_.tree, argument))) return member;
    std::optional<std::size_t> at;  // of the first struct
    bool is_tvms = true;            // nothing but what planned C writes anew
    bool has_members = false;       // a parameter of another type may be a tensor
    const std::vector<c::ExprId> parts = run_.tree.parts_of(argument);
    for (const c::ExprId id : parts) has_members = has_members || run_.tree[id].kind == c::ExprKind::member;
    for (const c::ExprId id : parts) {
      const c::Expr& part = run_.tree[id];
      const auto found = part.kind == c::ExprKind::name ? structs_.find(part.text) : structs_.end();
      const bool is_struct = found != structs_.end() && (found->second != From::unknown || has_members);
      if (is_struct) at = std::min(at.value_or(SIZE_MAX), run_.offset_of(token_of(run_.tokens, part)));
      is_tvms = is_tvms && (is_struct || part.kind == c::ExprKind::cast || part.kind == c::ExprKind::member ||
                            (part.kind == c::ExprKind::prefix && (part.text == "&" || part.text == "*")));
    }
    if (!at) return Member{};
    if (is_tvms) {
      throw SyntaxError{*at,
                        "found an argument of the entry that is not understood, expected inputs->name or "
                        "outputs->name"};
    }
    return std::nullopt;
  }

  // x->a, or (*x).a.
  [[nodiscard]] std::optional<Member> member_at(c::ExprId id) const {
    const c::Tree& tree = run_.tree;
    if (tree[id].kind != c::ExprKind::member) return std::nullopt;
    c::ExprId base = tree.operands_of(id)[0];
    if (tree[id].text == ".") {
      if (tree[base].kind != c::ExprKind::prefix || tree[base].text != "*") return std::nullopt;
      base = tree.operands_of(base)[0];
    }
    base = without_casts(tree, base);
    const auto found = tree[base].kind == c::ExprKind::name ? structs_.find(tree[base].text) : structs_.end();
    if (found == structs_.end()) return std::nullopt;
    return Member{found->second, std::string(tree[id].name), run_.offset_of(token_of(run_.tokens, tree[base]))};
  }

  FunctionTree run_;
  std::map<std::string_view, From> structs_;
};

// Equal names; or TVM's for an output that nobody names: its second is output1 in the header, and output2 here.
bool is_alike(const std::string& param, const Member& member) {
  const std::string number = member.output == 0 ? std::string() : std::to_string(member.output + 1);
  const bool is_unnamed = param == "output" + number && member.name == "output" + std::to_string(member.output);
  return (is_unnamed && member.from != From::inputs) || c_identifier(param) == c_identifier(member.name);
}

std::vector<std::string> param_names(const FunctionText& function) {
  std::vector<std::string> names;
  const auto head = head_tree(function);
  if (!head) return names;
  for (const c::DeclId id : head->params()) names.push_back(without_suffix(head->tree[id].name));
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
      if (!call || is_generated(*call->name) || !scope.functions.contains(*call->name)) return;
      const bool gets = std::any_of(call->arguments.begin(), call->arguments.end(), [&](const tir::ExprRef& one) {
        return one->kind == tir::ExprKind::var && one->var == param.var;
      });
      if (gets) callee = call->name;
    });
    if (callee == nullptr) continue;
    std::size_t at = entry.offset;
    const auto head = head_tree(entry);
    for (const c::DeclId id : head ? head->params() : std::vector<c::DeclId>()) {
      const c::Decl& named = head->tree[id];
      if (without_suffix(named.name) == param.name) at = head->offset_of(named.at);
    }
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
  if (takes_packed(run)) return;
  const auto members = RunCall(run, symbol).members(entry_name);
  if (members) name_by_members(param_names(entry), *members, module);
}

}  // namespace usmp::tvm_c
