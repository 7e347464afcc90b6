// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Index expressions as flat programs over intervals: they are evaluated thousands of times with other values of the
// loop variables.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// All integers between two, both inclusive; or nothing is known.
struct IndexRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool is_known() const {
    return low != std::numeric_limits<std::int64_t>::min() && high != std::numeric_limits<std::int64_t>::max();
  }
  [[nodiscard]] bool is_point() const { return low == high; }
};

// The values of variables, by number.
using Environment = std::vector<IndexRange>;

// Numbers of the variables that programs look up.
class VariableNumbers {
 public:
  std::uint32_t of(tir::VarId var) {
    return numbers_.emplace(var, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<tir::VarId, std::uint32_t> numbers_;
};

class IndexProgram {
 public:
  // Shared expressions are evaluated once. O(size of the expression).
  IndexProgram(const tir::Expr& expr, VariableNumbers& variables);

  // Contains every value that the expression has in C while its variables are in their intervals, except where C's
  // arithmetic would be undefined. O(size()).
  [[nodiscard]] IndexRange run(const Environment& environment);
  // The same, an instruction at a time: what `run` does where a number may leave its type.
  [[nodiscard]] IndexRange run_plainly(const Environment& environment);

  [[nodiscard]] std::size_t size() const { return instructions_.size(); }

  // Appends what makes the program this one: programs of the same words and variables give the same answers.
  void describe(std::vector<std::uint64_t>& words) const;

 private:
  enum class Code : std::uint8_t {
    unknown,
    constant,
    variable,
    add,
    sub,
    mul,
    div,
    mod,
    floor_div,
    floor_mod,
    min,
    max,
    less,           // 1 or 0
    less_or_equal,  // 1 or 0
    equal,          // 1 or 0
    not_,
    and_,
    or_,
    choose,  // `b` or `c` as `a` says
    copy,
  };
  struct Instruction {
    Code code = Code::unknown;
    std::uint32_t a = 0;  // of earlier instructions; of `variable`: its number
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    std::int64_t value = 0;                    // constant
    IndexRange type = {.low = 0, .high = -1};  // values outside are not known; low > high: all are
  };

  // A multiple of the value of an earlier instruction, as often as it is added and as often as it is subtracted: the
  // ends of an interval do not cancel.
  struct Term {
    std::uint32_t instruction = 0;
    std::int64_t added = 0;               // >= 0
    std::int64_t subtracted = 0;          // >= 0
    std::optional<std::uint32_t> number;  // of the variable that the instruction is, if it is one
  };
  // Sums and multiples, of sums and multiples, of what is none.
  struct LinearForm {
    std::vector<Term> terms;  // by instruction
    std::int64_t constant = 0;
    std::int64_t magnitude = 0;  // of the constants on the way, at least
    std::int64_t limit = 0;      // what stays below it on the way is in the type of every instruction
  };
  struct Computation {
    std::uint32_t instruction = 0;  // whose value it computes
    std::uint32_t first_term = 0;
    std::uint32_t terms = 0;
    bool is_linear = false;
    std::int64_t constant = 0;
    std::int64_t magnitude = 0;
    std::int64_t limit = 0;
  };

  void find_steps();
  [[nodiscard]] std::optional<LinearForm> linear_form(const Instruction& instruction,
                                                      const std::vector<std::optional<LinearForm>>& earlier) const;
  [[nodiscard]] bool run_linear(const Computation& step, const Environment& environment);
  [[nodiscard]] IndexRange value_of(const Instruction& instruction, const Environment& environment) const;
  [[nodiscard]] static Instruction instruction_for(const tir::Expr& expr, VariableNumbers& variables);
  [[nodiscard]] IndexRange compute(const Instruction& instruction, const Environment& environment) const;
  [[nodiscard]] IndexRange arithmetic(Code code, const IndexRange& a, const IndexRange& b) const;

  std::vector<Instruction> instructions_;
  std::vector<Computation> steps_;    // that give the value of the last instruction; empty: run_plainly has to
  std::vector<Term> terms_;           // of the steps
  std::vector<IndexRange> values_;    // scratch of `run`
  std::optional<IndexRange> always_;  // the value, where there are no variables
};

}  // namespace usmp::liveness
