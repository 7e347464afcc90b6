// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Emits accesses and branches in C's order of evaluation; what it cannot follow touches all that may be meant.
#include "replay/emitter.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "usmp/tir/visit.hpp"

namespace usmp::replay {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

// Vectors of more lanes are not followed.
constexpr std::size_t most_lanes = 64;

bool is_pointer_value(const Expr& expr) { return expr.type.is_handle() && expr.kind != ExprKind::string_imm; }

bool is_call_of(const Expr& expr, tir::Op op, std::size_t operands) {
  return expr.kind == ExprKind::call && expr.op == op && expr.operands.size() >= operands;
}

// Whether it takes the address of an element, whose load does not happen.
bool takes_address(const Expr& expr) {
  return is_call_of(expr, tir::Op::address_of, 1) && expr.operands[0]->kind == ExprKind::load;
}

Target united(std::span<const Target> parts) {
  Target all;
  for (const Target& part : parts) all.sites.insert(all.sites.end(), part.sites.begin(), part.sites.end());
  std::sort(all.sites.begin(), all.sites.end());
  all.sites.erase(std::unique(all.sites.begin(), all.sites.end()), all.sites.end());
  return all;
}

// What a pointer is derived from. The rest of the operands are numbers.
void append_pointers(const Expr& expr, std::vector<const Expr*>& parts) {
  if (takes_address(expr)) return;
  for (const ExprRef& operand : expr.operands) {
    if (is_pointer_value(*operand)) parts.push_back(operand.get());
  }
}

}  // namespace

// --- Pointers --------------------------------------------------------------------------------------------------------

const Target& Emitter::target_of(tir::VarId var) const {
  static const Target nothing;
  const auto found = targets_.find(var);
  return found == targets_.end() ? nothing : found->second;
}

void Emitter::bind(tir::VarId var, Target target) {
  Target& bound = targets_[var];
  earlier_.emplace_back(var, std::exchange(bound, std::move(target)));
}

void Emitter::restore(const Mark& mark) {
  values_.restore(mark.values);
  for (; earlier_.size() > mark.targets; earlier_.pop_back()) {
    targets_[earlier_.back().first] = std::move(earlier_.back().second);
  }
}

std::optional<std::uint32_t> Emitter::declare(tir::VarId var) {
  const auto site = followed_.find(var);
  const bool is_followed = site != followed_.end();
  bind(var, is_followed ? Target{{site->second}, values_.constant(0)} : Target{});
  return is_followed ? std::optional(site->second) : std::nullopt;
}

Target Emitter::moved(Target target, Register elements, Bytes element_bytes) {
  if (!target.offset) return target;
  const Register bytes = values_.made(Code::mul, tir::int64_type, elements, values_.constant(element_bytes));
  target.offset = values_.made(Code::add, tir::int64_type, *target.offset, bytes);
  if (values_.is_unknown(*target.offset)) target.offset.reset();
  return target;
}

Target Emitter::pointer(const Expr& root) {
  const auto before = [&](const Expr& expr, std::size_t i, std::span<Target> parts) {
    if (expr.kind == ExprKind::let && i == 1) bind(expr.var, united(parts));
  };
  const auto combine = [&](const Expr& expr, std::span<Target> parts) {
    return derived(expr, std::vector<Target>(parts.begin(), parts.end()));
  };
  return tir::fold<Target>(root, append_pointers, before, combine);
}

Target Emitter::derived(const Expr& expr, std::vector<Target> parts) {
  if (expr.kind == ExprKind::var) return target_of(expr.var);
  if (tir::named_call(expr)) {
    evaluate(std::make_shared<const Expr>(expr));
    return united(parts);
  }
  if (takes_address(expr)) {
    const Expr& load = *expr.operands[0];
    for (const ExprRef& operand : load.operands) evaluate(operand);
    return moved(target_of(load.var), values_.of(*load.operands[0]), load.type.element_bytes());
  }
  for (const ExprRef& operand : expr.operands) {
    if (!is_pointer_value(*operand)) evaluate(operand);
  }
  if (parts.size() == 1) {
    if (expr.kind == ExprKind::cast || is_call_of(expr, tir::Op::reinterpret, 1)) return std::move(parts[0]);
    if (is_call_of(expr, tir::Op::handle_add_byte_offset, 2)) {
      return moved(std::move(parts[0]), values_.of(*expr.operands[1]), 1);
    }
    if (is_call_of(expr, tir::Op::tvm_access_ptr, 3)) {
      return moved(std::move(parts[0]), values_.of(*expr.operands[2]), expr.operands[0]->type.element_bytes());
    }
  }
  return united(parts);
}

void Emitter::use_pointer(tir::VarId var, Use use) {
  const Target& target = target_of(var);
  if (use == Use::touched) touch(target, Reason::call);
  if (use != Use::escapes) return;
  for (const std::uint32_t site : target.sites) escaped_[site] = true;
}

// --- Evaluation ------------------------------------------------------------------------------------------------------

void Emitter::evaluate(const ExprRef& root) {
  if (!root) return;
  std::vector<Task> tasks = {{.expr = root.get()}};
  // A program that is not complete is thrown away.
  while (!tasks.empty() && !values_.is_exhausted()) {
    const Task task = tasks.back();
    tasks.pop_back();
    run(task, tasks);
  }
}

void Emitter::run(const Task& task, std::vector<Task>& tasks) {
  switch (task.kind) {
    case Task::Kind::visit:
      return visit(*task.expr, task.use, tasks);
    case Task::Kind::begin_skip:
      return begin_skip(Reason::condition);
    case Task::Kind::end_skip:
      return end_skip();
    case Task::Kind::begin_branch:
      return begin_branch(task.condition);
    case Task::Kind::begin_else:
      return begin_else();
    case Task::Kind::end_branch:
      return end_branch();
  }
}

void Emitter::visit(const Expr& expr, Use use, std::vector<Task>& tasks) {
  values_.charge();
  switch (expr.kind) {
    case ExprKind::var:
      if (expr.type.is_handle()) use_pointer(expr.var, use);
      return;
    case ExprKind::load:
      access({.code = Code::load,
              .storage = expr.var,
              .index = expr.operands[0].get(),
              .predicate = expr.operands.size() > 1 ? expr.operands[1].get() : nullptr,
              .type = expr.type});
      return add_operands(expr, Use::escapes, tasks);
    case ExprKind::eq:
    case ExprKind::ne:
      return add_operands(expr, Use::ignored, tasks);
    case ExprKind::let:
      tasks.push_back({.expr = expr.operands[1].get(), .use = use});
      tasks.push_back({.expr = expr.operands[0].get()});
      return;
    case ExprKind::call:
      return visit_call(expr, use, tasks);
    case ExprKind::shuffle:  // of lanes that are not taken nothing has to be loaded
      tasks.push_back({.kind = Task::Kind::end_skip});
      add_operands(expr, Use::escapes, tasks);
      tasks.push_back({.kind = Task::Kind::begin_skip});
      return;
    default:
      return add_operands(expr, expr.type.is_handle() ? use : Use::escapes, tasks);
  }
}

void Emitter::add_operands(const Expr& expr, Use use, std::vector<Task>& tasks) {
  for (const ExprRef& operand : expr.operands) {
    tasks.push_back({.expr = operand.get(), .use = operand->type.is_handle() ? use : Use::escapes});
  }
}

void Emitter::visit_call(const Expr& expr, Use use, std::vector<Task>& tasks) {
  if (takes_address(expr)) {
    use_pointer(expr.operands[0]->var, use);
    return add_operands(*expr.operands[0], Use::escapes, tasks);
  }
  if (expr.op == tir::Op::isnullptr) return add_operands(expr, Use::ignored, tasks);
  if (expr.op == tir::Op::if_then_else && expr.operands.size() == 3) return visit_choice(expr, use, tasks);
  if (const auto call = tir::named_call(expr)) {
    const auto callee = module_.find(*call->name);
    const bool is_walked = callee && !tir::is_opaque(module_, module_.functions[*callee]);
    // Such a call in the middle of an expression is not unfolded.
    if (is_walked && facts_[*callee].declares) touch_all(Reason::call);
    return add_operands(expr, is_walked ? Use::escapes : Use::touched, tasks);
  }
  add_operands(expr, expr.type.is_handle() ? use : Use::escapes, tasks);
}

// Its sides are evaluated only if they are chosen.
void Emitter::visit_choice(const Expr& expr, Use use, std::vector<Task>& tasks) {
  const Register condition = values_.of(*expr.operands[0]);
  const Task yes = {.expr = expr.operands[1].get(), .use = use};
  const Task no = {.expr = expr.operands[2].get(), .use = use};
  if (values_.is_unknown(condition)) {
    tasks.insert(tasks.end(), {{.kind = Task::Kind::end_skip}, no, yes, {.kind = Task::Kind::begin_skip}});
  } else if (values_.is_constant(condition)) {
    tasks.push_back(values_.constant_of(condition) != 0 ? yes : no);
  } else {
    tasks.insert(tasks.end(), {{.kind = Task::Kind::end_branch},
                               no,
                               {.kind = Task::Kind::begin_else},
                               yes,
                               {.kind = Task::Kind::begin_branch, .condition = condition}});
  }
  tasks.push_back({.expr = expr.operands[0].get()});
}

// --- Accesses --------------------------------------------------------------------------------------------------------

void Emitter::store(const tir::Store& store) {
  access({.code = Code::store,
          .storage = store.storage,
          .index = store.index.get(),
          .predicate = store.predicate.get(),
          .type = store.value->type});
}

void Emitter::access(const Access& access) {
  const Target target = target_of(access.storage);
  if (target.sites.empty()) return;
  const std::size_t lanes = access.type.lanes;
  if (!target.offset || lanes > most_lanes) return touch(target, Reason::address);
  for (std::size_t lane = 0; lane < lanes && !values_.is_exhausted(); ++lane) {
    if (access.predicate == nullptr) {
      access_lane(access, target, lane);
      continue;
    }
    const Register condition = values_.of(*access.predicate, access.predicate->type.is_vector() ? lane : 0);
    if (values_.is_unknown(condition)) {
      touch(target, Reason::condition);
    } else if (!values_.is_constant(condition)) {
      begin_branch(condition);
      access_lane(access, target, lane);
      begin_else();
      end_branch();
    } else if (values_.constant_of(condition) != 0) {
      access_lane(access, target, lane);
    }
  }
}

void Emitter::access_lane(const Access& access, const Target& target, std::size_t lane) {
  const Bytes bytes = access.type.element_bytes();
  const Target place = moved(target, values_.of(*access.index, lane), bytes);
  if (!place.offset) return touch(target, Reason::address);
  values_.emit({.code = access.code,
                .function = function_,
                .a = *place.offset,
                .b = place.sites[0],
                .c = static_cast<std::uint32_t>(bytes)});
}

void Emitter::allocate(std::uint32_t site) { values_.emit({.code = Code::allocate, .b = site}); }

void Emitter::touch(const Target& target, Reason reason) {
  for (const std::uint32_t site : target.sites) touch(site, reason);
}

// There may be very many, of programs that are made for it.
void Emitter::touch(std::uint32_t site, Reason reason) {
  if (!values_.is_exhausted()) values_.emit({.code = Code::touch, .reason = reason, .b = site});
}

void Emitter::touch_all(Reason reason) {
  for (std::uint32_t site = 0; site < escaped_.size(); ++site) {
    touch(site, reason);
  }
}

// --- Conditions ------------------------------------------------------------------------------------------------------

void Emitter::begin_skip(Reason reason) {
  open_.push_back({.begin = values_.level().body.size(), .effects = values_.level().effects});
  values_.emit({.code = Code::skip, .reason = reason});
}

void Emitter::end_skip() {
  const Open open = open_.back();
  open_.pop_back();
  std::vector<Instruction>& body = values_.level().body;
  body[open.begin].jump = static_cast<std::int32_t>(body.size() - open.begin);
  drop_without_effects(open);
}

void Emitter::begin_branch(Register condition) {
  open_.push_back({.begin = values_.level().body.size(), .effects = values_.level().effects});
  values_.emit({.code = Code::branch, .reason = Reason::condition, .a = condition});
}

void Emitter::begin_else() {
  open_.back().jump = values_.level().body.size();
  values_.emit({.code = Code::jump});
  std::vector<Instruction>& body = values_.level().body;
  body[open_.back().begin].jump = static_cast<std::int32_t>(body.size() - open_.back().begin);
}

void Emitter::end_branch() {
  const Open open = open_.back();
  open_.pop_back();
  std::vector<Instruction>& body = values_.level().body;
  body[open.jump].jump = static_cast<std::int32_t>(body.size() - open.jump);
  body[open.begin].end = static_cast<std::int32_t>(body.size() - open.begin);
  drop_without_effects(open);
}

void Emitter::drop_without_effects(const Open& open) {
  if (values_.level().effects == open.effects) values_.level().body.resize(open.begin);
}

}  // namespace usmp::replay
