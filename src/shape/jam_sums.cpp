// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds loops over x around one growing sum, and repeats the sum for neighbouring x.
#include "shape/jam_sums.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "usmp/loops/edit.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/loops/sum_storage.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::shape {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// Sums of fewer terms, a constant number, are left to compilers.
constexpr std::int64_t shortest_sum = 16;

// How often the variable stands in the value.
std::size_t times_mentioned(const Expr& root, VarId var) {
  std::size_t count = 0;
  tir::for_each_expr(root, [&](const Expr& expr) { count += expr.kind == ExprKind::var && expr.var == var ? 1U : 0U; });
  return count;
}

// x, or a sum of x, once, and of what does not mention it.
bool is_plus(const Expr& index, VarId x) {
  if (times_mentioned(index, x) != 1) return false;
  const Expr* part = &index;
  while (part->kind == ExprKind::add) {
    part = times_mentioned(*part->operands[0], x) > 0 ? part->operands[0].get() : part->operands[1].get();
  }
  return part->kind == ExprKind::var;
}

std::int64_t width_of(std::int64_t count) {
  for (const std::int64_t width : {4, 3, 2}) {
    if (count % width == 0) return width;
  }
  return 1;
}

// x becomes x * width + offset.
ExprRef moved(const ExprRef& root, const ExprRef& x, std::int64_t width, std::int64_t offset) {
  const tir::DataType type = x->type;
  const ExprRef scaled = tir::make_binary(ExprKind::mul, x, tir::make_int(width, type));
  const ExprRef place = offset == 0 ? scaled : tir::make_binary(ExprKind::add, scaled, tir::make_int(offset, type));
  return loops::renamed(root, {{x->var, place}});
}

class Jammer {
 public:
  Jammer(const tir::Module& module, tir::Function& function)
      : module_(module), function_(function), storage_(function) {}

  void run() {
    tir::for_each_block(function_.body, [&](Block& block) {
      for (tir::Stmt& stmt : block) {
        if (auto* loop = std::get_if<tir::For>(&stmt.node)) jam(*loop);
      }
    });
  }

 private:
  void jam(tir::For& outer) const {
    const auto count = tir::as_int(*outer.extent);
    const std::int64_t width = count ? width_of(*count) : 1;
    tir::For* inner = tir::only_loop(outer.body);
    if (width == 1 || tir::as_int(*outer.min) != 0 || inner == nullptr || !is_sum(outer.var, *inner)) return;
    const tir::Stmt sum = inner->body[0];
    const ExprRef x = tir::make_var(module_, outer.var);
    outer.extent = tir::make_int(*count / width, outer.extent->type);
    inner->body.assign(static_cast<std::size_t>(width), sum);
    for (std::int64_t i = 0; i < width; ++i) {
      auto& next = std::get<tir::Store>(inner->body[static_cast<std::size_t>(i)].node);
      next.index = moved(next.index, x, width, i);
      next.value = moved(next.value, x, width, i);
    }
  }

  // Whether the loop adds up one sum, another one for each x.
  [[nodiscard]] bool is_sum(VarId x, const tir::For& loop) const {
    const auto count = tir::as_int(*loop.extent);
    if (!count || *count < shortest_sum || !tir::as_int(*loop.min) || loop.body.size() != 1) return false;
    const auto* store = std::get_if<tir::Store>(&loop.body[0].node);
    const Expr* term = store == nullptr ? nullptr : loops::added_term(*store);
    return term != nullptr && storage_.is_alone(store->storage) && is_plus(*store->index, x) &&
           times_mentioned(*store->index, loop.var) == 0 && storage_.may_read(*store->index, store->storage) &&
           storage_.may_read(*term, store->storage);
  }

  const tir::Module& module_;
  tir::Function& function_;
  loops::SumStorage storage_;
};

}  // namespace

void jam_sums(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) Jammer(module, function).run();
  }
}

}  // namespace usmp::shape
