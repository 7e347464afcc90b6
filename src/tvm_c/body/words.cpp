// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators and instructions on words, part by part.
#include "tvm_c/body/words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "usmp/support/characters.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Tree;

constexpr int word_bits = 32;
constexpr Bytes word_bytes = 4;
constexpr tir::DataType word_type{tir::TypeCode::uint, 32, 1};
constexpr std::int64_t most_added = std::int64_t{1} << 30;

Value word(std::vector<Tree> parts, tir::DataType type) {
  Value value;
  value.kind = Value::Kind::word;
  value.type = type;
  value.parts = std::move(parts);
  return value;
}

int bits_of_part(const Value& a) { return word_bits / static_cast<int>(a.parts.size()); }

bool is_zero(const Tree& part) { return tir::as_int(*part.expr) == 0; }

// The bits of a literal from `from`, as a number with a sign.
std::int64_t bits_at(std::int64_t value, int from, int bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const std::uint64_t found = (static_cast<std::uint64_t>(value) >> from) & mask;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return static_cast<std::int64_t>(found ^ sign) - static_cast<std::int64_t>(sign);
}

enum class Instruction : std::uint8_t {
  sxtb16,
  ror,
  pkhbt,
  pkhtb,
  smlad,
  smuad,
  smlabb,
  smlabt,
  smlatb,
  smlatt,
  smulbb,
  smulbt,
  smultb,
  smultt,
  ssub8,
  sel,
  ssat,
};

struct Row {
  std::string_view name;
  Instruction instruction;
  std::size_t arguments;
};
constexpr std::array<Row, 17> instructions = {{{"sxtb16", Instruction::sxtb16, 1},
                                               {"ror", Instruction::ror, 2},
                                               {"pkhbt", Instruction::pkhbt, 3},
                                               {"pkhtb", Instruction::pkhtb, 3},
                                               {"smlad", Instruction::smlad, 3},
                                               {"smuad", Instruction::smuad, 2},
                                               {"smlabb", Instruction::smlabb, 3},
                                               {"smlabt", Instruction::smlabt, 3},
                                               {"smlatb", Instruction::smlatb, 3},
                                               {"smlatt", Instruction::smlatt, 3},
                                               {"smulbb", Instruction::smulbb, 2},
                                               {"smulbt", Instruction::smulbt, 2},
                                               {"smultb", Instruction::smultb, 2},
                                               {"smultt", Instruction::smultt, 2},
                                               {"ssub8", Instruction::ssub8, 2},
                                               {"sel", Instruction::sel, 2},
                                               {"ssat", Instruction::ssat, 2}}};

const Row* row_of(std::string_view name) {
  for (const std::string_view prefix : {"__builtin_arm_", "__"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string lower = lower_case(std::string(name.substr(prefix.size())));
    const auto* found = std::ranges::find(instructions, lower, &Row::name);
    return found == instructions.end() ? nullptr : found;
  }
  return nullptr;
}

}  // namespace

std::optional<std::int64_t> low_bits(const Expr& root, int bits) {
  const std::int64_t mask = (std::int64_t{1} << bits) - 1;
  std::map<const Expr*, std::optional<std::int64_t>> found;
  std::vector<const Expr*> order;
  tir::for_each_expr(root, [&](const Expr& expr) { order.push_back(&expr); });
  const auto low = [&](const Expr& expr) -> std::optional<std::int64_t> {
    if (const auto literal = tir::as_int(expr)) return *literal & mask;
    if (!expr.type.is_integer() || expr.type.bits < bits || expr.operands.size() != 2) return std::nullopt;
    const auto a = found[expr.operands[0].get()];
    const auto b = found[expr.operands[1].get()];
    if (expr.kind == ExprKind::mul && (a == 0 || b == 0)) return 0;
    if (!a || !b) return std::nullopt;
    if (expr.kind == ExprKind::add) return (*a + *b) & mask;
    if (expr.kind == ExprKind::sub) return (*a - *b) & mask;
    if (expr.kind == ExprKind::mul) return (*a * *b) & mask;
    return std::nullopt;
  };
  for (std::size_t i = order.size(); i-- > 0;) found[order[i]] = low(*order[i]);
  return found[&root];
}

std::optional<Value> Words::pointer_to_words(CType type, const Value& pointer) const {
  if (type.stars != 1 || pointer.kind != Value::Kind::pointer) return std::nullopt;
  const bool to_words = type.element.is_integer() && type.element.bits == word_bits && type.element.lanes == 1;
  if (pointer.word_size != 0) {
    Value result = pointer;
    if (type.element == pointer.type) result.word_size = 0;
    if (!to_words && result.word_size != 0) values_.fail("found a pointer to words as one to other elements");
    return result;
  }
  const bool is_narrow = pointer.type.is_int() && pointer.type.bits < word_bits;
  if (!to_words || !is_narrow) return std::nullopt;
  Value result = pointer;
  result.is_void = false;
  result.word_size = static_cast<std::uint8_t>(word_bits / pointer.type.bits);
  return result;
}

Value Words::element(const Value& pointer, const Value& index) const {
  if (pointer.kind != Value::Kind::pointer || concerns(index)) values_.fail("found an element of what is no storage");
  const Value elements = values_.binary("*", index, Values::number({tir::make_int(pointer.word_size)}));
  return values_.element(pointer, elements);
}

Value Words::loaded(const Value& a) const {
  if (a.kind != Value::Kind::place || a.word_size == 0) return a;
  std::vector<Tree> parts;
  for (int i = 0; i < a.word_size; ++i) {
    Value one = a;
    one.kind = Value::Kind::pointer;
    one.word_size = 0;
    parts.push_back(values_.rvalue(values_.element(one, Values::number({tir::make_int(i)}))));
  }
  return word(std::move(parts), tir::int32_type);
}

std::vector<std::pair<Value, Tree>> Words::stores(const Value& place, const Value& value) const {
  const Value from = loaded(value);
  if (from.kind != Value::Kind::word || from.parts.size() != place.word_size) {
    values_.fail("found a word of other parts than those of the place");
  }
  std::vector<std::pair<Value, Tree>> result;
  for (std::size_t i = 0; i < from.parts.size(); ++i) {
    Value one = place;
    one.kind = Value::Kind::pointer;
    one.word_size = 0;
    one = values_.element(one, Values::number({tir::make_int(static_cast<std::int64_t>(i))}));
    result.emplace_back(one, values_.converted(Values::number(from.parts[i]), place.type));
  }
  return result;
}

Value Words::unary(std::string_view op, const Value& a) const {
  if (op == "*") return element(a, Values::number({tir::make_int(0)}));
  if (op != "&" || a.kind != Value::Kind::place) values_.fail("found operator " + std::string(op) + " of a word");
  Value pointer = a;
  pointer.kind = Value::Kind::pointer;
  return pointer;
}

Value Words::cast(CType type, const Value& a) const {
  if (type.stars > 0) {
    if (auto words = pointer_to_words(type, a)) return *words;
    values_.fail("found a word as a pointer");
  }
  const Value from = loaded(a);
  const bool is_word = from.kind == Value::Kind::word && type.element.is_integer() && type.element.bits == word_bits;
  if (!is_word) values_.fail("found a word as another number");
  return word(from.parts, type.element);
}

// Shifts by whole parts, and parts side by side.
Value Words::binary(std::string_view op, const Value& left, const Value& right) const {
  const Value a = loaded(left);
  const Value b = loaded(right);
  if (a.kind == Value::Kind::address) {
    const std::int64_t mask = b.kind == Value::Kind::number ? tir::as_int(*b.tree.expr).value_or(0) : 0;
    if (op != "&" || (mask != 1 && mask != 3)) values_.fail("found an address as a number");
    // Storage begins at a multiple of 4 bytes.
    if (a.type.bytes() % word_bytes == 0) return Values::number({tir::make_int(0)});
    const auto low = a.tree.expr == nullptr ? std::optional<std::int64_t>(0) : low_bits(*a.tree.expr, 2);
    if (!low) values_.fail("found an address of which is not known whether it is a multiple of 4");
    return Values::number({tir::make_int((*low * a.type.bytes()) & mask)});
  }
  if (a.kind == Value::Kind::pointer && (op == "+" || op == "-") && !concerns(b)) {
    Value moved = element(a, op == "+" ? b : values_.unary("-", b));
    moved.kind = Value::Kind::pointer;
    return moved;
  }
  if (a.kind != Value::Kind::word) values_.fail("found operator " + std::string(op) + " with a word");
  const auto count = static_cast<int>(a.parts.size());
  if (op == "<<" || op == ">>") {
    const auto by = b.kind == Value::Kind::number ? tir::as_int(*b.tree.expr) : std::nullopt;
    if (!by || *by < 0 || *by >= word_bits || *by % bits_of_part(a) != 0) {
      values_.fail("found a word shifted by something else than whole parts");
    }
    if (op == ">>" && a.type != word_type) values_.fail("found a word with a sign shifted to the right");
    const int parts = static_cast<int>(*by) / bits_of_part(a) * (op == "<<" ? -1 : 1);
    std::vector<Tree> result;
    for (int i = 0; i < count; ++i) {
      const int from = i + parts;
      result.push_back(from >= 0 && from < count ? a.parts[static_cast<std::size_t>(from)]
                                                 : Tree{tir::make_int(0, tir::int32_type)});
    }
    return word(std::move(result), a.type);
  }
  if (op != "|" || b.kind != Value::Kind::word || b.parts.size() != a.parts.size()) {
    values_.fail("found operator " + std::string(op) + " of words");
  }
  std::vector<Tree> result;
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    if (!is_zero(a.parts[i]) && !is_zero(b.parts[i])) values_.fail("found parts of words that overlap");
    result.push_back(is_zero(a.parts[i]) ? b.parts[i] : a.parts[i]);
  }
  return word(std::move(result), a.type == word_type || b.type == word_type ? word_type : a.type);
}

Words::Parts Words::halves(const Value& value) const {
  const Value a = loaded(value);
  if (a.kind == Value::Kind::word && a.parts.size() == 2) return a.parts;
  const auto literal = a.kind == Value::Kind::number ? tir::as_int(*a.tree.expr) : std::nullopt;
  if (!literal) values_.fail("found another number, expected a word of two halves");
  return {{tir::make_int(bits_at(*literal, 0, 16))}, {tir::make_int(bits_at(*literal, 16, 16))}};
}

Words::Parts Words::bytes(const Value& value) const {
  const Value a = loaded(value);
  if (a.kind != Value::Kind::word || a.parts.size() != 4) values_.fail("found no word of four bytes");
  return a.parts;
}

std::int64_t Words::magnitude(const Tree& part) {
  const Expr* expr = part.expr.get();
  std::int64_t most = INT64_MAX;
  while (true) {
    if (const auto literal = tir::as_int(*expr)) return std::min(most, std::abs(*literal));
    if (!expr->type.is_integer() || expr->type.bits > word_bits) return most;
    most = std::min(most, std::int64_t{1} << (expr->type.bits - (expr->type.is_int() ? 1 : 0)));
    const auto bound = bounds_.find(expr->var);
    const bool is_known = (expr->kind == ExprKind::var || expr->kind == ExprKind::load) && bound != bounds_.end();
    if (is_known) bound->second.is_relied_on = true;
    if (is_known) return std::min(most, bound->second.most);
    if (expr->kind != ExprKind::cast || expr->operands[0]->type.bits > expr->type.bits) return most;
    expr = expr->operands[0].get();
  }
}

bool Words::note(tir::VarId var, const Tree& value) {
  const std::int64_t most = magnitude(value);
  Bound& bound = bounds_[var];
  if (most > bound.most && bound.is_relied_on) return false;
  bound.most = std::max(bound.most, most);
  return true;
}

Value Words::sum_of_products(const Parts& a, const Parts& b, const Value& to, std::int64_t repetitions) {
  const bool is_begun = to.kind == Value::Kind::number && tir::as_int(*to.tree.expr);
  if (!is_begun && !to.is_short_sum) values_.fail("found products added to what may be any number");
  if (is_begun) added_ = std::max(added_, std::abs(*tir::as_int(*to.tree.expr)));
  Value sum = to;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto product_most = checked_mul(magnitude(a[i]), magnitude(b[i]));
    const auto most = product_most ? checked_mul(*product_most, repetitions) : std::nullopt;
    const auto all = most ? checked_add(added_, *most) : std::nullopt;
    if (!all || *all > most_added) values_.fail("found sums that may leave 32 bits");
    added_ = *all;
    const Value product = values_.binary("*", Values::number(values_.converted(Values::number(a[i]), tir::int32_type)),
                                         Values::number(values_.converted(Values::number(b[i]), tir::int32_type)));
    const bool is_first = is_begun && i == 0 && tir::as_int(*to.tree.expr) == 0;
    sum = is_first ? product : values_.binary("+", sum, product);
  }
  sum.is_short_sum = true;
  return sum;
}

// By the flags that the last subtraction has set: the larger ones, if the same bytes are selected.
Value Words::selected(const Value& a, const Value& b) const {
  if (!subtracted_) values_.fail("found a selection without a subtraction");
  const Parts yes = bytes(a);
  const Parts no = bytes(b);
  const auto& [x, y] = *subtracted_;
  Parts result;
  for (std::size_t i = 0; i < yes.size(); ++i) {
    const bool is_larger = yes[i].expr == x[i].expr && no[i].expr == y[i].expr;  // where they are equal, either one
    const Value holds = values_.binary(is_larger ? ">" : ">=", Values::number(x[i]), Values::number(y[i]));
    result.push_back(values_.rvalue(values_.choice(holds, Values::number(yes[i]), Values::number(no[i]))));
  }
  return word(std::move(result), word_type);
}

bool Words::is_instruction(std::string_view name) { return row_of(name) != nullptr; }

Value Words::instruction(std::string_view name, const std::vector<Value>& arguments, std::int64_t repetitions) {
  const Row* row = row_of(name);
  if (arguments.size() != row->arguments) values_.fail("found other arguments of " + std::string(name));
  const auto literal = [&](std::size_t i) {
    const auto value = arguments[i].kind == Value::Kind::number ? tir::as_int(*arguments[i].tree.expr) : std::nullopt;
    if (!value) values_.fail("found an argument that is no number");
    return *value;
  };
  // One half of two words each.
  const auto product = [&](std::size_t of_a, std::size_t of_b) {
    const Value zero = Values::number({tir::make_int(0)});
    return sum_of_products({halves(arguments[0])[of_a]}, {halves(arguments[1])[of_b]},
                           arguments.size() == 3 ? arguments[2] : zero, repetitions);
  };
  switch (row->instruction) {
    case Instruction::sxtb16: {
      const Parts of = bytes(arguments[0]);
      return word({of[0], of[2]}, word_type);
    }
    case Instruction::ror: {
      const Value a = binary("<<", arguments[0], Values::number({tir::make_int(0)}));
      const std::int64_t by = literal(1) & (word_bits - 1);
      if (by % bits_of_part(a) != 0) values_.fail("found a word rotated by something else than whole parts");
      Parts parts = a.parts;
      std::rotate(parts.begin(), parts.begin() + by / bits_of_part(a), parts.end());
      return word(std::move(parts), word_type);
    }
    case Instruction::pkhbt:
    case Instruction::pkhtb: {
      const Parts a = halves(arguments[0]);
      const Parts b = halves(arguments[1]);
      const std::int64_t by = literal(2);
      if (by != 0 && by != 16) values_.fail("found halves shifted by something else than their width");
      if (row->instruction == Instruction::pkhbt) return word({a[0], b[by == 0 ? 1 : 0]}, word_type);
      return word({b[by == 0 ? 0 : 1], a[1]}, word_type);
    }
    case Instruction::smlad:
      return sum_of_products(halves(arguments[0]), halves(arguments[1]), arguments[2], repetitions);
    case Instruction::smuad:
      return sum_of_products(halves(arguments[0]), halves(arguments[1]), Values::number({tir::make_int(0)}),
                             repetitions);
    case Instruction::smlabb:
    case Instruction::smulbb:
      return product(0, 0);
    case Instruction::smlabt:
    case Instruction::smulbt:
      return product(0, 1);
    case Instruction::smlatb:
    case Instruction::smultb:
      return product(1, 0);
    case Instruction::smlatt:
    case Instruction::smultt:
      return product(1, 1);
    case Instruction::ssub8: {
      // What it returns is not read: the flags are.
      subtracted_ = {bytes(arguments[0]), bytes(arguments[1])};
      Value result;
      result.kind = Value::Kind::null;
      return result;
    }
    case Instruction::sel:
      return selected(arguments[0], arguments[1]);
    case Instruction::ssat: {
      const std::int64_t bits = literal(1);
      if (bits < 1 || bits > word_bits) values_.fail("found another number of bits");
      const std::int64_t limit = std::int64_t{1} << (bits - 1);
      const auto number = [](std::int64_t value) { return Values::number({tir::make_int(value)}); };
      const Value value = Values::number(values_.converted(arguments[0], tir::int32_type));
      const Value most = values_.choice(values_.binary("<", value, number(limit - 1)), value, number(limit - 1));
      return values_.choice(values_.binary(">", most, number(-limit)), most, number(-limit));
    }
  }
  return {};
}

}  // namespace usmp::tvm_c
