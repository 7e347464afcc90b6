// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The small C functions that emitted code calls where an operand must be evaluated once or C has no operator: min and
// max, floor division, fixed point multiplication, half precision, type punning. Only those in use are written.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/text.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

struct Fours;
enum class FloatFunction : std::uint8_t;

// Whether kernels for Helium add a number to data of this type: those without sign have no zero point.
[[nodiscard]] inline bool has_zero_point(tir::DataType data) { return data.bits == 8 && data.is_int(); }

// What a lib1.c needs in front of its functions, collected while they are printed.
class Helpers {
 public:
  // Each gives the C function's name and marks it as used.
  std::string min(tir::DataType type) { return use_typed("min", type); }
  std::string max(tir::DataType type) { return use_typed("max", type); }
  std::string floor_div(tir::DataType type) { return use_typed("floordiv", type); }
  std::string floor_mod(tir::DataType type) { return use_typed("floormod", type); }
  // ~x of an integer type, which need not be as wide as int.
  std::string complement(tir::DataType type);
  std::string popcount(tir::DataType type) { return use_typed("popcount", type); }
  std::string clz(tir::DataType type) { return use_typed("clz", type); }
  // Reads or writes an element through memcpy, for storage that is accessed under several types.
  std::string load(const std::string& storage_type);
  std::string store(const std::string& storage_type);
  // The value of type `to` with the same bytes as a value of type `from`.
  std::string reinterpret(const std::string& from, const std::string& to);
  // float ← storage bits, storage bits ← float, and float rounded to the half type.
  std::string half_to_float(tir::DataType half);
  std::string float_to_half(tir::DataType half);
  std::string round_to_half(tir::DataType half);
  // float of the half type nearest to a double (no double rounding).
  std::string round_double_to_half(tir::DataType half);
  std::string q_multiply_shift();
  std::string q_multiply_shift_per_axis();
  std::string multiply_high();
  std::string round_high();  // multiply_high by 0
  // max(min(x, high), low), whose limits are those of an integer type of 8 or 16 bits.
  std::string clip(tir::DataType limits);
  // The operators of these names, of data and weights of these types.
  std::string dot4(tir::DataType data, tir::DataType weight);
  std::string lane_product(tir::DataType data, tir::DataType weight);
  std::string dot_run(tir::DataType data, tir::DataType weight, std::int64_t sums, bool has_offset);
  std::string pair_run(tir::DataType data);
  std::string paired_weight();
  std::string lane_run(tir::DataType data, tir::DataType weight);
  // Each `step` sums share their data.
  std::string lane_window(tir::DataType data, tir::DataType weight, bool is_ring, bool has_offset, std::int64_t step);
  std::string row_run(tir::DataType data, tir::DataType weight);
  std::string window_run(tir::DataType data, tir::DataType weight, bool has_offset);
  // Four elements, 32-bit lanes of a vector of Helium; where there is none, nobody calls them.
  std::string load_lanes(tir::DataType type);
  std::string store_lanes(tir::DataType type);
  std::string copy_lanes(tir::DataType type);  // up to 16 bytes
  std::string fill_lanes(tir::DataType type);  // likewise
  std::string multiply_high_lanes();
  // A vector of four floats, with a portable body (float_vectors.hpp): its type, and functions.
  std::string floats();
  std::string floats(FloatFunction function);
  // A loop over neighbours for Arm's DSP extension, whose results are of the type (fours.hpp).
  std::string fours(const Fours& fours, tir::DataType type);
  std::string round_shift();  // x · 2^e, rounded to nearest (halves up)

  void need_header(std::string_view name) { headers_.emplace(name); }  // "math.h"

  // In this order; standard headers only.
  [[nodiscard]] const std::set<std::string>& headers() const { return headers_; }

  // Definitions of the functions in use, each after those that it calls.
  void write(TextSink& sink) const;

 private:
  std::string use_products(const std::string& operation, std::string_view text, tir::DataType data,
                           tir::DataType weight);
  void define_pairs(tir::DataType data, tir::DataType weight);
  void define_kernel();
  void define_fours();
  std::string lane_vectors(tir::DataType data, tir::DataType weight);
  // The call that stands for one of `run` with three taps, for Helium.
  std::string lane_three(const std::string& run, tir::DataType data, tir::DataType weight);
  void define_vectors();
  void define_inline();
  std::string use_typed(const std::string& operation, tir::DataType type);
  std::string define(const std::string& name, const std::string& text);

  std::set<std::string> headers_ = {"stdint.h"};
  std::set<std::string> defined_;
  std::map<std::string, std::string> numbered_;  // names by what follows them
  std::vector<std::string> texts_;               // in order of first use
};

}  // namespace usmp::codegen
