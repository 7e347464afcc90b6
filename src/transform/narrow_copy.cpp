#include "transform/narrow_copy.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Function;
using tir::VarId;

// constant + Σ factor · loop variable.
struct Affine {
  std::int64_t constant = 0;
  std::map<VarId, std::int64_t> factors;  // none is 0
  friend bool operator==(const Affine&, const Affine&) = default;
};

std::optional<Affine> combined(const Affine& a, const Affine& b, std::int64_t sign) {
  Affine sum = a;
  const auto add = [&](std::int64_t& to, std::int64_t value) {
    const auto scaled = checked_mul(value, sign);
    const auto result = scaled ? checked_add(to, *scaled) : std::nullopt;
    to = result.value_or(0);
    return result.has_value();
  };
  if (!add(sum.constant, b.constant)) return std::nullopt;
  for (const auto& [var, factor] : b.factors) {
    if (!add(sum.factors[var], factor)) return std::nullopt;
  }
  std::erase_if(sum.factors, [](const auto& term) { return term.second == 0; });
  return sum;
}

std::optional<Affine> scaled(const Affine& a, std::int64_t by) { return combined({}, a, by); }

using Known = std::map<VarId, Affine>;  // loop variables and lets

std::optional<Affine> affine_of(const Expr& root, const Known& known) {
  return tir::fold<std::optional<Affine>>(
      root, tir::append_operands,
      [&](const Expr& expr, std::span<std::optional<Affine>> values) -> std::optional<Affine> {
        for (const auto& value : values) {
          if (!value) return std::nullopt;
        }
        switch (expr.kind) {
          case ExprKind::int_imm:
            return Affine{expr.int_value, {}};
          case ExprKind::var: {
            const auto found = known.find(expr.var);
            return found == known.end() ? std::nullopt : std::optional(found->second);
          }
          case ExprKind::add:
            return combined(*values[0], *values[1], 1);
          case ExprKind::sub:
            return combined(*values[0], *values[1], -1);
          case ExprKind::mul:
            if (values[1]->factors.empty()) return scaled(*values[0], values[1]->constant);
            if (values[0]->factors.empty()) return scaled(*values[1], values[0]->constant);
            return std::nullopt;
          default:
            return std::nullopt;
        }
      });
}

struct Loop {
  std::int64_t min = 0;
  std::int64_t extent = 0;
};

// How many elements an index takes, if these are 0, 1, … without a gap: with the factors in ascending order, each is
// the product of the extents before it, and the smallest index is 0.
std::optional<std::int64_t> covers(const Affine& index, const std::map<VarId, Loop>& loops) {
  std::int64_t smallest = index.constant;
  std::vector<std::pair<std::int64_t, std::int64_t>> digits;  // factor, extent
  for (const auto& [var, factor] : index.factors) {
    const Loop& loop = loops.at(var);
    const auto offset = checked_mul(loop.min, factor);
    const auto sum = offset ? checked_add(smallest, *offset) : std::nullopt;
    if (!sum) return std::nullopt;
    smallest = *sum;
    if (loop.extent > 1) digits.emplace_back(factor, loop.extent);
  }
  if (smallest != 0) return std::nullopt;
  std::sort(digits.begin(), digits.end());
  std::int64_t count = 1;
  for (const auto& [factor, extent] : digits) {
    const auto product = checked_mul(count, extent);
    if (factor != count || !product) return std::nullopt;
    count = *product;
  }
  return count;
}

// Looks for the one store of a function, and at what stands around it.
class CopyFinder {
 public:
  explicit CopyFinder(const Function& function) : function_(function) {}

  std::optional<Copy> find() {
    tir::walk(function_.body, *this);
    if (!is_plain_ || !copy_) return std::nullopt;
    return copy_;
  }

  void open(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) {}
  void close(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) {}

  void statement(const tir::Stmt& stmt) {
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const auto min = tir::as_int(*loop->min);
      const auto extent = tir::as_int(*loop->extent);
      is_plain_ = is_plain_ && min && extent && *extent > 0;
      if (!is_plain_) return;
      loops_[loop->var] = {*min, *extent};
      known_[loop->var] = Affine{0, {{loop->var, 1}}};
    } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      if (const auto value = affine_of(*let->value, known_)) known_[let->var] = *value;
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
    if (value.kind != ExprKind::load || value.type.is_vector() || value.operands.size() != 1 || store.predicate) {
      return std::nullopt;
    }
    const auto written = affine_of(*store.index, known_);
    const auto read = affine_of(*value.operands.front(), known_);
    if (!written || !read || *written != *read) return std::nullopt;
    const auto count = covers(*written, loops_);
    if (!count) return std::nullopt;
    const auto from = position_of(value.var);
    const auto to = position_of(store.storage);
    if (!from || !to || *from == *to) return std::nullopt;
    return Copy{.from = *from, .to = *to, .element = value.type, .count = *count};
  }

  // Among the parameters.
  std::optional<std::size_t> position_of(VarId var) const {
    const auto found = std::find_if(function_.params.begin(), function_.params.end(),
                                    [var](const tir::Param& param) { return param.var == var; });
    if (found == function_.params.end()) return std::nullopt;
    return static_cast<std::size_t>(found - function_.params.begin());
  }

  const Function& function_;
  Known known_;
  std::map<VarId, Loop> loops_;
  std::optional<Copy> copy_;
  bool is_plain_ = true;
};

}  // namespace

std::optional<Copy> find_copy(const Function& function) { return CopyFinder(function).find(); }

}  // namespace usmp::transform
