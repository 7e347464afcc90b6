// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the statements of a helper on values that are expressions: what is constant is decided, what is not becomes TIR.
#include "tvm_c/body/helper_reader.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/words.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Tree;

constexpr std::size_t most_calls_deep = 16;

// Beyond what is read.
struct Beyond {};

std::optional<std::int64_t> constant_of(const Value& value) {
  return value.kind == Value::Kind::number ? tir::as_int(*value.tree.expr) : std::nullopt;
}

bool loads(const tir::Expr& root) {
  bool found = false;
  tir::for_each_expr(root, [&](const tir::Expr& expr) { found = found || expr.kind == tir::ExprKind::load; });
  return found;
}

// NOLINTBEGIN(misc-no-recursion): blocks of the source, which the parser limits; calls, at most most_calls_deep
class HelperReader : Evaluator {
 public:
  HelperReader(Helpers& helpers, std::size_t file, Values& values, const NewVar& new_var, tir::BodyBuilder& body)
      : helpers_(helpers), file_(file), values_(values), words_(values), new_var_(new_var), body_(body) {}

  // Functions that have been called.
  [[nodiscard]] const std::set<std::string, std::less<>>& names() const { return called_; }

  // What the function returns.
  Value call(std::string_view name, const std::vector<Value>& arguments) {
    const auto found = helpers_.find(name, file_);
    if (!found || depth_ == most_calls_deep) throw Beyond{};
    ++depth_;
    called_.emplace(name);
    tree_ = found->tree;
    changes_ = found->changes;
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
    return in_type(*flow.value, type_of(type.of));
  }

 private:
  using Moved = std::map<c::DeclId, std::int64_t>;  // pointers, and by how many of their elements

  struct Flow {
    enum class Kind : std::uint8_t { next, leave, jump };
    Kind kind = Kind::next;
    std::optional<Value> value = {};  // that is returned
    std::string_view label = {};
  };

  [[nodiscard]] const c::Tree& tree() const { return *tree_; }

  // Types.

  [[nodiscard]] CType type_of(c::TypeId id) const {
    const bool is_array = tree()[id].kind == c::TypeKind::array;
    if (is_array) id = tree()[id].of;
    for (c::TypeId part = id; part.valid(); part = tree()[part].of) {
      if (tree()[part].is_volatile || tree()[part].is_bool) throw Beyond{};
    }
    auto type = known_type(tree(), id);
    if (!type || (type->element.is_void() && !is_void(id))) throw Beyond{};
    if (is_array) ++type->stars;
    return *type;
  }

  [[nodiscard]] bool is_void(c::TypeId id) const {
    while (tree()[id].kind == c::TypeKind::pointer) id = tree()[id].of;
    return tree()[id].kind == c::TypeKind::nothing;
  }

  // Values.

  // The same value, whatever is stored afterwards.
  Value fixed(const Value& value, std::string_view name) {
    note_use(value);
    Value result = words_.loaded(value);
    if (result.kind == Value::Kind::place) {
      result = Values::number(values_.rvalue(value));
      result.is_short_sum = value.is_short_sum;
    }
    if (result.kind == Value::Kind::address) return result;
    if (result.kind == Value::Kind::word) {
      for (Tree& part : result.parts) fix(part, name);
      return result;
    }
    if (result.kind != Value::Kind::number && result.kind != Value::Kind::pointer) throw Beyond{};
    if (result.kind == Value::Kind::pointer && (result.tree.expr == nullptr || !loads(*result.tree.expr)))
      return result;
    fix(result.tree, name);
    return result;
  }

  void fix(Tree& tree, std::string_view name) {
    if (tir::as_int(*tree.expr) || tree.expr->kind == tir::ExprKind::var) return;
    const tir::VarId var = new_var_(name.empty() ? "value" : name, tree.expr->type, tir::void_type);
    (void)words_.note(var, tree);  // for the only time
    body_.let(var, tree.expr);
    tree = values_.variable(var).tree;
  }

  Value in_type(const Value& value, CType type) {
    if (Words::concerns(value)) return words_.cast(type, value);
    if (type.stars > 0) {
      if (value.kind != Value::Kind::pointer || type.stars > 1) throw Beyond{};
      return values_.cast(type, value);
    }
    if (type.element.is_void()) throw Beyond{};
    Value result = folded(Values::number(values_.converted(value, type.element)));
    result.is_short_sum = value.is_short_sum && type.element == tir::int32_type;
    return result;
  }

  void declare(c::DeclId decl, const Value& value) {
    const c::Type& type = tree()[tree()[decl].type];
    const auto constant = constant_of(value);
    const std::int64_t least = type.is_unsigned ? 0 : INT32_MIN;
    if (type.kind == c::TypeKind::integer && type.bits == 0 && constant && *constant >= least &&
        *constant <= INT32_MAX) {  // of whatever width
      env_[decl] = Values::number({tir::make_int(*constant)});
      return;
    }
    env_[decl] = fixed(in_type(value, type_of(tree()[decl].type)), tree()[decl].name);
  }

  // Expressions: pure but for p++ of pointers, which is done behind the statement.

  Value evaluate(c::ExprId root) { return Evaluator::evaluate(tree(), root); }

  Value value_of(c::ExprId id, std::span<const Value> operands) override {
    Value value = folded(operation(id, operands));
    note_use(value);
    return value;
  }

  // A copy that is not made may be used until something is stored. A loop comes back to a use.
  void note_use(const Value& value) {
    if (value.copy == 0 || value.kind != Value::Kind::place) return;
    if (copies_[value.copy - 1] != stores_) throw Beyond{};
    for (Kept& loop : loops_) loop.uses_copy = loop.uses_copy || value.copy <= loop.copies_before;
  }

  // sizeof(int32_t), sizeof(array), sizeof(*pointer)
  Value size(c::ExprId id) {
    const c::Expr& expr = tree()[id];
    std::optional<std::int64_t> bytes;
    if (expr.kind == c::ExprKind::size_of) {
      const CType type = type_of(expr.type);
      if (type.stars == 0 && !type.element.is_void()) bytes = type.element.bytes();
    } else {
      const c::ExprId of = tree().operands_of(id)[0];
      const bool is_element = tree()[of].kind == c::ExprKind::prefix && tree()[of].text == "*";
      const c::ExprId name = is_element ? tree().operands_of(of)[0] : of;
      if (tree()[name].kind != c::ExprKind::name || !tree()[name].decl.valid()) throw Beyond{};
      const c::DeclId decl = tree()[name].decl;
      const CType type = type_of(tree()[decl].type);
      const auto array = arrays_.find(decl);
      if (is_element ? type.stars == 1 && !type.element.is_void() : type.stars == 0) {
        bytes = type.element.bytes();
      } else if (!is_element && array != arrays_.end()) {
        bytes = array->second;
      }
    }
    if (!bytes) throw Beyond{};
    return Values::number({tir::make_int(*bytes)});
  }

  Value operation(c::ExprId id, std::span<const Value> operands) {
    const c::Expr& expr = tree()[id];
    if (is_size(expr)) return size(id);
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
        if (operands[0].word_size != 0) return words_.element(operands[0], operands[1]);
        break;
      case c::ExprKind::prefix:
        if (!is_step(expr) && Words::concerns(operands[0])) return words_.unary(expr.text, operands[0]);
        break;
      case c::ExprKind::postfix: {
        const c::Expr& target = tree()[tree().operands_of(id)[0]];
        if (operands[0].kind != Value::Kind::pointer || target.kind != c::ExprKind::name) throw Beyond{};
        moves_.push_back({target.decl, expr.text == "++" ? 1 : -1});
        return operands[0];
      }
      case c::ExprKind::cast:
        if (auto address = address_of(expr.type, operands[0])) return *address;
        return cast(type_of(expr.type), operands[0]);
      case c::ExprKind::binary:
        if (expr.text == "%") {
          if (const auto zero = no_remainder(operands[0], operands[1])) return *zero;
        }
        if (expr.text != "," && (Words::concerns(operands[0]) || Words::concerns(operands[1]))) {
          return words_.binary(expr.text, operands[0], operands[1]);
        }
        break;
      case c::ExprKind::call:
        return called(id, operands);
      default:
        break;
    }
    auto value = operated(expr, operands, values_);
    if (!value) throw Beyond{};
    return std::move(*value);
  }

  Value cast(CType type, const Value& value) {
    if (Words::concerns(value)) return words_.cast(type, value);
    if (const auto words = words_.pointer_to_words(type, value)) return *words;
    return values_.cast(type, value);
  }

  // (uint32_t)p, (uintptr_t)p
  std::optional<Value> address_of(c::TypeId id, const Value& pointer) const {
    const c::Type& type = tree()[id];
    const bool is_integer = type.kind == c::TypeKind::integer && (type.bits == 0 || type.bits >= 32);
    if (!is_integer || pointer.kind != Value::Kind::pointer || pointer.type.is_void()) return std::nullopt;
    Value address = pointer;
    address.kind = Value::Kind::address;
    return address;
  }

  // Zero for a number that a power of two divides, whatever its variables are.
  static std::optional<Value> no_remainder(const Value& a, const Value& b) {
    const auto by = constant_of(b);
    if (!by || (*by != 2 && *by != 4) || a.kind != Value::Kind::number || constant_of(a)) return std::nullopt;
    if (low_bits(*a.tree.expr, *by == 2 ? 1 : 2) != 0) return std::nullopt;
    return Values::number({tir::make_int(0)});
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
    value = moved(value, Values::number({tir::make_int(by)}));
  }

  Value moved(const Value& pointer, const Value& by) {
    if (pointer.kind != Value::Kind::pointer) throw Beyond{};
    Value result = pointer.word_size != 0 ? words_.binary("+", pointer, by) : values_.binary("+", pointer, by);
    if (result.kind != Value::Kind::pointer) throw Beyond{};
    return result;
  }

  // Statements.

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
        Value value = evaluate_statement(stmt.expr);
        if (!moves_.empty()) throw Beyond{};
        return {Flow::Kind::leave, fixed(value, "result"), {}};
      }
      default:
        throw Beyond{};
    }
  }

  void declaration(const c::Stmt& stmt) {
    for (const c::DeclId id : stmt.decls) {
      const c::Decl& decl = tree()[id];
      const bool is_plain = decl.kind == c::DeclKind::variable && decl.storage == c::Storage::none &&
                            decl.attributes.empty() && decl.unknown.empty();
      const bool is_array = tree()[decl.type].kind == c::TypeKind::array;
      if (!is_plain || (is_array && decl.init.valid())) throw Beyond{};
      levels_[id] = level_;
      if (is_array) {
        declare_array(id);
        continue;
      }
      if (!decl.init.valid()) {
        env_.erase(id);  // what is used before it has a value is not read
        continue;
      }
      declare(id, evaluate_statement(decl.init));
      make_moves();
    }
  }

  // One that has no elements may not be used.
  void declare_array(c::DeclId id) {
    const c::Type& type = tree()[tree()[id].type];
    const CType element = type_of(type.of);
    env_.erase(id);
    const auto count = type.extent.valid() ? constant_of(evaluate(type.extent)) : std::nullopt;
    if (!count || element.stars != 0 || element.element.is_void() || *count > INT32_MAX) throw Beyond{};
    if (*count < 1) return;
    Value array;
    array.kind = Value::Kind::pointer;
    array.type = element.element;
    array.storage = new_var_(tree()[id].name, tir::handle_type, element.element);
    own_.insert(array.storage);
    body_.allocate(array.storage, element.element, {tir::make_int(*count)}, nullptr, {}, true);
    env_[id] = array;
    arrays_[id] = *count * element.element.bytes();
  }

  // A function of the file, or an instruction. Only statements may call functions that store.
  Value called(c::ExprId id, std::span<const Value> operands) {
    const c::Expr& callee = tree()[tree().operands_of(id)[0]];
    if (callee.kind != c::ExprKind::name) throw Beyond{};
    std::vector<Value> arguments;
    for (const Value& operand : operands) {
      arguments.push_back(words_.loaded(operand));
      if (operand.kind == Value::Kind::place && operand.is_short_sum) relied_on_.insert(operand.storage);
    }
    if (!helpers_.find(callee.text, file_) && Words::is_instruction(callee.text)) {
      if (callee.decl.valid() && !is_prototype(callee.decl)) throw Beyond{};
      return words_.instruction(callee.text, arguments, repetitions_);
    }
    if (!moves_.empty()) throw Beyond{};
    const std::size_t before = all_stores_;
    Value result = call(callee.text, arguments);
    if (all_stores_ != before && id != statement_call_) throw Beyond{};
    return result;
  }

  [[nodiscard]] bool is_prototype(c::DeclId decl) const {
    return tree()[decl].kind == c::DeclKind::function && !tree()[decl].body.valid();
  }

  // memcpy and memset of the C library, of whole elements.
  bool memory_call(c::ExprId id) {
    const auto operands = tree().operands_of(id);
    const c::Expr& callee = tree()[operands[0]];
    const bool is_copy = callee.text == "memcpy";
    if (callee.kind != c::ExprKind::name || (!is_copy && callee.text != "memset")) return false;
    if (callee.decl.valid() && !is_prototype(callee.decl)) throw Beyond{};
    if (operands.size() != 4) throw Beyond{};
    const auto bytes = constant_of(evaluate(operands[3]));
    const Value second = evaluate(operands[2]);
    if (!bytes || *bytes < 0 || *bytes > INT32_MAX || !moves_.empty()) throw Beyond{};
    if (is_copy) {
      copy(operands[1], second, *bytes);
    } else {
      fill(evaluate(operands[1]), second, *bytes);
    }
    return true;
  }

  void fill(const Value& to, const Value& with, std::int64_t bytes) {
    const auto byte = constant_of(with);
    const bool is_bytes = to.kind == Value::Kind::pointer && to.word_size == 0 && to.type == tir::int8_type;
    if (!byte || !is_bytes || !moves_.empty()) throw Beyond{};
    const std::int64_t value = (*byte & 0xff) - ((*byte & 0x80) != 0 ? 0x100 : 0);
    each_element(to, bytes, [&](const Value&) { return Values::number({tir::make_int(value, tir::int8_type)}); });
  }

  // memcpy(&word, p, 4), memcpy(words, p, sizeof(words)): the words are what stands there, as long as nothing is
  // stored.
  void copy(c::ExprId target, const Value& from, std::int64_t bytes) {
    if (from.kind != Value::Kind::pointer || from.word_size != 0 || from.type.is_void()) throw Beyond{};
    const c::Expr& expr = tree()[target];
    const bool is_address = expr.kind == c::ExprKind::prefix && expr.text == "&";
    const c::ExprId of = is_address ? tree().operands_of(target)[0] : target;
    const CType words{tir::int32_type, 1};
    if (tree()[of].kind == c::ExprKind::name && tree()[of].decl.valid()) {
      const c::DeclId decl = tree()[of].decl;
      const auto array = arrays_.find(decl);
      const CType type = type_of(tree()[decl].type);
      const bool is_of_words = type.element.is_integer() && type.element.bits == 32;
      if (is_address && type.stars == 0 && is_of_words && bytes == type.element.bytes()) {
        const auto pointer = words_.pointer_to_words(words, from);
        if (!pointer) throw Beyond{};
        return assign(decl, "", words_.unary("*", *pointer));
      }
      if (!is_address && array != arrays_.end() && is_of_words && from.type.bits < 32) {
        const auto pointer = words_.pointer_to_words(words, from);
        if (!pointer || bytes != array->second) throw Beyond{};
        if (own_.contains(from.storage) || from.copy != 0) throw Beyond{};
        require_changeable(decl);
        Value copy = fixed(*pointer, "words");
        copies_.push_back(stores_);
        copy.copy = static_cast<std::uint32_t>(copies_.size());
        env_[decl] = copy;
        return;
      }
    }
    const Value to = evaluate(target);
    const bool are_alike = to.kind == Value::Kind::pointer && to.word_size == 0 && to.type == from.type;
    if (!are_alike || !moves_.empty()) throw Beyond{};
    each_element(to, bytes, [&](const Value& i) { return values_.element(from, i); });
  }

  template <class Element>
  void each_element(const Value& to, std::int64_t bytes, const Element& element) {
    if (bytes % to.type.bytes() != 0) throw Beyond{};
    if (bytes == 0) return;
    const tir::VarId i = new_var_("i", tir::int32_type, tir::void_type);
    body_.open_loop(i, tir::make_int(0), tir::make_int(bytes / to.type.bytes()));
    const Value index = values_.variable(i);
    store(values_.element(to, index), element(index));
    body_.close();
  }

  // An assignment, a count, or a call.
  void expression(c::ExprId id) {
    const c::Expr& expr = tree()[id];
    const auto operands = tree().operands_of(id);
    if (expr.kind == c::ExprKind::call) return call_statement(id);
    if (expr.kind == c::ExprKind::cast && tree()[operands[0]].kind == c::ExprKind::call) {
      if (tree()[expr.type].kind != c::TypeKind::nothing) throw Beyond{};
      return call_statement(operands[0]);
    }
    if (is_step(expr)) return count(operands[0], expr.text == "++" ? 1 : -1);
    if (expr.kind != c::ExprKind::assign) throw Beyond{};
    const c::Expr& target = tree()[operands[0]];
    const Value given = evaluate_statement(operands[1]);
    const std::string_view op = expr.text.substr(0, expr.text.size() - 1);
    if (target.kind == c::ExprKind::name) {
      assign(target.decl, op, given);
    } else {
      const Value place = evaluate(operands[0]);
      store(place, op.empty() ? given : values_.binary(op, place, given));
    }
    make_moves();
  }

  void call_statement(c::ExprId id) {
    if (!memory_call(id)) (void)evaluate_statement(id);
    make_moves();
  }

  // The call of a statement that does nothing else with memory.
  Value evaluate_statement(c::ExprId id) {
    const auto outer = std::exchange(statement_call_, id);
    Value result = evaluate(id);
    statement_call_ = outer;
    return result;
  }

  void store(const Value& place, const Value& value) {
    if (place.kind != Value::Kind::place || place.type.is_void()) throw Beyond{};
    if (place.copy != 0) throw Beyond{};
    ++all_stores_;
    if (!own_.contains(place.storage)) ++stores_;
    if (place.word_size != 0) {
      for (const auto& [element, part] : words_.stores(place, value)) add_store(element, part);
      return;
    }
    if (Words::concerns(value)) throw Beyond{};
    add_store(place, values_.converted(value, place.type));
  }

  void add_store(const Value& place, const Tree& value) {
    if (own_.contains(place.storage) && !words_.note(place.storage, value)) throw Beyond{};
    body_.add({place.storage, place.tree.expr, value.expr, nullptr});
  }

  void count(c::ExprId target, std::int64_t by) {
    const c::Expr& expr = tree()[target];
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
    if (before.kind == Value::Kind::place) {
      if (before.is_short_sum && !value.is_short_sum && !constant_of(value)) {
        if (level_ > 0 && relied_on_.contains(before.storage)) throw Beyond{};
        found->second.is_short_sum = false;
      }
      return store(before, value);
    }
    require_changeable(decl);
    declare(decl, value);
  }

  // Sums often begin with 0.
  Value updated(const Value& before, std::string_view op, const Value& given) {
    const bool is_first = op == "+" && constant_of(before) == 0 && before.tree.expr->type == tir::int32_type &&
                          given.kind == Value::Kind::number && given.tree.expr->type == tir::int32_type;
    if (is_first) return given;
    if (before.kind == Value::Kind::pointer && op == "+") return moved(before, given);
    if (Words::concerns(before) || Words::concerns(given)) throw Beyond{};
    return folded(values_.binary(op, before, given));
  }

  // Variables that the statement assigns to or counts. O(these · log).
  [[nodiscard]] std::set<c::DeclId> changed_in(const c::Stmt& stmt) const {
    std::set<c::DeclId> changed;
    auto change = std::ranges::lower_bound(*changes_, stmt.tokens.begin, {}, &Helpers::Changes::value_type::first);
    for (; change != changes_->end() && change->first < stmt.tokens.end; ++change) changed.insert(change->second);
    return changed;
  }

  // Variables that the statement changes and that are declared outside of it become storage.
  void put_into_storage(const c::Stmt& stmt, const Moved& moved = {}) {
    for (const c::DeclId decl : changed_in(stmt)) {
      const auto found = env_.find(decl);
      if (found == env_.end() || found->second.kind == Value::Kind::place) continue;
      if (found->second.kind == Value::Kind::pointer && moved.contains(decl)) continue;
      if (found->second.kind != Value::Kind::number) throw Beyond{};
      const CType type = type_of(tree()[decl].type);
      Value place;
      place.kind = Value::Kind::place;
      place.type = type.element;
      place.storage = new_var_(tree()[decl].name, tir::handle_type, type.element);
      place.tree = {tir::make_int(0)};
      place.is_short_sum =
          type.element == tir::int32_type && (found->second.is_short_sum || constant_of(found->second));
      own_.insert(place.storage);
      body_.allocate(place.storage, type.element, {}, nullptr, {}, true);
      store(place, found->second);
      found->second = place;
    }
  }

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

  void inside(c::StmtId id) {
    ++level_;
    if (statement(id).kind != Flow::Kind::next) throw Beyond{};
    --level_;
  }

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
    if (!is_step(step) || step.text != "++" || !is_counter(tree().operands_of(stmt.step)[0])) throw Beyond{};
    const auto first = constant_of(evaluate(counter.init));
    const auto bound = constant_of(evaluate(tree().operands_of(stmt.expr)[1]));
    if (!first || !bound || !moves_.empty()) throw Beyond{};
    result.first = *first;
    result.end = *bound + (condition.text == "<=" ? 1 : 0);
    if (result.first < INT32_MIN || result.end > INT32_MAX) throw Beyond{};
    return result;
  }

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
    const std::int64_t count = header.end - header.first;
    const Moved moved = moved_in(stmt.body[0]);
    put_into_storage(tree()[stmt.body[0]], moved);
    const tir::VarId var = new_var_(tree()[header.counter].name, tir::int32_type, tir::void_type);
    body_.open_loop(var, tir::make_int(header.first), tir::make_int(count));
    env_[header.counter] = values_.variable(var);
    const auto repetitions = checked_mul(repetitions_, count);
    if (!repetitions) throw Beyond{};
    const std::int64_t outer_repetitions = std::exchange(repetitions_, *repetitions);
    loops_.push_back({copies_.size(), stores_, false});
    const Value number = values_.variable(var);
    const Value iteration =
        header.first == 0 ? number : values_.binary("-", number, Values::number({tir::make_int(header.first)}));
    std::map<c::DeclId, std::pair<Value, std::size_t>>
        before;  // pointers that move, where they stand and were declared
    for (const auto& [decl, by] : moved) {
      before[decl] = {env_[decl], levels_[decl]};
      env_[decl] = this->moved(
          env_[decl], by == 1 ? iteration : values_.binary("*", iteration, Values::number({tir::make_int(by)})));
      levels_[decl] = level_ + 1;
    }
    inside(stmt.body[0]);
    for (const auto& [decl, at] : before) {
      env_[decl] = this->moved(at.first, Values::number({tir::make_int(moved.at(decl) * count)}));
      levels_[decl] = at.second;
    }
    const Kept loop = loops_.back();
    loops_.pop_back();
    if (loop.uses_copy && stores_ != loop.stores_before) throw Beyond{};
    repetitions_ = outer_repetitions;
    env_.erase(header.counter);
    body_.close();
    return {};
  }

  // Pointers declared outside of the statement that each run of it moves, by how much: whatever it does.
  Moved moved_in(c::StmtId id) {
    const c::Stmt& stmt = tree()[id];
    Moved moved;
    const auto add = [&](const Moved& more, std::int64_t times) {
      for (const auto& [decl, by] : more) {
        const auto product = checked_mul(by, times);
        const auto sum = product ? checked_add(moved[decl], *product) : std::nullopt;
        if (!sum || *sum > INT32_MAX || *sum < INT32_MIN) throw Beyond{};
        moved[decl] = *sum;
      }
    };
    switch (stmt.kind) {
      case c::StmtKind::block:
        for (const c::StmtId part : stmt.body) add(moved_in(part), 1);
        return moved;
      case c::StmtKind::expression:
        add(moved_by(stmt.expr), 1);
        return moved;
      case c::StmtKind::declaration:
        for (const c::DeclId decl : stmt.decls) {
          if (tree()[decl].init.valid()) add(moved_by(tree()[decl].init), 1);
        }
        return moved;
      case c::StmtKind::for_loop: {
        const Moved inner = moved_in(stmt.body[0]);
        if (inner.empty()) return moved;
        const Header header = this->header(stmt);
        add(inner, std::max<std::int64_t>(0, header.end - header.first));
        return moved;
      }
      default:
        for (const c::DeclId decl : changed_in(stmt)) {
          if (is_outer_pointer(decl)) throw Beyond{};
        }
        return moved;
    }
  }

  [[nodiscard]] bool is_outer_pointer(c::DeclId decl) const {
    const auto found = env_.find(decl);
    return found != env_.end() && found->second.kind == Value::Kind::pointer;
  }

  Moved moved_by(c::ExprId root) {
    Moved moved;
    std::vector<c::ExprId> order = {root};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const c::Expr& expr = tree()[order[i]];
      const auto operands = tree().operands_of(order[i]);
      order.insert(order.end(), operands.begin(), operands.end());
      if (!is_step(expr) && expr.kind != c::ExprKind::assign) continue;
      const c::Expr& target = tree()[operands[0]];
      if (target.kind != c::ExprKind::name || !target.decl.valid() || !is_outer_pointer(target.decl)) continue;
      if (!is_step(expr)) throw Beyond{};
      moved[target.decl] += expr.text == "++" ? 1 : -1;
    }
    return moved;
  }

  // A loop that stays one.
  struct Kept {
    std::size_t copies_before = 0;
    std::size_t stores_before = 0;
    bool uses_copy = false;  // made before
  };

  Helpers& helpers_;
  std::size_t file_;
  Values& values_;
  Words words_;
  const NewVar& new_var_;
  tir::BodyBuilder& body_;
  const c::Tree* tree_ = nullptr;  // of the file
  const Helpers::Changes* changes_ = nullptr;
  std::map<c::DeclId, Value> env_;  // of the function that is read
  // In how many loops and branches that stay the variables in scope are declared, with a value or not.
  std::map<c::DeclId, std::size_t> levels_;
  std::vector<std::pair<c::DeclId, std::int64_t>> moves_;  // of pointers, behind the statement
  std::map<c::DeclId, std::int64_t> arrays_;               // in bytes
  std::set<tir::VarId> own_;                               // storage that the helper declares
  std::set<tir::VarId> relied_on_;                         // of it, what is a short sum wherever it is added to
  std::vector<std::size_t> copies_;                        // stores_ when it was made
  std::vector<Kept> loops_;
  std::int64_t repetitions_ = 1;  // of the statement that is read, in a call
  std::size_t stores_ = 0;        // to other storage than its own
  std::size_t all_stores_ = 0;
  c::ExprId statement_call_;  // a call that is all that its statement does with memory
  std::size_t level_ = 0;
  std::size_t depth_ = 0;
  std::size_t statements_ = 0;
  std::set<std::string, std::less<>> called_;
};
// NOLINTEND(misc-no-recursion)

}  // namespace

void read_helper_call(Helpers& helpers, const std::string& name, std::size_t file, const std::vector<Value>& arguments,
                      Values& values, const NewVar& new_var, tir::BodyBuilder& body) {
  try {
    HelperReader reader(helpers, file, values, new_var, body);
    if (constant_of(reader.call(name, arguments)) != 0) throw HelperNotRead{name};
    helpers.note_read(reader.names());
  } catch (const Beyond&) {
    throw HelperNotRead{name};
  } catch (const SyntaxError&) {
    throw HelperNotRead{name};
  }
}

}  // namespace usmp::tvm_c
