// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One pass over each function, callees first.
#include "usmp/program/effects.hpp"

#include <cstddef>
#include <set>
#include <utility>

#include "usmp/program/call_graph.hpp"
#include "usmp/program/pointers.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

using Effects = std::vector<std::vector<ParamEffects>>;  // by function; empty: not known yet

class EffectFinder : public PointerUses {
 public:
  EffectFinder(const tir::Module& module, std::size_t function, const Effects& known)
      : function_(module.functions[function]),
        known_(known),
        pointers_(module, function, *this),
        found_(function_.params.size()) {}

  std::vector<ParamEffects> run() {
    for (std::size_t i = 0; i < function_.params.size(); ++i)
      origins(pointers_.declare(function_.params[i].var)).insert(i);
    tir::for_each_stmt(function_.body, [&](const tir::Stmt& stmt) {
      const PointerSet value = pointers_.read(stmt);
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) (void)pointers_.declare(allocate->var);
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) (void)pointers_.declare(constant->var);
      const auto* let = std::get_if<tir::Let>(&stmt.node);
      if (let != nullptr && let->value->type.is_handle()) bind(let->var, value);
    });
    return std::move(found_);
  }

 private:
  void access(const PointerSet& pointers, const PointerAccess& access) override {
    mark(pointers, {.is_read = access.reads, .is_written = access.writes, .escapes = false});
  }

  void escape(const PointerSet& pointers) override { mark(pointers, {.escapes = true}); }

  void call(PointerCall call) override {
    if (!call.is_walked) return;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) mark(call.arguments[i], known_[call.function][i]);
  }

  void mark(const PointerSet& pointers, const ParamEffects& effects) {
    for (const Slot slot : pointers) {
      for (const std::size_t param : origins(slot)) {
        found_[param].is_read = found_[param].is_read || effects.is_read;
        found_[param].is_written = found_[param].is_written || effects.is_written;
        found_[param].escapes = found_[param].escapes || effects.escapes;
      }
    }
  }

  void bind(tir::VarId var, const PointerSet& pointers) {
    std::set<std::size_t> all;
    for (const Slot source : pointers) all.insert(origins(source).begin(), origins(source).end());
    origins(pointers_.declare(var)) = std::move(all);
  }

  std::set<std::size_t>& origins(Slot slot) {
    if (slot >= origins_.size()) origins_.resize(slot + 1);
    return origins_[slot];
  }

  const tir::Function& function_;
  const Effects& known_;
  PointerReader pointers_;
  std::vector<ParamEffects> found_;
  std::vector<std::set<std::size_t>> origins_;  // by slot: the parameters that it may be based on
};

}  // namespace

std::vector<std::vector<ParamEffects>> param_effects(const tir::Module& module) {
  Effects effects;
  for (const tir::Function& function : module.functions)
    effects.emplace_back(function.params.size(), ParamEffects{.is_read = true, .is_written = true, .escapes = false});
  for (const std::size_t function : callees_first(module, call_graph(module)))
    effects[function] = EffectFinder(module, function, effects).run();
  return effects;
}

}  // namespace usmp::program
