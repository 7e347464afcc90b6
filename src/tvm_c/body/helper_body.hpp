// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The statements of a helper, run on values that are expressions. Three sources: statements in helper_reader.cpp,
// expressions and what they assign to in helper_values.cpp, calls in helper_calls.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/helper_reader.hpp"
#include "tvm_c/body/words.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/support/function_ref.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

inline constexpr std::string_view stored_behind_copy = "elements read through a copy of them behind a store";

// Each function throws SyntaxError for what is not read: at() is where.
class HelperBody : Evaluator {
 public:
  HelperBody(Helpers& helpers, std::size_t file, Values& values, const NewVar& new_var, tir::BodyBuilder& body)
      : helpers_(helpers), file_(file), values_(values), words_(values), new_var_(new_var), body_(body) {}

  // Functions that have been called.
  [[nodiscard]] const std::set<std::string, std::less<>>& names() const { return called_; }

  // The token of the file where the reading is; nothing: in front of the function.
  [[nodiscard]] std::optional<std::uint32_t> at() const { return at_; }

  // What the function returns.
  Value call(std::string_view name, const std::vector<Value>& arguments);

 private:
  using Moved = std::map<c::DeclId, std::int64_t>;  // pointers, and by how many of their elements

  struct Flow {
    enum class Kind : std::uint8_t { next, leave, jump };
    Kind kind = Kind::next;
    std::optional<Value> value = {};  // that is returned
    std::string_view label = {};
  };

  [[nodiscard]] const c::Tree& tree() const { return function_.in->tree; }

  // Ends the reading: found `what`; found 'name' `what`.
  [[noreturn]] void fail(std::string_view what) const { throw SyntaxError{0, "found " + std::string(what)}; }
  [[noreturn]] void fail(std::string_view name, std::string_view what) const {
    fail(in_quotes(name) + " " + std::string(what));
  }
  // Behind a statement's last expression, moves of pointers are done; elsewhere the order would have to be known.
  void require_no_moves() const {
    if (!moves_.empty()) fail("++ or -- of a pointer in an expression of a condition, a size, a call or a return");
  }

  // Types.

  [[nodiscard]] CType type_of(c::TypeId id) const;

  // Values.

  // The same value, whatever is stored afterwards.
  Value fixed(const Value& value, std::string_view name);
  void fix(tir::Tree& tree, std::string_view name);
  Value in_type(const Value& value, CType type);
  void declare(c::DeclId decl, const Value& value);

  // Expressions: pure but for p++ of pointers, which is done behind the statement.

  Value evaluate(c::ExprId root) { return Evaluator::evaluate(tree(), root); }
  Value value_of(c::ExprId id, std::span<const Value> operands) override;

  // A copy that is not made may be used until something is stored. A loop comes back to a use.
  void note_use(const Value& value);

  // sizeof(int32_t), sizeof(array), sizeof(*pointer)
  Value size(c::ExprId id);
  Value operation(c::ExprId id, std::span<const Value> operands);
  Value cast(CType type, const Value& value);

  // a + b; also of constants of which the width is not the same on all machines.
  [[nodiscard]] Value binary(std::string_view op, const Value& a, const Value& b) const;

  // As c computes with it; what is no constant fails.
  [[nodiscard]] c::Constant c_constant(const Value& value) const;

  // Without one, fails.
  [[nodiscard]] Value value_of(const std::optional<c::Constant>& constant) const;

  // Behind &&, || and ?, C computes an operand only sometimes: for a call that would be a statement, and for p++.
  void require_no_steps_in(std::span<const c::ExprId> operands) const;

  // (uint32_t)p, (uintptr_t)p
  std::optional<Value> address_of(c::TypeId id, const Value& pointer) const;

  // Zero for a number that a power of two divides, whatever its variables are.
  static std::optional<Value> no_remainder(const Value& a, const Value& b);
  [[nodiscard]] Value variable(const c::Expr& name) const;
  void make_moves();
  void move(c::DeclId decl, std::int64_t by);
  Value moved(const Value& pointer, const Value& by);

  // Statements.

  Flow block(c::StmtId id, bool is_function = false);
  Flow statement(c::StmtId id);
  void declaration(const c::Stmt& stmt);

  // One that has no elements may not be used.
  void declare_array(c::DeclId id);

  // A function of the file, or an instruction. Only statements may call functions that store.
  Value called(c::ExprId id, std::span<const Value> operands);
  [[nodiscard]] bool is_prototype(c::DeclId decl) const;

  // memcpy and memset of the C library, of whole elements.
  bool memory_call(c::ExprId id);
  void fill(const Value& to, const Value& with, std::int64_t bytes);

  // memcpy(&word, p, 4), memcpy(words, p, sizeof(words)): the words are what stands there, as long as nothing is
  // stored.
  void copy(c::ExprId target, const Value& from, std::int64_t bytes);
  void each_element(const Value& to, std::int64_t bytes, FunctionRef<Value(const Value&)> element);

  // An assignment, a count, or a call.
  void expression(c::ExprId id);
  void call_statement(c::ExprId id);

  // The call of a statement that does nothing else with memory.
  Value evaluate_statement(c::ExprId id);
  void store(const Value& place, const Value& value);
  void add_store(const Value& place, const tir::Tree& value);
  void count(c::ExprId target, std::int64_t by);

  // What a loop or a branch that stays one may change lives in storage then.
  void require_changeable(c::DeclId decl) const;
  void assign(c::DeclId decl, std::string_view op, const Value& given);

  // 0 + x is x: sums often begin so.
  Value updated(const Value& before, std::string_view op, const Value& given);

  // Variables that the statement assigns to or counts, or takes the address of. O(these · log).
  [[nodiscard]] std::set<c::DeclId> changed_in(const c::Stmt& stmt) const;

  // Variables that the statement changes and that are declared outside of it become storage.
  void put_into_storage(const c::Stmt& stmt, const Moved& moved = {});
  Flow branch(const c::Stmt& stmt);
  void inside(c::StmtId id);
  Flow choice(const c::Stmt& stmt);

  struct Header {
    c::DeclId counter;
    std::int64_t first = 0;
    std::int64_t end = 0;
  };

  // for (int i = 0; i < N; ++i)
  Header header(const c::Stmt& stmt);
  Flow loop(const c::Stmt& stmt);

  // Pointers declared outside of the statement that each run of it moves, by how much.
  Moved moved_in(c::StmtId id);
  [[nodiscard]] bool is_outer_pointer(c::DeclId decl) const;
  Moved moved_by(c::ExprId root);

  // A loop that stays one.
  struct Kept {
    std::size_t copies_before = 0;
    std::size_t stores_before = 0;
    bool uses_copy = false;  // made before
  };

  Helpers& helpers_;
  std::size_t file_;
  Values& values_;
  Words words_;
  const NewVar& new_var_;
  tir::BodyBuilder& body_;
  Helpers::Function function_;      // that is read; all are of one file
  std::map<c::DeclId, Value> env_;  // of the function that is read
  // In how many loops and branches that stay the variables in scope are declared, with a value or not.
  std::map<c::DeclId, std::size_t> levels_;
  std::vector<std::pair<c::DeclId, std::int64_t>> moves_;  // of pointers, behind the statement
  std::map<c::DeclId, std::int64_t> arrays_;               // in bytes
  std::set<tir::VarId> own_;                               // storage that the helper declares
  std::set<tir::VarId> relied_on_;                         // of it, what is a short sum wherever it is added to
  std::vector<std::size_t> copies_;                        // stores_ when it was made
  std::vector<Kept> loops_;
  std::int64_t repetitions_ = 1;  // of the statement that is read, in a call
  std::size_t stores_ = 0;        // to other storage than its own
  std::size_t all_stores_ = 0;
  std::optional<std::uint32_t> at_;
  c::ExprId statement_call_;  // a call that is all that its statement does with memory
  std::size_t level_ = 0;
  std::size_t depth_ = 0;
  std::size_t statements_ = 0;
  std::set<std::string, std::less<>> called_;
};

[[nodiscard]] std::optional<std::int64_t> constant_of(const Value& value);

}  // namespace usmp::tvm_c
