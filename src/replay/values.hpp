// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Integers of the program: each expression becomes instructions where all that it depends on is known, that is at the
// beginning of an iteration of the innermost loop that it depends on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/instructions.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

class Values {
 public:
  // A loop whose body is being compiled, the outermost one being the whole program, which is no loop.
  struct Level {
    std::vector<Instruction> head;  // values
    std::vector<Instruction> body;
    std::size_t serial = 0;
    std::size_t effects = 0;    // instructions of the body that are accesses and the like, those of inner loops too
    std::int64_t steps = 0;     // of an iteration, without inner loops
    std::int64_t more = 0;      // of loops that became instructions of the body; saturates
    std::int64_t estimate = 0;  // of an iteration; saturates
  };

  explicit Values(const tir::Module& module) : vars_(module.vars.size()) { levels_.emplace_back(); }

  // --- Values --------------------------------------------------------------------------------------------------------

  // The value of a lane, or the value itself if it is no vector.
  Register of(const tir::Expr& expr, std::size_t lane = 0);
  Register constant(std::int64_t value);
  Register nothing() { return constant(unknown); }
  // The result in a type.
  Register made(Code code, tir::DataType type, Register a, Register b = 0, Register c = 0);

  [[nodiscard]] bool is_constant(Register value) const { return levels_of_[value] == 0; }
  [[nodiscard]] std::int64_t constant_of(Register value) const { return registers_[value]; }
  [[nodiscard]] bool is_unknown(Register value) const { return is_constant(value) && constant_of(value) == unknown; }

  // What a variable stands for from here on.
  void bind(tir::VarId var, Register value);
  // Variables may have other values where the compiler goes on.
  void forget() { ++epoch_; }
  // What variables stood for at a mark, they stand for again: functions may bind one another's variables.
  [[nodiscard]] std::size_t mark() const { return earlier_.size(); }
  void restore(std::size_t mark);

  // --- Code ----------------------------------------------------------------------------------------------------------

  Level& level() { return levels_.back(); }
  [[nodiscard]] std::size_t depth() const { return levels_.size() - 1; }
  void emit(const Instruction& instruction);
  // Begins a loop; returns its variable.
  Register open_loop(tir::VarId var);
  // Puts the innermost loop into the code of the one around it, unless it has no effects.
  void close_loop(const Instruction& loop);
  Register fresh(std::size_t level);

  [[nodiscard]] std::size_t work() const { return work_; }
  // From `most` on the program is too long, and need not be built on.
  void set_limit(std::size_t most) { most_ = most; }
  [[nodiscard]] bool is_exhausted() const { return work_ > most_; }
  void charge() { ++work_; }
  std::vector<std::int64_t> take_registers() { return std::move(registers_); }

 private:
  using Node = std::pair<const tir::Expr*, std::size_t>;  // with its lane

  struct Known {
    Register value = 0;
    std::size_t serial = 0;  // of the level at which it is computed
    std::size_t epoch = 0;
  };

  [[nodiscard]] bool is_valid(const Known& known) const {
    const std::uint32_t level = levels_of_[known.value];
    return level < levels_.size() && levels_[level].serial == known.serial;
  }
  [[nodiscard]] Known now(Register value) const {
    return {.value = value, .serial = levels_[levels_of_[value]].serial, .epoch = epoch_};
  }
  [[nodiscard]] const Known* known(const Node& node) const;
  // The operands that the value is computed of; none: it is a leaf, or not followed.
  static void append_operands_of(const Node& node, std::vector<Node>& operands);
  Register combined(const Node& node, const std::vector<Register>& operands);
  Register leaf(const tir::Expr& expr);
  Register emitted(Instruction instruction);
  [[nodiscard]] bool is_linear_in(const Instruction& instruction, std::size_t level) const;
  // Whether it became loads in the body of the one around it.
  bool unfold_alike(const Instruction& loop, const Level& inner);

  std::vector<Level> levels_;
  std::vector<std::int64_t> registers_;
  std::vector<std::uint32_t> levels_of_;    // by register; 0: a constant
  std::vector<bool> is_linear_;             // by register: in the variable of its level, if all others stay
  std::vector<std::optional<Known>> vars_;  // by VarId
  std::vector<std::pair<tir::VarId, std::optional<Known>>> earlier_;  // before each `bind`
  std::map<std::int64_t, Register> constants_;
  struct Hash {
    std::size_t operator()(const Node& node) const { return std::hash<const void*>()(node.first) + node.second; }
  };
  std::unordered_map<Node, Known, Hash> known_;  // looked up only
  // By instruction: what it computes depends on nothing but its operands.
  std::map<std::tuple<Code, Register, Register, Register, std::int64_t, std::int64_t>, Known> computed_;
  std::size_t serials_ = 0;
  std::size_t epoch_ = 0;
  std::size_t work_ = 0;
  std::size_t most_ = SIZE_MAX;
};

}  // namespace usmp::replay
