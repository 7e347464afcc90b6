// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Accesses in their many forms → load and store of a storage variable at a flat index.
#include <algorithm>
#include <utility>

#include "tir/node_rules.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tir {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::archive, {}, std::move(message)); }

Expr node_of(ExprKind kind, DataType type) {
  Expr expr;
  expr.kind = kind;
  expr.type = type;
  return expr;
}

bool fits(std::int64_t value, DataType type) {
  const auto range = range_of_type(type);
  return !range || (value >= range->low && value <= range->high);
}

bool is_int(const Expr& expr, std::int64_t value) { return expr.kind == ExprKind::int_imm && expr.int_value == value; }

bool is_left_out(const Tree& predicate) {
  if (predicate.expr == nullptr) return true;
  const Expr& value = predicate.expr->kind == ExprKind::broadcast ? *predicate.expr->operands[0] : *predicate.expr;
  return value.kind == ExprKind::int_imm && value.int_value != 0;
}

}  // namespace

Tree ExprBuilder::make(Expr node, std::span<const Tree> operands) const {
  std::size_t height = 1;
  for (const Tree& operand : operands) {
    height = std::max(height, operand.height + 1);
    node.operands.push_back(operand.expr);
  }
  if (height > max_height_) {
    refuse("an expression nests deeper than " + std::to_string(max_height_) + " levels, which is the limit");
  }
  return {make_expr(std::move(node)), height};
}

Tree ExprBuilder::converted(Tree value, DataType type) const {
  const bool repeats = value.expr->type.lanes == 1 && type.lanes > 1;
  const DataType wanted = repeats ? type.element() : type;
  if (value.expr->type != wanted) {
    if (value.expr->kind == ExprKind::int_imm && wanted.is_integer() && fits(value.expr->int_value, wanted)) {
      value = {make_int(value.expr->int_value, wanted)};
    } else {
      const Tree operand[] = {std::move(value)};
      value = make(node_of(ExprKind::cast, wanted), operand);
    }
  }
  if (!repeats) return value;
  const Tree element[] = {std::move(value)};
  return make(node_of(ExprKind::broadcast, type), element);
}

Tree ExprBuilder::combined(ExprKind kind, Tree a, Tree b) const {
  const auto type_for = [](const Expr& x, const Expr& y) {
    if (y.kind == ExprKind::int_imm && fits(y.int_value, x.type)) return x.type.element();
    if (x.kind == ExprKind::int_imm && fits(x.int_value, y.type)) return y.type.element();
    return x.type.bits >= y.type.bits ? x.type.element() : y.type.element();
  };
  for (const Tree* const side : {&a, &b}) {
    if (!side->expr->type.is_integer()) {
      refuse("an index has type " + shown(to_string(side->expr->type)) + ", expected an integer type");
    }
  }
  const DataType type = type_for(*a.expr, *b.expr).with_lanes(std::max(a.expr->type.lanes, b.expr->type.lanes));
  const std::int64_t neutral = kind == ExprKind::mul ? 1 : 0;
  if (is_int(*b.expr, neutral) && a.expr->type.lanes == type.lanes) return converted(std::move(a), type);
  if (is_int(*a.expr, neutral) && b.expr->type.lanes == type.lanes) return converted(std::move(b), type);
  if (a.expr->kind == ExprKind::int_imm && b.expr->kind == ExprKind::int_imm) {
    const auto value = kind == ExprKind::mul ? checked_mul(a.expr->int_value, b.expr->int_value)
                                             : checked_add(a.expr->int_value, b.expr->int_value);
    if (!value || !fits(*value, type)) {
      refuse("the flat index does not fit in its type " + shown(to_string(type)));
    }
    return {make_int(*value, type)};
  }
  for (const Tree* const side : {&a, &b}) {
    if (side->expr->type.lanes != 1 && side->expr->type.lanes != type.lanes) {
      refuse("indices of " + std::to_string(a.expr->type.lanes) + " and " + std::to_string(b.expr->type.lanes) +
             " lanes, expected as many in each");
    }
  }
  const Tree operands[] = {converted(std::move(a), type), converted(std::move(b), type)};
  return make(node_of(kind, type), operands);
}

Tree ExprBuilder::flat_index(const View& view, std::span<const Tree> indices) const {
  if (indices.size() != view.dimensions || (!view.strides.empty() && view.strides.size() != view.dimensions)) {
    refuse(std::to_string(indices.size()) + " indices into a buffer of " + std::to_string(view.dimensions) +
           " dimensions and " + std::to_string(view.strides.size()) + " strides");
  }
  if (indices.empty()) return {make_int(0)};
  // A ramp in the innermost dimension stays one: its base takes part in the sum, its stride is scaled.
  const ExprRef last = indices.back().expr;
  const bool is_ramp = last->kind == ExprKind::ramp && view.dimensions > 1;
  const auto index = [&](std::size_t k) {
    if (!is_ramp || k + 1 != indices.size()) return indices[k];
    return Tree{last->operands[0], indices[k].height};
  };

  Tree flat = index(0);
  if (!view.strides.empty()) flat = product(std::move(flat), view.strides[0]);
  for (std::size_t k = 1; k < indices.size(); ++k) {
    if (view.strides.empty()) {
      flat = sum(product(std::move(flat), view.extents[k - 1]), index(k));
    } else {
      flat = sum(std::move(flat), product(index(k), view.strides[k]));
    }
  }
  if (is_ramp && !flat.expr->type.is_vector()) {
    Tree stride{last->operands[1], indices.back().height};
    if (!view.strides.empty()) stride = product(std::move(stride), view.strides.back());
    const DataType type = flat.expr->type;
    const Tree operands[] = {std::move(flat), converted(std::move(stride), type)};
    flat = make(node_of(ExprKind::ramp, type.with_lanes(last->type.lanes)), operands);
  } else if (is_ramp) {
    refuse("more than one index is a vector, which is not supported beside a ramp");
  }
  return view.offset.expr == nullptr ? flat : sum(std::move(flat), view.offset);
}

Tree ExprBuilder::lane_index(Tree index, std::uint16_t lanes) const {
  const DataType type = index.expr->type;
  if (!type.is_integer()) {
    refuse("the index has type " + shown(to_string(type)) + ", expected an integer type");
  }
  if (type.lanes == lanes) return index;
  if (type.is_vector()) {
    refuse("an index of " + std::to_string(type.lanes) + " lanes for a value of " + std::to_string(lanes));
  }
  // The index counts vectors: lane k is element index · lanes + k.
  Tree first = product(std::move(index), {make_int(lanes, type)});
  const Tree operands[] = {std::move(first), {make_int(1, type)}};
  return make(node_of(ExprKind::ramp, type.with_lanes(lanes)), operands);
}

Tree ExprBuilder::load(DataType type, VarId storage, Tree index, const Tree& predicate) const {
  Expr node = node_of(ExprKind::load, type);
  node.var = storage;
  std::vector<Tree> operands = {lane_index(std::move(index), type.lanes)};
  if (!is_left_out(predicate)) operands.push_back(predicate);
  return make(std::move(node), operands);
}

Store ExprBuilder::store(VarId storage, Tree index, Tree value, const Tree& predicate) const {
  const std::uint16_t lanes = value.expr->type.lanes;
  return {storage, lane_index(std::move(index), lanes).expr, std::move(value.expr),
          is_left_out(predicate) ? nullptr : predicate.expr};
}

Tree ExprBuilder::load(DataType type, const View& view, std::span<const Tree> indices, const Tree& predicate) const {
  return converted(load(view.element.with_lanes(type.lanes), view.storage, flat_index(view, indices), predicate), type);
}

Op fixed_point_op(std::span<const ExprRef> operands) {
  const auto literal = [&](std::size_t i) {
    const Expr& expr = *operands[i];
    return as_int(expr.kind == ExprKind::broadcast ? *expr.operands[0] : expr);
  };
  const bool is_half = operands.size() == 4 && literal(1) == std::int64_t{1} << 30 && literal(3);
  return is_half ? Op::q_multiply_shift_half : Op::q_multiply_shift;
}

Store ExprBuilder::store(const View& view, std::span<const Tree> indices, Tree value, const Tree& predicate) const {
  const DataType stored = view.element.with_lanes(value.expr->type.lanes);
  return store(view.storage, flat_index(view, indices), converted(std::move(value), stored), predicate);
}

}  // namespace usmp::tir
