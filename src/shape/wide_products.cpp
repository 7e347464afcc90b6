// SPDX-License-Identifier: Apache-2.0
#include "shape/wide_products.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "shape/sums.hpp"
#include "usmp/arith/ranges.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::shape {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

bool contains(const Expr& root, ExprKind kind, VarId var = {}) {
  bool found = false;
  tir::for_each_expr(root, [&](const Expr& expr) {
    found = found || (expr.kind == kind && (!var.valid() || expr.var == var));
    return !found;
  });
  return found;
}

// Whether the loop is long enough, and does nothing but store.
bool is_row_of_stores(const tir::For& loop) {
  const auto count = tir::as_int(*loop.extent);
  return count && *count >= shortest_sum &&
         std::ranges::all_of(loop.body, [](const Stmt& stmt) { return std::holds_alternative<tir::Store>(stmt.node); });
}

// The product that the store adds to a sum, which stays the same while `k` runs; null: it does something else.
const Expr* summed_product(const tir::Store& store, VarId k) {
  const Expr* term = loops::added_term(store);
  const bool fits = term != nullptr && term->kind == ExprKind::mul && store.value->type == tir::int32_type &&
                    !contains(*store.index, ExprKind::var, k);
  return fits ? term : nullptr;
}

// Whether compilers see that the product fits 16 bits. What variables hold is left open, as for any value of theirs.
bool is_narrow(const Expr& product) {
  arith::Ranges ranges;
  const auto fits_int16 = [&](const Expr& value) {
    const auto range = ranges.of(value);
    return range && range->low >= std::numeric_limits<std::int16_t>::min() &&
           range->high <= std::numeric_limits<std::int16_t>::max();
  };
  for (const ExprRef& factor : product.operands) {
    if (!contains(*factor, ExprKind::load) || !fits_int16(*factor)) return false;
  }
  return fits_int16(product);
}

class Widener {
 public:
  Widener(tir::Module& module, tir::Function& function) : module_(module), function_(function) {}

  void run() {
    tir::for_each_block(function_.body, [&](Block& block) {
      for (Stmt& stmt : block) {
        auto* loop = std::get_if<tir::For>(&stmt.node);
        if (loop == nullptr || !is_row_of_stores(*loop)) continue;
        for (Stmt& store : loop->body) widen(std::get<tir::Store>(store.node), loop->var);
      }
    });
    if (!zero_.valid()) return;
    Block body;
    body.push_back({tir::Let{zero_, tir::make_call(tir::int32_type, tir::Op::hidden_zero, {})}});
    std::move(function_.body.begin(), function_.body.end(), std::back_inserter(body));
    function_.body = std::move(body);
  }

 private:
  void widen(tir::Store& store, VarId k) {
    const Expr* const product = summed_product(store, k);
    if (product == nullptr || product->type != tir::int32_type || !is_narrow(*product)) return;
    Expr sum = *store.value;
    Expr wide = *product;
    wide.operands[0] = tir::make_call(tir::int32_type, tir::Op::widened, {wide.operands[0], zero()});
    sum.operands[1] = tir::make_expr(std::move(wide));
    store.value = tir::make_expr(std::move(sum));
  }

  ExprRef zero() {
    if (!zero_.valid()) {
      zero_ = VarId(module_.vars.size());
      module_.vars.push_back({"zero", tir::int32_type, tir::void_type, ""});
    }
    return tir::make_var(module_, zero_);
  }

  tir::Module& module_;
  tir::Function& function_;
  VarId zero_;
};

}  // namespace

void widen_products(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) Widener(module, function).run();
  }
}

}  // namespace usmp::shape
