// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the statements of a helper on values that are expressions: what is constant is decided, what is not becomes TIR.
#include "tvm_c/body/helpers.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "usmp/arith/constants.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_calls_deep = 16;

// Beyond what is read.
struct Beyond {};

std::optional<std::int64_t> constant_of(const Value& value) {
  return value.kind == Value::Kind::number ? tir::as_int(*value.tree.expr) : std::nullopt;
}

// Not replaced by another function of the program.
bool is_own(const c::Decl& function, const std::vector<c::Token>& tokens) {
  for (const c::TokenRange& attribute : function.attributes) {
    for (std::uint32_t i = attribute.begin; i < attribute.end; ++i) {
      const std::string_view text = tokens[i].text;
      const bool is_harmless = text == "__attribute__" || text == "(" || text == ")" || text == "," ||
                               text == "inline" || text == "always_inline" || text == "__always_inline__" ||
                               text == "noinline" || text == "unused" || text == "__unused__" || text == "hot" ||
                               text == "optimize" || tokens[i].kind == c::TokenKind::string;
      if (!is_harmless) return false;
    }
  }
  return true;
}

// What a file defines as nothing, it defines for itself: #ifndef NAME, #define NAME.
std::set<std::string_view> defined_as_nothing(const std::vector<c::Token>& tokens) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    const bool is_define = tokens[i].begins_line && tokens[i].is("#") && tokens[i + 1].is("define");
    if (is_define && tokens[i + 3].begins_line) names.insert(tokens[i + 2].text);
  }
  return names;
}

bool loads(const tir::Expr& root) {
  bool found = false;
  tir::for_each_expr(root, [&](const tir::Expr& expr) { found = found || expr.kind == tir::ExprKind::load; });
  return found;
}

class HelperReader {
 public:
  HelperReader(Helpers& helpers, std::size_t file, Values& values, BodyNames& names, tir::BodyBuilder& body)
      : helpers_(helpers), file_(file), values_(values), names_(names), body_(body) {}

  // What the function returns.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_calls_deep
  Value call(std::string_view name, const std::vector<Value>& arguments) {
    const auto found = helpers_.find(name, file_);
    if (!found || depth_ == most_calls_deep) throw Beyond{};
    ++depth_;
    tree_ = found->tree;
    const c::Decl& function = tree()[found->decl];
    const c::Type& type = tree()[function.type];
    if (type.params.size() != arguments.size() || type.is_variadic) throw Beyond{};
    std::map<c::DeclId, Value> outer = std::exchange(env_, {});
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      levels_[type.params[i]] = level_;
      declare(type.params[i], arguments[i]);
    }
    const bool is_void = tree()[type.of].kind == c::TypeKind::nothing;
    Flow flow = block(function.body, true);
    env_ = std::move(outer);
    --depth_;
    if (is_void && flow.kind == Flow::Kind::next) return Values::number({tir::make_int(0)});
    if (flow.kind != Flow::Kind::leave || !flow.value) throw Beyond{};
    return *flow.value;
  }

 private:
  struct Flow {
    enum class Kind : std::uint8_t { next, leave, jump };
    Kind kind = Kind::next;
    std::optional<Value> value = {};  // that is returned
    std::string_view label = {};
  };

  [[nodiscard]] const c::Tree& tree() const { return *tree_; }

  // Types.

  [[nodiscard]] CType type_of(c::TypeId id) const {
    const c::Type* type = &tree()[id];
    int stars = 0;
    while (type->kind == c::TypeKind::pointer || (type->kind == c::TypeKind::array && stars == 0)) {
      ++stars;
      if (type->is_volatile) throw Beyond{};
      type = &tree()[type->of];
    }
    if (type->is_volatile) throw Beyond{};
    if (type->kind == c::TypeKind::nothing) return {tir::void_type, stars};
    const bool is_number = type->kind == c::TypeKind::integer || type->kind == c::TypeKind::real;
    if (!is_number || type->bits == 0 || type->is_bool || type->name == "char") throw Beyond{};
    const tir::TypeCode code = type->kind == c::TypeKind::real ? tir::TypeCode::float_
                               : type->is_unsigned             ? tir::TypeCode::uint
                                                               : tir::TypeCode::int_;
    return {{code, type->bits, 1}, stars};
  }

  // Values.

  // The same value, whatever is stored afterwards.
  Value fixed(const Value& value, std::string_view name) {
    Value result = value;
    if (value.kind == Value::Kind::place) result = Values::number(values_.rvalue(value));
    if (result.kind != Value::Kind::number && result.kind != Value::Kind::pointer) throw Beyond{};
    if (result.tree.expr == nullptr || tir::as_int(*result.tree.expr)) return result;
    if (result.kind == Value::Kind::pointer && !loads(*result.tree.expr)) return result;
    if (result.tree.expr->kind == tir::ExprKind::var) return result;
    const tir::VarId var = names_.new_var(name.empty() ? "value" : name, result.tree.expr->type, tir::void_type);
    body_.let(var, result.tree.expr);
    result.tree = values_.variable(var).tree;
    return result;
  }

  Value in_type(const Value& value, CType type) {
    if (type.stars > 0) {
      if (value.kind != Value::Kind::pointer || type.stars > 1) throw Beyond{};
      return values_.cast(type, value);
    }
    if (type.element.is_void()) throw Beyond{};
    return folded(Values::number(values_.converted(value, type.element)));
  }

  void declare(c::DeclId decl, const Value& value) {
    env_[decl] = fixed(in_type(value, type_of(tree()[decl].type)), tree()[decl].name);
  }

  // As a literal, if it is an operator on literals.
  static Value folded(Value value) {
    if (value.kind != Value::Kind::number || tir::as_int(*value.tree.expr)) return value;
    const tir::Expr& expr = *value.tree.expr;
    if (!expr.type.is_integer() && !expr.type.is_bool()) return value;
    std::vector<std::int64_t> operands;
    for (const tir::ExprRef& operand : expr.operands) {
      const auto constant = tir::as_int(*operand);
      if (!constant) return value;
      operands.push_back(*constant);
    }
    if (operands.empty()) return value;
    if (const auto constant = arith::constant_value(expr, operands)) {
      value.tree = {tir::make_int(*constant, expr.type), 1};
    }
    return value;
  }

  // Expressions: pure but for p++ of pointers, which is done behind the statement.

  Value evaluate(c::ExprId root) {
    std::vector<c::ExprId> order = {root};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const c::Expr& expr = tree()[order[i]];
      const bool is_called = expr.kind == c::ExprKind::call;
      const auto operands = tree().operands_of(order[i]);
      order.insert(order.end(), operands.begin() + (is_called ? 1 : 0), operands.end());
    }
    std::map<c::ExprId, Value> found;
    std::reverse(order.begin(), order.end());
    for (const c::ExprId id : order) found[id] = folded(value_of(id, found));
    return found[root];
  }

  Value value_of(c::ExprId id, std::map<c::ExprId, Value>& found) {
    const c::Expr& expr = tree()[id];
    const auto operands = tree().operands_of(id);
    const auto operand = [&](std::size_t i) -> const Value& { return found[operands[i]]; };
    switch (expr.kind) {
      case c::ExprKind::name:
        return variable(expr.decl);
      case c::ExprKind::number:
      case c::ExprKind::character: {
        const auto literal = c::integer_literal(expr.text);
        if (!literal || literal->bits == 0 || !literal->as_int64()) throw Beyond{};
        const tir::TypeCode code = literal->is_unsigned ? tir::TypeCode::uint : tir::TypeCode::int_;
        return Values::number({tir::make_int(*literal->as_int64(), {code, literal->bits, 1}), 1});
      }
      case c::ExprKind::subscript:
        return values_.element(operand(0), operand(1));
      case c::ExprKind::prefix:
        if (expr.text == "++" || expr.text == "--" || expr.text == "sizeof") throw Beyond{};
        return values_.unary(expr.text, operand(0));
      case c::ExprKind::postfix: {
        const c::ExprId target = operands[0];
        if (operand(0).kind != Value::Kind::pointer || tree()[target].kind != c::ExprKind::name) throw Beyond{};
        moves_.push_back({tree()[target].decl, expr.text == "++" ? 1 : -1});
        return operand(0);
      }
      case c::ExprKind::cast:
        return values_.cast(type_of(expr.type), operand(0));
      case c::ExprKind::binary:
        if (expr.text == ",") throw Beyond{};
        return values_.binary(expr.text, operand(0), operand(1));
      case c::ExprKind::conditional: {
        return values_.choice(operand(0), operand(1), operand(2));
      }
      default:
        throw Beyond{};
    }
  }

  Value variable(c::DeclId decl) {
    const auto found = decl.valid() ? env_.find(decl) : env_.end();
    if (found == env_.end()) throw Beyond{};
    return found->second;
  }

  void make_moves() {
    for (const auto& [decl, by] : std::exchange(moves_, {})) move(decl, by);
  }

  void move(c::DeclId decl, std::int64_t by) {
    Value& value = env_[decl];
    require_changeable(decl);
    if (value.kind != Value::Kind::pointer) throw Beyond{};
    value = values_.binary("+", value, Values::number({tir::make_int(by)}));
    if (value.kind != Value::Kind::pointer) throw Beyond{};
  }

  // Statements.

  // NOLINTNEXTLINE(misc-no-recursion): blocks of the source, which the parser limits
  Flow block(c::StmtId id, bool is_function = false) {
    const c::Stmt& stmt = tree()[id];
    if (stmt.kind != c::StmtKind::block) return statement(id);
    const std::vector<c::StmtId>& parts = stmt.body;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Flow flow = statement(parts[i]);
      if (flow.kind == Flow::Kind::jump && is_function) {
        // Forward, to a label of the function's own block.
        const auto label = std::find_if(
            parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end(),
            [&](c::StmtId part) { return tree()[part].kind == c::StmtKind::label && tree()[part].text == flow.label; });
        if (label == parts.end()) throw Beyond{};
        i = static_cast<std::size_t>(label - parts.begin()) - 1;
        continue;
      }
      if (flow.kind != Flow::Kind::next) return flow;
    }
    return {};
  }

  // NOLINTNEXTLINE(misc-no-recursion): as above
  Flow statement(c::StmtId id) {
    if (++statements_ > most_helper_statements) throw Beyond{};
    const c::Stmt& stmt = tree()[id];
    switch (stmt.kind) {
      case c::StmtKind::empty:
        return {};
      case c::StmtKind::block:
        return block(id);
      case c::StmtKind::label:
        return statement(stmt.body[0]);
      case c::StmtKind::declaration:
        declaration(stmt);
        return {};
      case c::StmtKind::expression:
        expression(stmt.expr);
        return {};
      case c::StmtKind::if_else:
        return branch(stmt);
      case c::StmtKind::for_loop:
        return loop(stmt);
      case c::StmtKind::switch_of:
        return choice(stmt);
      case c::StmtKind::jump_to:
        return {Flow::Kind::jump, {}, stmt.text};
      case c::StmtKind::return_to: {
        if (!stmt.expr.valid()) throw Beyond{};
        Value value = evaluate(stmt.expr);
        if (!moves_.empty()) throw Beyond{};
        return {Flow::Kind::leave, fixed(value, "result"), {}};
      }
      default:
        throw Beyond{};
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as call()
  void declaration(const c::Stmt& stmt) {
    for (const c::DeclId id : stmt.decls) {
      const c::Decl& decl = tree()[id];
      const bool is_plain = decl.kind == c::DeclKind::variable && decl.storage == c::Storage::none &&
                            decl.attributes.empty() && decl.unknown.empty();
      const bool is_array = tree()[decl.type].kind == c::TypeKind::array;  // that may not be used
      if (!is_plain || (is_array && decl.init.valid())) throw Beyond{};
      if (is_array) continue;
      levels_[id] = level_;
      if (!decl.init.valid()) {
        env_.erase(id);  // what is used before it has a value is not read
        continue;
      }
      declare(id, tree()[decl.init].kind == c::ExprKind::call ? called(decl.init) : evaluate(decl.init));
      make_moves();
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as call()
  Value called(c::ExprId id) {
    const auto operands = tree().operands_of(id);
    const c::Expr& callee = tree()[operands[0]];
    if (callee.kind != c::ExprKind::name) throw Beyond{};
    std::vector<Value> arguments;
    for (const c::ExprId operand : operands.subspan(1)) arguments.push_back(evaluate(operand));
    if (!moves_.empty()) throw Beyond{};
    return call(callee.text, arguments);
  }

  // An assignment, a count, or a call.
  // NOLINTNEXTLINE(misc-no-recursion): as call()
  void expression(c::ExprId id) {
    const c::Expr& expr = tree()[id];
    const auto operands = tree().operands_of(id);
    if (expr.kind == c::ExprKind::call) {
      (void)called(id);
      return;
    }
    if (expr.kind == c::ExprKind::cast && tree()[operands[0]].kind == c::ExprKind::call) {
      if (tree()[expr.type].kind != c::TypeKind::nothing) throw Beyond{};
      (void)called(operands[0]);
      return;
    }
    if ((expr.kind == c::ExprKind::prefix || expr.kind == c::ExprKind::postfix) &&
        (expr.text == "++" || expr.text == "--")) {
      return count(operands[0], expr.text == "++" ? 1 : -1);
    }
    if (expr.kind != c::ExprKind::assign) throw Beyond{};
    const c::Expr& target = tree()[operands[0]];
    const bool is_call = tree()[operands[1]].kind == c::ExprKind::call;
    const Value given = is_call ? called(operands[1]) : evaluate(operands[1]);
    const std::string_view op = expr.text.substr(0, expr.text.size() - 1);
    if (target.kind == c::ExprKind::name) {
      assign(target.decl, op, given);
    } else {
      const Value place = evaluate(operands[0]);
      store(place, op.empty() ? given : values_.binary(op, place, given));
    }
    make_moves();
  }

  void store(const Value& place, const Value& value) {
    if (place.kind != Value::Kind::place || place.type.is_void()) throw Beyond{};
    body_.add({place.storage, place.tree.expr, values_.converted(value, place.type).expr, nullptr});
  }

  void count(c::ExprId target, std::int64_t by) {
    const c::Expr& expr = tree()[target];
    if (expr.kind == c::ExprKind::name && expr.decl.valid() && variable(expr.decl).kind == Value::Kind::pointer) {
      return move(expr.decl, by);
    }
    const Value one = Values::number({tir::make_int(by)});
    if (expr.kind == c::ExprKind::name) return assign(expr.decl, "+", one);
    const Value place = evaluate(target);
    store(place, values_.binary("+", place, one));
    make_moves();
  }

  // What a loop or a branch that stays one may change lives in storage then.
  void require_changeable(c::DeclId decl) const {
    const auto level = levels_.find(decl);
    const bool is_inside = level != levels_.end() && level->second == level_;
    if (!is_inside && level_ > 0) throw Beyond{};
  }

  void assign(c::DeclId decl, std::string_view op, const Value& given) {
    if (!decl.valid() || tree()[decl].kind == c::DeclKind::enumerator) throw Beyond{};
    const auto found = env_.find(decl);
    if (found == env_.end()) {
      if (!levels_.contains(decl) || !op.empty()) throw Beyond{};
      require_changeable(decl);
      return declare(decl, given);
    }
    const Value before = found->second;
    const Value value = op.empty() ? given : updated(before, op, given);
    if (before.kind == Value::Kind::place) return store(before, value);
    require_changeable(decl);
    declare(decl, value);
  }

  // Sums often begin with 0.
  Value updated(const Value& before, std::string_view op, const Value& given) {
    const bool is_first = op == "+" && constant_of(before) == 0 && before.tree.expr->type == tir::int32_type &&
                          given.kind == Value::Kind::number && given.tree.expr->type == tir::int32_type;
    return is_first ? given : folded(values_.binary(op, before, given));
  }

  // Variables that the statement assigns to or counts. O(expressions of the file).
  [[nodiscard]] std::set<c::DeclId> changed_in(const c::Stmt& stmt) const {
    std::set<c::DeclId> changed;
    for (std::size_t i = 0; i < tree().exprs.size(); ++i) {
      const c::ExprId id(i);
      const c::Expr& expr = tree()[id];
      if (expr.tokens.begin < stmt.tokens.begin || expr.tokens.end > stmt.tokens.end) continue;
      const bool changes = expr.kind == c::ExprKind::assign || expr.kind == c::ExprKind::postfix ||
                           (expr.kind == c::ExprKind::prefix && (expr.text == "++" || expr.text == "--"));
      if (!changes) continue;
      const c::Expr& target = tree()[tree().operands_of(id)[0]];
      if (target.kind == c::ExprKind::name && target.decl.valid()) changed.insert(target.decl);
    }
    return changed;
  }

  // Variables that the statement changes and that are declared outside of it become storage.
  void put_into_storage(const c::Stmt& stmt) {
    for (const c::DeclId decl : changed_in(stmt)) {
      const auto found = env_.find(decl);
      if (found == env_.end() || found->second.kind == Value::Kind::place) continue;
      if (found->second.kind != Value::Kind::number) throw Beyond{};
      const CType type = type_of(tree()[decl].type);
      Value place;
      place.kind = Value::Kind::place;
      place.type = type.element;
      place.storage = names_.new_var(tree()[decl].name, tir::handle_type, type.element);
      place.tree = {tir::make_int(0)};
      body_.allocate(place.storage, type.element, {}, nullptr, {}, true);
      store(place, found->second);
      found->second = place;
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as block()
  Flow branch(const c::Stmt& stmt) {
    const Value condition = evaluate(stmt.expr);
    if (!moves_.empty()) throw Beyond{};
    if (const auto constant = constant_of(condition)) {
      if (*constant != 0) return statement(stmt.body[0]);
      return stmt.other.empty() ? Flow() : statement(stmt.other[0]);
    }
    put_into_storage(stmt);
    body_.open_branch(values_.condition(condition).expr);
    inside(stmt.body[0]);
    if (!stmt.other.empty()) {
      body_.open_else();
      inside(stmt.other[0]);
    }
    body_.close();
    return {};
  }

  // NOLINTNEXTLINE(misc-no-recursion): as block()
  void inside(c::StmtId id) {
    ++level_;
    if (statement(id).kind != Flow::Kind::next) throw Beyond{};
    --level_;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as block()
  Flow choice(const c::Stmt& stmt) {
    const auto constant = constant_of(evaluate(stmt.expr));
    if (!constant || !moves_.empty()) throw Beyond{};
    // Cases that each end with break, of which at most one is taken.
    bool is_taken = false;
    for (const c::StmtId part : tree()[stmt.body[0]].body) {
      c::StmtId inner = part;
      while (tree()[inner].kind == c::StmtKind::case_of || tree()[inner].kind == c::StmtKind::default_of) {
        if (tree()[inner].kind == c::StmtKind::default_of) throw Beyond{};
        const auto value = c::constant_value(tree(), tree()[inner].expr);
        if (!value) throw Beyond{};
        is_taken = is_taken || value->value == *constant;
        inner = tree()[inner].body[0];
      }
      if (!is_taken) continue;
      if (tree()[inner].kind == c::StmtKind::break_out) return {};
      Flow flow = statement(inner);
      if (flow.kind != Flow::Kind::next) return flow;
    }
    return {};
  }

  struct Header {
    c::DeclId counter;
    std::int64_t first = 0;
    std::int64_t end = 0;
  };

  // for (int i = 0; i < N; ++i)
  Header header(const c::Stmt& stmt) {
    if (stmt.other.size() != 1 || !stmt.expr.valid() || !stmt.step.valid()) throw Beyond{};
    const c::Stmt& init = tree()[stmt.other[0]];
    if (init.kind != c::StmtKind::declaration || init.decls.size() != 1) throw Beyond{};
    Header result;
    result.counter = init.decls[0];
    const c::Decl& counter = tree()[result.counter];
    const CType type = type_of(counter.type);
    if (type.stars != 0 || type.element != tir::int32_type || !counter.init.valid()) throw Beyond{};
    const c::Expr& condition = tree()[stmt.expr];
    const auto is_counter = [&](c::ExprId id) {
      return tree()[id].kind == c::ExprKind::name && tree()[id].decl == result.counter;
    };
    const bool is_less = condition.kind == c::ExprKind::binary && (condition.text == "<" || condition.text == "<=");
    if (!is_less || !is_counter(tree().operands_of(stmt.expr)[0])) throw Beyond{};
    const c::Expr& step = tree()[stmt.step];
    const bool is_count = (step.kind == c::ExprKind::prefix || step.kind == c::ExprKind::postfix) && step.text == "++";
    if (!is_count || !is_counter(tree().operands_of(stmt.step)[0])) throw Beyond{};
    const auto first = constant_of(evaluate(counter.init));
    const auto bound = constant_of(evaluate(tree().operands_of(stmt.expr)[1]));
    if (!first || !bound || !moves_.empty()) throw Beyond{};
    result.first = *first;
    result.end = *bound + (condition.text == "<=" ? 1 : 0);
    if (result.first < INT32_MIN || result.end > INT32_MAX) throw Beyond{};
    return result;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as block()
  Flow loop(const c::Stmt& stmt) {
    const Header header = this->header(stmt);
    if (changed_in(tree()[stmt.body[0]]).contains(header.counter)) throw Beyond{};
    if (header.end <= header.first) return {};
    if (header.end - header.first == 1) {
      env_[header.counter] = Values::number({tir::make_int(header.first)});
      Flow flow = statement(stmt.body[0]);
      env_.erase(header.counter);
      return flow;
    }
    put_into_storage(tree()[stmt.body[0]]);
    const tir::VarId var = names_.new_var(tree()[header.counter].name, tir::int32_type, tir::void_type);
    body_.open_loop(var, tir::make_int(header.first), tir::make_int(header.end - header.first));
    env_[header.counter] = values_.variable(var);
    inside(stmt.body[0]);
    env_.erase(header.counter);
    body_.close();
    return {};
  }

  Helpers& helpers_;
  std::size_t file_;
  Values& values_;
  BodyNames& names_;
  tir::BodyBuilder& body_;
  const c::Tree* tree_ = nullptr;   // of the file
  std::map<c::DeclId, Value> env_;  // of the function that is read
  // Of variables in scope, with a value or not: in how many loops and branches that stay they are declared.
  std::map<c::DeclId, std::size_t> levels_;
  std::vector<std::pair<c::DeclId, std::int64_t>> moves_;  // of pointers, behind the statement
  std::size_t level_ = 0;
  std::size_t depth_ = 0;
  std::size_t statements_ = 0;
};

}  // namespace

const Helpers::Parsed& Helpers::parsed(std::size_t file) {
  const auto [entry, is_new] = parsed_.try_emplace(file);
  Parsed& result = entry->second;
  if (!is_new) return result;
  c::Environment environment;
  const std::uint32_t main = result.files.add({files_[file].name, files_[file].text});
  std::set<std::string_view> own;
  environment.is_undefined = [&](std::string_view name) { return own.contains(name); };
  try {
    own = defined_as_nothing(result.files.tokens(main));
    result.unit = c::preprocess(result.files, main, environment);
    result.tree = c::parse(result.unit.tokens);
  } catch (const c::SyntaxError&) {
    return result;
  }
  for (std::size_t i = 0; i < result.tree.decls.size(); ++i) {
    const c::Decl& decl = result.tree.decls[i];
    if (decl.kind != c::DeclKind::function || !decl.body.valid()) continue;
    const bool is_sure = !decl.is_conditional && decl.unknown.empty() && is_own(decl, result.unit.tokens) &&
                         result.tree[decl.body].kind == c::StmtKind::block;
    const auto [one, is_first] = result.functions.try_emplace(decl.name);
    one->second = is_first && is_sure ? std::optional(c::DeclId(i)) : std::nullopt;
  }
  return result;
}

std::optional<Helpers::Function> Helpers::find(std::string_view name, std::size_t file) {
  const Parsed& in = parsed(file);
  const auto found = in.functions.find(name);
  if (found == in.functions.end() || !found->second) return std::nullopt;
  return Function{&in.tree, *found->second};
}

void read_helper_call(Helpers& helpers, const std::string& name, std::size_t file, const std::vector<Value>& arguments,
                      Values& values, BodyNames& names, tir::BodyBuilder& body) {
  try {
    HelperReader reader(helpers, file, values, names, body);
    if (constant_of(reader.call(name, arguments)) != 0) throw HelperNotRead{name};
  } catch (const Beyond&) {
    throw HelperNotRead{name};
  } catch (const SyntaxError&) {
    throw HelperNotRead{name};
  }
}

}  // namespace usmp::tvm_c
