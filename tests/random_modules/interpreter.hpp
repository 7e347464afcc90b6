// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The reference: what a module of TIR computes, statement by statement. Slow and simple. It knows nothing of liveness,
// plans, lowering or C, except that it refuses what C and TIR do not agree on (throws Undefined): signed overflow,
// results of narrow arithmetic that are used before they are cut to their type, bits of a NaN, and all that is
// undefined in TIR itself (reads of unwritten bytes, accesses out of bounds, division by zero, …).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "random_modules/memory.hpp"
#include "random_modules/values.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::random_modules {

// A parameter of the entry: an input has contents.
struct Argument {
  std::size_t bytes = 0;
  std::optional<std::string> contents;
};

struct Outcome {
  Memory memory;
  std::map<tir::VarId, std::int64_t> row_runs;  // of loops over rows, by their variables: how often the body ran
  std::vector<std::uint32_t> params;  // instances of the entry's parameters; those without contents are outputs
};

class Interpreter {
 public:
  // Gives up, with Undefined, after so many times the usual number of steps and accesses.
  explicit Interpreter(const tir::Module& module, std::size_t patience = 1)
      : module_(module), vars_(module.vars.size()), memory_(patience), patience_(patience) {}

  // One run of the entry. Throws Undefined; every test module is run here first.
  Outcome run(const std::vector<Argument>& arguments) &&;

 private:
  static constexpr std::size_t most_lanes = 16;
  struct Variable {
    bool is_bound = false;
    std::array<Scalar, most_lanes> lanes;
  };

  // False: the function returns.
  bool run_block(const tir::Block& block);
  bool run_stmt(const tir::Stmt& stmt);
  bool run_for(const tir::For& loop);
  bool run_while(const tir::While& loop);
  void run_store(const tir::Store& store);
  bool run_evaluate(const tir::Expr& value);
  void allocate(const tir::Allocate& allocate);
  void allocate(const tir::AllocateConst& constant);
  // The value that a call of a function gives.
  Scalar call(const tir::NamedCall& call, tir::DataType result);
  Scalar call_extern(const std::string& name, const std::vector<Scalar>& arguments, tir::DataType result);
  void step();

  // The value as TVM's C has it: narrow integers may lie outside of their type.
  Scalar value(const tir::Expr& expr, std::size_t lane = 0);
  // Cut to the type, as an assignment does.
  Scalar assigned(const tir::Expr& expr, std::size_t lane = 0);
  std::int64_t number(const tir::Expr& expr, std::size_t lane = 0);
  Scalar pointer(const tir::Expr& expr);
  void bind(tir::VarId var, const tir::Expr& value);

  Scalar arithmetic(const tir::Expr& expr, std::size_t lane);
  Scalar integer_arithmetic(const tir::Expr& expr, std::size_t lane);
  Scalar float_arithmetic(const tir::Expr& expr, std::size_t lane);
  Scalar comparison(const tir::Expr& expr, std::size_t lane);
  Scalar cast(const tir::Expr& expr, std::size_t lane);
  Scalar load(const tir::Expr& expr, std::size_t lane);
  Scalar shuffle(const tir::Expr& expr, std::size_t lane);
  Scalar intrinsic(const tir::Expr& expr, std::size_t lane);
  std::optional<Scalar> math(const tir::Expr& expr, std::size_t lane);
  std::optional<Scalar> bit_operation(const tir::Expr& expr, std::size_t lane);
  Scalar reinterpreted(const tir::Expr& expr, std::size_t lane);
  Scalar fixed_point(const tir::Expr& expr, std::size_t lane);
  Scalar products(const tir::Expr& expr);
  void run_of_products(const tir::Expr& expr);
  void window_of_lanes(const tir::Expr& expr);
  void window_of_products(const tir::Expr& expr);
  void products_of_pairs(const tir::Expr& expr);
  [[nodiscard]] Scalar storage_of(const tir::Expr& load) const;

  const tir::Module& module_;
  std::vector<Variable> vars_;  // by VarId: functions do not recurse and share no variables
  Memory memory_;
  std::vector<std::uint32_t> constants_;  // instances by VarId, once there is one
  std::size_t steps_ = 0;
  std::map<tir::VarId, std::int64_t> row_runs_;
  std::size_t patience_;
};

}  // namespace usmp::random_modules
