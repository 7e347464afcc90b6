// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs a small module and holds every value that passes through memory against the computed live ranges.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness::testing {

// Time is counted twice: `steps` as the statements really execute, and by the analysis' ticks, whose numbering the
// interpreter derives on its own from the statements' places. The claim: when a read sees a value that was written at
// an earlier step, the buffer is live at the tick of every step from there to here.
class Interpreter {
 public:
  // `order` decides which of two calls in one statement runs first.
  Interpreter(const tir::Module& module, const Analysis& analysis, std::uint32_t order);

  // Runs the entry on initialised inputs, for at most `max_steps` steps.
  void run(std::size_t max_steps);

  [[nodiscard]] const std::set<std::string>& violations() const { return violations_; }
  [[nodiscard]] std::size_t checked_reads() const { return checked_reads_; }
  [[nodiscard]] std::size_t carried_reads() const { return carried_reads_; }  // of a value from an earlier tick

 private:
  struct Pointer {
    std::size_t instance = SIZE_MAX;
    std::int64_t offset = 0;
  };
  struct Value {
    std::int64_t number = 0;
    Pointer pointer;
  };
  struct Element {
    Value value;
    std::optional<std::int64_t> written;  // step
  };
  struct Instance {
    std::size_t site = 0;
    std::vector<Element> elements;
  };
  struct Frame {
    std::map<tir::VarId, Value> vars;
  };
  struct OutOfSteps {};

  std::size_t call(std::size_t function, const std::vector<Value>& arguments, Tick base);
  void run_block(const tir::Block& block, Frame& frame, Tick base);
  void run_stmt(const tir::Stmt& stmt, Frame& frame, Tick base);
  void run_for(const tir::For& loop, Frame& frame, Tick base);
  void run_evaluated(const tir::Expr& expr, Frame& frame, Tick base);
  void allocate(tir::VarId var, std::int64_t elements, Frame& frame);
  void step(Tick tick);
  Value evaluate(const tir::Expr& expr, Frame& frame);
  Value evaluate_call(const tir::Expr& expr, Frame& frame);
  std::vector<Value> arguments_of(const tir::Expr& call, Frame& frame);
  Element* element(const Pointer& pointer, std::int64_t index);
  Value read(const Pointer& pointer, std::int64_t index);
  void write(const Pointer& pointer, std::int64_t index, const Value& value);
  void check_live(std::size_t site, std::int64_t since, const char* what);

  Tick length(const tir::Block& block);
  Tick length(const tir::Stmt& stmt);
  Tick length_of_calls(const tir::Expr& expr, std::size_t& calls);
  Tick length_of_function(std::size_t function);

  const tir::Module& module_;
  const Analysis& analysis_;
  std::mt19937 order_;
  std::map<tir::VarId, std::size_t> site_of_;
  std::map<std::size_t, Tick> function_length_;
  std::vector<Instance> instances_;
  std::vector<std::int64_t> last_dead_;  // by site: the last step at whose tick it was not live; -1: none
  std::int64_t now_ = -1;                // step
  Tick tick_ = 0;
  std::size_t max_steps_ = 0;
  std::set<std::string> violations_;
  std::size_t checked_reads_ = 0;
  std::size_t carried_reads_ = 0;
};

}  // namespace usmp::liveness::testing
