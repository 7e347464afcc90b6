// SPDX-License-Identifier: Apache-2.0
#include "lower/ring_addresses.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using arith::Affine;
using arith::Facts;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

struct RingStorage {
  tir::Ring ring;
  std::int64_t planes = 1;
};
using Rings = std::map<VarId, RingStorage>;

Rings rings_of(const tir::Function& function) {
  Rings rings;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    const auto* const allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate == nullptr || !allocate->ring) return;
    const tir::Ring& ring = *allocate->ring;
    rings[allocate->var] = {ring, *tir::element_count(*allocate) / (ring.rows * ring.stride)};
  });
  return rings;
}

ExprRef binary(ExprKind kind, const ExprRef& a, std::int64_t b) {
  if (b == 1) return kind == ExprKind::mod ? tir::make_int(0, a->type) : a;
  return tir::make_binary(kind, a, tir::make_int(b, a->type));
}

ExprRef sum(const ExprRef& a, const ExprRef& b) {
  if (tir::as_int(*a) == 0) return b;
  if (tir::as_int(*b) == 0) return a;
  return tir::make_binary(ExprKind::add, a, b);
}

// Whether every quotient and remainder has been decided: the sum has no other atoms than variables.
bool is_linear(const Affine& value) { return value.nesting == 0; }

class RingPlacer {
 public:
  RingPlacer(tir::Module& module, Rings rings) : module_(module), rings_(std::move(rings)) {}

  void run(tir::Block& body) {
    Facts facts(module_);
    loops::edit(
        body, facts,
        {.before = [this](tir::Block& block, std::size_t& at, Facts& known) { return before(block[at], known); },
         .after = [this](tir::Block& block, std::size_t& at, Facts&) { after(block[at]); }});
  }

 private:
  struct Loop {
    VarId var;
    std::vector<std::pair<Affine, tir::Let>> rows;  // by the place of a row
  };

  loops::Next before(tir::Stmt& stmt, Facts& facts) {
    tir::for_each_expr_of(stmt, [&](ExprRef& root) {
      root = loops::rewritten(root, facts,
                              [this](const ExprRef& expr, const Facts& known) { return changed(*expr, known); });
    });
    if (auto* const store = std::get_if<tir::Store>(&stmt.node)) {
      const auto found = rings_.find(store->storage);
      if (found != rings_.end()) store->index = place(found->second, store->index, facts);
    } else if (auto* const allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      allocate->ring.reset();
    } else if (const auto* const loop = std::get_if<tir::For>(&stmt.node)) {
      loops_.push_back({loop->var, {}});
    }
    return loops::Next::enter;
  }

  void after(tir::Stmt& stmt) {
    auto* const loop = std::get_if<tir::For>(&stmt.node);
    if (loop == nullptr) return;
    tir::Block lets;
    for (auto& [row, let] : loops_.back().rows) lets.push_back({std::move(let)});
    loops_.pop_back();
    loop->body.insert(loop->body.begin(), std::make_move_iterator(lets.begin()), std::make_move_iterator(lets.end()));
  }

  ExprRef changed(const Expr& expr, const Facts& facts) {
    const auto found = expr.kind == ExprKind::load ? rings_.find(expr.var) : rings_.end();
    if (found == rings_.end()) return nullptr;
    Expr copy = expr;
    copy.operands[0] = place(found->second, expr.operands[0], facts);
    return tir::make_expr(std::move(copy));
  }

  ExprRef place(const RingStorage& storage, const ExprRef& element, const Facts& facts) {
    if (storage.ring.rows == storage.ring.extent) return element;
    ExprRef known = known_place(storage, *element, facts);
    return known ? known : any_place(storage, element);
  }

  // As the definition says.
  static ExprRef any_place(const RingStorage& storage, ExprRef element) {
    const tir::Ring& ring = storage.ring;
    const std::int64_t plane = ring.extent * ring.stride;
    if (!element->type.is_int() || element->type.bits < 32 || plane > std::numeric_limits<std::int32_t>::max()) {
      element = tir::make_cast(tir::int64_type, element);
    }
    ExprRef row = binary(ExprKind::div, element, ring.stride);
    if (storage.planes > 1) row = binary(ExprKind::mod, row, ring.extent);
    ExprRef result = binary(ExprKind::mul, binary(ExprKind::mod, row, ring.rows), ring.stride);
    if (storage.planes > 1) {
      result = sum(binary(ExprKind::mul, binary(ExprKind::div, element, plane), ring.rows * ring.stride), result);
    }
    return ring.stride == 1 ? result : sum(result, binary(ExprKind::mod, element, ring.stride));
  }

  // From the variables of the loops; null: not known.
  ExprRef known_place(const RingStorage& storage, const Expr& element, const Facts& facts) {
    const tir::Ring& ring = storage.ring;
    const tir::DataType type = element.type;
    const auto whole = facts.affine(element);
    const auto rows = whole ? facts.divide(*whole, ring.stride) : std::nullopt;
    if (!rows) return nullptr;
    const auto planes = storage.planes > 1 ? facts.divide(rows->quotient, ring.extent) : one_plane(rows->quotient);
    const auto base = planes ? arith::scaled(planes->quotient, ring.rows * ring.stride) : std::nullopt;
    const auto rest = base ? arith::sum(*base, rows->remainder) : std::nullopt;
    if (!rest || !facts.fits(*rest, type)) return nullptr;
    const auto held = facts.divide(planes->remainder, ring.rows);
    if (held && is_linear(held->remainder)) {
      const auto offset = arith::scaled(held->remainder, ring.stride);
      const auto total = offset ? arith::sum(*offset, *rest) : std::nullopt;
      if (total && facts.fits(*total, type)) return facts.expr(*total, type);
    }
    ExprRef first = first_of_row(ring, planes->remainder, type, facts);
    return first ? sum(first, facts.expr(*rest, type)) : nullptr;
  }

  static std::optional<arith::Division> one_plane(const Affine& row) {
    arith::Division division;
    division.remainder = row;
    return division;
  }

  // The offset in its plane of the row's place. The row is not negative wherever it is accessed.
  ExprRef first_of_row(const tir::Ring& ring, const Affine& row, tir::DataType type, const Facts& facts) {
    if (!facts.fits(row, type)) return nullptr;
    ExprRef value = binary(ExprKind::mul, binary(ExprKind::mod, facts.expr(row, type), ring.rows), ring.stride);
    const auto loop = std::find_if(loops_.rbegin(), loops_.rend(), [&](const Loop& l) { return row.mentions(l.var); });
    if (loop == loops_.rend() || !is_of_loops(row)) return value;
    for (const auto& [known, let] : loop->rows) {
      if (known == row && tir::is_same(*let.value, *value)) return tir::make_var(module_, let.var);
    }
    const VarId var(module_.vars.size());
    module_.vars.push_back({.name = "row", .type = type, .element = tir::void_type, .storage_scope = ""});
    loop->rows.emplace_back(row, tir::Let{var, std::move(value)});
    return tir::make_var(module_, var);
  }

  // Whether each variable of the row is that of a loop, so that the row has its value in the loop's body already.
  [[nodiscard]] bool is_of_loops(const Affine& row) const {
    if (!is_linear(row)) return false;
    return std::all_of(row.terms.begin(), row.terms.end(), [this](const auto& term) {
      return std::any_of(loops_.begin(), loops_.end(), [&](const Loop& loop) { return loop.var == term.first.var; });
    });
  }

  tir::Module& module_;
  Rings rings_;
  std::vector<Loop> loops_;  // that are open, the innermost last
};

}  // namespace

void place_rings(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    Rings rings = rings_of(function);
    if (!rings.empty()) RingPlacer(module, std::move(rings)).run(function.body);
  }
}

}  // namespace usmp::lower
