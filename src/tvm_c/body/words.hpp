// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words of 32 bits that hold two numbers of 16 bits or four of 8, as code for the DSP extension of Cortex-M has them:
// little-endian, so that the first element in memory is the lowest part. A word is not computed: it is the list of its
// parts, which are expressions, and what instructions do with words is done with the parts.
//
// Each throws SyntaxError for what is not done with such operands: what moves bits from a part to another, or depends
// on them as one number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/body/values.hpp"

namespace usmp::tvm_c {

class Words {
 public:
  explicit Words(const Values& values) : values_(values) {}

  // Whether one of the values is a word, goes to words, or is an address.
  [[nodiscard]] static bool concerns(const Value& a) {
    return a.kind == Value::Kind::word || a.kind == Value::Kind::address || a.word_size != 0;
  }
  // A pointer to elements of 8 or 16 bits as one to words.
  [[nodiscard]] std::optional<Value> pointer_to_words(CType type, const Value& pointer) const;

  // What stands at a place of a word; another value as it is.
  [[nodiscard]] Value loaded(const Value& a) const;
  // The elements that a word at a place consists of, and what they get.
  [[nodiscard]] std::vector<std::pair<Value, tir::Tree>> stores(const Value& place, const Value& word) const;

  [[nodiscard]] Value unary(std::string_view op, const Value& a) const;
  [[nodiscard]] Value binary(std::string_view op, const Value& a, const Value& b) const;
  [[nodiscard]] Value cast(CType type, const Value& a) const;
  [[nodiscard]] Value element(const Value& pointer, const Value& index) const;

  // The variable, or the storage that the helper declares, gets the value. False: a sum has relied on smaller ones.
  [[nodiscard]] bool note(tir::VarId var, const tir::Tree& value);

  // __SMLAD of CMSIS, __smlad of ACLE, __builtin_arm_smlad of compilers, if it is one of them. Sums of
  // products: what they are added to has to be a short sum, so that all of a helper's fit (most_added).
  [[nodiscard]] Value instruction(std::string_view name, const std::vector<Value>& arguments, std::int64_t repetitions);
  [[nodiscard]] static bool is_instruction(std::string_view name);

 private:
  using Parts = std::vector<tir::Tree>;

  [[nodiscard]] Parts halves(const Value& a) const;
  [[nodiscard]] Parts bytes(const Value& a) const;
  [[nodiscard]] Value sum_of_products(const Parts& a, const Parts& b, const Value& to, std::int64_t repetitions);
  [[nodiscard]] Value selected(const Value& a, const Value& b) const;

  // The largest absolute value.
  [[nodiscard]] std::int64_t magnitude(const tir::Tree& part);

  struct Bound {
    std::int64_t most = 0;  // absolute value
    bool is_relied_on = false;
  };

  const Values& values_;
  std::map<tir::VarId, Bound> bounds_;
  std::int64_t added_ = 0;                             // by sums of products, at most
  std::optional<std::pair<Parts, Parts>> subtracted_;  // last, by bytes: sets the flags of __SEL
};

// The remainder of the integer by 2^bits, whatever its variables are; nothing: it depends on them. O(expression).
[[nodiscard]] std::optional<std::int64_t> low_bits(const tir::Expr& root, int bits);

}  // namespace usmp::tvm_c
