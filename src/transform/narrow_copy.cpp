// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Matches the one store of a function, and checks that its index takes each value once.
#include "transform/narrow_copy.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/coverage.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

// Looks for the one store of a function, and at what stands around it.
class CopyFinder {
 public:
  CopyFinder(const tir::Module& module, const tir::Function& function) : function_(function), facts_(module) {}

  std::optional<Copy> find() {
    tir::walk(function_.body, *this);
    return is_plain_ ? copy_ : std::nullopt;
  }

  void open(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) {}
  void close(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) {}

  void statement(const tir::Stmt& stmt) {
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const auto range = loops::constant_range(*loop);
      is_plain_ = is_plain_ && range;
      if (!is_plain_) return;
      loops_[loop->var] = *range;
      facts_.bind_loop(*loop);
    } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      facts_.bind_value(let->var, *let->value);
    } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      is_plain_ = is_plain_ && !copy_;
      copy_ = copy_of(*store);
      is_plain_ = is_plain_ && copy_;
    } else {
      is_plain_ = is_plain_ && std::holds_alternative<tir::Scope>(stmt.node);
    }
  }

 private:
  std::optional<Copy> copy_of(const tir::Store& store) const {
    const Expr& value = *store.value;
    if (value.kind != ExprKind::load || value.operands.size() != 1 || store.predicate) return std::nullopt;
    const auto written = facts_.affine(*store.index);  // nothing: of a vector
    const auto read = facts_.affine(*value.operands.front());
    if (!written || !read || *written != *read) return std::nullopt;
    const auto numbers = loops::mixed_radix(*written, loops_);
    const auto elements = numbers ? loops::dense_values(*numbers) : std::nullopt;
    if (!elements || elements->low != 0) return std::nullopt;
    const auto from = position_of(value.var);
    const auto to = position_of(store.storage);
    if (!from || !to || *from == *to) return std::nullopt;
    return Copy{.from = *from, .to = *to, .element = value.type, .count = elements->high + 1};
  }

  // Among the parameters.
  std::optional<std::size_t> position_of(VarId var) const {
    const auto found = std::find_if(function_.params.begin(), function_.params.end(),
                                    [var](const tir::Param& param) { return param.var == var; });
    if (found == function_.params.end()) return std::nullopt;
    return static_cast<std::size_t>(found - function_.params.begin());
  }

  const tir::Function& function_;
  arith::Facts facts_;
  std::map<VarId, Interval> loops_;
  std::optional<Copy> copy_;
  bool is_plain_ = true;
};

}  // namespace

std::optional<Copy> find_copy(const tir::Module& module, const tir::Function& function) {
  return CopyFinder(module, function).find();
}

}  // namespace usmp::transform
