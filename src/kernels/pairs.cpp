// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes blocks of pairs, and proves that each sum of theirs fits.
#include "kernels/pairs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::kernels {
namespace {

constexpr std::int64_t most_of_sum = (std::int64_t{1} << 23) - 1;

// What 256 · Σ b lacks for each b, apart from the zero point: 127 too much of data with a sign; of those without one,
// the upper byte counts as 128 less, and 255 is too much (src/codegen/pair_run.cpp).
std::int64_t lacking(tir::DataType data) { return data.is_int() ? -127 : 128 * 256 - 255; }

}  // namespace

std::optional<std::string> paired(std::string_view weights, std::int64_t terms, tir::DataType data,
                                  std::int64_t zero_point) {
  const Interval range = tir::range_of_type(data).value();
  const std::int64_t most = std::max(std::abs(range.low + zero_point), std::abs(range.high + zero_point));
  const auto block = static_cast<std::size_t>(width * terms);
  const auto weight_at = [&](std::size_t i) {
    return tir::integer_of(static_cast<unsigned char>(weights[i]), tir::int8_type);
  };
  std::string result;
  result.reserve(weights.size() / block * (block + 2 * numbers_in_front));
  for (std::size_t begin = 0; begin < weights.size(); begin += block) {
    std::array<std::int64_t, width> sums = {};
    std::array<std::int64_t, width> odd_sums = {};
    std::array<std::int64_t, width> sizes = {};
    std::string pairs;
    for (std::size_t i = 0; i < block; i += 2) {
      const std::size_t s = i / width % width;
      const std::int64_t a = weight_at(begin + i);
      const std::int64_t b = weight_at(begin + i + 1);
      const std::int64_t pair = 256 * a + b;
      if (pair < std::numeric_limits<std::int16_t>::min()) return std::nullopt;
      append_little_endian(pairs, static_cast<std::uint64_t>(pair), 2);
      sums[s] += a + b;
      odd_sums[s] += b;
      sizes[s] += std::abs(a) + std::abs(b);
    }
    for (std::size_t s = 0; s < sums.size(); ++s) {
      if (sizes[s] * most > most_of_sum) return std::nullopt;
      const std::int64_t first = 256 * zero_point * sums[s] + lacking(data) * odd_sums[s];
      append_little_endian(result, static_cast<std::uint64_t>(first), 4);
    }
    result += pairs;
  }
  return result;
}

bool may_be_paired(const ProductSum& sum) {
  const tir::DataType weight = sum.weight.load->type;
  if (sum.form != Form::dot || sum.data.load->type.bits != 8 || weight.bits != 8 || !weight.is_int()) return false;
  const std::vector<const tir::For*> run = data_run(sum);
  return run.size() + 1 == sum.loops.size() && std::ranges::all_of(run, [](const tir::For* loop) {
           return tir::as_int(*loop->min) == 0 && tir::as_int(*loop->extent) && loop->extent->type == tir::int32_type;
         });
}

}  // namespace usmp::kernels
