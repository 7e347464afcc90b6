// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Builders of functions for front ends. Source languages nest bodies in declarations, index tensors by dimensions and
// omit conversions; the result is the normal form of ir.hpp. Nothing recurses, so sources may nest to any depth; the
// given limits apply to what is built.
//
// A front end keeps its own names: it adds variables to Module::vars, builds expressions operands first, and statements
// in program order. verify.hpp checks the finished module; the builders only reject what cannot be built at all. Errors
// are of kind archive and have no place, which the front end adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// An expression and its height: 1 for a leaf.
struct Tree {
  ExprRef expr;
  std::size_t height = 1;
};

// Storage as a tensor that is indexed by dimensions.
struct View {
  VarId storage;
  DataType element;  // the unit of the index; a scalar
  std::size_t dimensions = 0;
  std::vector<Tree> extents;   // of the dimensions after the first, which does not affect addresses
  std::vector<Tree> strides;   // of all dimensions, in elements; empty: the last dimension is dense, row after row
  Tree offset = {nullptr, 0};  // of the first element, in elements; null: none
};

// Makes expressions from expressions. Each function is O(operands).
class ExprBuilder {
 public:
  // Expressions that would be higher throw.
  explicit ExprBuilder(std::size_t max_height) : max_height_(max_height) {}

  // The node with the operands.
  [[nodiscard]] Tree make(Expr node, std::span<const Tree> operands) const;
  // The value converted to the type: cast, and repeated in every lane, if needed. Literals are converted directly.
  [[nodiscard]] Tree converted(Tree value, DataType type) const;

  // Parts of an index: integers, else it throws. Constants are folded, neutral elements dropped. A literal takes the
  // type of the other side; otherwise the wider type is used. A scalar is combined with every lane of a vector. Throws
  // if a constant does not fit the type, or lanes differ.
  [[nodiscard]] Tree sum(Tree a, Tree b) const { return combined(ExprKind::add, std::move(a), std::move(b)); }
  [[nodiscard]] Tree product(Tree a, Tree b) const { return combined(ExprKind::mul, std::move(a), std::move(b)); }
  // Index of the element at the indices, one per dimension. A ramp in the last one stays a ramp. Throws if the numbers
  // of indices and dimensions differ, or if a vector is combined with a ramp.
  [[nodiscard]] Tree flat_index(const View& view, std::span<const Tree> indices) const;

  // Loads a scalar, or a vector at a vector of indices or at a scalar index that counts vectors. A predicate that is
  // always true, or whose expression is null, is dropped.
  [[nodiscard]] Tree load(DataType type, VarId storage, Tree index, const Tree& predicate) const;
  [[nodiscard]] Store store(VarId storage, Tree index, Tree value, const Tree& predicate) const;
  // The same through a view, converted to and from its elements.
  [[nodiscard]] Tree load(DataType type, const View& view, std::span<const Tree> indices, const Tree& predicate) const;
  [[nodiscard]] Store store(const View& view, std::span<const Tree> indices, Tree value, const Tree& predicate) const;

 private:
  [[nodiscard]] Tree combined(ExprKind kind, Tree a, Tree b) const;
  [[nodiscard]] Tree lane_index(Tree index, std::uint16_t lanes) const;

  std::size_t max_height_;
};

// TVM's q_multiply_shift rounds in 32 bits where factor and shift are literals and the factor is one half, in 64 bits
// elsewhere. Returns the operator for the operands of the source; it then fixes the rounding, even if the operands
// change.
[[nodiscard]] Op fixed_point_op(std::span<const ExprRef> operands);

// The statements of one function, in program order, into its body.
//
//   BodyBuilder body(module, function, 250);
//   body.allocate(...);            // until the block that is open ends
//   body.open_loop(i, min, extent);
//   body.add(store);
//   body.close();
//
// A declaration with a body (TVM's Allocate) that ends before the block does needs a scope: open_scope, the
// declaration, its body, close.
class BodyBuilder {
 public:
  // The function must outlive the builder and have no body yet. `max_depth`: limit of nested blocks, including the
  // function's own; opening more throws.
  BodyBuilder(const Module& module, Function& function, std::size_t max_depth)
      : module_(module), function_(function), max_depth_(max_depth), open_{{&function.body, nullptr}} {}

  // --- Declarations until the end of the open block. They throw if storage of one variable has different sizes.

  // Throws if an extent is not an integer (see check_extent). A condition that is always true or null is dropped.
  void allocate(VarId var, DataType type, std::vector<ExprRef> extents, ExprRef condition,
                std::vector<std::string> candidate_pools, bool was_on_stack = false, std::uint16_t alignment = 1);
  static void check_extent(const Expr& extent);
  // Throws if the data does not match the type and extents.
  void allocate_const(VarId var, DataType type, std::span<const std::int64_t> extents,
                      std::shared_ptr<const Constant> data, std::vector<std::string> candidate_pools);
  void let(VarId var, ExprRef value) { emit(Let{var, std::move(value)}); }

  // --- Statements

  void add(Store store) { emit(std::move(store)); }
  void evaluate(ExprRef value);  // a literal has no effect and is dropped
  void require(ExprRef condition, std::string message) { emit(Assert{std::move(condition), std::move(message)}); }

  // --- Blocks, which receive the following statements until they are closed

  // Throws if the variable or a bound is not an integer.
  void open_loop(VarId var, ExprRef min, ExprRef extent);
  void open_while(ExprRef condition);
  void open_branch(ExprRef condition);  // the branch if it holds
  void open_else();                     // closes that; the branch if it does not hold
  void open_scope();
  void close();

  // C to be emitted before the function; each source once.
  void import_c(std::string source);

 private:
  struct Open {
    Block* block;        // nothing is added to the blocks around it meanwhile
    IfThenElse* branch;  // whose then_body it is, or null
  };

  void open(Block& block, IfThenElse* branch = nullptr);
  void check_depth() const;
  void check_size(VarId var, const std::optional<Bytes>& size);

  template <class T>
  T& emit(T statement) {
    Block& block = *open_.back().block;
    return block.emplace_back().node.template emplace<T>(std::move(statement));
  }

  const Module& module_;
  Function& function_;
  std::size_t max_depth_;
  std::vector<Open> open_;                                 // the innermost last
  std::unordered_map<VarId, std::optional<Bytes>> sizes_;  // of storage
};

}  // namespace usmp::tir
