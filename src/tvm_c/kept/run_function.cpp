// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares tvmgen_MODULE_run, as a tree, with what TVM writes there; everything else is somebody's.
#include "tvm_c/kept/run_function.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/kept/added_code.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// What is none of TVM's.
struct Addition {
  std::size_t token = 0;     // the first, or the operator's
  bool is_argument = false;  // a variable that is passed to the entry
  std::string param = {};    // of the entry: gets memory of the file's, and is no pool
};

class RunFunction {
 public:
  RunFunction(const FunctionTree& run, const std::string& entry, const FileScope& scope, bool is_packed)
      : run_(run), tree_(run.tree), entry_(entry), scope_(scope), is_packed_(is_packed) {
    for (const c::DeclId param : run.params()) params_.push_back(tree_[param].name);
    const auto called = scope.functions.find(entry);
    const auto head = called == scope.functions.end() ? std::nullopt : head_tree(called->second);
    if (!head) return;
    for (const c::DeclId param : head->params()) entry_params_.emplace_back(head->tree[param].name);
    is_entry_packed_ = takes_packed(called->second);
  }

  // The first; but what is passed to the entry and is none of TVM's pools says more than what sets it in front.
  std::optional<Addition> addition() {
    const c::Stmt& body = tree_[tree_[run_.function].body];
    if (body.kind != c::StmtKind::block) return Addition{body.at};
    std::optional<Addition> first;
    bool is_last = false;  // behind the call
    for (const c::StmtId id : body.body) {
      const c::Stmt& stmt = tree_[id];
      std::optional<Addition> found = Addition{stmt.tokens.begin};
      if (!is_last && returns_call_of(entry_, tree_, stmt)) {
        found = in_call(stmt.expr);
        is_last = true;
      } else if (!is_last && is_packed_) {
        found = in_filling(stmt);
      }
      if (found && (!first || found->is_argument)) first = found;
    }
    if (!first && !is_last) first = Addition{body.tokens.end - std::size_t{1}};
    return first;
  }

 private:
  [[nodiscard]] std::optional<Addition> in_call(c::ExprId call) {
    const auto arguments = tree_.operands_of(call).subspan(1);
    if (is_packed_ && is_entry_packed_) return in_packed_call(call, arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (auto found = in_argument(arguments[i], i)) return found;
    }
    return arguments.size() == entry_params_.size() ? std::nullopt : std::optional(Addition{tree_[call].tokens.begin});
  }

  // A member of a parameter, a parameter or, for a pool, one of the file's; each once.
  [[nodiscard]] std::optional<Addition> in_argument(c::ExprId argument, std::size_t index) {
    const c::ExprId id = without_casts(tree_, argument);
    if (const std::string_view pool = pool_at(id); !pool.empty()) {
      const std::string param = index < entry_params_.size() ? entry_params_[index] : std::string();
      if (!pool_of_param(param)) return Addition{name_token(id), false, param};
      return passed_.emplace(pool).second ? std::nullopt : std::optional(Addition{name_token(id)});
    }
    const bool is_passed = is_packed_ ? is_data_of_argument(id, index) : is_param(id) || is_member(id);
    if (is_passed && passed_.insert(text_of(id)).second) return std::nullopt;
    return Addition{is_passed ? tree_[id].tokens.begin : odd_token(id), tree_[id].kind == c::ExprKind::name};
  }

  // inputs->x or (*inputs).x
  [[nodiscard]] bool is_member(c::ExprId id) const {
    if (tree_[id].kind != c::ExprKind::member) return false;
    c::ExprId base = tree_.operands_of(id)[0];
    if (tree_[id].text == ".") {
      if (tree_[base].kind != c::ExprKind::prefix || tree_[base].text != "*") return false;
      base = tree_.operands_of(base)[0];
    }
    return is_param(without_casts(tree_, base));
  }

  // ((DLTensor*)((TVMValue*)args)[index].v_handle)[0].data, as TVM 0.8 passes it to an entry that is not packed.
  [[nodiscard]] bool is_data_of_argument(c::ExprId id, std::size_t index) const {
    if (tree_[id].kind != c::ExprKind::member || tree_[id].name != "data" || tree_[id].text != ".") return false;
    const c::ExprId tensor = element(tree_.operands_of(id)[0], 0);
    if (!tensor.valid() || tree_[tensor].kind != c::ExprKind::member || tree_[tensor].name != "v_handle") return false;
    return tree_[tensor].text == "." && is_packed_argument(tree_.operands_of(tensor)[0], index);
  }

  // ((TVMValue*)args)[index]
  [[nodiscard]] bool is_packed_argument(c::ExprId id, std::size_t index) const {
    const c::ExprId array = element(id, index);
    return array.valid() && is_name(array, params_.empty() ? std::string_view() : params_[0]);
  }

  // What array[index] is an element of, without casts; none: it is something else.
  [[nodiscard]] c::ExprId element(c::ExprId id, std::size_t index) const {
    if (tree_[id].kind != c::ExprKind::subscript) return {};
    const bool is_one = is_number(tree_, tree_.operands_of(id)[1], std::to_string(index));
    return is_one ? without_casts(tree_, tree_.operands_of(id)[0]) : c::ExprId();
  }

  // The array of TVMValue that is filled in front, or what the caller gave; then the other parameters, in order.
  [[nodiscard]] std::optional<Addition> in_packed_call(c::ExprId call, std::span<const c::ExprId> arguments) const {
    if (arguments.size() != params_.size()) return Addition{tree_[call].tokens.begin};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const c::ExprId id = without_casts(tree_, arguments[i]);
      if (i == 0 && !is_name(id, params_[0])) {
        const auto array = tree_[id].kind == c::ExprKind::name ? arrays_.find(tree_[id].text) : arrays_.end();
        const bool is_full = array != arrays_.end() && array->second.filled.size() == array->second.size;
        if (!is_full) return Addition{odd_token(id), array == arrays_.end() && tree_[id].kind == c::ExprKind::name};
      } else if (!is_name(id, params_[i])) {
        return Addition{odd_token(id)};
      }
    }
    return std::nullopt;
  }

  // What TVM has in front: TVMValue a[N]; DLTensor t = {.data = &pool}; TVMValue v = {.v_handle = &t};
  // a[0] = ((TVMValue*)args)[0]; a[1] = v; each element of the array once, and each pool.
  std::optional<Addition> in_filling(const c::Stmt& stmt) {
    if (stmt.kind == c::StmtKind::expression) return in_assignment(stmt);
    if (stmt.kind != c::StmtKind::declaration) return Addition{stmt.tokens.begin};
    for (const c::DeclId id : stmt.decls) {
      if (!declares(tree_[id])) return Addition{stmt.tokens.begin};
    }
    return std::nullopt;
  }

  bool declares(const c::Decl& decl) {
    const c::Type& type = tree_[decl.type];
    if (decl.storage != c::Storage::none) return false;
    if (type.kind == c::TypeKind::array) {
      const auto size = type.extent.valid() ? c::integer_literal(tree_[type.extent].text) : std::nullopt;
      if (tree_[type.of].name != "TVMValue" || decl.init.valid() || !size || !size->as_int64()) return false;
      return arrays_.emplace(decl.name, Array{static_cast<std::size_t>(*size->as_int64()), {}}).second;
    }
    const c::ExprId address = only_member(decl.init, type.name == "DLTensor" ? "data" : "v_handle");
    if (!address.valid()) return false;
    if (type.name == "DLTensor") return !pool_at(address).empty() && tensors_.emplace(decl.name).second;
    const bool is_address = tree_[address].kind == c::ExprKind::prefix && tree_[address].text == "&";
    if (type.name != "TVMValue" || !is_address) return false;
    const c::Expr& tensor = tree_[tree_.operands_of(address)[0]];
    const bool is_own = tensor.kind == c::ExprKind::name && tensors_.erase(std::string(tensor.text)) == 1;
    return is_own && values_.emplace(decl.name).second;
  }

  // The value of {.name = value}, without casts.
  [[nodiscard]] c::ExprId only_member(c::ExprId braces, std::string_view name) const {
    if (!braces.valid() || tree_[braces].kind != c::ExprKind::braces) return {};
    const auto elements = tree_.operands_of(braces);
    const bool is_one =
        elements.size() == 1 && tree_[elements[0]].kind == c::ExprKind::designated && tree_[elements[0]].name == name;
    return is_one ? without_casts(tree_, tree_.operands_of(elements[0])[0]) : c::ExprId();
  }

  std::optional<Addition> in_assignment(const c::Stmt& stmt) {
    const Addition odd{stmt.tokens.begin};
    if (tree_[stmt.expr].kind != c::ExprKind::assign || tree_[stmt.expr].text != "=") return odd;
    const auto operands = tree_.operands_of(stmt.expr);
    if (tree_[operands[0]].kind != c::ExprKind::subscript) return odd;
    const c::Expr& array = tree_[tree_.operands_of(operands[0])[0]];
    const auto found = array.kind == c::ExprKind::name ? arrays_.find(array.text) : arrays_.end();
    const auto literal = c::integer_literal(tree_[tree_.operands_of(operands[0])[1]].text);
    if (found == arrays_.end() || !literal || !literal->as_int64()) return odd;
    const auto index = static_cast<std::size_t>(*literal->as_int64());
    const c::Expr& value = tree_[operands[1]];
    const bool is_passed = is_packed_argument(operands[1], index) ||
                           (value.kind == c::ExprKind::name && values_.erase(std::string(value.text)) == 1);
    if (!is_passed) return Addition{odd_token(operands[1])};
    return index < found->second.size && found->second.filled.insert(index).second ? std::nullopt : std::optional(odd);
  }

  // The array or struct that is a pool of the file's: pool, &pool or &pool[0]. Empty: it is something else.
  [[nodiscard]] std::string_view pool_at(c::ExprId id) const {
    if (tree_[id].kind == c::ExprKind::prefix && tree_[id].text == "&") {
      id = tree_.operands_of(id)[0];
      if (const c::ExprId array = element(id, 0); array.valid()) id = array;
    }
    const c::Expr& pool = tree_[id];
    const bool is_pool = pool.kind == c::ExprKind::name && !is_param(id) &&
                         (scope_.arrays.contains(pool.text) || scope_.constant_pools.contains(pool.text));
    return is_pool ? pool.text : std::string_view();
  }

  [[nodiscard]] bool is_name(c::ExprId id, std::string_view name) const {
    return tree_[id].kind == c::ExprKind::name && tree_[id].text == name;
  }

  [[nodiscard]] bool is_param(c::ExprId id) const {
    return tree_[id].kind == c::ExprKind::name && std::ranges::find(params_, tree_[id].text) != params_.end();
  }

  // The text of a member or a name, each spelled in one way.
  [[nodiscard]] std::string text_of(c::ExprId id) const {
    std::string text;
    for (std::size_t i = tree_[id].tokens.begin; i < tree_[id].tokens.end; ++i) {
      const Token& token = run_.tokens[i];
      if (token.is_identifier() || token.kind == TokenKind::number) text += std::string(token.text) + " ";
    }
    return text;
  }

  // The first that TVM does not have there, in the order of the text.
  [[nodiscard]] std::size_t odd_token(c::ExprId whole) const {
    std::vector<c::ExprId> pending = {whole};
    while (!pending.empty()) {
      const c::ExprId id = pending.back();
      pending.pop_back();
      const c::Expr& expr = tree_[id];
      const bool is_tvms = expr.kind == c::ExprKind::cast || expr.kind == c::ExprKind::member || is_param(id) ||
                           !pool_at(id).empty() ||
                           (expr.kind == c::ExprKind::prefix && (expr.text == "&" || expr.text == "*"));
      if (!is_tvms) return token_of(id);
      const auto operands = tree_.operands_of(id);
      pending.insert(pending.end(), operands.rbegin(), operands.rend());
    }
    return name_token(whole);
  }

  // The first name in it.
  [[nodiscard]] std::size_t name_token(c::ExprId id) const {
    std::size_t at = tree_[id].tokens.begin;
    while (at + 1 < tree_[id].tokens.end && !run_.tokens[at].is_identifier()) ++at;
    return at;
  }

  [[nodiscard]] std::size_t token_of(c::ExprId id) const {
    if (tree_[id].kind == c::ExprKind::name) return tvm_c::token_of(run_.tokens, tree_[id]);
    if (tree_[id].kind != c::ExprKind::subscript) return tree_[id].tokens.begin;
    std::size_t bracket = tree_[tree_.operands_of(id)[0]].tokens.end;
    while (run_.tokens[bracket].is(")")) ++bracket;
    return bracket;
  }

  struct Array {
    std::size_t size = 0;
    std::set<std::size_t> filled;  // elements
  };

  const FunctionTree& run_;
  const c::Tree& tree_;
  const std::string& entry_;
  const FileScope& scope_;
  bool is_packed_;
  bool is_entry_packed_ = false;
  std::vector<std::string_view> params_;
  std::vector<std::string> entry_params_;
  std::map<std::string, Array, std::less<>> arrays_;  // of TVMValue
  Names tensors_;                                     // of pools, that no value has
  Names values_;                                      // of these, that no array has
  Names passed_;
};

}  // namespace

std::optional<SyntaxError> added_to_run(const FunctionText& run, const std::string& run_name, const std::string& entry,
                                        const FileScope& scope) {
  try {
    const FunctionTree tree = function_tree(run, {});
    const auto found = RunFunction(tree, entry, scope, takes_packed(run)).addition();
    if (!found) {
      require_plain_text(run, {});
      return std::nullopt;
    }
    const std::string_view text = tree.tokens[found->token].text;
    const std::string pool = "static uint8_t " + std::string(text) + "[N];";
    const std::string way_out =
        !found->param.empty() ? "it is passed for " + in_quotes(found->param) +
                                    ", which is no pool; pass that memory where " + in_quotes(run_name) + " is called"
        : found->is_argument ? "a pool is an array, " + in_quotes(pool) +
                                   ", which nothing sets; with --pools, planned C has it elsewhere, or the "
                                   "application passes it"
                             : "move the addition out of " + in_quotes(run_name) + ", to where that is called";
    return SyntaxError{tree.offset_of(found->token), "found " + shown(text) + " in " + in_quotes(run_name) +
                                                         ", which is written anew, expected nothing but the call of "
                                                         "the entry: " +
                                                         way_out};
  } catch (const SyntaxError& error) {
    return error;
  }
}

}  // namespace usmp::tvm_c
