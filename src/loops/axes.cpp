// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects the axes from shapes, and from the factors of indices where there is no shape.
#include "loops/axes.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "loops/nest_notes.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using arith::Atom;
using tir::Expr;
using tir::Stmt;
using tir::VarId;

std::vector<Axis> axes_of_shape(const std::vector<std::int64_t>& shape, bool joins) {
  std::vector<Axis> axes;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1) {
      const auto both = joins && !axes.empty() ? checked_mul(shape[i], axes.back().extent) : std::nullopt;
      if (both && axes.back().stride * axes.back().extent == stride) axes.push_back({axes.back().stride, *both});
      axes.push_back({stride, shape[i]});
    }
    const auto next = checked_mul(stride, shape[i]);
    if (!next || *next < 1) return {};
    stride = *next;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

// Nothing: it has no elements, or too many.
std::optional<TensorAxes> tensor_of(const std::vector<std::int64_t>& shape, bool joins) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    const auto next = checked_mul(elements, extent);
    if (!next || *next < 1) return std::nullopt;
    elements = *next;
  }
  return TensorAxes{elements, axes_of_shape(shape, joins)};
}

// What the indices of a flat buffer suggest.
struct Strides {
  std::set<std::int64_t> stored;
  std::set<std::int64_t> loaded;
  // What stores write, as intervals: their beginnings, and their size, if it is the same for all of them.
  std::set<std::int64_t> begins;
  std::optional<std::int64_t> size = {};

  // Without those of strided windows: small multiples of a dimension's stride, by which nothing is stored.
  [[nodiscard]] std::set<std::int64_t> of_dimensions() const {
    constexpr std::int64_t most_times = 4;
    std::set<std::int64_t> both = stored;
    both.insert(loaded.begin(), loaded.end());
    if (stored.empty()) return both;
    std::erase_if(both, [&](std::int64_t stride) {
      if (stored.contains(stride)) return false;
      for (std::int64_t times = 2; times <= most_times; ++times) {
        if (stride % times == 0 && (stored.contains(stride / times) || loaded.contains(stride / times))) return true;
      }
      return false;
    });
    return both;
  }

  void note_store(const std::optional<Interval>& elements) {
    const std::int64_t written = elements ? elements->high - elements->low + 1 : 0;
    if (!size) size = written;
    if (*size != written) size = 0;
    if (elements) begins.insert(elements->low);
  }
};

// A factor may be a multiple of a dimension's stride, as with strided windows: all divisions between two factors.
std::vector<Axis> axes_between(std::set<std::int64_t> strides, std::int64_t elements) {
  constexpr std::size_t most_axes = 32;
  strides.insert({1, elements});
  std::vector<Axis> axes;
  for (auto stride = strides.rbegin(); stride != strides.rend(); ++stride) {
    for (const std::int64_t whole : strides) {
      if (whole > *stride && whole % *stride == 0 && elements % whole == 0 && axes.size() < most_axes) {
        axes.push_back({*stride, whole / *stride});
      }
    }
  }
  return axes;
}

// The size of equal parts of the buffer each of which other stores write, as concatenations along the outermost
// dimension do; 0: there are none.
std::int64_t part_of(const Strides& strides, std::int64_t elements) {
  const std::int64_t size = strides.size.value_or(0);
  const auto count = static_cast<std::int64_t>(strides.begins.size());
  if (size < 2 || count < 2 || elements % size != 0 || elements / size != count) return 0;
  const bool are_apart = std::ranges::all_of(strides.begins, [&](std::int64_t begin) { return begin % size == 0; });
  return are_apart ? size : 0;
}

// Rows do not reach beyond a part, so that nests which write different ones provide the same rows.
std::vector<Axis> axes_of(const Strides& strides, std::int64_t elements) {
  std::set<std::int64_t> dimensions = strides.of_dimensions();
  const std::int64_t part = part_of(strides, elements);
  if (part > 0) dimensions.insert(part);
  std::vector<Axis> axes = axes_between(std::move(dimensions), elements);
  if (part > 0)
    std::erase_if(axes, [&](const Axis& axis) { return axis.stride < part && axis.stride * axis.extent > part; });
  return axes;
}

// What a function's indices say of its flat buffers.
class IndexStrides {
 public:
  IndexStrides(const tir::Module& module, const Tensors& flat) : module_(module), flat_(flat) {}

  std::map<VarId, Strides> of(const tir::Function& function, KnownNests& known) {
    known.resize(function.body.size());
    arith::Facts facts(module_);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const auto* loop = std::get_if<tir::For>(&function.body[i].node);
      const bool is_known = loop != nullptr && known[i] && known[i]->loop == loop->var;
      if (!is_known) known[i] = std::make_shared<NestNotes>(notes_of(function.body[i], facts));
      bind_after(function.body[i], facts);
      for (const NestAccess& access : known[i]->accesses) {
        if (access.index) note(access);
      }
    }
    note_borders(function.body);
    // A loop over two dimensions, which other accesses take apart.
    for (const Move& one : moves_) {
      for (const std::int64_t by : divisors_[one.var]) {
        const auto stride = checked_mul(one.factor, by);
        if (!stride || *stride >= flat_.at(one.storage).elements) continue;
        note_stride(one.storage, *stride, one.is_store);
      }
    }
    return std::move(found_);
  }

 private:
  struct Move {
    VarId storage;
    VarId var;
    std::int64_t factor;
    bool is_store;
  };

  void note_stride(VarId storage, std::int64_t stride, bool is_store) {
    Strides& strides = found_[storage];
    (is_store ? strides.stored : strides.loaded).insert(stride);
  }

  void note(const NestAccess& access) {
    const auto& [storage, is_store, index, elements] = access;
    const bool is_flat = flat_.contains(storage);
    for (const auto& [atom, factor] : index->terms) {
      if (atom.kind != Atom::Kind::var && atom.whole->terms.size() == 1) {
        const VarId inner = atom.whole->terms.begin()->first.var;
        const bool is_var = atom.whole->terms.begin()->first.kind == Atom::Kind::var;
        if (is_var && *atom.whole == arith::variable(inner)) divisors_[inner].insert(atom.by);
      }
      if (!is_flat || factor <= 0) continue;
      note_stride(storage, factor, is_store);
      if (atom.kind == Atom::Kind::var) moves_.push_back({storage, atom.var, factor, is_store});
    }
    if (is_flat && is_store) found_[storage].note_store(elements);
  }

  // Where windows end at the borders of an image, bounds of loops take a variable apart, though indices need not.
  void note_borders(const tir::Block& body) {
    const auto note_bound = [&](const tir::ExprRef& bound) {
      tir::for_each_expr(*bound, [&](const Expr& expr) {
        if (!tir::is_division(expr.kind) || expr.operands[0]->kind != tir::ExprKind::var) return;
        const auto by = tir::as_int(*expr.operands[1]);
        if (by && *by > 1) divisors_[expr.operands[0]->var].insert(*by);
      });
    };
    tir::for_each_stmt(body, [&](const Stmt& stmt) {
      const auto* loop = std::get_if<tir::For>(&stmt.node);
      if (loop == nullptr) return;
      note_bound(loop->min);
      note_bound(loop->extent);
    });
  }

  const tir::Module& module_;
  const Tensors& flat_;
  std::map<VarId, Strides> found_;
  std::vector<Move> moves_;
  std::map<VarId, std::set<std::int64_t>> divisors_;  // of loop variables
};

}  // namespace

Tensors divisible_tensors(const tir::Module& module, const tir::Function& function, bool joins, KnownNests& known) {
  Tensors tensors;
  Tensors flat;  // buffers of one dimension
  const auto declare = [&](VarId var, const std::vector<std::int64_t>& shape) {
    const auto tensor = tensor_of(shape, joins);
    if (!tensor) return;
    tensors[var] = *tensor;
    if (shape.size() == 1) flat[var] = *tensor;
  };
  for (const tir::Param& param : function.params) {
    if (param.is_tensor && param.shape) declare(param.var, *param.shape);
  }
  for (const Stmt& stmt : function.body) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate == nullptr || !tir::element_count(*allocate)) continue;
    std::vector<std::int64_t> shape;
    for (const tir::ExprRef& extent : allocate->extents) shape.push_back(*tir::as_int(*extent));
    declare(allocate->var, shape);
  }
  for (const auto& [storage, strides] : IndexStrides(module, flat).of(function, known)) {
    tensors[storage].axes = axes_of(strides, tensors[storage].elements);
  }
  return tensors;
}

}  // namespace usmp::loops
