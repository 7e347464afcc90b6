// Boxes of iterations or elements, as a base in the outer loops plus an interval a dimension: what a part of a loop
// nest touches while the loops around it stand still. After Halide's Box (Ragan-Kelley et al., PLDI 2013).
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

// A value as the terms that none of the variables changes, without constant, and the rest.
struct Parted {
  arith::Affine base;
  arith::Affine rest;
};
[[nodiscard]] Parted parted(const arith::Affine& value, const std::set<tir::VarId>& inside);

class Box {
 public:
  // `inside`: variables that change while what is outside stands still.
  explicit Box(std::set<tir::VarId> inside) : inside_(std::move(inside)) {}

  // Makes the box the smallest that holds the point, too, wherever `inside` take it. False, and the box useless: a
  // dimension's base differs from that of the points before, or its reach is not known.
  [[nodiscard]] bool add(const std::vector<arith::Affine>& point, const arith::Facts& facts);

  [[nodiscard]] bool is_empty() const { return sides_.empty(); }
  [[nodiscard]] const std::vector<Side>& sides() const { return sides_; }

  // How many points; nothing: more than an int64 counts.
  [[nodiscard]] std::optional<std::int64_t> size() const;
  // Of dimension i: of neighbours along it, how far they are apart where the box is stored by itself, the last
  // dimension's densely. `size` has a value.
  [[nodiscard]] std::int64_t stride(std::size_t i) const;
  // Where the point stands in the box stored so. Nothing: a number leaves int64.
  [[nodiscard]] std::optional<arith::Affine> position(const std::vector<arith::Affine>& point) const;

 private:
  std::set<tir::VarId> inside_;
  std::vector<Side> sides_;
};

}  // namespace usmp::loops
