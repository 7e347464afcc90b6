// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compiles expressions to registers, folds constants, and moves values in front of loops they do not depend on.
#include "replay/values.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "usmp/support/checked.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::replay {
namespace {

using tir::Expr;
using tir::ExprKind;

std::optional<Code> code_of_call(const Expr& expr) {
  struct Row {
    tir::Op op;
    std::size_t operands;
    Code code;
  };
  constexpr Row rows[] = {{tir::Op::if_then_else, 3, Code::choose},     {tir::Op::likely, 1, Code::copy},
                          {tir::Op::shift_left, 2, Code::shift_left},   {tir::Op::shift_right, 2, Code::shift_right},
                          {tir::Op::bitwise_and, 2, Code::bitwise_and}, {tir::Op::bitwise_or, 2, Code::bitwise_or},
                          {tir::Op::bitwise_xor, 2, Code::bitwise_xor}};
  for (const Row& row : rows) {
    if (expr.op == row.op && expr.operands.size() == row.operands) return row.code;
  }
  return std::nullopt;
}

// How the value comes of its operands; nothing: that is not followed. Of gt, ge and ne: of what they are made of.
std::optional<Code> code_of(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::add:
      return Code::add;
    case ExprKind::sub:
      return Code::sub;
    case ExprKind::mul:
      return Code::mul;
    case ExprKind::div:
      return Code::div;
    case ExprKind::mod:
      return Code::mod;
    case ExprKind::floor_div:
      return Code::floor_div;
    case ExprKind::floor_mod:
      return Code::floor_mod;
    case ExprKind::min:
      return Code::min;
    case ExprKind::max:
      return Code::max;
    case ExprKind::lt:
    case ExprKind::gt:
      return Code::less;
    case ExprKind::le:
    case ExprKind::ge:
      return Code::less_or_equal;
    case ExprKind::eq:
    case ExprKind::ne:
      return Code::equal;
    case ExprKind::and_:
      return Code::and_;
    case ExprKind::or_:
      return Code::or_;
    case ExprKind::not_:
      return Code::not_;
    case ExprKind::select:
      return Code::choose;
    case ExprKind::cast:
    case ExprKind::broadcast:
      return Code::copy;
    case ExprKind::ramp:
      return Code::add;
    case ExprKind::call:
      return code_of_call(expr);
    default:
      return std::nullopt;
  }
}

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) { return checked_add(a, b).value_or(unlimited); }

}  // namespace

Register Values::fresh(std::size_t level) {
  registers_.push_back(unknown);
  levels_of_.push_back(static_cast<std::uint32_t>(level));
  is_linear_.push_back(false);
  return static_cast<Register>(registers_.size() - 1);
}

Register Values::constant(std::int64_t value) {
  const auto [place, is_new] = constants_.try_emplace(value, 0);
  if (is_new) {
    place->second = fresh(0);
    registers_[place->second] = value;
  }
  return place->second;
}

void Values::bind(tir::VarId var, Register value) {
  std::optional<Known>& bound = vars_[var.index()];
  if (bound && bound->value != value) forget();
  earlier_.emplace_back(var, bound);
  bound = now(value);
}

void Values::restore(std::size_t mark) {
  for (; earlier_.size() > mark; earlier_.pop_back()) {
    vars_[earlier_.back().first.index()] = earlier_.back().second;
  }
  forget();
}

const Values::Known* Values::known(const Node& node) const {
  const auto found = known_.find(node);
  const bool is_known = found != known_.end() && found->second.epoch == epoch_ && is_valid(found->second);
  return is_known ? &found->second : nullptr;
}

Register Values::of(const Expr& root, std::size_t root_lane) {
  std::vector<std::pair<Node, bool>> pending = {{{&root, root_lane}, false}};
  std::vector<Node> operands;
  std::vector<Register> values;
  while (true) {
    const Node node = pending.back().first;
    if (known(node) == nullptr) {
      operands.clear();
      append_operands_of(node, operands);
      if (!pending.back().second && !operands.empty()) {
        pending.back().second = true;
        for (const Node& operand : operands) pending.emplace_back(operand, false);
        continue;
      }
      charge();
      values.clear();
      for (const Node& operand : operands) values.push_back(known(operand)->value);
      const Register value = operands.empty() ? leaf(*node.first) : combined(node, values);
      known_[node] = now(value);
    }
    pending.pop_back();
    if (pending.empty()) return known(node)->value;
  }
}

void Values::append_operands_of(const Node& node, std::vector<Node>& operands) {
  const Expr& expr = *node.first;
  if (!expr.type.is_integer() || !code_of(expr)) return;
  for (const tir::ExprRef& operand : expr.operands) {
    operands.emplace_back(operand.get(), operand->type.is_vector() ? node.second : 0);
  }
}

Register Values::leaf(const Expr& expr) {
  if (expr.kind == ExprKind::int_imm) {
    // As C has it: modules may hold any number.
    const auto value = expr.type.is_integer() ? tir::value_in_type(expr.int_value, expr.type) : std::nullopt;
    return constant(value.value_or(unknown));
  }
  if (expr.kind != ExprKind::var || expr.type.is_vector()) return nothing();
  const std::optional<Known>& bound = vars_[expr.var.index()];
  return bound && is_valid(*bound) ? bound->value : nothing();
}

Register Values::combined(const Node& node, const std::vector<Register>& operands) {
  const Expr& expr = *node.first;
  const tir::DataType type = expr.type.element();
  const Code code = *code_of(expr);
  if (expr.kind == ExprKind::ramp) {
    const Register lane = constant(static_cast<std::int64_t>(node.second));
    return made(Code::add, type, operands[0], made(Code::mul, type, operands[1], lane));
  }
  if (expr.kind == ExprKind::gt || expr.kind == ExprKind::ge) return made(code, type, operands[1], operands[0]);
  const Register value = made(code, type, operands[0], operands.size() > 1 ? operands[1] : operands[0],
                              operands.size() > 2 ? operands[2] : operands[0]);
  return expr.kind == ExprKind::ne ? made(Code::not_, type, value) : value;
}

Register Values::made(Code code, tir::DataType type, Register a, Register b, Register c) {
  const auto range = tir::range_of_type(type);
  if (!range) return nothing();
  // A choice whose condition is known needs one side only.
  if (code == Code::choose && is_constant(a) && !is_unknown(a)) {
    a = constant_of(a) != 0 ? b : c;
    code = Code::copy;
  }
  const bool has_two = code != Code::copy && code != Code::not_;
  const bool has_three = code == Code::choose;
  const Instruction instruction{
      .code = code, .a = a, .b = has_two ? b : a, .c = has_three ? c : a, .low = range->low, .high = range->high};
  const bool is_known = !is_unknown(a) && (!has_two || has_three || !is_unknown(b));
  return is_known ? emitted(instruction) : nothing();
}

Register Values::emitted(Instruction instruction) {
  const std::size_t level = std::max({levels_of_[instruction.a], levels_of_[instruction.b], levels_of_[instruction.c]});
  if (level == 0) return constant(compute(instruction, registers_.data()));
  const auto key =
      std::tuple(instruction.code, instruction.a, instruction.b, instruction.c, instruction.low, instruction.high);
  const auto [place, is_new] = computed_.try_emplace(key);
  if (!is_new && is_valid(place->second)) return place->second.value;
  instruction.result = fresh(level);
  is_linear_[instruction.result] = is_linear_in(instruction, level);
  place->second = now(instruction.result);
  levels_[level].head.push_back(instruction);
  ++levels_[level].steps;
  charge();
  return instruction.result;
}

bool Values::is_linear_in(const Instruction& instruction, std::size_t level) const {
  const auto is_fixed = [&](Register value) { return levels_of_[value] < level; };
  const auto is_linear = [&](Register value) { return is_fixed(value) || is_linear_[value]; };
  switch (instruction.code) {
    case Code::add:
    case Code::sub:
    case Code::copy:
      return is_linear(instruction.a) && is_linear(instruction.b);
    case Code::mul:
      return (is_fixed(instruction.a) && is_linear(instruction.b)) ||
             (is_linear(instruction.a) && is_fixed(instruction.b));
    default:
      return false;
  }
}

void Values::emit(const Instruction& instruction) {
  // An access costs as much as a few values.
  constexpr std::int64_t of_access = 3;
  charge();
  levels_.back().body.push_back(instruction);
  levels_.back().steps += 1 + (is_access(instruction.code) ? of_access + instruction.c : 0);
  if (is_effect(instruction.code)) ++levels_.back().effects;
}

Register Values::open_loop(tir::VarId var) {
  levels_.emplace_back();
  levels_.back().serial = ++serials_;
  const Register variable = fresh(depth());
  is_linear_[variable] = true;
  bind(var, variable);
  return variable;
}

void Values::close_loop(const Instruction& loop) {
  const Level inner = std::move(levels_.back());
  levels_.pop_back();
  if (inner.effects == 0) return;
  Level& outer = levels_.back();
  outer.effects += inner.effects;
  constexpr std::size_t copies_of_step = 8;
  work_ += inner.body.size() / copies_of_step;  // deep nests are copied often
  const std::int64_t times = is_constant(loop.c) ? constant_of(loop.c) : 1;
  const std::int64_t estimate = checked_mul(saturated_sum(inner.steps, inner.estimate), times).value_or(unlimited);
  outer.estimate = saturated_sum(outer.estimate, estimate);
  ++outer.steps;
  if (unfold_alike(loop, inner)) return;
  const auto size = static_cast<std::int32_t>(inner.head.size() + inner.body.size());
  Instruction begin = loop;
  begin.jump = size + 2;
  begin.low = depth() == 0 ? estimate : 0;
  const bool is_even = std::ranges::all_of(inner.body, [&](const Instruction& instruction) {
    return instruction.code == Code::load && (levels_of_[instruction.a] <= depth() || is_linear_[instruction.a]);
  });
  if (is_even) begin.code = Code::even_loop;
  outer.body.push_back(begin);
  outer.body.insert(outer.body.end(), inner.head.begin(), inner.head.end());
  outer.body.insert(outer.body.end(), inner.body.begin(), inner.body.end());
  outer.body.push_back({.code = Code::loop_end,
                        .result = loop.result,
                        .a = loop.a,
                        .jump = -size,
                        .low = saturated_sum(inner.steps + 1, inner.more)});
}

// Each iteration loads the same bytes, and nothing is stored between them.
bool Values::unfold_alike(const Instruction& loop, const Level& inner) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t times = is_constant(loop.c) ? constant_of(loop.c) : 0;
  const auto end = is_constant(loop.b) ? checked_add(constant_of(loop.b), times) : std::nullopt;
  if (depth() == 0 || times < 1 || times > most || is_unknown(loop.b) || !end || *end > loop.high) return false;
  const bool is_alike = std::ranges::all_of(inner.body, [&](const Instruction& instruction) {
    return instruction.code == Code::load && levels_of_[instruction.a] <= depth() && instruction.times <= most / times;
  });
  if (!is_alike) return false;
  Level& outer = levels_.back();
  const std::int64_t steps = saturated_sum(inner.steps + 1, inner.more);
  outer.more = saturated_sum(outer.more, checked_mul(steps, times).value_or(unlimited));
  for (const Instruction& load : inner.body) {
    outer.body.push_back(load);
    outer.body.back().times *= static_cast<std::uint32_t>(times);
  }
  return true;
}

}  // namespace usmp::replay
