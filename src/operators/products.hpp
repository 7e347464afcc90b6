// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Stores that add products to what they store to.
#pragma once

#include <map>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::operators {

// What the lets of a function stand for.
class Lets {
 public:
  void add(const tir::Stmt& stmt);  // if it is a let

  // The expression without casts, and what it stands for if it is a variable that a let binds.
  [[nodiscard]] const tir::Expr& behind(const tir::Expr& expr) const;
  // Every load below, in the values of lets too, until `most_steps` expressions have been seen.
  [[nodiscard]] std::vector<const tir::Expr*> loads_of(const tir::Expr& root) const;

 private:
  std::map<tir::VarId, const tir::Expr*> values_;
};

// Lets can make sums that are huge when written out.
inline constexpr int most_steps = 4096;

struct Product {
  const tir::Expr* a = nullptr;
  const tir::Expr* b = nullptr;
};

// The terms of a[i] = a[i] + … that are products of two values which read memory. Empty: it is no such sum.
[[nodiscard]] std::vector<Product> added_products(const tir::Store& store, const Lets& lets);

// Whether the value is a sum of the element that the store overwrites and something else.
[[nodiscard]] bool accumulates(const tir::Store& store, const Lets& lets);

}  // namespace usmp::operators
