// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds accesses outside of their storage by computing indices where they are certainly used: every point that is tried
// is an iteration that runs, so what is found there is no false alarm, and what is not tried is not judged.
#include "usmp/program/outside.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Op;
using tir::VarId;

constexpr std::int64_t most_points = 65536;  // of one access; beyond them, only the ends of ranges
constexpr std::size_t most_loops = 12;       // whose ends are combined

using Number = std::optional<std::int64_t>;

// Storage that a pointer is based on, and how far into it.
struct Target {
  Bytes size = 0;
  Bytes offset = 0;
  VarId var;  // declared
  bool is_passed = false;

  friend auto operator<=>(const Target& a, const Target& b) {
    return std::pair(a.size, a.offset) <=> std::pair(b.size, b.offset);
  }
};

struct Loop {
  std::int64_t min = 0;
  std::int64_t extent = 1;  // >= 1
};

// Conditions that hold together: the last one, and where those before it stand.
struct Condition {
  const Expr* expr = nullptr;
  bool holds = true;
  int before = -1;
};

struct CallToFollow {
  std::size_t function = 0;
  std::vector<std::optional<Target>> arguments;

  friend bool operator<(const CallToFollow& a, const CallToFollow& b) {
    return std::tie(a.function, a.arguments) < std::tie(b.function, b.arguments);
  }
};

Number floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == std::numeric_limits<std::int64_t>::min() && b == -1)) return std::nullopt;
  const std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// As C computes it, or nothing: the result does not fit, which C leaves open.
Number fitted(Number value, tir::DataType type) {
  if (!value || !type.is_integer() || type.bits >= 64) return value;
  const unsigned bits = std::max<unsigned>(type.bits, 32);  // narrower ones are promoted
  if (type.is_uint() && type.bits == 32) {
    return *value & static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
  }
  const std::int64_t limit = std::int64_t{1} << (bits - 1);
  return *value >= -limit && *value < limit ? value : std::nullopt;
}

Number cast_to(std::int64_t value, tir::DataType type) {
  if (!type.is_integer() || type.is_vector()) return std::nullopt;
  if (type.bits >= 64) return value;
  if (type.is_bool()) return value != 0 ? 1 : 0;
  const std::int64_t mask = (std::int64_t{1} << type.bits) - 1;
  const std::int64_t low = value & mask;
  const bool is_negative = type.is_int() && (low >> (type.bits - 1)) != 0;
  return is_negative ? low - mask - 1 : low;
}

class FunctionWalk {
 public:
  FunctionWalk(const tir::Module& module, const CallToFollow& call, std::uint64_t& steps, std::uint64_t most_steps)
      : module_(module),
        function_(module.functions[call.function]),
        index_(call.function),
        steps_(steps),
        most_steps_(most_steps),
        facts_(module) {
    for (std::size_t i = 0; i < function_.params.size() && i < call.arguments.size(); ++i) {
      if (!call.arguments[i]) continue;
      Target target = *call.arguments[i];
      target.var = function_.params[i].var;
      targets_[target.var] = target;
    }
  }

  // Nothing: no access was found that is outside.
  std::optional<OutsideAccess> run() {
    frames_.push_back({&function_.body, 0, "body", -1, {}});
    while (!frames_.empty() && !found_ && steps_ < most_steps_ && !is_uncertain_) {
      if (frames_.back().next == frames_.back().block->size()) {
        if (frames_.back().loop) loops_.erase(*frames_.back().loop);
        frames_.pop_back();
        continue;
      }
      const tir::Stmt& stmt = (*frames_.back().block)[frames_.back().next++];
      enter(stmt);
      is_uncertain_ = is_uncertain_ || leaves_;
    }
    return std::move(found_);
  }

  [[nodiscard]] std::vector<CallToFollow> calls() { return std::move(calls_); }

 private:
  struct Frame {
    const tir::Block* block = nullptr;
    std::size_t next = 0;
    std::string name;  // "body", "then"
    int condition = -1;
    std::optional<VarId> loop;
  };

  [[nodiscard]] int condition() const { return frames_.back().condition; }

  void enter(const tir::Stmt& stmt) {
    std::visit(tir::Overloaded{
                   [&](const tir::Allocate& one) {
                     const auto size = tir::allocation_size(one).bytes;
                     if (size && one.condition == nullptr && !one.ring) targets_[one.var] = {*size, 0, one.var, false};
                   },
                   [&](const tir::AllocateConst& one) {
                     targets_[one.var] = {static_cast<Bytes>(one.data->bytes.size()), 0, one.var, false};
                   },
                   [&](const tir::Let& one) {
                     look_at(one.value);
                     if (module_.var(one.var).type.is_handle()) {
                       targets_.erase(one.var);
                       if (const auto target = target_of(*one.value)) targets_[one.var] = *target;
                     } else {
                       set(one.var, one.value);
                     }
                   },
                   [&](const tir::Store& one) {
                     look_at(one.index);
                     look_at(one.value);
                     if (one.predicate != nullptr) look_at(one.predicate);
                     access(one.storage, *one.index, one.value->type.element(), one.predicate, condition(), true);
                   },
                   [&](const tir::Evaluate& one) {
                     look_at(one.value);
                     if (tir::kept_text_of(*one.value) != nullptr || one.value->op == Op::ret) is_uncertain_ = true;
                   },
                   [&](const tir::For& one) {
                     look_at(one.min);
                     look_at(one.extent);
                     const Number min = value_of(*one.min, {});
                     const Number extent = value_of(*one.extent, {});
                     if (!min || !extent) return pass_over(one.body);
                     if (*extent <= 0) return;
                     loops_[one.var] = {*min, *extent};
                     const auto last = checked_add(*min, *extent - 1);
                     facts_.bind_interval(one.var, last ? std::optional<Interval>({*min, *last}) : std::nullopt);
                     frames_.push_back({&one.body, 0, "body", condition(), one.var});
                   },
                   [&](const tir::While& one) {
                     (void)one;
                     is_uncertain_ = true;  // perhaps it does not end
                   },
                   [&](const tir::IfThenElse& one) {
                     look_at(one.condition);
                     const int before = condition();
                     const int holds = with_condition(one.condition.get(), true, before);
                     const int fails = with_condition(one.condition.get(), false, before);
                     // The last one pushed is entered first.
                     frames_.push_back({&one.else_body, 0, "else", fails, {}});
                     frames_.push_back({&one.then_body, 0, "then", holds, {}});
                   },
                   [&](const tir::Assert& one) {
                     (void)one;
                     is_uncertain_ = true;
                   },
                   [&](const tir::Scope& one) {
                     frames_.push_back({&one.body, 0, "body", condition(), {}});
                   },
               },
               stmt.node);
  }

  void set(VarId var, const ExprRef& value) {
    lets_[var] = value;
    facts_.bind_value(var, *value);
  }

  // A loop of which it is not known whether it runs: only whether what follows does.
  void pass_over(const tir::Block& body) { is_uncertain_ = is_uncertain_ || may_leave(body); }

  // Whether what follows the block may not be reached.
  static bool may_leave(const tir::Block& body) {
    bool leaves = false;
    tir::for_each_stmt(body, [&](const tir::Stmt& stmt) {
      const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
      leaves =
          leaves || std::holds_alternative<tir::While>(stmt.node) || std::holds_alternative<tir::Assert>(stmt.node) ||
          (evaluate != nullptr && (evaluate->value->op == Op::ret || tir::kept_text_of(*evaluate->value) != nullptr));
    });
    return leaves;
  }

  bool may_not_return(std::size_t function) {
    const auto known = leaving_.find(function);
    if (known != leaving_.end()) return known->second;
    return leaving_[function] = may_leave(module_.functions[function].body);
  }

  int with_condition(const Expr* expr, bool holds, int before) {
    conditions_.push_back({expr, holds, before});
    return static_cast<int>(conditions_.size()) - 1;
  }

  // Loads and calls of an expression of the statement, each under the conditions that it is evaluated with.
  void look_at(const ExprRef& root) {
    std::vector<std::pair<const Expr*, int>> pending = {{root.get(), condition()}};
    while (!pending.empty() && ++steps_ < most_steps_) {
      const auto [expr, under] = pending.back();
      pending.pop_back();
      if (expr->kind == ExprKind::let) {
        if (!expr->type.is_handle()) set(expr->var, expr->operands[0]);
      } else if (expr->kind == ExprKind::load) {
        const ExprRef none;
        access(expr->var, *expr->operands[0], expr->type.element(),
               expr->operands.size() > 1 ? expr->operands[1] : none, under, false);
      } else if (expr->kind == ExprKind::call && expr->op == Op::address_of) {
        // The load below is none.
        for (const ExprRef& operand : expr->operands[0]->operands) pending.emplace_back(operand.get(), under);
        continue;
      } else if (const auto named = tir::named_call(*expr)) {
        call(*named, under);
      }
      const bool is_choice = expr->kind == ExprKind::call && expr->op == Op::if_then_else;
      const bool is_short = expr->kind == ExprKind::and_ || expr->kind == ExprKind::or_;
      for (std::size_t i = expr->operands.size(); i-- > 0;) {
        int own = under;
        if (is_choice && i > 0) own = with_condition(expr->operands[0].get(), i == 1, under);
        if (is_short && i > 0) own = with_condition(expr->operands[0].get(), expr->kind == ExprKind::and_, under);
        pending.emplace_back(expr->operands[i].get(), own);
      }
    }
  }

  void call(const tir::NamedCall& named, int under) {
    const auto callee = module_.find(*named.name);
    if (!callee || *callee == index_) return;
    if (may_not_return(*callee)) leaves_ = true;
    if (!find_point({}, under, [](const auto&) { return true; })) return;
    CallToFollow next{*callee, {}};
    for (const ExprRef& argument : named.arguments) {
      next.arguments.push_back(argument->type.is_handle() ? target_of(*argument) : std::nullopt);
      if (next.arguments.back()) next.arguments.back()->is_passed = true;
    }
    calls_.push_back(std::move(next));
  }

  [[nodiscard]] std::optional<Target> target_of(const Expr& pointer) const {
    Bytes offset = 0;
    const Expr* expr = &pointer;
    for (;;) {
      if (expr->kind == ExprKind::var) break;
      if (expr->kind == ExprKind::cast || (expr->kind == ExprKind::call && expr->op == Op::reinterpret)) {
        expr = expr->operands[0].get();
        if (!expr->type.is_handle()) return std::nullopt;
        continue;
      }
      const bool is_address =
          expr->kind == ExprKind::call && expr->op == Op::address_of && expr->operands[0]->kind == ExprKind::load;
      if (is_address) {
        const Expr& load = *expr->operands[0];
        const Number index = value_of(*load.operands[0], {});
        const auto bytes = index ? checked_mul(*index, load.type.element_bytes()) : std::nullopt;
        const auto found = targets_.find(load.var);
        if (!bytes || found == targets_.end()) return std::nullopt;
        return moved(found->second, offset, *bytes);
      }
      if (expr->kind == ExprKind::call && expr->op == Op::handle_add_byte_offset) {
        const Number bytes = value_of(*expr->operands[1], {});
        const auto sum = bytes ? checked_add(offset, *bytes) : std::nullopt;
        if (!sum) return std::nullopt;
        offset = *sum;
        expr = expr->operands[0].get();
        continue;
      }
      return std::nullopt;
    }
    const auto found = targets_.find(expr->var);
    if (found == targets_.end()) return std::nullopt;
    return moved(found->second, offset, 0);
  }

  static std::optional<Target> moved(Target target, Bytes by, Bytes more) {
    const auto sum = checked_add(by, more);
    const auto offset = sum ? checked_add(target.offset, *sum) : std::nullopt;
    if (!offset) return std::nullopt;
    target.offset = *offset;
    return target;
  }

  void access(VarId storage, const Expr& index, tir::DataType element, const ExprRef& predicate, int under,
              bool is_store) {
    const auto found = targets_.find(storage);
    if (found == targets_.end() || found_) return;
    const Target& target = found->second;
    const Bytes width = element.element_bytes();
    if (width <= 0) return;
    if (predicate != nullptr) under = with_condition(predicate.get(), true, under);
    std::vector<std::pair<const Expr*, std::int64_t>> lanes;  // index, and what is added
    if (!index.type.is_vector()) {
      lanes = {{&index, 0}};
    } else if (index.kind == ExprKind::broadcast) {
      lanes = {{index.operands[0].get(), 0}};
    } else if (index.kind == ExprKind::ramp && predicate == nullptr) {
      const Number stride = value_of(*index.operands[1], {});
      if (!stride) return;
      lanes = {{index.operands[0].get(), 0}, {index.operands[0].get(), *stride * (index.type.lanes - 1)}};
    } else {
      return;
    }
    for (const auto& [expr, more] : lanes) {
      if (is_inside(*expr, more, width, target, under)) continue;
      std::int64_t at = 0;
      const bool is_outside = find_point({expr}, under, [&, expr = expr, added = more](const auto& point) {
        const Number value = value_of(*expr, point);
        if (!value) return false;
        const auto begin = checked_mul(*value + added, width);
        if (!begin) return false;
        at = *value + added;
        const Bytes first = target.offset + *begin;
        return first < 0 || first + width > target.size;
      });
      if (is_outside) return report(target, at, width, is_store);
    }
  }

  // Whether the element lies in the target wherever the conditions hold: points need not be tried.
  bool is_inside(const Expr& index, std::int64_t added, Bytes width, const Target& target, int under) {
    const std::size_t mark = facts_.mark();
    for (int at = under; at >= 0; at = conditions_[static_cast<std::size_t>(at)].before) {
      const Condition& one = conditions_[static_cast<std::size_t>(at)];
      facts_.assume(*one.expr, one.holds);
    }
    const auto value = facts_.affine(index);
    const auto range = value ? facts_.interval(*value) : std::nullopt;
    facts_.restore(mark);
    if (!range) return false;
    const auto elements = usmp::sum(*range, {added, added});
    const auto begins = elements ? product(*elements, {width, width}) : std::nullopt;
    const auto bytes = begins ? usmp::sum(*begins, {target.offset, target.offset}) : std::nullopt;
    return bytes && bytes->low >= 0 && bytes->high <= target.size - width;
  }

  void report(const Target& target, std::int64_t at, Bytes width, bool is_store) {
    std::string place;
    for (const Frame& frame : frames_) {
      if (frame.next == 0) continue;  // the other branch
      place += (place.empty() ? "" : ".") + frame.name + "[" + std::to_string(frame.next - 1) + "]";
    }
    const std::string storage = in_quotes(module_.var(target.var).name);
    const std::string what = (is_store ? "stores" : "loads") + (" element " + std::to_string(at)) + " of " + storage;
    const Bytes left = target.size - target.offset;
    found_ = {index_, place,
              what +
                  (left % width == 0 && target.offset >= 0 && left >= 0
                       ? ", which has " + std::to_string(left / width)
                       : ", elements of " + bytes_text(width) + " from byte " + std::to_string(target.offset) + " of " +
                             bytes_text(target.size)) +
                  (target.is_passed ? " in this call" : "")};
  }

  using Point = std::unordered_map<VarId, std::int64_t>;

  // Whether some iteration that runs has all conditions and `is_wanted`.
  template <class IsWanted>
  bool find_point(const std::vector<const Expr*>& exprs, int under, const IsWanted& is_wanted) {
    std::set<VarId> used;
    for (const Expr* expr : exprs) {
      if (!add_variables(*expr, used)) return false;
    }
    for (int at = under; at >= 0; at = conditions_[static_cast<std::size_t>(at)].before) {
      if (!add_variables(*conditions_[static_cast<std::size_t>(at)].expr, used)) return false;
    }
    std::vector<std::pair<VarId, Loop>> loops;
    std::int64_t points = 1;
    for (const VarId var : used) {
      loops.emplace_back(var, loops_.at(var));
      points = checked_mul(points, loops.back().second.extent).value_or(most_points + 1);
      if (points > most_points) points = most_points + 1;
    }
    const bool is_whole = points <= most_points;
    if (!is_whole && loops.size() > most_loops) return false;
    std::vector<std::int64_t> counts(loops.size(), 0);  // of each loop: which value
    for (;;) {
      Point point;
      for (std::size_t i = 0; i < loops.size(); ++i) {
        const Loop& loop = loops[i].second;
        point[loops[i].first] = loop.min + (is_whole ? counts[i] : counts[i] * (loop.extent - 1));
      }
      if (++steps_ >= most_steps_) return false;
      if (holds(under, point) && is_wanted(point)) return true;
      std::size_t i = 0;
      for (; i < loops.size(); ++i) {
        const std::int64_t count =
            is_whole ? loops[i].second.extent : std::min<std::int64_t>(2, loops[i].second.extent);
        if (++counts[i] < count) break;
        counts[i] = 0;
      }
      if (i == loops.size()) return false;
    }
  }

  [[nodiscard]] bool holds(int under, const Point& point) const {
    for (int at = under; at >= 0; at = conditions_[static_cast<std::size_t>(at)].before) {
      const Condition& one = conditions_[static_cast<std::size_t>(at)];
      const Number value = value_of(*one.expr, point);
      if (!value || (*value != 0) != one.holds) return false;
    }
    return true;
  }

  // The loop variables that the value depends on. False: it depends on something else.
  bool add_variables(const Expr& root, std::set<VarId>& used) {
    std::vector<const Expr*> pending = {&root};
    std::set<const Expr*> seen;
    while (!pending.empty()) {
      const Expr* expr = pending.back();
      pending.pop_back();
      if (!seen.insert(expr).second) continue;
      if (++steps_ >= most_steps_) return false;
      if (expr->kind == ExprKind::load || expr->kind == ExprKind::string_imm || expr->kind == ExprKind::float_imm ||
          expr->kind == ExprKind::let) {
        return false;
      }
      if (expr->kind == ExprKind::var) {
        if (loops_.contains(expr->var)) {
          used.insert(expr->var);
        } else if (const auto let = lets_.find(expr->var); let != lets_.end()) {
          pending.push_back(let->second.get());
        } else {
          return false;
        }
      }
      for (const ExprRef& operand : expr->operands) pending.push_back(operand.get());
    }
    return true;
  }

  [[nodiscard]] Number value_of(const Expr& root, const Point& point) const {
    const auto parts = [&](const Expr& expr, std::vector<const Expr*>& list) {
      const auto let = expr.kind == ExprKind::var && !loops_.contains(expr.var) ? lets_.find(expr.var) : lets_.end();
      if (let != lets_.end()) {
        list.push_back(let->second.get());
      } else if (expr.kind != ExprKind::load && expr.kind != ExprKind::let && ++depth_ < most_steps_) {
        tir::append_operands(expr, list);
      }
    };
    const auto before = [](const Expr&, std::size_t, std::span<Number>) {};
    const auto combine = [&](const Expr& expr, std::span<Number> values) -> Number {
      ++steps_;
      if (expr.type.is_vector()) return std::nullopt;
      if (expr.kind == ExprKind::int_imm) return expr.int_value;
      if (expr.kind == ExprKind::var) {
        const auto at = point.find(expr.var);
        if (at != point.end()) return at->second;
        return values.empty() ? std::nullopt : values[0];
      }
      if (expr.kind == ExprKind::call && expr.op == Op::if_then_else && values.size() == 3) {
        if (!values[0]) return std::nullopt;
        return *values[0] != 0 ? values[1] : values[2];
      }
      if (expr.kind == ExprKind::and_ && values[0] == 0) return 0;
      if (expr.kind == ExprKind::or_ && values[0] && *values[0] != 0) return 1;
      if (std::ranges::any_of(values, [](const Number& value) { return !value; })) return std::nullopt;
      return computed(expr, values);
    };
    return tir::fold<Number>(root, parts, before, combine);
  }

  static Number computed(const Expr& expr, std::span<Number> values) {
    const auto a = [&] { return *values[0]; };
    const auto b = [&] { return *values[1]; };
    const bool is_unsigned =
        !expr.operands.empty() && expr.operands[0]->type.is_uint() && expr.operands[0]->type.bits >= 32;
    switch (expr.kind) {
      case ExprKind::add:
        return fitted(checked_add(a(), b()), expr.type);
      case ExprKind::sub:
        return fitted(checked_add(a(), checked_mul(b(), std::int64_t{-1}).value_or(0)), expr.type);
      case ExprKind::mul:
        return fitted(checked_mul(a(), b()), expr.type);
      case ExprKind::floor_div:
      case ExprKind::floor_mod:
      case ExprKind::div:
      case ExprKind::mod: {
        const bool is_floor = expr.kind == ExprKind::floor_div || expr.kind == ExprKind::floor_mod;
        const Number floor = floor_quotient(a(), b());
        if (!floor || (is_unsigned && expr.type.bits == 64)) return std::nullopt;
        const std::int64_t quotient = is_floor ? *floor : a() / b();
        const bool is_quotient = expr.kind == ExprKind::floor_div || expr.kind == ExprKind::div;
        return is_quotient ? quotient : a() - quotient * b();
      }
      case ExprKind::min:
        return std::min(a(), b());
      case ExprKind::max:
        return std::max(a(), b());
      case ExprKind::eq:
        return a() == b();
      case ExprKind::ne:
        return a() != b();
      case ExprKind::lt:
        return a() < b();
      case ExprKind::le:
        return a() <= b();
      case ExprKind::gt:
        return a() > b();
      case ExprKind::ge:
        return a() >= b();
      case ExprKind::and_:
        return a() != 0 && b() != 0;
      case ExprKind::or_:
        return a() != 0 || b() != 0;
      case ExprKind::not_:
        return a() == 0;
      case ExprKind::select:
        return a() != 0 ? b() : *values[2];
      case ExprKind::cast:
        return expr.operands[0]->type.is_integer() ? cast_to(a(), expr.type) : std::nullopt;
      case ExprKind::call:
        if (expr.op == Op::likely) return a();
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  const tir::Module& module_;
  const tir::Function& function_;
  const std::size_t index_;
  std::uint64_t& steps_;
  const std::uint64_t most_steps_;
  mutable std::uint64_t depth_ = 0;
  std::vector<Frame> frames_;
  std::map<VarId, Loop> loops_;
  std::map<VarId, Target> targets_;
  std::map<VarId, ExprRef> lets_;
  arith::Facts facts_;  // of the same loops and lets
  std::vector<Condition> conditions_;
  std::vector<CallToFollow> calls_;
  std::map<std::size_t, bool> leaving_;  // functions that may not return
  bool is_uncertain_ = false;            // from here on nothing is known to run
  bool leaves_ = false;                  // from the next statement on
  std::optional<OutsideAccess> found_;
};

// The entry's tensors whose shapes are constant.
CallToFollow start_of(const tir::Module& module) {
  CallToFollow start{module.entry, {}};
  for (const tir::Param& param : module.functions[module.entry].params) {
    std::optional<Target>& target = start.arguments.emplace_back();
    if (const auto size = tir::size_of(param)) target = {*size, 0, param.var, false};
  }
  return start;
}

}  // namespace

std::optional<OutsideAccess> find_outside_access(const tir::Module& module, std::uint64_t most_steps) {
  std::uint64_t steps = 0;
  std::vector<CallToFollow> pending = {start_of(module)};
  std::set<CallToFollow> followed = {pending.front()};
  while (!pending.empty() && steps < most_steps) {
    const CallToFollow call = std::move(pending.back());
    pending.pop_back();
    FunctionWalk walk(module, call, steps, most_steps);
    if (auto found = walk.run()) return found;
    std::vector<CallToFollow> calls = walk.calls();
    std::ranges::reverse(calls);
    for (CallToFollow& next : calls) {
      if (followed.insert(next).second) pending.push_back(std::move(next));
    }
  }
  return std::nullopt;
}

void require_accesses_inside(const tir::Module& module) {
  const auto found = find_outside_access(module);
  if (!found) return;
  throw Error(ErrorKind::archive,
              {{}, {}, "function " + in_quotes(module.functions[found->function].name) + ", " + found->place},
              found->message + ": expected accesses inside of the storage");
}

}  // namespace usmp::program
