// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// An entry that allocates buffers, fills those that are old, runs loop nests, and reads what is kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "liveness/result.hpp"
#include "usmp/liveness/distances.hpp"

namespace usmp::liveness::testing {

using tir::ExprKind;
using tir::ExprRef;
using tir::int32_type;
using tir::make_int;
using tir::VarId;

// "in>=out+3; out>=in+8": `in` may start 3 bytes or more above `out`, or `out` 8 or more above `in`.
inline std::string text_of(const tir::Module& module, const Options& options = {}) {
  std::vector<std::string> lines;
  for (const StorageDistance& found : find_distances(module, options)) {
    lines.push_back(module.var(found.above).name + ">=" + module.var(found.below).name + "+" +
                    std::to_string(found.bytes));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

class Program : public ModuleBuilder {
 public:
  Program() : i_(integer("i")), j_(integer("j")) {}

  // --- Buffers -------------------------------------------------------------------------------------------------------

  // Named "out": written by the nests and read behind them. Others are filled before.
  VarId buffer(const std::string& name, std::int64_t elements, tir::DataType type = int8_type) {
    const VarId var = temporary(name, elements, type);
    (name == "out" ? drained_ : filled_).push_back(var);
    return var;
  }
  // Accessed by the nests alone.
  VarId temporary(const std::string& name, std::int64_t elements, tir::DataType type = int8_type) {
    const VarId var = pointer(name, type);
    allocated_.emplace_back(var, elements);
    return var;
  }
  // Filled before, and read behind the nests.
  VarId kept(const std::string& name) {
    const VarId var = buffer(name, 1);
    is_kept(var);
    return var;
  }
  void is_kept(VarId var) { drained_.push_back(var); }
  void forget() {
    allocated_.clear();
    filled_.clear();
    drained_.clear();
  }

  // --- Code ----------------------------------------------------------------------------------------------------------

  using ModuleBuilder::store;
  [[nodiscard]] VarId i_var() const { return i_; }
  [[nodiscard]] VarId j_var() const { return j_; }
  [[nodiscard]] ExprRef i() const { return var(i_); }
  [[nodiscard]] ExprRef j() const { return var(j_); }
  [[nodiscard]] tir::Stmt for_i(std::int64_t extent, tir::Block body) const {
    return loop(i_, extent, std::move(body));
  }
  [[nodiscard]] tir::Stmt for_j(std::int64_t extent, tir::Block body) const {
    return loop(j_, extent, std::move(body));
  }
  [[nodiscard]] static tir::Stmt ranged(VarId var, ExprRef min, ExprRef extent, tir::Block body) {
    return {tir::For{.var = var, .min = std::move(min), .extent = std::move(extent), .body = std::move(body)}};
  }
  [[nodiscard]] static ExprRef number(std::int64_t value) { return make_int(value, int8_type); }

  // --- Programs ------------------------------------------------------------------------------------------------------

  [[nodiscard]] tir::Block body(std::vector<tir::Stmt> nests) const {
    tir::Block result;
    for (const auto& [var, elements] : allocated_) result.push_back(allocate(var, elements));
    for (const VarId var : filled_) result.push_back(call("fill", {var}));
    result.insert(result.end(), nests.begin(), nests.end());
    for (const VarId var : drained_) result.push_back(call("drain", {var}));
    return result;
  }

  // With the functions that have been added so far.
  [[nodiscard]] tir::Module module_of_body(tir::Block body) {
    const std::vector<tir::Function> functions = module().functions;
    entry({}, std::move(body));
    tir::Module result = build();
    module().functions = functions;
    return result;
  }
  [[nodiscard]] tir::Module module_of(std::vector<tir::Stmt> nests) { return module_of_body(body(std::move(nests))); }
  [[nodiscard]] std::string distances_of(tir::Block body) { return text_of(module_of_body(std::move(body))); }
  [[nodiscard]] std::string found(std::vector<tir::Stmt> nests) { return distances_of(body(std::move(nests))); }

 private:
  VarId i_;
  VarId j_;
  std::vector<std::pair<VarId, std::int64_t>> allocated_;
  std::vector<VarId> filled_;
  std::vector<VarId> drained_;
};

}  // namespace usmp::liveness::testing
