// What front ends make functions with. Source languages nest bodies in declarations, index tensors by dimensions and
// leave conversions out; what comes out of here is the normal form of ir.hpp. Nothing recurses, so sources may nest as
// deep as they like; what is built is held to the limits given.
//
// A front end keeps its own names: it adds variables to Module::vars, builds expressions operands first, and statements
// in program order. What it hands over at the end is checked by verify.hpp; here is refused what cannot be built at
// all. Errors are of kind archive and have no place: the front end knows it.
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
  DataType element;  // of which the index counts; a scalar
  std::size_t dimensions = 0;
  std::vector<Tree> extents;   // of the dimensions behind the first, which takes no part in addresses
  std::vector<Tree> strides;   // of all dimensions, in elements; empty: the last dimension is dense, row after row
  Tree offset = {nullptr, 0};  // of the first element, in elements; null: none
};

// Makes expressions of expressions. Each function is O(operands given).
class ExprBuilder {
 public:
  // Throws where an expression would be higher.
  explicit ExprBuilder(std::size_t max_height) : max_height_(max_height) {}

  // The node with the operands.
  [[nodiscard]] Tree make(Expr node, std::span<const Tree> operands) const;
  // The value in the type: cast, and repeated in every lane, where it is not of it. Literals are converted here.
  [[nodiscard]] Tree converted(Tree value, DataType type) const;

  // Parts of an index: integers, else it throws. Folded when constant, without the neutral element. A literal takes the
  // type of the other side; otherwise the wider type decides. A scalar meets a vector in every lane. Throws where a
  // constant does not fit the type, or lanes differ.
  [[nodiscard]] Tree sum(Tree a, Tree b) const { return combined(ExprKind::add, std::move(a), std::move(b)); }
  [[nodiscard]] Tree product(Tree a, Tree b) const { return combined(ExprKind::mul, std::move(a), std::move(b)); }
  // Of the element at the indices, one a dimension. A ramp in the last one stays a ramp. Throws where the numbers
  // differ, or a vector stands beside a ramp.
  [[nodiscard]] Tree flat_index(const View& view, std::span<const Tree> indices) const;

  // Of a scalar, or of a vector at a vector of indices, or at a scalar one that counts vectors. A predicate of constant
  // truth is left out, as is one whose expression is null.
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
// elsewhere. The operator for such operands, as the source has them; from then on it says how, whatever becomes of
// them.
[[nodiscard]] Op fixed_point_op(std::span<const ExprRef> operands);

// The statements of one function, in program order, into its body.
//
//   BodyBuilder body(module, function, 250);
//   body.allocate(...);            // until the block that is open ends
//   body.open_loop(i, min, extent);
//   body.add(store);
//   body.close();
//
// A declaration of a language in which it has a body (TVM's Allocate) that ends before the block does stands in a
// scope: open_scope, the declaration, its body, close.
class BodyBuilder {
 public:
  // The function must outlive the builder and have no body so far. `max_depth`: of blocks inside each other, the
  // function's own included; what opens one throws beyond it.
  BodyBuilder(const Module& module, Function& function, std::size_t max_depth)
      : module_(module), function_(function), max_depth_(max_depth), open_{{&function.body, nullptr}} {}

  // --- What is declared until the block that is open ends. Storage has one size for each variable, wherever it is
  // allocated, or they throw.

  // Throws if an extent is no integer (check_extent says of which). A condition of constant truth is left out, as is
  // one that is null.
  void allocate(VarId var, DataType type, std::vector<ExprRef> extents, ExprRef condition,
                std::vector<std::string> candidate_pools);
  static void check_extent(const Expr& extent);
  // Throws if the data is not of the elements and extents.
  void allocate_const(VarId var, DataType type, std::span<const std::int64_t> extents,
                      std::shared_ptr<const Constant> data, std::vector<std::string> candidate_pools);
  void let(VarId var, ExprRef value) { emit(Let{var, std::move(value)}); }

  // --- Statements

  void add(Store store) { emit(std::move(store)); }
  void evaluate(ExprRef value);  // a number does nothing and is left out
  void require(ExprRef condition, std::string message) { emit(Assert{std::move(condition), std::move(message)}); }

  // --- Blocks, which take the statements that follow until they are closed

  // Throws if the variable or a bound is no integer.
  void open_loop(VarId var, ExprRef min, ExprRef extent);
  void open_while(ExprRef condition);
  void open_branch(ExprRef condition);  // for what is done if it holds
  void open_else();                     // closes that, for what is done if it does not
  void open_scope();
  void close();

  // C that stands in front of the function; once, however often it is told.
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
    block.push_back(Stmt{std::move(statement)});
    return std::get<T>(block.back().node);
  }

  const Module& module_;
  Function& function_;
  std::size_t max_depth_;
  std::vector<Open> open_;                                 // the innermost last
  std::unordered_map<VarId, std::optional<Bytes>> sizes_;  // of storage
};

}  // namespace usmp::tir
