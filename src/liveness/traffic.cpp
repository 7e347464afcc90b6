// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One pass over each function, callees first: what a call does to its parameters, and to the storage inside.
#include "usmp/liveness/traffic.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "usmp/loops/range_walk.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/program/pointers.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

constexpr double unknown_runs = 1e6;

Traffic& operator+=(Traffic& sum, const Traffic& part) {
  sum.loads += part.loads;
  sum.stores += part.stores;
  sum.bytes_loaded += part.bytes_loaded;
  sum.bytes_stored += part.bytes_stored;
  return sum;
}

Traffic times(const Traffic& traffic, double count) {
  return {traffic.loads * count, traffic.stores * count, traffic.bytes_loaded * count, traffic.bytes_stored * count};
}

// What one call of a function does.
struct CallTraffic {
  std::vector<Traffic> params;
  std::vector<double> handed;  // by parameter: how often it is handed to code that is not analysed
  std::map<tir::VarId, Traffic> inside;
  std::map<tir::VarId, double> handed_inside;
};

class TrafficCounter : public program::PointerUses {
 public:
  TrafficCounter(const tir::Module& module, std::size_t function, const std::vector<CallTraffic>& known)
      : module_(module), function_(function), known_(known), pointers_(module, function, *this) {
    const std::size_t params = module.functions[function].params.size();
    found_.params.resize(params);
    found_.handed.resize(params, 0);
  }

  CallTraffic run() {
    const tir::Function& function = module_.functions[function_];
    for (const tir::Param& param : function.params) own(pointers_.declare(param.var));
    loops::visit_with_ranges(function, {}, [&](const tir::Stmt& stmt, const loops::RangeContext& context) {
      handed_now_.clear();
      trips_ = context.runs ? static_cast<double>(*context.runs) : unknown_runs;
      const program::PointerSet value = pointers_.read(stmt);
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) own(pointers_.declare(allocate->var));
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) own(pointers_.declare(constant->var));
      const auto* let = std::get_if<tir::Let>(&stmt.node);
      if (let != nullptr && let->value->type.is_handle()) bind(let->var, value);
    });
    return std::move(found_);
  }

 private:
  void access(const program::PointerSet& pointers, const program::PointerAccess& access) override {
    // Code that is not analysed both reads and writes; its bytes are counted where the storage's size is known.
    // A call tells of each argument and of all together.
    if (access.reads && access.writes) {
      for_each_origin(pointers, [&](program::Slot slot) {
        if (handed_now_.insert(slot).second) hand(slot, trips_);
      });
      return;
    }
    const auto bytes = static_cast<double>(access.element_bytes);
    const Traffic one = access.reads ? Traffic{1, 0, bytes, 0} : Traffic{0, 1, 0, bytes};
    const double count = trips_ * static_cast<double>(access.lanes);
    for_each_origin(pointers, [&](program::Slot slot) { add(slot, times(one, count)); });
  }

  void escape(const program::PointerSet& /*pointers*/) override {}

  void call(program::PointerCall call) override {
    if (!call.is_walked) return;
    const CallTraffic& callee = known_[call.function];
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      for_each_origin(call.arguments[i], [&](program::Slot slot) {
        add(slot, times(callee.params[i], trips_));
        hand(slot, callee.handed[i] * trips_);
      });
    }
    for (const auto& [var, traffic] : callee.inside) found_.inside[var] += times(traffic, trips_);
    for (const auto& [var, count] : callee.handed_inside) found_.handed_inside[var] += count * trips_;
  }

  void add(program::Slot slot, const Traffic& traffic) {
    if (slot < found_.params.size()) {
      found_.params[slot] += traffic;
    } else {
      found_.inside[pointers_.vars()[slot]] += traffic;
    }
  }

  void hand(program::Slot slot, double count) {
    if (count == 0) return;
    if (slot < found_.handed.size()) {
      found_.handed[slot] += count;
    } else {
      found_.handed_inside[pointers_.vars()[slot]] += count;
    }
  }

  // Storage that is a variable's own.
  void own(program::Slot slot) { origins(slot) = {slot}; }

  void bind(tir::VarId var, const program::PointerSet& pointers) {
    std::set<program::Slot> targets;
    for (const program::Slot source : pointers) targets.insert(origins(source).begin(), origins(source).end());
    origins(pointers_.declare(var)) = std::move(targets);
  }

  template <class Visit>
  void for_each_origin(const program::PointerSet& pointers, const Visit& visit) {
    std::set<program::Slot> all;
    for (const program::Slot slot : pointers) all.insert(origins(slot).begin(), origins(slot).end());
    for (const program::Slot slot : all) visit(slot);
  }

  std::set<program::Slot>& origins(program::Slot slot) {
    if (slot >= origins_.size()) origins_.resize(slot + 1);
    return origins_[slot];
  }

  const tir::Module& module_;
  std::size_t function_;
  const std::vector<CallTraffic>& known_;
  program::PointerReader pointers_;
  CallTraffic found_;
  std::set<program::Slot> handed_now_;            // by the statement at hand
  double trips_ = 1;                              // of the statement at hand
  std::vector<std::set<program::Slot>> origins_;  // by slot: the storage that it may be based on
};

}  // namespace

std::vector<Traffic> traffic_of(const tir::Module& module, const Analysis& analysis) {
  std::vector<CallTraffic> known(module.functions.size());
  const program::CallGraph graph = program::call_graph(module);
  for (const std::size_t function : program::callees_first(module, graph, {module.entry})) {
    known[function] = TrafficCounter(module, function, known).run();
  }
  const CallTraffic& entry = known[module.entry];
  std::map<tir::VarId, Traffic> by_var = entry.inside;
  std::map<tir::VarId, double> handed = entry.handed_inside;
  const std::vector<tir::Param>& params = module.functions[module.entry].params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    by_var[params[i].var] += entry.params[i];
    handed[params[i].var] += entry.handed[i];
  }
  std::vector<Traffic> result;
  for (const Site& site : analysis.sites) {
    Traffic& traffic = result.emplace_back();
    const auto add = [&](tir::VarId var) {
      if (const auto found = by_var.find(var); found != by_var.end()) traffic += found->second;
      const auto times_handed = handed.find(var);
      if (times_handed == handed.end()) return;
      const double bytes = times_handed->second * static_cast<double>(site.size);
      const double stored = site.kind == BufferKind::constant ? 0 : bytes;
      traffic += {bytes, stored, bytes, stored};
    };
    add(site.var);
    for (const Site::Twin& twin : site.twins) add(twin.var);
  }
  return result;
}

}  // namespace usmp::liveness
