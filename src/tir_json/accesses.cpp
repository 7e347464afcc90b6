// Accesses in their many forms → load and store of a storage variable at a flat index.
#include <algorithm>
#include <utility>

#include "tir_json/body_builder.hpp"

namespace usmp::tir_json {
namespace {

using tir::Expr;
using tir::ExprKind;

bool is_index_type(tir::DataType type) { return type.is_integer(); }

bool fits(std::int64_t value, tir::DataType type) {
  if (type.bits >= 64) return true;
  const unsigned value_bits = type.is_uint() ? type.bits : type.bits - 1U;
  const std::int64_t end = std::int64_t{1} << value_bits;
  return value < end && value >= (type.is_uint() ? 0 : -end);
}

bool is_constant_true(const Expr& expr) {
  const Expr& value = expr.kind == ExprKind::broadcast ? *expr.operands[0] : expr;
  return value.kind == ExprKind::int_imm && value.int_value != 0;
}

bool is_int(const Expr& expr, std::int64_t value) { return expr.kind == ExprKind::int_imm && expr.int_value == value; }

}  // namespace

ExprBuilder::Built ExprBuilder::convert(NodeId node, Built value, tir::DataType type) const {
  const bool repeats = value.expr->type.lanes == 1 && type.lanes > 1;
  const tir::DataType wanted = repeats ? type.element() : type;
  if (value.expr->type != wanted) {
    if (value.expr->kind == ExprKind::int_imm && is_index_type(wanted) && fits(value.expr->int_value, wanted)) {
      value = {tir::make_int(value.expr->int_value, wanted)};
    } else {
      const Built operand[] = {std::move(value)};
      value = make(node, new_expr(ExprKind::cast, wanted), operand);
    }
  }
  if (!repeats) return value;
  const Built element[] = {std::move(value)};
  return make(node, new_expr(ExprKind::broadcast, type), element);
}

// a + b or a · b of two parts of an index: folded when constant, without the neutral element. Constants take the type
// of the other side; otherwise the wider type decides. A scalar meets a vector in every lane.
ExprBuilder::Built ExprBuilder::binary(NodeId node, ExprKind kind, Built a, Built b) const {
  const auto type_for = [](const Expr& x, const Expr& y) {
    if (y.kind == ExprKind::int_imm && fits(y.int_value, x.type)) return x.type.element();
    if (x.kind == ExprKind::int_imm && fits(x.int_value, y.type)) return y.type.element();
    return x.type.bits >= y.type.bits ? x.type.element() : y.type.element();
  };
  for (const Built* const side : {&a, &b}) {
    if (!is_index_type(side->expr->type)) {
      fail_at(node, "an index has type " + shown(tir::to_string(side->expr->type)) + ", expected an integer type");
    }
  }
  const tir::DataType type = type_for(*a.expr, *b.expr).with_lanes(std::max(a.expr->type.lanes, b.expr->type.lanes));
  const std::int64_t neutral = kind == ExprKind::mul ? 1 : 0;
  if (is_int(*b.expr, neutral) && a.expr->type.lanes == type.lanes) return convert(node, std::move(a), type);
  if (is_int(*a.expr, neutral) && b.expr->type.lanes == type.lanes) return convert(node, std::move(b), type);
  if (a.expr->kind == ExprKind::int_imm && b.expr->kind == ExprKind::int_imm) {
    const auto value = kind == ExprKind::mul ? checked_mul(a.expr->int_value, b.expr->int_value)
                                             : checked_add(a.expr->int_value, b.expr->int_value);
    if (!value || !fits(*value, type)) {
      fail_at(node, "the flat index does not fit in its type " + shown(tir::to_string(type)));
    }
    return {tir::make_int(*value, type)};
  }
  for (const Built* const side : {&a, &b}) {
    if (side->expr->type.lanes != 1 && side->expr->type.lanes != type.lanes) {
      fail_at(node, "indices of " + std::to_string(a.expr->type.lanes) + " and " + std::to_string(b.expr->type.lanes) +
                        " lanes, expected as many in each");
    }
  }
  const Built operands[] = {convert(node, std::move(a), type), convert(node, std::move(b), type)};
  return make(node, new_expr(kind, type), operands);
}

ExprBuilder::Built ExprBuilder::flat_index(NodeId access, NodeId buffer) {
  const auto indices = graph_.array_attribute(access, "indices");
  const auto shape = graph_.array_attribute(buffer, "shape");
  const auto strides = graph_.array_attribute(buffer, "strides");
  if (indices.size() != shape.size() || (!strides.empty() && strides.size() != shape.size())) {
    fail_at(access, "indices",
            std::to_string(indices.size()) + " indices into a buffer of " + std::to_string(shape.size()) +
                " dimensions and " + std::to_string(strides.size()) + " strides");
  }
  if (indices.empty()) return {tir::make_int(0)};
  // A ramp in the innermost dimension stays one: its base takes part in the sum, its stride is scaled.
  const tir::ExprRef last = built(indices.back()).expr;
  const bool is_ramp = last->kind == ExprKind::ramp && shape.size() > 1;
  const auto index = [&](std::size_t k) {
    if (!is_ramp || k + 1 != indices.size()) return built(indices[k]);
    return Built{last->operands[0], built(indices[k]).height};
  };

  Built flat = index(0);
  if (!strides.empty()) flat = binary(access, ExprKind::mul, std::move(flat), built(strides[0]));
  for (std::size_t k = 1; k < indices.size(); ++k) {
    if (strides.empty()) {
      flat = binary(access, ExprKind::mul, std::move(flat), built(shape[k]));
      flat = binary(access, ExprKind::add, std::move(flat), index(k));
    } else {
      Built term = binary(access, ExprKind::mul, index(k), built(strides[k]));
      flat = binary(access, ExprKind::add, std::move(flat), std::move(term));
    }
  }
  if (is_ramp && !flat.expr->type.is_vector()) {
    Built stride{last->operands[1], built(indices.back()).height};
    if (!strides.empty()) stride = binary(access, ExprKind::mul, std::move(stride), built(strides.back()));
    const tir::DataType type = flat.expr->type;
    const Built operands[] = {std::move(flat), convert(access, std::move(stride), type)};
    flat = make(access, new_expr(ExprKind::ramp, type.with_lanes(last->type.lanes)), operands);
  } else if (is_ramp) {
    fail_at(access, "indices", "more than one index is a vector, which is not supported beside a ramp");
  }
  if (const NodeId offset = graph_.optional_node_attribute(buffer, "elem_offset"); offset != 0) {
    flat = binary(access, ExprKind::add, std::move(flat), built(offset));
  }
  return flat;
}

ExprBuilder::Built ExprBuilder::lane_index(NodeId access, Built index, std::uint16_t lanes) const {
  const tir::DataType type = index.expr->type;
  if (!is_index_type(type)) {
    fail_at(access, "the index has type " + shown(tir::to_string(type)) + ", expected an integer type");
  }
  if (type.lanes == lanes) return index;
  if (type.is_vector()) {
    fail_at(access, "an index of " + std::to_string(type.lanes) + " lanes for a value of " + std::to_string(lanes));
  }
  // The index counts vectors: lane k is element index · lanes + k.
  Built first = binary(access, ExprKind::mul, std::move(index), {tir::make_int(lanes, type)});
  const Built operands[] = {std::move(first), {tir::make_int(1, type)}};
  return make(access, new_expr(ExprKind::ramp, type.with_lanes(lanes)), operands);
}

ExprBuilder::Built ExprBuilder::predicate(NodeId access) const {
  const NodeId node = graph_.optional_node_attribute(access, "predicate");
  if (node == 0 || is_constant_true(*built(node).expr)) return {nullptr, 0};
  return built(node);
}

ExprBuilder::Built ExprBuilder::construct_load(NodeId node) {
  const tir::DataType type = type_attribute(graph_, node);
  Expr load = new_expr(ExprKind::load, type);
  load.var = var(graph_.node_attribute(node, "buffer_var"));
  std::vector<Built> operands{lane_index(node, built_attribute(node, "index"), type.lanes)};
  if (Built guard = predicate(node); guard.expr) operands.push_back(std::move(guard));
  return make(node, std::move(load), operands);
}

ExprBuilder::Built ExprBuilder::construct_buffer_load(NodeId node) {
  const NodeId buffer = graph_.node_attribute(node, "buffer");
  const tir::DataType type = type_attribute(graph_, node);
  const tir::DataType element = type_attribute(graph_, buffer).element();
  Expr load = new_expr(ExprKind::load, element.with_lanes(type.lanes));
  load.var = var(graph_.node_attribute(buffer, "data"));
  std::vector<Built> operands{lane_index(node, flat_index(node, buffer), type.lanes)};
  if (Built guard = predicate(node); guard.expr) operands.push_back(std::move(guard));
  return convert(node, make(node, std::move(load), operands), type);
}

ExprBuilder::StoreParts ExprBuilder::store(NodeId node) {
  build_operands(node);
  StoreParts parts;
  Built index;
  Built value = built_attribute(node, "value");
  if (graph_.type(node) == NodeType::store) {
    parts.storage = var(graph_.node_attribute(node, "buffer_var"));
    index = built_attribute(node, "index");
  } else {
    const NodeId buffer = graph_.node_attribute(node, "buffer");
    const tir::DataType element = type_attribute(graph_, buffer).element();
    parts.storage = var(graph_.node_attribute(buffer, "data"));
    index = flat_index(node, buffer);
    const tir::DataType stored = element.with_lanes(value.expr->type.lanes);
    value = convert(node, std::move(value), stored);
  }
  index = lane_index(node, std::move(index), value.expr->type.lanes);
  const Built guard = predicate(node);
  parts.index = std::move(index.expr);
  parts.value = std::move(value.expr);
  parts.predicate = guard.expr;
  return parts;
}

}  // namespace usmp::tir_json
