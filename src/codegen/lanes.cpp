// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over neighbouring elements for Helium: which these are, and the C of their values.
#include "codegen/lanes.hpp"

#include <algorithm>
#include <optional>

#include "codegen/c_types.hpp"
#include "codegen/expressions.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

// Whether the index is the variable plus what does not mention it.
bool grows_by_one(const Expr& index, tir::VarId i) {
  const Expr* part = &index;
  while (part->kind == ExprKind::add || part->kind == ExprKind::sub) {
    const bool is_left = tir::mentions(*part->operands[0], i);
    const bool is_right = tir::mentions(*part->operands[1], i);
    if (is_left == is_right || (is_right && part->kind == ExprKind::sub)) return false;
    part = part->operands[is_left ? 0 : 1].get();
  }
  return part->kind == ExprKind::var && part->var == i;
}

bool is_element(tir::DataType type) {
  return type.is_integer() && !type.is_vector() &&
         (type.bits == 8 || type.bits == 16 || (type.bits == 32 && type.is_int()));
}

// A fixed-point product x · y · 2^(s - 31) that VQRDMULH computes: the factor is positive, and x · 2^s fits 32 bits.
bool is_doubled_product(const Expr& expr, arith::Ranges& ranges) {
  if (expr.op != tir::Op::q_multiply_shift || expr.type != tir::int32_type || expr.operands.size() != 4) return false;
  const auto factor = tir::as_int(*expr.operands[1]);
  const auto shift = tir::as_int(*expr.operands[3]);
  if (!factor || *factor < 0 || tir::as_int(*expr.operands[2]) != 31 || !shift || *shift < 0 || *shift > 30)
    return false;
  const auto x = ranges.of(*expr.operands[0]);
  const std::int64_t most = (std::int64_t{1} << (31 - *shift)) - 1;
  return expr.operands[0]->type == tir::int32_type && (*shift == 0 || (x && x->within(Interval{-most, most})));
}

class Fit {
 public:
  Fit(const tir::Store& store, tir::VarId i, arith::Ranges& ranges) : store_(store), i_(i), ranges_(ranges) {}

  bool run() {
    bool fits = true;
    tir::for_each_expr(*store_.value, [&](const Expr& expr) {
      fits = fits && node_fits(expr);
      return fits && expr.kind != ExprKind::load && tir::mentions(expr, i_);
    });
    return fits;
  }

 private:
  bool node_fits(const Expr& expr) {
    if (!is_element(expr.type)) return false;
    if (!tir::mentions(expr, i_)) return is_steady(expr) && (expr.type == tir::int32_type || keeps_value(expr, expr));
    switch (expr.kind) {
      case ExprKind::load:
        return expr.operands.size() == 1 && grows_by_one(*expr.operands[0], i_) && is_readable(expr);
      case ExprKind::cast:
        return keeps_value(expr, *expr.operands[0]);
      case ExprKind::add:
      case ExprKind::sub:
      case ExprKind::mul:
        return expr.type == tir::int32_type || keeps_value(expr, expr);
      case ExprKind::min:
      case ExprKind::max:
        return true;
      case ExprKind::call:
        return expr.op == tir::Op::multiply_high || is_doubled_product(expr, ranges_) ||
               (expr.op == tir::Op::shift_right && expr.type == tir::int32_type && is_shift(*expr.operands[1]));
      default:
        return false;
    }
  }

  static bool is_shift(const Expr& by) {
    const auto literal = tir::as_int(by);
    return !literal || (*literal >= 0 && *literal < 32);
  }

  // A value of the type of `expr`, as it is.
  bool keeps_value(const Expr& expr, const Expr& value) {
    const auto range = ranges_.of(value);
    const auto type = tir::range_of_type(expr.type);
    const auto of_operand = tir::range_of_type(value.type);
    if (!type) return false;
    return (&expr != &value && of_operand && of_operand->within(*type)) || (range && range->within(*type));
  }

  // What is stored may be read at the same place alone.
  [[nodiscard]] bool is_readable(const Expr& load) const {
    return load.var != store_.storage || tir::is_same(*load.operands[0], *store_.index);
  }

  // The same in all iterations, and cheap to be computed before the loop.
  [[nodiscard]] bool is_steady(const Expr& root) const {
    bool is = true;
    tir::for_each_expr(root, [&](const Expr& expr) {
      is = is && expr.kind != ExprKind::call && expr.kind != ExprKind::let &&
           (expr.kind != ExprKind::load || expr.var != store_.storage);
    });
    return is;
  }

  const tir::Store& store_;
  tir::VarId i_;
  arith::Ranges& ranges_;
};

bool is_number(const Expr& root) {
  bool is = true;
  tir::for_each_expr(root, [&](const Expr& expr) {
    is = is && (expr.kind == ExprKind::add || expr.kind == ExprKind::sub || expr.kind == ExprKind::mul ||
                expr.kind == ExprKind::var || expr.kind == ExprKind::int_imm);
  });
  return is;
}

// The only store of the block, behind variables that name values: numbers alone, where the index has them.
std::optional<tir::Store> without_lets(const tir::Block& body) {
  const auto* last = body.empty() ? nullptr : std::get_if<tir::Store>(&body.back().node);
  constexpr std::size_t most_lets = 8;
  constexpr std::size_t most_nodes = 200;
  if (last == nullptr || body.size() > most_lets) return std::nullopt;
  tir::Store store = *last;
  for (std::size_t i = body.size() - 1; i-- > 0;) {
    const auto* let = std::get_if<tir::Let>(&body[i].node);
    if (let == nullptr || let->value->type != tir::int32_type || !tir::is_pure(*let->value) ||
        (!is_number(*let->value) && tir::mentions(*store.index, let->var))) {
      return std::nullopt;
    }
    tir::ExprRewriter inlined([&](const ExprRef& expr) -> ExprRef {
      return expr->kind == ExprKind::var && expr->var == let->var ? let->value : nullptr;
    });
    store.index = inlined.rewritten(store.index);
    store.value = inlined.rewritten(store.value);
    std::size_t nodes = 0;
    tir::for_each_expr(*store.value, [&](const Expr&) { return ++nodes <= most_nodes; });
    if (nodes > most_nodes) return std::nullopt;
  }
  return store;
}

bool is_over_fours(const tir::Module& module, const tir::For& loop) {
  const auto count = tir::as_int(*loop.extent);
  return count && tir::as_int(*loop.min) == 0 && *count >= lane_count && *count % lane_count == 0 &&
         loop.row_runs == 0 && module.var(loop.var).type == tir::int32_type;
}

const char* vector_function(ExprKind kind) {
  switch (kind) {
    case ExprKind::add:
      return "vaddq_s32(";
    case ExprKind::sub:
      return "vsubq_s32(";
    case ExprKind::mul:
      return "vmulq_s32(";
    case ExprKind::min:
      return "vminq_s32(";
    default:
      return "vmaxq_s32(";
  }
}

}  // namespace

std::optional<tir::Store> store_of_lanes(const tir::Module& module, const tir::Function& function, const tir::For& loop,
                                         arith::Ranges& ranges) {
  std::optional<tir::Store> store = is_over_fours(module, loop) ? without_lets(loop.body) : std::nullopt;
  if (!store || store->predicate != nullptr) return std::nullopt;
  const auto param = std::ranges::find(function.params, store->storage, &tir::Param::var);
  if (param == function.params.end() || !param->no_alias || !is_element(store->value->type) ||
      !grows_by_one(*store->index, loop.var) || !Fit(*store, loop.var, ranges).run()) {
    return std::nullopt;
  }
  return store;
}

std::optional<tir::Store> store_of_own(const tir::Module& module, const tir::For& loop, arith::Ranges& ranges,
                                       const std::function<bool(tir::VarId)>& is_own) {
  std::optional<tir::Store> store = is_over_fours(module, loop) ? without_lets(loop.body) : std::nullopt;
  if (!store || store->predicate != nullptr || !is_element(store->value->type) ||
      !grows_by_one(*store->index, loop.var) || !Fit(*store, loop.var, ranges).run()) {
    return std::nullopt;
  }
  bool are_own = true;
  tir::for_each_expr(*store->value, [&](const Expr& expr) {
    if (expr.kind == ExprKind::load) are_own = are_own && expr.var != store->storage && is_own(expr.var);
  });
  return are_own ? store : std::nullopt;
}

bool is_copy(const tir::Module& module, const tir::Function& function, const tir::For& loop) {
  const auto* store = loop.body.size() == 1 ? std::get_if<tir::Store>(&loop.body[0].node) : nullptr;
  if (store == nullptr || store->predicate != nullptr || tir::as_int(*loop.min) != 0 || loop.row_runs != 0 ||
      module.var(loop.var).type != tir::int32_type || loop.extent->type != tir::int32_type) {
    return false;
  }
  const Expr& value = *store->value;
  if (value.kind == ExprKind::int_imm) {
    constexpr std::int64_t few = 32;  // compilers store words
    return is_element(value.type) && value.type.bits == 8 && grows_by_one(*store->index, loop.var) &&
           tir::as_int(*loop.extent).value_or(0) > few;
  }
  const bool is_of_function = std::ranges::find(function.params, value.var, &tir::Param::var) != function.params.end();
  return value.kind == ExprKind::load && value.operands.size() == 1 && is_element(value.type) && value.type.bits == 8 &&
         is_of_function && grows_by_one(*store->index, loop.var) && grows_by_one(*value.operands[0], loop.var);
}

// Four values of the loop over `i`, as store_of_lanes() accepts them.
void ExpressionPrinter::add_lanes(const Expr& expr, tir::VarId i) {
  const auto lanes = [&](const ExprRef& operand) { later([this, operand, i] { add_lanes(*operand, i); }); };
  if (!tir::mentions(expr, i)) {
    add("vdupq_n_s32(");
    add(expr);
    return add(")");
  }
  switch (expr.kind) {
    case ExprKind::load: {
      add(file_.helpers.load_lanes(expr.type) + "(");
      add_address(tir::make_expr(expr), true);
      return add(")");
    }
    case ExprKind::cast:
      return lanes(expr.operands[0]);
    case ExprKind::call:
      return add_fixed_point_lanes(expr, i);
    default:
      add(vector_function(expr.kind));
      lanes(expr.operands[0]);
      add(", ");
      lanes(expr.operands[1]);
      return add(")");
  }
}

void ExpressionPrinter::add_fixed_point_lanes(const Expr& expr, tir::VarId i) {
  const auto lanes = [&](const ExprRef& operand) { later([this, operand, i] { add_lanes(*operand, i); }); };
  if (expr.op == tir::Op::q_multiply_shift) {
    const std::int64_t shift = *tir::as_int(*expr.operands[3]);
    add("vqrdmulhq_n_s32(");
    if (shift > 0) add("vshlq_n_s32(");
    lanes(expr.operands[0]);
    if (shift > 0) add(", " + std::to_string(shift) + ")");
    add(", ");
    add(*expr.operands[1]);
    return add(")");
  }
  if (expr.op == tir::Op::shift_right) {
    if (const auto literal = tir::as_int(*expr.operands[1])) {
      if (*literal > 0) add("vshrq_n_s32(");
      lanes(expr.operands[0]);
      if (*literal > 0) add(", " + std::to_string(*literal) + ")");
      return;
    }
    add("vshlq_s32(");
    lanes(expr.operands[0]);
    add(", vnegq_s32(");
    lanes(expr.operands[1]);
    return add("))");
  }
  const bool is_whole = tir::as_int(*expr.operands[2]) == 0;
  const ExprRef& x = expr.operands[0];
  // Twice x fits 32 bits, so nothing saturates.
  const bool is_doubled = is_whole && x->kind == ExprKind::mul && tir::as_int(*x->operands[1]) == 2;
  add(is_doubled ? "vqrdmulhq_s32(" : is_whole ? "vrmulhq_s32(" : file_.helpers.multiply_high_lanes() + "(");
  lanes(is_doubled ? x->operands[0] : x);
  add(", ");
  lanes(expr.operands[1]);
  if (is_whole) return add(")");
  const Expr& shift = *expr.operands[2];
  add(", ");
  if (const auto literal = tir::as_int(shift)) {
    add("vdupq_n_s32(" + std::to_string(-*literal) + ")");
  } else if (shift.kind == ExprKind::sub) {
    add("vsubq_s32(");
    lanes(shift.operands[1]);
    add(", ");
    lanes(shift.operands[0]);
    add(")");
  } else {
    add("vnegq_s32(");
    lanes(expr.operands[2]);
    add(")");
  }
  add(")");
}

void ExpressionPrinter::print_lane_store(const tir::Store& store, tir::VarId i) {
  const tir::DataType type = store.value->type;
  add(file_.helpers.store_lanes(type) + "(");
  add_address(tir::make_load(type, store.storage, store.index), false);
  add(", ");
  later([this, &store, i] { add_lanes(*store.value, i); });
  add(");\n");
  flush();
}

void ExpressionPrinter::print_copy(const tir::Store& store, const Expr& count, tir::VarId i) {
  const tir::DataType type = store.value->type;
  const bool is_copied = store.value->kind == ExprKind::load;
  add((is_copied ? file_.helpers.copy_lanes(type) : file_.helpers.fill_lanes(type)) + "(");
  add_address(tir::make_load(type, store.storage, store.index), false);
  add(", ");
  if (is_copied) {
    add_address(store.value, true);
  } else {
    add(*store.value);
  }
  add(", ");
  add(count, prec_add);
  add(" - " + name_of(i) + ");\n");
  flush();
}

std::string Helpers::copy_lanes(tir::DataType type) {
  define_vectors();
  const std::string name = "usmp_copy_" + short_name(type);
  const std::string lanes = type.is_int() ? "s8" : "u8";
  const std::string c = storage_type(type);
  return define(name, "#ifdef USMP_MVE\nstatic inline void " + name + "(" + c + "* to, const " + c +
                          "* from, int32_t count) {\n  const mve_pred16_t some = vctp8q((uint32_t)count);\n" +
                          "  vstrbq_p_" + lanes + "(to, vldrbq_z_" + lanes + "(from, some), some);\n}\n#endif\n");
}

std::string Helpers::fill_lanes(tir::DataType type) {
  define_vectors();
  const std::string name = "usmp_fill_" + short_name(type);
  const std::string lanes = type.is_int() ? "s8" : "u8";
  const std::string c = storage_type(type);
  return define(name, "#ifdef USMP_MVE\nstatic inline void " + name + "(" + c + "* to, " + c +
                          " value, int32_t count) {\n  vstrbq_p_" + lanes + "(to, vdupq_n_" + lanes +
                          "(value), vctp8q((uint32_t)count));\n}\n#endif\n");
}

std::string Helpers::load_lanes(tir::DataType type) {
  define_vectors();
  const std::string name = "usmp_load_lanes_" + short_name(type);
  const std::string width = type.bits == 8 ? "vldrbq" : type.bits == 16 ? "vldrhq" : "vldrwq";
  const std::string load = type.is_int() ? width + "_s32(x)" : "vreinterpretq_s32_u32(" + width + "_u32(x))";
  return define(name, "#ifdef USMP_MVE\nstatic inline int32x4_t " + name + "(const " + storage_type(type) +
                          "* x) { return " + load + "; }\n#endif\n");
}

std::string Helpers::store_lanes(tir::DataType type) {
  define_vectors();
  const std::string name = "usmp_store_lanes_" + short_name(type);
  const std::string width = type.bits == 8 ? "vstrbq" : type.bits == 16 ? "vstrhq" : "vstrwq";
  const std::string store = type.is_int() ? width + "_s32(x, lanes)" : width + "_u32(x, vreinterpretq_u32_s32(lanes))";
  return define(name, "#ifdef USMP_MVE\nstatic inline void " + name + "(" + storage_type(type) +
                          "* x, int32x4_t lanes) { " + store + "; }\n#endif\n");
}

std::string Helpers::multiply_high_lanes() {
  define_vectors();
  return define("usmp_multiply_high_lanes",
                "#ifdef USMP_MVE\n"
                "static inline int32x4_t usmp_multiply_high_lanes(int32x4_t x, int32x4_t y, int32x4_t left) {\n"
                "  return vrshlq_s32(vmulhq_s32(x, y), left);\n"
                "}\n#endif\n");
}

}  // namespace usmp::codegen
