// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Evaluates all expressions of a function for the addresses that they may have, in whatever order they run, until
// nothing is new. If a part of it is beyond the grammar, all parameters escape.
#include "tvm_c/kept/escape_function.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_reads = 16;  // of one function: its variables get addresses from each other
constexpr std::size_t no_variable = SIZE_MAX;

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_comparison(std::string_view op) {
  return is_one_of(op, std::array<std::string_view, 8>{"==", "!=", "<", ">", "<=", ">=", "&&", "||"});
}

// Types of CMSIS, whose headers are seldom here; not row_t, which may be an array.
bool is_number_name(std::string_view name) {
  return is_one_of(
      name, std::array<std::string_view, 7>{"q7_t", "q15_t", "q31_t", "q63_t", "float16_t", "float32_t", "float64_t"});
}

bool is_number_type(const c::Type& type) {
  return type.kind == c::TypeKind::integer || type.kind == c::TypeKind::real ||
         (type.kind == c::TypeKind::unknown && is_number_name(type.name));
}

bool points_to_numbers(const c::Tree& tree, c::TypeId id) {
  const c::Type& type = tree[id];
  return (type.kind == c::TypeKind::pointer || type.kind == c::TypeKind::array) && is_number_type(tree[type.of]);
}

// Those that change what a variable means are not.
bool is_harmless_attribute(std::string_view word) {
  return is_one_of(
      word, std::array<std::string_view, 6>{"aligned", "__aligned__", "unused", "__unused__", "packed", "__packed__"});
}

// Wherever they stand.
bool has_odd_attributes(const std::vector<c::Token>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_attribute(tokens[i].text) && !tokens[i].is("__declspec")) continue;
    std::size_t depth = 0;
    do {
      if (++i == tokens.size()) return true;
      if (tokens[i].is_identifier() && !is_harmless_attribute(tokens[i].text)) return true;
      if (tokens[i].is("(")) ++depth;
      if (tokens[i].is(")")) --depth;
    } while (depth > 0);
  }
  return false;
}

struct NotUnderstood {
  c::TokenRange tokens;
};

struct LocalVariable {
  Addresses has = {};
  bool is_array = false;  // `has`: its elements, and the type of its name
  bool is_static = false;
};

struct Operand : Addresses {
  enum class Where : std::uint8_t { nowhere, variable, inside, memory };
  Where where = Where::nowhere;        // inside: an element or member of a variable
  std::size_t variable = no_variable;  // whose place it is
  bool is_array = false;               // a variable's name that is its address
  Addresses address = {};              // of a place in memory
  std::string_view name = {};          // of a variable or member in it, for messages
};

class FunctionReader {
 public:
  FunctionReader(const FunctionBody& body, const CalledFunctions& called)
      : body_(body), tree_(body.tree.tree), called_(called), values_(tree_.exprs.size()) {}

  FunctionEscape read() {
    if (const std::string opaque = body_.tree.opaque_part(); !opaque.empty()) return not_understood(opaque);
    try {
      require_declarations();
      declare_variables();
      for (std::size_t round = 0; round < most_reads; ++round) {
        has_changed_ = false;
        read_once();
        if (!has_changed_) return result_;
      }
    } catch (const NotUnderstood& part) {
      return not_understood(in_quotes(body_.tree.tokens[part.tokens.begin].text));
    }
    return {all_params, body_.name, "has addresses in too many variables", {}};
  }

 private:
  using Where = Operand::Where;

  // --- Statements and declarations

  [[nodiscard]] FunctionEscape not_understood(const std::string& at) const {
    return {all_params, body_.name, "is not understood at " + at, {}};
  }

  static void require(bool is_understood, c::TokenRange tokens) {
    if (!is_understood) throw NotUnderstood{tokens};
  }

  void require_declarations() const {
    for (const c::Stmt& stmt : tree_.stmts) {
      if (stmt.kind == c::StmtKind::declaration) require(is_declaration(stmt), stmt.tokens);
    }
  }

  // And not a * b; or a * b, c = d; of variables that other files declare.
  [[nodiscard]] bool is_declaration(const c::Stmt& stmt) const {
    for (const c::DeclId id : stmt.decls) {
      const c::Decl& decl = tree_[id];
      if (!decl.unknown.empty()) return false;
      for (const c::TokenRange& attribute : decl.attributes) {  // not asm("r0")
        if (!is_attribute(body_.tree.tokens[attribute.begin].text)) return false;
      }
      const c::Type* type = &tree_[decl.type];
      const bool is_pointer = type->kind == c::TypeKind::pointer;
      while (type->kind == c::TypeKind::pointer || type->kind == c::TypeKind::array) type = &tree_[type->of];
      const bool is_known = type->kind != c::TypeKind::unknown || type->name.ends_with("_t");
      if (!is_known && is_pointer && (stmt.decls.size() > 1 || !decl.init.valid())) return false;
    }
    return true;
  }

  void declare_variables() {
    for (std::size_t i = 0; i < tree_.decls.size(); ++i) {
      const c::Decl& decl = tree_.decls[i];
      if (decl.kind == c::DeclKind::variable) declare(c::DeclId(i));
    }
    for (std::size_t i = 0; i < body_.params.size(); ++i) {
      const EscapeParam& param = body_.params[i];
      Addresses& has = declare(param.decl).has;
      has.params = param.is_given ? param_bit(i) : 0;
      has.holds = param.holds;
      has.is_lasting = param.is_lasting;
    }
  }

  LocalVariable& declare(c::DeclId id) {
    const c::Decl& decl = tree_[id];
    declared_.emplace(id, variables_.size());
    named_[decl.name].push_back(variables_.size());
    LocalVariable& variable = variables_.emplace_back();
    variable.has.numbers = decl.unknown.empty() && points_to_numbers(tree_, decl.type);
    variable.is_array = decl.kind == c::DeclKind::variable && tree_[decl.type].kind == c::TypeKind::array;
    variable.is_static = decl.storage != c::Storage::none && decl.storage != c::Storage::automatic;
    return variable;
  }

  void read_once() {
    for (std::size_t i = 0; i < tree_.exprs.size(); ++i) {  // operands stand in front
      values_[i] = value_of(c::ExprId(i));
    }
    for (const c::Decl& decl : tree_.decls) {
      if (decl.kind != c::DeclKind::variable || !decl.init.valid()) continue;
      const c::DeclId id(static_cast<std::size_t>(&decl - tree_.decls.data()));
      Operand target = operand_of(decl.name, id);
      target.is_array = false;
      assign(values_[decl.init.index()], target, decl.tokens);
    }
    for (const c::Stmt& stmt : tree_.stmts) {
      if (stmt.kind != c::StmtKind::return_to || !stmt.expr.valid()) continue;
      add(values_[stmt.expr.index()], result_.returned, result_.returns_holder);
    }
  }

  // --- Where addresses go

  void escape(ParamSet params, std::string how, const std::string& by = {}, std::string synchronous = {}) {
    if ((params & ~result_.params) == 0) return;
    has_changed_ = true;
    if (result_.params == 0) {
      result_.by = by.empty() ? body_.name : by;
      result_.how = std::move(how);
      result_.synchronous = std::move(synchronous);
    }
    result_.params |= params;
  }

  void store(ParamSet params, const std::string& in) {
    if ((params & ~result_.stored) == 0) return;
    has_changed_ = true;
    if (result_.stored == 0) result_.stored_in = in;
    result_.stored |= params;
  }

  void add(const Addresses& value, ParamSet& params, bool& holds) {
    if ((value.params & ~params) == 0 && (holds || !value.holds)) return;
    has_changed_ = true;
    params |= value.params;
    holds = holds || value.holds;
  }

  void assign(const Operand& value, const Operand& target, c::TokenRange at) {
    require(target.where != Where::nowhere && !target.is_array, at);
    if (target.where != Where::memory && value.is_lasting && !variables_[target.variable].has.is_lasting) {
      variables_[target.variable].has.is_lasting = true;
      has_changed_ = true;
    }
    if (value.params == 0) return;
    if (target.where == Where::memory) {
      if (target.is_lasting) store(value.params, in_quotes(target.name));
      return escape(value.params, "stores it in " + in_quotes(target.name));
    }
    Addresses& has = variables_[target.variable].has;
    add(value, has.params, has.holds);
  }

  // What is there. Numbers are no addresses, if none has been put there.
  [[nodiscard]] static Operand loaded(const Operand& pointer) {
    const bool has_none = pointer.numbers && !pointer.holds;
    Addresses value = has_none ? Addresses() : Addresses{pointer.params, pointer.holds, false};
    value.is_lasting = pointer.is_lasting;
    return {value, Where::memory, no_variable, false, pointer, pointer.name};
  }

  Operand element(const Operand& base, const Operand& index) {
    escape(index.params, "takes it for an index");
    if (!base.is_array) return loaded(base);
    return {{base.params, base.holds, false, base.is_lasting}, Where::inside, base.variable, false, {}, base.name};
  }

  // It may be an array, so it is an address, too.
  [[nodiscard]] static Operand member(Operand base, std::string_view name) {
    if (base.where == Where::variable) base.where = Where::inside;
    if (base.where == Where::inside) base.holds = base.params != 0;
    base.numbers = false;
    base.address.numbers = false;
    if (base.where == Where::memory) base.name = name;
    return base;
  }

  [[nodiscard]] Operand address_of(const Operand& value, c::TokenRange at) const {
    require(value.where != Where::nowhere, at);
    if (value.where == Where::memory) {
      Operand result{value.address, Where::nowhere, no_variable, false, {}, value.name};
      result.is_lasting = value.is_lasting;
      return result;
    }
    const ParamSet params = variables_[value.variable].has.params;
    const bool is_lasting = variables_[value.variable].has.is_lasting;
    return {{params, params != 0, false, is_lasting}, Where::nowhere, no_variable, false, {}, value.name};
  }

  // What a name has.
  [[nodiscard]] Operand operand_of(std::string_view name, c::DeclId decl) const {
    Operand result{{.is_lasting = name != "NULL"}, Where::memory, no_variable, false, {}, name};
    const auto found = declared_.find(decl);
    if (found == declared_.end()) {  // of the file, or of a branch that the preprocessor takes
      const auto all = named_.find(name);
      if (all == named_.end()) return result;
      for (const std::size_t one : all->second) result.params |= variables_[one].has.params;
      result.holds = result.params != 0;
      return result;
    }
    const LocalVariable& variable = variables_[found->second];
    static_cast<Addresses&>(result) = variable.has;
    if (variable.is_array) result.holds = result.params != 0;
    if (variable.is_static) {
      result.is_lasting = true;
      return result;
    }
    result.where = Where::variable;
    result.variable = found->second;
    result.is_array = variable.is_array;
    return result;
  }

  // The name that is called; empty: it is none, or a variable's.
  [[nodiscard]] std::string_view called_name(c::ExprId callee) const {
    const c::Expr& expr = tree_[callee];
    return expr.kind == c::ExprKind::name && !named_.contains(expr.text) ? expr.text : std::string_view();
  }

  Operand call(std::span<const c::ExprId> operands) {
    const std::string_view name = called_name(operands[0]);
    const std::span<const c::ExprId> arguments = operands.subspan(1);
    Operand result;
    result.is_lasting = true;  // of what may be the callee's own
    const CalledFunction callee = name.empty() ? CalledFunction() : called_.find(name);
    const Operand* lasting = nullptr;
    for (const c::ExprId argument : arguments) {
      const Operand& one = values_[argument.index()];
      if (one.is_lasting) lasting = &one;
    }
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const Operand& one = values_[arguments[k].index()];
      const bool is_followed = callee.synchronous == nullptr && callee.is_known && k < callee.params;
      if (is_followed) called_.give(name, k, one);
      if (one.params == 0) continue;
      if (callee.synchronous != nullptr) {
        const HandsOn structs = callee.synchronous->structs;
        const bool may_hold = structs == HandsOn::all || (structs == HandsOn::first && k == 0);
        if ((one.holds && !may_hold) || k >= callee.synchronous->addresses) {
          escape(one.params, "copies it by " + in_quotes(name));
          if (lasting != nullptr) store(one.params, in_quotes(lasting->name));
        }
      } else if (!is_followed) {
        escape(one.params, name.empty() ? "passes it to a function in a variable" : "passes it to " + in_quotes(name),
               {}, std::string(name));
      } else {
        const FunctionEscape& escaping = callee.escape;
        if ((escaping.params & param_bit(k)) != 0) {
          escape(one.params, escaping.how, escaping.by, escaping.synchronous);
        }
        if ((escaping.stored & param_bit(k)) != 0) store(one.params, escaping.stored_in);
        const bool is_returned = (escaping.returned & param_bit(k)) != 0;
        if (is_returned) result.params |= one.params;
        result.holds = result.holds || (is_returned && (one.holds || escaping.returns_holder));
      }
    }
    const bool returns_first = callee.synchronous != nullptr && callee.synchronous->returns_first && !arguments.empty();
    return returns_first ? plain(values_[arguments[0].index()]) : result;
  }

  // --- Expressions

  [[nodiscard]] static Operand plain(const Addresses& value) { return {value}; }

  [[nodiscard]] Operand prefix(std::string_view op, const Operand& value, c::TokenRange at) const {
    if (op == "*") return loaded(value);
    if (op == "&") return address_of(value, at);
    return op == "!" || op == "sizeof" ? Operand() : plain(value);
  }

  Operand value_of(c::ExprId id) {
    const c::Expr& expr = tree_[id];
    const auto operands = tree_.operands_of(id);
    const auto operand = [&](std::size_t i) -> const Operand& { return values_[operands[i].index()]; };
    switch (expr.kind) {
      case c::ExprKind::name:
        return operand_of(expr.text, expr.decl);
      case c::ExprKind::call:
        return call(operands);
      case c::ExprKind::subscript:
        return element(operand(0), operand(1));
      case c::ExprKind::member:
        return member(expr.text == "->" ? loaded(operand(0)) : operand(0), expr.name);
      case c::ExprKind::prefix:
        return prefix(expr.text, operand(0), expr.tokens);
      case c::ExprKind::postfix:
        return operand(0);
      case c::ExprKind::cast:
        return {{operand(0).params, operand(0).holds, points_to_numbers(tree_, expr.type), operand(0).is_lasting},
                Where::nowhere,
                no_variable,
                false,
                {},
                operand(0).name};
      case c::ExprKind::binary:
        if (expr.text == ",") return plain(operand(1));
        return is_comparison(expr.text) ? Operand() : plain(operand(0).with(operand(1)));
      case c::ExprKind::assign:
        assign(operand(1), operand(0), expr.tokens);
        return plain(operand(0).with(operand(1)));
      case c::ExprKind::conditional:
        return plain(operand(1).with(operand(2)));
      case c::ExprKind::braces: {
        Operand all;
        for (const c::ExprId element : operands) {
          all.params |= values_[element.index()].params;
          all.is_lasting = all.is_lasting || values_[element.index()].is_lasting;
        }
        all.holds = all.params != 0;
        return all;
      }
      case c::ExprKind::literal: {
        Operand list = operand(0);
        list.where = Where::memory;
        list.address = list;
        return list;
      }
      case c::ExprKind::designated:
        return values_[operands.back().index()];
      case c::ExprKind::number:
      case c::ExprKind::character:
      case c::ExprKind::string:
      case c::ExprKind::numbers:
      case c::ExprKind::size_of:
        return {};
      default:
        throw NotUnderstood{expr.tokens};
    }
  }

  const FunctionBody& body_;
  const c::Tree& tree_;
  const CalledFunctions& called_;
  FunctionEscape result_;
  bool has_changed_ = false;
  std::vector<LocalVariable> variables_;
  std::map<c::DeclId, std::size_t> declared_;
  std::map<std::string_view, std::vector<std::size_t>> named_;
  std::vector<Operand> values_;  // of expressions
};

}  // namespace

std::optional<FunctionBody> function_body(std::string name, FunctionTree function) {
  const c::Tree& tree = function.tree;
  if (has_odd_attributes(function.tokens)) return std::nullopt;
  std::vector<EscapeParam> params;
  for (const c::DeclId param : tree[tree[function.function].type].params) {
    const bool is_without_type = tree[param].name.empty() && tree[tree[param].type].kind == c::TypeKind::unknown;
    if (is_without_type) return std::nullopt;  // it stands behind the bracket
    params.push_back({.decl = param, .is_given = !is_number_type(tree[tree[param].type])});
  }
  return FunctionBody{std::move(name), std::move(function), std::move(params)};
}

FunctionEscape escape_of(const FunctionBody& body, const CalledFunctions& called) {
  return FunctionReader(body, called).read();
}

}  // namespace usmp::tvm_c
