// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Boxes of iterations or elements, as a base in the outer loops plus one interval per dimension: what a part of a loop
// nest accesses while the loops around it do not advance. After Halide's Box (Ragan-Kelley et al., PLDI 2013).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Positions base + [reach.low, reach.high] of one dimension.
struct Side {
  arith::Affine base;  // no constant
  Interval reach;

  [[nodiscard]] std::int64_t extent() const { return reach.high - reach.low + 1; }
};

// A value as the terms that depend on none of the variables, without constant, and the rest.
struct Parted {
  arith::Affine base;
  arith::Affine rest;
};
[[nodiscard]] Parted parted(const arith::Affine& value, const std::set<tir::VarId>& inside);

class Box {
 public:
  // `inside`: variables that change while the others are constant.
  explicit Box(std::set<tir::VarId> inside) : inside_(std::move(inside)) {}

  // Extends the box to the smallest one that also contains the point for all values of `inside`. False, and the box is
  // unusable: a dimension's base differs from that of earlier points, or its reach is not known.
  [[nodiscard]] bool add(const std::vector<arith::Affine>& point, const arith::Facts& facts);

  [[nodiscard]] bool is_empty() const { return sides_.empty(); }
  [[nodiscard]] const std::vector<Side>& sides() const { return sides_; }

  // Number of points; nothing: more than fits an int64.
  [[nodiscard]] std::optional<std::int64_t> size() const;
  // Distance of neighbours along dimension i if the box is stored densely, the last dimension innermost. Requires that
  // `size` has a value.
  [[nodiscard]] std::int64_t stride(std::size_t i) const;
  // Position of the point in the box stored like that. Nothing: a number overflows int64.
  [[nodiscard]] std::optional<arith::Affine> position(const std::vector<arith::Affine>& point) const;

 private:
  std::set<tir::VarId> inside_;
  std::vector<Side> sides_;
};

}  // namespace usmp::loops
