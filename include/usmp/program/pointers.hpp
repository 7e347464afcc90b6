// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the statements of a function do through pointers. Pointers are followed by name only: a pointer expression
// becomes the set of variables that it may be based on, so the result does not depend on the callers.
//
// Where a pointer is only passed on (value of a Let, argument of a call, side of a selection) it becomes such a set.
// Everywhere else its storage escapes. A variable of a let expression has the set of its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {

// A pointer variable of one function, in the order in which they were declared.
using Slot = std::uint32_t;
using PointerSet = std::vector<Slot>;  // what a pointer expression may be based on, ascending; empty: no storage

struct PointerAccess {
  bool reads = false;
  bool writes = false;
  std::size_t function = 0;  // the function itself, or an opaque callee; index into Module::functions
  Bytes element_bytes = 1;   // >= 1
  std::size_t lanes = 1;     // >= 1; of a vector
};

// A call by name, with what its arguments may be based on.
struct PointerCall {
  std::string callee;
  std::size_t function = 0;           // index into Module::functions, if is_defined
  bool is_defined = false;            // by the module
  bool is_walked = false;             // its body is analysed: it is defined, and not opaque
  bool is_pure = false;               // it has no side effects
  std::vector<PointerSet> arguments;  // of a function that is walked: by parameter
  std::vector<bool> is_variable;      // by argument: it is exactly the one variable in `arguments`
};

// Receives what a statement does, one call per access, in no particular order, since C leaves it unspecified.
class PointerUses {
 public:
  PointerUses() = default;
  PointerUses(const PointerUses&) = delete;
  PointerUses& operator=(const PointerUses&) = delete;
  virtual ~PointerUses() = default;

  virtual void access(const PointerSet& pointers, const PointerAccess& access) = 0;
  // Any code may access what they point to from here on.
  virtual void escape(const PointerSet& pointers) = 0;
  // The effects of an opaque or unknown callee are reported as accesses.
  virtual void call(PointerCall call) = 0;
};

// Appends the operands that the value of a handle expression may be, or be computed from: the sides of a selection, the
// load below address_of.
void append_pointer_parts(const tir::Expr& pointer, std::vector<const tir::Expr*>& parts);

// Reads the statements of one function in program order.
class PointerReader {
 public:
  // The parameters have the first slots. `uses` gets what `read` finds.
  PointerReader(const tir::Module& module, std::size_t function, PointerUses& uses);

  // Declares storage or a bound pointer. Returns its slot, the existing one if it has one.
  Slot declare(tir::VarId var);
  [[nodiscard]] const std::vector<tir::VarId>& vars() const { return vars_; }  // by slot

  // Reads the statement itself, without the blocks inside; declares nothing. For a Let, returns what its value may be
  // based on. Throws Error of kind archive (place: function name): a pointer to storage that is not declared, a wrong
  // number of arguments. O(nodes + what the pointers may be based on).
  PointerSet read(const tir::Stmt& stmt);

 private:
  void value(const tir::Expr& expr);
  PointerSet part(const tir::Expr& root);
  PointerSet evaluate(const tir::Expr& expr, std::span<PointerSet> parts);
  PointerSet evaluate_call(const tir::Expr& expr, std::span<PointerSet> parts);
  PointerSet evaluate_named_call(const tir::NamedCall& named, std::span<PointerSet> operands, bool is_pure);
  [[nodiscard]] bool is_declared_variable(const tir::Expr& argument) const;
  [[nodiscard]] Bytes handed_element_bytes(const PointerCall& call, std::size_t index, const tir::Expr& argument) const;
  void check_arguments(const PointerCall& call) const;
  void access(tir::VarId var, bool writes, tir::DataType type);
  void access_all(const PointerSet& pointers, std::size_t by, Bytes element_bytes = 1);
  void escape_all(std::span<const PointerSet> sets);
  [[nodiscard]] PointerSet targets_of(tir::VarId var) const;

  const tir::Module& module_;
  const std::size_t function_;
  PointerUses& uses_;
  std::unordered_map<tir::VarId, Slot> slots_;
  std::vector<tir::VarId> vars_;
  // What the let expressions around bind, the innermost last.
  std::unordered_map<tir::VarId, std::vector<PointerSet>> let_targets_;
};

}  // namespace usmp::program
