// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walking the TIR. Nothing here recurses: the depth of a tree costs heap memory, not stack. clang-tidy's
// `misc-no-recursion` enforces the same for the rest of the program, whose passes call these functions.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "usmp/support/function_ref.hpp"
#include "usmp/support/small_stack.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// Helper for std::visit with one lambda per kind.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// --- Expressions -----------------------------------------------------------------------------------------------------

// Calls `visit` for the expression and everything below it, parents first, operands in order, a shared node once per
// use. If `visit` returns a bool, false skips what is below. O(nodes visited).
template <class Visit>
void for_each_expr(const Expr& root, const Visit& visit) {
  SmallStack<const Expr*> pending;
  for (const Expr* expr = &root; expr != nullptr;) {
    bool goes_below = true;
    if constexpr (std::is_same_v<std::invoke_result_t<Visit, const Expr&>, bool>) {
      goes_below = visit(*expr);
    } else {
      visit(*expr);
    }
    if (goes_below) {
      for (std::size_t i = expr->operands.size(); i-- > 0;) pending.push(expr->operands[i].get());
    }
    expr = pending.empty() ? nullptr : pending.back();
    if (expr != nullptr) pending.pop();
  }
}

// Calls `visit` for the expression and everything below it, operands first, each node once. Nodes for which `is_done`
// holds are skipped with everything below; it must hold for a node that has been visited. O(nodes + operands).
template <class IsDone, class Visit>
void for_each_expr_bottom_up(const ExprRef& root, const IsDone& is_done, const Visit& visit) {
  std::vector<std::pair<const ExprRef*, bool>> pending = {{&root, false}};
  while (!pending.empty()) {
    auto& [expr, operands_done] = pending.back();
    if (is_done(**expr)) {
      pending.pop_back();
    } else if (operands_done) {
      visit(*expr);
      pending.pop_back();
    } else {
      operands_done = true;
      const Operands& operands = (*expr)->operands;
      for (std::size_t i = operands.size(); i-- > 0;) pending.emplace_back(&operands[i], false);
    }
  }
}

// Appends the operands in order.
void append_operands(const Expr& expr, std::vector<const Expr*>& parts);

// The value of a tree from the values of its parts. parts(expr, list) appends the expressions that `expr` takes its
// value from, mostly its operands or some of them; before(expr, i, values) is called before the i-th of them is
// evaluated, with the values of those before it; combine(expr, values) returns the value of `expr`. Parts are evaluated
// in order, a shared one once per use. O(parts), besides the three functions.
template <class T, class Parts, class Before, class Combine>
T fold(const Expr& root, const Parts& parts, const Before& before, const Combine& combine) {
  struct Frame {
    const Expr* expr;
    std::size_t first_part;
    std::size_t next_part;
    std::size_t first_value;
  };
  SmallStack<Frame, 8> frames;
  std::vector<const Expr*> open_parts;  // of all frames, the innermost one's last
  std::vector<T> values;                // of the parts that are done
  constexpr std::size_t usual = 8;      // of each, in most trees
  if (!root.operands.empty()) open_parts.reserve(usual);
  parts(root, open_parts);
  if (open_parts.empty()) return combine(root, std::span<T>());
  values.reserve(usual);
  frames.push({&root, 0, 0, 0});
  const Expr* next = nullptr;
  while (true) {
    if (next != nullptr) {
      frames.push({next, open_parts.size(), open_parts.size(), values.size()});
      parts(*next, open_parts);
    }
    Frame& frame = frames.back();
    const std::span<T> own = std::span(values).subspan(frame.first_value);
    if (frame.next_part < open_parts.size()) {
      before(*frame.expr, frame.next_part - frame.first_part, own);
      next = open_parts[frame.next_part++];
      continue;
    }
    next = nullptr;
    T value = combine(*frame.expr, own);
    if (frames.size() == 1) return value;
    open_parts.resize(frame.first_part);
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(frame.first_value), values.end());
    values.push_back(std::move(value));
    frames.pop();
  }
}

template <class T, class Parts, class Combine>
T fold(const Expr& root, const Parts& parts, const Combine& combine) {
  return fold<T>(
      root, parts, [](const Expr&, std::size_t, std::span<T>) {}, combine);
}

[[nodiscard]] bool is_if_then_else(const Expr& expr);

// Whether the variable is in it: as a value, as what a load reads from, or bound by a let.
[[nodiscard]] bool mentions(const Expr& root, VarId var);

// Evaluating it has no side effects, and gives the same value while no memory changes.
[[nodiscard]] bool is_pure(const Expr& expr);

// The expression with other operands; null: that operand stays. Takes them out of `operands`.
[[nodiscard]] ExprRef with_operands(const Expr& expr, std::span<ExprRef> operands);

// Whether both are the same tree. Floats are compared as numbers: a NaN differs from itself unless the node is shared.
// O(nodes of the smaller).
[[nodiscard]] bool is_same(const Expr& a, const Expr& b);

// Replaces expressions, operands first, a shared node once. `change` gets an expression with its new operands and
// returns its replacement, or null to keep it. Results of shared nodes are remembered, and these kept alive, for later
// roots. O(new nodes + operands), besides `change`.
class ExprRewriter {
 public:
  using Change = std::function<ExprRef(const ExprRef&)>;

  explicit ExprRewriter(Change change) : change_(std::move(change)) {}

  [[nodiscard]] ExprRef rewritten(const ExprRef& root);

 private:
  [[nodiscard]] ExprRef rebuilt(const ExprRef& expr, std::span<ExprRef> operands) const;

  Change change_;
  std::unordered_map<const Expr*, ExprRef> results_;  // looked up only
  std::vector<ExprRef> originals_;                    // so that no other node can take the address of one
};

// --- Statements ------------------------------------------------------------------------------------------------------

// Calls `visit` for every expression directly in the statement (not in nested blocks), in the order of evaluation: for
// a Store index, value, predicate.
void for_each_expr_of(const Stmt& stmt, FunctionRef<void(const ExprRef&)> visit);

// The same, to replace them.
void for_each_expr_of(Stmt& stmt, FunctionRef<void(ExprRef&)> visit);

// At most two.
template <class AnyBlock>
class InnerBlocks {
 public:
  using Pointer = AnyBlock*;

  InnerBlocks() = default;
  explicit InnerBlocks(AnyBlock& body) : blocks_{&body, nullptr}, size_(1) {}
  InnerBlocks(AnyBlock& first, AnyBlock& second) : blocks_{&first, &second}, size_(2) {}

  [[nodiscard]] const Pointer* begin() const { return blocks_.data(); }
  [[nodiscard]] const Pointer* end() const { return blocks_.data() + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  Pointer operator[](std::size_t i) const { return *(begin() + i); }
  [[nodiscard]] Pointer front() const { return *begin(); }

 private:
  std::array<Pointer, 2> blocks_ = {};
  std::size_t size_ = 0;
};

// The blocks directly inside a statement (bodies of loops, branches and scopes; both of an IfThenElse).
[[nodiscard]] InnerBlocks<const Block> blocks_of(const Stmt& stmt);
[[nodiscard]] InnerBlocks<Block> blocks_of(Stmt& stmt);

// The loop, if it is the only statement of the block; else null.
[[nodiscard]] const For* only_loop(const Block& block);
[[nodiscard]] For* only_loop(Block& block);

// The end of a loop whose extent has the form end - min, as narrowed bounds are written; null for any other extent.
[[nodiscard]] ExprRef end_of(const For& loop);

// Walks a block and the blocks inside in program order: walker.open(block, owner) and walker.close(block, owner) around
// each block, where `owner` is the statement that it is a body of (null: `root`), and walker.statement(stmt) for each
// statement, before its blocks. O(statements).
template <class Walker>
void walk(const Block& root, Walker& walker) {
  struct Frame {
    const Block* block = nullptr;
    const Stmt* owner = nullptr;
    std::size_t next = 0;
    bool is_open = false;
  };
  SmallStack<Frame, 8> frames;
  frames.push({&root, nullptr});
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (!frame.is_open) {
      frame.is_open = true;
      walker.open(*frame.block, frame.owner);
    }
    if (frame.next == frame.block->size()) {
      walker.close(*frame.block, frame.owner);
      frames.pop();
      continue;
    }
    const Stmt& stmt = (*frame.block)[frame.next++];
    walker.statement(stmt);
    const InnerBlocks<const Block> inner = blocks_of(stmt);
    for (std::size_t i = inner.size(); i-- > 0;) frames.push({inner[i], &stmt});
  }
}

// Calls `visit` for every statement of the block and of the blocks inside, parents first, in program order.
void for_each_stmt(const Block& block, FunctionRef<void(const Stmt&)> visit);

// Calls `visit` for the block and the blocks inside, each before those inside of it. `visit` may change the block; the
// walk continues in the changed block. O(statements).
void for_each_block(Block& root, FunctionRef<void(Block&)> visit);

// Calls `visit` for every expression of every statement of the block, in the order of the two functions above.
void for_each_expr_in(const Block& block, FunctionRef<void(const Expr&)> visit);

// --- Functions and calls ---------------------------------------------------------------------------------------------

// Whether the function's C is provided externally: its target differs from the entry's ("cmsis-nn" and "c"). An unknown
// target counts as the entry's.
[[nodiscard]] bool is_opaque(const Module& module, const Function& function);

// A call of a function by its name: call_extern, call_pure_extern, tvm_call_packed, tvm_call_cpacked.
struct NamedCall {
  const std::string* name = nullptr;
  std::span<const ExprRef> arguments;  // without the name and without the resource handle of tvm_call_cpacked
};

// Nothing if the expression is not such a call. Points into `expr`.
[[nodiscard]] std::optional<NamedCall> named_call(const Expr& expr);

// Quotients and remainders, whichever way they round.
[[nodiscard]] constexpr bool is_division(ExprKind kind) {
  return kind == ExprKind::div || kind == ExprKind::mod || kind == ExprKind::floor_div || kind == ExprKind::floor_mod;
}

// C that stays as it is, a statement that has nothing to do with storage: call_extern of this name with the text. To
// all passes it is a function that nobody knows.
inline constexpr const char* kept_text = "usmp_kept_text";

// The text; null if the expression is no such call.
[[nodiscard]] const std::string* kept_text_of(const Expr& expr);

// In tvm_check_return in place of the number that the function returns: it returns what the call gives.
[[nodiscard]] ExprRef make_own_code();
[[nodiscard]] bool is_own_code(const Expr& expr);

// Likewise: C that stays as it is runs instead, and may leave the function. `variable`: "int ret", which it finds to
// hold what the call gives; empty: none.
struct KeptFailure {
  std::string_view variable;
  std::string_view text;
};

[[nodiscard]] ExprRef make_kept_failure(const KeptFailure& failure);
// Points into `expr`.
[[nodiscard]] std::optional<KeptFailure> kept_failure_of(const Expr& expr);

}  // namespace usmp::tir
