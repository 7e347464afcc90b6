// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random expressions of any types and operators: emission either prints them or says what has no C, and does nothing
// else. The reader guarantees operand counts of expression kinds, but neither types nor those of operators.
#include <doctest/doctest.h>

#include <random>

#include "codegen/case_program.hpp"
#include "usmp/support/error.hpp"

namespace usmp::codegen::testing::random_trees_test {
namespace {

class TreeMaker {
 public:
  TreeMaker(CaseProgram& program, std::uint32_t seed) : program_(program), random_(seed) {}

  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  ExprRef expr(const std::vector<VarId>& vars, int depth) {
    if (depth == 0) return leaf(vars);
    const auto sub = [&] { return expr(vars, depth - 1); };
    switch (pick(8)) {
      case 0:
        return leaf(vars);
      case 1:
        return make_operator(ExprKind::select, type(), {sub(), sub(), sub()});
      case 2:
        return make_operator(pick(2) == 0 ? ExprKind::cast : ExprKind::not_, type(), {sub()});
      case 3:
        return make_operator(ExprKind::load, type(), pick(4) == 0 ? std::vector{sub(), sub()} : std::vector{sub()},
                             any(vars));
      case 4:
        return pick(2) == 0 ? make_operator(ExprKind::broadcast, type(), {sub()})
                            : make_operator(ExprKind::ramp, type(), {sub(), sub()});
      case 5: {
        if (pick(3) != 0) return make_operator(ExprKind::let, type(), {sub(), sub()}, any(vars));
        return make_operator(ExprKind::shuffle, type(), {sub(), sub(), imm(static_cast<std::int64_t>(pick(4)))}, {},
                             static_cast<std::int64_t>(pick(4)));
      }
      case 6:
        return op_call(vars, depth);
      default: {
        const auto first = static_cast<int>(ExprKind::add);
        const auto count = static_cast<std::size_t>(ExprKind::or_) - static_cast<std::size_t>(ExprKind::add) + 1;
        return make_operator(static_cast<ExprKind>(first + static_cast<int>(pick(count))), type(), {sub(), sub()});
      }
    }
  }

  Block block(const std::vector<VarId>& vars, int depth) {
    Block result;
    for (std::size_t n = 1 + pick(3); n > 0; --n) result.push_back(statement(vars, depth));
    return result;
  }

 private:
  VarId any(const std::vector<VarId>& vars) { return vars[pick(vars.size())]; }

  DataType type() {
    static const std::vector<DataType> types = {i8,
                                                i32,
                                                i64,
                                                u8,
                                                u64,
                                                boolean,
                                                f16,
                                                f32,
                                                f64,
                                                bf16,
                                                i32.with_lanes(2),
                                                f32.with_lanes(2),
                                                tir::handle_type,
                                                tir::void_type,
                                                type_of(tir::TypeCode::int_, 4),
                                                type_of(tir::TypeCode::float_, 8),
                                                boolean.with_lanes(2)};
    return types[pick(types.size())];
  }

  ExprRef leaf(const std::vector<VarId>& vars) {
    switch (pick(4)) {
      case 0:
        return imm(static_cast<std::int64_t>(pick(5)) - 2, type());
      case 1:
        return fimm(0.5, type());
      case 2:
        return tir::make_string("name");
      default:
        return program_.ref(any(vars));
    }
  }

  ExprRef op_call(const std::vector<VarId>& vars, int depth) {
    static const std::vector<std::string> names = {"exp",
                                                   "sigmoid",
                                                   "q_multiply_shift",
                                                   "q_multiply_shift_per_axis",
                                                   "if_then_else",
                                                   "likely",
                                                   "reinterpret",
                                                   "address_of",
                                                   "tvm_access_ptr",
                                                   "call_extern",
                                                   "isnan",
                                                   "shift_left",
                                                   "shift_right",
                                                   "bitwise_and",
                                                   "bitwise_not",
                                                   "popcount",
                                                   "clz",
                                                   "large_uint_imm",
                                                   "tvm_check_return",
                                                   "tvm_call_cpacked",
                                                   "ret",
                                                   "undef",
                                                   "isnullptr",
                                                   "tvm_throw_last_error",
                                                   "type_annotation",
                                                   "lookup_param",
                                                   "call_pure_extern",
                                                   "no_such_operator"};
    std::vector<ExprRef> operands;
    for (std::size_t n = pick(6); n > 0; --n) operands.push_back(expr(vars, depth - 1));
    return op(names[pick(names.size())], type(), std::move(operands));
  }

  tir::Stmt statement(const std::vector<VarId>& vars, int depth) {
    const auto value = [&] { return expr(vars, 3); };
    switch (depth == 0 ? pick(4) : pick(9)) {
      case 0:
        return store(any(vars), value(), value(), pick(5) == 0 ? value() : ExprRef());
      case 1:
        return let(any(vars), value());
      case 2:
        return evaluate(value());
      case 3:
        return {tir::Assert{value(), "text"}};
      case 4:
        return loop(any(vars), value(), value(), block(vars, depth - 1));
      case 5:
        return {tir::While{value(), block(vars, depth - 1)}};
      case 6:
        return {tir::IfThenElse{value(), block(vars, depth - 1), pick(2) == 0 ? block(vars, depth - 1) : Block()}};
      case 7:
        return {tir::Allocate{any(vars), type(), {value()}, {}, {}}};
      default:
        return {tir::Scope{block(vars, depth - 1)}};
    }
  }

  CaseProgram& program_;
  std::mt19937 random_;
};

TEST_CASE("random trees are printed or refused") {
  std::size_t printed = 0;
  std::size_t refused = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    CaseProgram program;
    program.operation("random", {ints({1}), floats({1})}, ints({1}), [&](const auto& in, VarId out) {
      const std::vector<VarId> vars = {
          in[0], in[1], out, program.var("n", i32), program.var("x", f32), program.pointer("q", i8)};
      return TreeMaker(program, seed).block(vars, seed % 2 == 0 ? 0 : 2);
    });
    try {
      (void)program.text();
      ++printed;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::archive);
      CHECK(!error.where().place.empty());
      ++refused;
    }
  }
  CHECK(printed > 20);
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace usmp::codegen::testing::random_trees_test
