// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The table of operators.
#include "usmp/tir/ops.hpp"

#include <doctest/doctest.h>

#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::tir::ops_test {
namespace {

TEST_CASE("operators are found by their names, and keep those that the table has not") {
  std::size_t known = 0;
  for (const OpInfo& row : all_ops()) {
    CHECK(info(row.op).name == row.name);
    if (row.name.empty()) continue;
    ++known;
    CHECK(op_of(row.name) == row.op);
    CHECK(operator_name(*make_call(int32_type, row.op, {})) == row.name);
    CHECK(operator_name(*make_call(int32_type, std::string(row.name), {})) == row.name);
    CHECK(is_reserved_op_name(row.name) == !row.name.starts_with("tir."));
    if (row.is_elementwise) CHECK(row.is_pure);
    if (!row.c_name.empty()) CHECK(row.name == "tir." + std::string(row.c_name));
  }
  CHECK(known > 60);
  for (const char* name : {"", "tir.", "tir.expm1", "exp", "tir.zzz", "a"}) CHECK(op_of(name) == Op::other);
  const ExprRef other = make_call(int32_type, "tir.no_such", {make_int(1)});
  CHECK(other->op == Op::other);
  CHECK(operator_name(*other) == "tir.no_such");
  CHECK(operator_name(*make_int(1)).empty());
}

TEST_CASE("what only gives a value may be moved, what calls or returns may not") {
  for (const Op op : {Op::acos, Op::atan2, Op::copysign, Op::exp10, Op::fma, Op::fmod, Op::hypot, Op::nextafter,
                      Op::exp, Op::if_then_else, Op::q_multiply_shift, Op::bitwise_not}) {
    CHECK(info(op).is_elementwise);
  }
  for (const Op op : {Op::none, Op::other, Op::call_extern, Op::tvm_check_return, Op::ret, Op::tvm_struct_set}) {
    CHECK_FALSE(info(op).is_pure);
  }
  for (const Op op : {Op::call_pure_extern, Op::address_of, Op::tvm_access_ptr, Op::reinterpret}) {
    CHECK(info(op).is_pure);
    CHECK_FALSE(info(op).is_elementwise);
  }
}

}  // namespace
}  // namespace usmp::tir::ops_test
