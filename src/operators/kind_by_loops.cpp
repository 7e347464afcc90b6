// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Classifies the sum of products that runs most by the indices that its factors share; else what is stored.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "operators/products.hpp"
#include "usmp/loops/cost.hpp"
#include "usmp/loops/coverage.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/operators/operators.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::operators {
namespace {

using arith::Affine;
using arith::Atom;
using tir::Expr;
using tir::ExprKind;

// What the indices of some loads are made of.
struct Indices {
  std::set<Atom> atoms;
  std::vector<Affine> forms;  // of those that are known
};

void add_atoms(const Affine& form, std::set<Atom>& atoms) {
  for (const auto& [atom, factor] : form.terms) atoms.insert(atom);
}

Indices indices_of(const std::vector<const Expr*>& loads, const arith::Facts& facts) {
  Indices indices;
  for (const Expr* const load : loads) {
    if (auto form = facts.affine(*load->operands[0])) {
      add_atoms(*form, indices.atoms);
      indices.forms.push_back(std::move(*form));
    }
  }
  return indices;
}

bool moves_with(const Atom& atom, const Affine& index) {
  if (atom.kind == Atom::Kind::var) return index.mentions(atom.var);
  return std::any_of(atom.whole->terms.begin(), atom.whole->terms.end(), [&](const auto& term) {
    return term.first.kind == Atom::Kind::var && index.mentions(term.first.var);
  });
}

// Whether different iterations load the same element, as windows that overlap do.
bool slides(const Indices& indices, const arith::Facts& facts) {
  return std::any_of(indices.forms.begin(), indices.forms.end(), [&](const Affine& form) {
    loops::MixedRadix numbers{.start = 0, .digits = {}};
    for (const auto& [atom, factor] : form.terms) {
      Affine alone;
      alone.terms[atom] = 1;
      alone.measure();
      const auto range = facts.interval(alone);
      if (!range) return false;
      numbers.digits.push_back({std::abs(factor), range->high - range->low + 1});
    }
    return !loops::is_injective(numbers);
  });
}

// Names a sum of products by the indices that its two factors share with each other and with the sum.
std::string kind_of_products(const Product& product, const Affine& sum, const Lets& lets, const arith::Facts& facts) {
  const Indices a = indices_of(lets.loads_of(*product.a), facts);
  const Indices b = indices_of(lets.loads_of(*product.b), facts);
  bool shared = false;  // an index of the sum selects elements of both
  bool apart = false;   // or of the second one alone, of the first one alone
  bool alone = false;
  for (const Atom& atom : b.atoms) {
    if (moves_with(atom, sum)) (a.atoms.contains(atom) ? shared : apart) = true;
  }
  for (const Atom& atom : a.atoms) alone = alone || (moves_with(atom, sum) && !b.atoms.contains(atom));
  const bool window = slides(a, facts) || slides(b, facts);
  if (!shared) return window ? "conv2d" : "dense";
  if (window) return apart && alone ? "grouped conv2d" : "depthwise conv2d";
  return apart && alone ? "batch matmul" : "sum";
}

class LoopKind {
 public:
  explicit LoopKind(const tir::Module& module) : facts_(module) {}

  std::string of(const tir::Function& function) {
    const auto before = [&](const tir::Stmt& stmt, const arith::Facts& here) {
      lets_.add(stmt);
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) add(*store, here);
      trips_.enter(stmt, here);
    };
    const auto expr = [&](const Expr& one, const arith::Facts&) {
      exponential_ = exponential_ || one.op == tir::Op::exp;
    };
    loops::visit(function.body, facts_,
                 {.before = before, .after = [&](const tir::Stmt& stmt) { trips_.leave(stmt); }, .expr = expr});
    if (!products_.empty()) return products_;
    if (exponential_ && sums_) return "softmax";
    if (sums_) return "sum";
    if (takes_max_) return "max";
    if (computes_) return "elementwise";
    return copies_ ? "copy" : "";
  }

 private:
  void add(const tir::Store& store, const arith::Facts& here) {
    const auto index = here.affine(*store.index);
    const std::vector<Product> products = added_products(store, lets_);
    if (!products.empty() && trips_.count() > most_) {
      most_ = trips_.count();
      products_ = index ? kind_of_products(products.front(), *index, lets_, here) : "dense";
    }
    const Expr& value = lets_.behind(*store.value);
    sums_ = sums_ || accumulates(store, lets_);
    takes_max_ = takes_max_ || (value.kind == ExprKind::max && reads_element(value, store));
    (value.kind == ExprKind::load || value.operands.empty() ? copies_ : computes_) = true;
  }

  [[nodiscard]] bool reads_element(const Expr& value, const tir::Store& store) const {
    const std::vector<const Expr*> loads = lets_.loads_of(value);
    return std::any_of(loads.begin(), loads.end(), [&](const Expr* load) {
      return load->var == store.storage && tir::is_same(*load->operands[0], *store.index);
    });
  }

  arith::Facts facts_;
  Lets lets_;
  loops::Trips trips_;
  double most_ = 0;       // trips of the sum that `products_` is of
  std::string products_;  // the kind that sums of products tell
  bool exponential_ = false;
  bool sums_ = false;
  bool takes_max_ = false;
  bool computes_ = false;
  bool copies_ = false;
};

// An accumulator or function that is called so.
bool says_depthwise(const tir::Module& module, const tir::Function& function) {
  bool found = false;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    found = found || (allocate != nullptr && module.var(allocate->var).name.starts_with("DepthwiseConv"));
  });
  return found;
}

}  // namespace

std::string kind_by_loops(const tir::Module& module, const tir::Function& function) {
  return LoopKind(module).of(function);
}

std::string kind_of(const tir::Module& module, const tir::Function& function) {
  if (!function.by_rows.empty()) return "operators by rows";
  std::string name = kind_by_name(function.name);
  const bool convolution = name == "conv2d";
  if (convolution && says_depthwise(module, function)) return "depthwise conv2d";
  if (!name.empty() && name != "elementwise" && !convolution) return name;
  std::string loops = kind_by_loops(module, function);
  if (convolution) return loops == "depthwise conv2d" || loops == "grouped conv2d" ? loops : name;
  // A chain of elementwise operators may be all that is left of a longer name.
  const bool products = multiply_accumulates(function) != 0;
  return name.empty() || products ? loops : name;
}

}  // namespace usmp::operators
