// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Accesses of expressions: which sites they load from, where, and under which conditions; and where pointers go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/compile.hpp"
#include "replay/facts.hpp"
#include "replay/values.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

// What a pointer points to.
struct Target {
  std::vector<std::uint32_t> sites;  // followed ones that it may point into; sorted
  std::optional<Register> offset;    // in bytes, if it points into the one site for certain
};

class Emitter {
 public:
  Emitter(const tir::Module& module, const Followed& followed, std::size_t sites)
      : module_(module), followed_(followed), facts_(facts_of(module, followed)), values_(module), escaped_(sites) {}

  Values& values() { return values_; }
  [[nodiscard]] const Facts& facts(std::size_t function) const { return facts_[function]; }
  std::vector<bool> take_escaped() { return std::move(escaped_); }

  // The function whose accesses follow.
  void set_function(std::size_t function) { function_ = static_cast<std::uint32_t>(function); }

  // The storage that a variable declares from here on; nothing: it is not followed.
  std::optional<std::uint32_t> declare(tir::VarId var);
  void bind(tir::VarId var, Target target);
  // What all variables stand for; see Values::restore.
  struct Mark {
    std::size_t values = 0;
    std::size_t targets = 0;
  };
  [[nodiscard]] Mark mark() const { return {values_.mark(), earlier_.size()}; }
  void restore(const Mark& mark);

  // All that evaluating the expression loads and hands on; null: nothing. Its value is a number, so that a pointer gets
  // out of sight.
  void evaluate(const tir::ExprRef& root);
  // The expression is evaluated, and its value is a pointer.
  Target pointer(const tir::Expr& root);
  // All of a store but the evaluation of what stands in it.
  void store(const tir::Store& store);
  void allocate(std::uint32_t site);
  void touch_all(Reason reason);

  // --- What may be executed or not -----------------------------------------------------------------------------------

  // Between begin_skip and end_skip nothing is followed.
  void begin_skip(Reason reason);
  void end_skip();
  void begin_branch(Register condition);
  void begin_else();
  void end_branch();

 private:
  // What becomes of a pointer that is the value of an expression.
  enum class Use : std::uint8_t { escapes, ignored, touched };
  struct Task {
    enum class Kind : std::uint8_t { visit, begin_skip, end_skip, begin_branch, begin_else, end_branch };
    Kind kind = Kind::visit;
    const tir::Expr* expr = nullptr;
    Use use = Use::escapes;
    Register condition = 0;
  };
  struct Open {
    std::size_t begin = 0;    // the instruction
    std::size_t jump = 0;     // behind the first branch
    std::size_t effects = 0;  // that there were before
  };
  struct Access {
    Code code = Code::load;
    tir::VarId storage;
    const tir::Expr* index = nullptr;
    const tir::Expr* predicate = nullptr;
    tir::DataType type;
  };

  void visit(const tir::Expr& expr, Use use, std::vector<Task>& tasks);
  void visit_call(const tir::Expr& expr, Use use, std::vector<Task>& tasks);
  void visit_choice(const tir::Expr& expr, Use use, std::vector<Task>& tasks);
  static void add_operands(const tir::Expr& expr, Use use, std::vector<Task>& tasks);
  void run(const Task& task, std::vector<Task>& tasks);
  void access(const Access& access);
  void access_lane(const Access& access, const Target& target, std::size_t lane);
  void touch(const Target& target, Reason reason);
  void touch(std::uint32_t site, Reason reason);
  void use_pointer(tir::VarId var, Use use);
  [[nodiscard]] const Target& target_of(tir::VarId var) const;
  Target derived(const tir::Expr& expr, std::vector<Target> parts);
  Target moved(Target target, Register elements, Bytes element_bytes);
  void drop_without_effects(const Open& open);

  const tir::Module& module_;
  const Followed& followed_;
  std::vector<Facts> facts_;
  Values values_;
  std::unordered_map<tir::VarId, Target> targets_;      // looked up only
  std::vector<std::pair<tir::VarId, Target>> earlier_;  // before each `bind`
  std::vector<bool> escaped_;
  std::vector<Open> open_;
  std::uint32_t function_ = 0;
};

}  // namespace usmp::replay
