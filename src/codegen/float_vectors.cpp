// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of four floats at a time: which arrays hold them, and their C, with a portable body for other compilers.
#include "codegen/float_vectors.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "codegen/expressions.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;
using Pointers = std::unordered_map<VarId, PointerFacts>;

constexpr tir::DataType four_floats{tir::TypeCode::float_, 32, 4};

bool is_neighbours(const Expr& index) {
  return index.kind == ExprKind::ramp && index.type.lanes == four_floats.lanes &&
         tir::as_int(*index.operands[1]) == 1 && !index.operands[0]->type.is_vector();
}

bool is_plain(VarId storage, const Pointers& pointers) {
  const auto found = pointers.find(storage);
  return found != pointers.end() && !found->second.mixed_types;
}

// Element 0 and the next three: all that a vector has.
bool is_whole(const Expr& index) { return is_neighbours(index) && tir::as_int(*index.operands[0]) == 0; }

bool is_candidate(const tir::Allocate& allocate) {
  return allocate.on_stack && allocate.type == tir::float32_type && !allocate.ring && allocate.alignment == 1 &&
         allocate.condition == nullptr && tir::element_count(allocate) == four_floats.lanes;
}

constexpr std::string_view floats_text =
    "#ifdef USMP_MVE\n"
    "#if __ARM_FEATURE_MVE & 2\n"
    "#define USMP_MVE_FLOATS 1\n"
    "#endif\n"
    "#endif\n"
    "#ifdef USMP_MVE_FLOATS\n"
    "typedef float32x4_t usmp_floats;\n"
    "#else\n"
    "typedef struct { float lane[4]; } usmp_floats;\n"
    "#endif\n";

// In the order of FloatFunction: what vectors do, and what each lane of the result is.
struct FunctionText {
  std::string_view name;
  std::string_view params;
  std::string_view vectors;
  std::string_view lane;
};
constexpr FunctionText functions[] = {
    {"usmp_load_floats", "const float* x", "vld1q_f32(x)", "x[i]"},
    {"usmp_store_floats", "float* x, usmp_floats a", "vst1q_f32(x, a)", "a.lane[i]"},
    {"usmp_repeated_float", "float x", "vdupq_n_f32(x)", "x"},
    {"usmp_scale_floats", "usmp_floats a, float x", "vmulq_n_f32(a, x)", "a.lane[i] * x"},
    {"usmp_multiply_floats", "usmp_floats a, usmp_floats b", "vmulq_f32(a, b)", "a.lane[i] * b.lane[i]"},
    {"usmp_add_floats", "usmp_floats a, usmp_floats b", "vaddq_f32(a, b)", "a.lane[i] + b.lane[i]"},
};

// Whether the store is one of four neighbours, and its value of sums and products of such loads and of what is the same
// four times. O(nodes).
bool is_store_of_floats(const tir::Store& store, const Pointers& pointers) {
  if (store.value->type != four_floats || store.predicate != nullptr || !is_neighbours(*store.index) ||
      !is_plain(store.storage, pointers)) {
    return false;
  }
  bool is = true;
  tir::for_each_expr(*store.value, [&](const Expr& expr) {
    if (!is) return false;
    switch (expr.kind) {
      case ExprKind::load:
        is = expr.type == four_floats && expr.operands.size() == 1 && is_neighbours(*expr.operands[0]) &&
             is_plain(expr.var, pointers);
        return false;
      case ExprKind::broadcast:
        is = expr.operands[0]->type == tir::float32_type;
        return false;
      default:
        is = expr.type == four_floats && (expr.kind == ExprKind::add || expr.kind == ExprKind::mul);
        return is;
    }
  });
  return is;
}

}  // namespace

std::unordered_set<VarId> float_vectors(const tir::Function& function, const Pointers& pointers) {
  std::unordered_set<VarId> vectors;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate != nullptr && is_candidate(*allocate)) vectors.insert(allocate->var);
  });
  if (vectors.empty()) return vectors;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    const auto* store = std::get_if<tir::Store>(&stmt.node);
    const bool is_of_floats = store != nullptr && is_store_of_floats(*store, pointers);
    if (store != nullptr && (!is_of_floats || !is_whole(*store->index))) vectors.erase(store->storage);
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        const bool is_kept =
            is_of_floats && expr.kind == ExprKind::load && expr.type == four_floats && is_whole(*expr.operands[0]);
        if (!is_kept) vectors.erase(expr.var);
      });
    });
  });
  return vectors;
}

// --- Expressions -----------------------------------------------------------------------------------------------------

void ExpressionPrinter::print_floats(const tir::Store& store) {
  const bool is_variable = facts_.float_vectors.contains(store.storage);
  if (is_variable) {
    add(name_of(store.storage) + " = ");
  } else {
    add(file_.helpers.floats(FloatFunction::store) + "(");
    add_address(tir::make_load(tir::float32_type, store.storage, store.index->operands[0]), false);
    add(", ");
  }
  add_floats(*store.value);
  add(is_variable ? ";\n" : ");\n");
  flush();
}

void ExpressionPrinter::add_floats(const Expr& expr) {
  const auto later_floats = [&](const Expr& operand) { later([this, &operand] { add_floats(operand); }); };
  if (expr.kind == ExprKind::load) {
    if (facts_.float_vectors.contains(expr.var)) return add(name_of(expr.var));
    add(file_.helpers.floats(FloatFunction::load) + "(");
    add_address(tir::make_load(tir::float32_type, expr.var, expr.operands[0]->operands[0]), true);
    return add(")");
  }
  if (expr.kind == ExprKind::broadcast) {
    add(file_.helpers.floats(FloatFunction::repeat) + "(");
    add_converted(*expr.operands[0]);
    return add(")");
  }
  const Expr* first = expr.operands[0].get();
  const Expr* second = expr.operands[1].get();
  if (expr.kind == ExprKind::mul && first->kind == ExprKind::broadcast) std::swap(first, second);
  const bool is_scaled = expr.kind == ExprKind::mul && second->kind == ExprKind::broadcast;
  const FloatFunction function = is_scaled                    ? FloatFunction::scale
                                 : expr.kind == ExprKind::mul ? FloatFunction::multiply
                                                              : FloatFunction::add;
  add(file_.helpers.floats(function) + "(");
  later_floats(*first);
  add(", ");
  if (is_scaled) {
    add_converted(*second->operands[0]);
  } else {
    later_floats(*second);
  }
  add(")");
}

// --- Helpers ---------------------------------------------------------------------------------------------------------

std::string Helpers::floats() {
  define_vectors();
  define_inline();
  return define("usmp_floats", std::string(floats_text));
}

std::string Helpers::floats(FloatFunction function) {
  floats();
  const FunctionText& text = functions[static_cast<std::size_t>(function)];
  const bool is_store = function == FloatFunction::store;
  const std::string result = is_store ? "x[i] = " : "result.lane[i] = ";
  return define(std::string(text.name),
                std::string("USMP_INLINE ") + (is_store ? "void " : "usmp_floats ") + std::string(text.name) + "(" +
                    std::string(text.params) + ") {\n#ifdef USMP_MVE_FLOATS\n  " + (is_store ? "" : "return ") +
                    std::string(text.vectors) + ";\n#else\n" + (is_store ? "" : "  usmp_floats result;\n") +
                    "  int32_t i;\n  for (i = 0; i < 4; ++i) " + result + std::string(text.lane) + ";\n" +
                    (is_store ? "" : "  return result;\n") + "#endif\n}\n");
}

}  // namespace usmp::codegen
