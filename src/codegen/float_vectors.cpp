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

std::string_view helpers_text() {
  return "#ifdef USMP_MVE\n"
         "#if __ARM_FEATURE_MVE & 2\n"
         "#define USMP_MVE_FLOATS 1\n"
         "#endif\n"
         "#endif\n"
         "#ifdef USMP_MVE_FLOATS\n"
         "typedef float32x4_t usmp_floats;\n"
         "#else\n"
         "typedef struct { float lane[4]; } usmp_floats;\n"
         "#endif\n";
}

// A function of four lanes: what vectors do, and what each lane does.
std::string function_text(const std::string& head, const std::string& vectors, const std::string& declared,
                          const std::string& lanes, const std::string& returned) {
  return "USMP_INLINE " + head + " {\n#ifdef USMP_MVE_FLOATS\n  " + vectors + "\n#else\n" + declared +
         "  int32_t i;\n  for (i = 0; i < 4; ++i) " + lanes + ";\n" + returned + "#endif\n}\n";
}

}  // namespace

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
    add(file_.helpers.store_floats() + "(");
    add_address(store.storage, *store.index, false);
    add(", ");
  }
  add_floats(*store.value);
  add(is_variable ? ";\n" : ");\n");
  flush();
}

void ExpressionPrinter::add_address(VarId storage, const Expr& index, bool is_const) {
  const tir::ExprRef element = tir::make_load(tir::float32_type, storage, index.operands[0]);
  add_pointer(keep(tir::make_call(tir::handle_type, tir::Op::address_of, {element})),
              {c_type(tir::float32_type), is_const});
}

void ExpressionPrinter::add_floats(const Expr& expr) {
  const auto later_floats = [&](const Expr& operand) { later([this, &operand] { add_floats(operand); }); };
  if (expr.kind == ExprKind::load) {
    if (facts_.float_vectors.contains(expr.var)) return add(name_of(expr.var));
    add(file_.helpers.load_floats() + "(");
    add_address(expr.var, *expr.operands[0], true);
    return add(")");
  }
  if (expr.kind == ExprKind::broadcast) {
    add(file_.helpers.repeated_float() + "(");
    add_converted(*expr.operands[0]);
    return add(")");
  }
  const Expr* first = expr.operands[0].get();
  const Expr* second = expr.operands[1].get();
  if (expr.kind == ExprKind::mul && first->kind == ExprKind::broadcast) std::swap(first, second);
  const bool is_scaled = expr.kind == ExprKind::mul && second->kind == ExprKind::broadcast;
  add((is_scaled                    ? file_.helpers.scale_floats()
       : expr.kind == ExprKind::mul ? file_.helpers.multiply_floats()
                                    : file_.helpers.add_floats()) +
      "(");
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
  return define("usmp_floats", std::string(helpers_text()));
}

std::string Helpers::load_floats() {
  floats();
  return define("usmp_load_floats",
                function_text("usmp_floats usmp_load_floats(const float* x)", "return vld1q_f32(x);",
                              "  usmp_floats result;\n", "result.lane[i] = x[i]", "  return result;\n"));
}

std::string Helpers::store_floats() {
  floats();
  return define("usmp_store_floats", function_text("void usmp_store_floats(float* x, usmp_floats a)",
                                                   "vst1q_f32(x, a);", "", "x[i] = a.lane[i]", ""));
}

std::string Helpers::repeated_float() {
  floats();
  return define("usmp_repeated_float",
                function_text("usmp_floats usmp_repeated_float(float x)", "return vdupq_n_f32(x);",
                              "  usmp_floats result;\n", "result.lane[i] = x", "  return result;\n"));
}

std::string Helpers::scale_floats() {
  floats();
  return define("usmp_scale_floats", function_text("usmp_floats usmp_scale_floats(usmp_floats a, float x)",
                                                   "return vmulq_n_f32(a, x);", "", "a.lane[i] *= x", "  return a;\n"));
}

std::string Helpers::multiply_floats() {
  floats();
  return define("usmp_multiply_floats",
                function_text("usmp_floats usmp_multiply_floats(usmp_floats a, usmp_floats b)",
                              "return vmulq_f32(a, b);", "", "a.lane[i] *= b.lane[i]", "  return a;\n"));
}

std::string Helpers::add_floats() {
  floats();
  return define("usmp_add_floats",
                function_text("usmp_floats usmp_add_floats(usmp_floats a, usmp_floats b)", "return vaddq_f32(a, b);",
                              "", "a.lane[i] += b.lane[i]", "  return a;\n"));
}

}  // namespace usmp::codegen
