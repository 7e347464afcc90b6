// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Programs whose buffers are put at given places, and what the replay says of them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/replay/replay.hpp"

namespace usmp::replay::testing {

using namespace tir::testing;  // NOLINT(google-build-using-namespace)
using tir::ExprKind;
using tir::ExprRef;
using tir::int32_type;
using tir::make_int;
using tir::VarId;

inline ExprRef number(std::int64_t value) { return make_int(value, int8_type); }
inline constexpr Bytes far_away = 1000;

// "sink" lies far from everything else: what is stored there is only read, so to speak.
class Program : public ModuleBuilder {
  tir::Block allocated_;
  VarId i_;
  VarId j_;

 public:
  const VarId sink;

  Program() : i_(integer("i")), j_(integer("j")), sink(buffer("sink", 1)) {}

  VarId buffer(const std::string& name, std::int64_t elements, tir::DataType type = int8_type) {
    const VarId var = pointer(name, type);
    allocated_.push_back(allocate(var, elements));
    return var;
  }

  [[nodiscard]] ExprRef i() const { return var(i_); }
  [[nodiscard]] ExprRef j() const { return var(j_); }
  [[nodiscard]] VarId i_var() const { return i_; }
  [[nodiscard]] VarId j_var() const { return j_; }
  [[nodiscard]] tir::Stmt for_i(std::int64_t extent, tir::Block body) const {
    return loop(i_, extent, std::move(body));
  }
  [[nodiscard]] tir::Stmt for_j(std::int64_t extent, tir::Block body) const {
    return loop(j_, extent, std::move(body));
  }
  // buffer[0 .. elements) = 1
  [[nodiscard]] tir::Stmt fill(VarId buffer, std::int64_t elements) const {
    return for_i(elements, block(store(buffer, i(), make_int(1, module().var(buffer).element))));
  }
  [[nodiscard]] tir::Stmt drain(VarId buffer, std::int64_t elements) const {
    return for_i(elements, block(read(buffer, i())));
  }
  // sink[0] = buffer[index]
  [[nodiscard]] tir::Stmt read(VarId buffer, ExprRef index) const {
    return store(sink, 0, tir::make_cast(int8_type, load(buffer, std::move(index))));
  }
  [[nodiscard]] tir::Stmt read(VarId buffer, std::int64_t index) const { return read(buffer, make_int(index)); }
  // to[i] = from[i]
  [[nodiscard]] tir::Stmt copy_all(VarId to, VarId from, std::int64_t elements) const {
    return for_i(elements, block(store(to, i(), load(from, i()))));
  }
  [[nodiscard]] static tir::Stmt set(VarId to, std::int64_t index) { return store(to, index, number(1)); }

  // --- Runs ----------------------------------------------------------------------------------------------------------

  std::uint64_t steps = 1'000'000;
  liveness::Options liveness = {};

  using Places = std::map<std::string, Bytes>;  // offsets by name; "sink" and parameters that are not named: far away

  // The buffers that have been declared, then the statements.
  Result play(const Places& places, std::vector<tir::Stmt> statements, const std::vector<VarId>& params = {}) {
    tir::Block body = allocated_;
    body.insert(body.end(), statements.begin(), statements.end());
    const std::vector<tir::Function> functions = module().functions;
    entry(params, std::move(body));
    const tir::Module made = build();
    module().functions = functions;
    return play(made, places);
  }

  [[nodiscard]] Result play(const tir::Module& made, const Places& places) const {
    const liveness::Analysis analysis = liveness::analyse(made, liveness);
    const assemble::Assembly assembly = assemble::assemble(made, analysis, config::default_pools());
    Plan plan;
    Bytes apart = far_away;
    for (const Buffer& buffer : assembly.problem.buffers) {
      const auto place = places.find(buffer.name);
      plan.allocations.push_back({.pool = PoolId(0), .offset = place == places.end() ? apart : place->second});
      if (place == places.end()) apart += buffer.size;
    }
    return replay(made, assemble::placements_of(analysis, assembly, plan), {.steps = steps, .inputs = liveness.inputs});
  }

  // "1 of 2 pairs, 64 accesses", why the others are not among them, and the violations, a line each.
  static std::string text(const Result& result) {
    std::string lines = std::to_string(result.replayed()) + " of " + std::to_string(result.pairs) + ", " +
                        std::to_string(result.accesses) + " accesses";
    for (const LeftOut& pair : result.left_out) lines += std::string("; ") + to_string(pair.reason);
    for (const std::string& violation : result.violations) lines += "\n" + violation;
    return lines;
  }
  std::string said(const Places& places, std::vector<tir::Stmt> statements, const std::vector<VarId>& params = {}) {
    return text(play(places, std::move(statements), params));
  }
};

}  // namespace usmp::replay::testing
