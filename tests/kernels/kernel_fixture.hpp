// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products, and windows of a ring, for the tests of kernels.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "kernels/blocks.hpp"
#include "kernels/shared_data.hpp"
#include "kernels/weights.hpp"
#include "transform/program.hpp"

namespace usmp::transform::testing::kernels_test {

// for s: sum[s] = 0; for r: for k: for s: sum[s] = sum[s] + data[r, k] * weight[r, k, s]
struct KernelFixture : Program {
  explicit KernelFixture(tir::DataType data_type = tir::uint8_type, tir::DataType type = int8_type)
      : data(input("data", 512, data_type)), weight(buffer("weight", type)) {}

  VarId data;
  VarId weight;
  VarId sum = output("sum", 64);
  VarId s = number("s");
  VarId first = number("first");
  VarId r = number("r");
  VarId k = number("k");
  std::int64_t sums = 8;
  std::int64_t rows = 3;
  std::int64_t terms = 8;
  std::int64_t offset = 0;
  std::int64_t together = 4;  // sums of a block
  bool in_rows = false;       // weights lie sum by sum
  bool whole_windows = true;  // of lanes are one call
  bool alone = true;
  ExprRef begin = tir::make_int(0);  // of r
  ExprRef length = nullptr;          // of r; null: rows
  std::int64_t weights = 0;          // elements of the constant; 0: rows * terms * sums
  ExprRef data_at = nullptr;
  ExprRef weight_at = nullptr;
  ExprRef sum_at = nullptr;
  ExprRef data_value = nullptr;
  ExprRef weight_value = nullptr;

  [[nodiscard]] ExprRef wide(VarId storage, const ExprRef& at) const {
    return tir::make_cast(int32_type, load(storage, at));
  }
  [[nodiscard]] ExprRef data_place() const {
    return data_at != nullptr ? data_at : add(add(mul(var(r), terms), var(k)), 5);
  }
  [[nodiscard]] ExprRef weight_place() const {
    const ExprRef own = add(add(mul(var(r), terms * sums), mul(var(k), sums)), var(s));
    return weight_at != nullptr ? weight_at : own;
  }
  [[nodiscard]] ExprRef term() const {
    ExprRef x = data_value != nullptr ? data_value : wide(data, data_place());
    if (offset != 0) x = add(x, offset);
    return mul(x, weight_value != nullptr ? weight_value : wide(weight, weight_place()));
  }
  [[nodiscard]] tir::Stmt update() const {
    const ExprRef at = sum_at != nullptr ? sum_at : var(s);
    return store(sum, at, add(load(sum, at), term()));
  }
  tir::Stmt nest() {
    tir::For outer{r, begin, length != nullptr ? length : tir::make_int(rows),
                   block(loop(k, terms, block(loop(s, sums, block(update())))))};
    return {std::move(outer)};
  }
  [[nodiscard]] tir::Stmt constant(std::int64_t elements) const {
    const tir::DataType type = module().var(weight).element;
    tir::Constant bytes{type, {elements}, {}};
    for (std::int64_t i = 0; i < elements * type.bytes(); ++i) bytes.bytes.push_back(static_cast<char>(i * 37 + 11));
    return {tir::AllocateConst{weight, type, std::make_shared<const tir::Constant>(std::move(bytes)), {}}};
  }
  tir::Stmt zeros() { return loop(first, sums, block(store(sum, var(first), tir::make_int(0)))); }

  void program(tir::Block statements) {
    tir::Block all = block(constant(weights != 0 ? weights : rows * terms * sums));
    std::move(statements.begin(), statements.end(), std::back_inserter(all));
    body(std::move(all));
    for (tir::Param& param : op().params) param.no_alias = alone;
  }
  [[nodiscard]] bool has(const std::string& what) { return text().find(what) != std::string::npos; }
  [[nodiscard]] kernels::Core core() const {
    return {.name = "some", .in_rows = in_rows, .whole_windows = whole_windows, .paired_terms = 0, .sums = together};
  }
  bool blocked() {
    kernels::lay_out_weights(changed(), core());
    check_same();
    return blocked_as_laid_out();
  }
  bool blocked_as_laid_out() {
    kernels::block_sums(changed(), core());
    check_same();
    return has("dot4") || has("lane_product") || has("dot_run") || has("lane_run") || has("lane_window") ||
           has("row_run") || has("window_run");
  }
};

// For each j four sums over a window of up to three pixels of a ring of nine, of which borders leave two at times:
// data[place · distance + k] · weight[x · … + …].
struct RingFixture : KernelFixture {
  VarId j = number("j");
  ExprRef place = binary(ExprKind::mod, add(add(mul(var(j), 7), 5), var(r)), imm(9));

  RingFixture() {
    sums = 4;
    begin = larger(imm(0), sub(imm(1), var(j)));
    length = sub(smaller(imm(3), sub(imm(13), var(j))), begin);
    sum_at = add(mul(var(j), sums), var(s));
    data_at = add(mul(place, terms), var(k));
  }
  void in_windows(tir::Stmt window) {
    tir::Stmt clear = loop(first, sums, block(store(sum, add(mul(var(j), sums), var(first)), imm(0))));
    program(block(loop(j, 12, block(std::move(clear), std::move(window)))));
  }
};

}  // namespace usmp::transform::testing::kernels_test
