// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parts loops over sums of which several share their data.
#include "kernels/shared_data.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/product_sum.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Block;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// The loop over sums, each `together` of which share their data.
struct SharedData {
  std::vector<const tir::For*> loops;  // the nest, outermost first
  const tir::For* sums = nullptr;
  std::int64_t together = 1;
};

// The quotient of one loop's variable that a term has in an index.
std::optional<SharedData> shared_data(const tir::For& outermost, arith::Facts& facts) {
  std::optional<AddedProduct> nest = added_product(outermost);
  if (!nest) return std::nullopt;
  SharedData shared{.loops = std::move(nest->loops)};
  const std::size_t mark = facts.mark();
  for (const tir::For* loop : shared.loops) facts.bind_loop(*loop);
  const auto sums = facts.affine(*nest->store->index);
  tir::for_each_expr(*nest->product, [&](const tir::Expr& expr) {
    const auto index = expr.kind == tir::ExprKind::load && sums ? facts.affine(*expr.operands[0]) : std::nullopt;
    if (!index) return;
    for (const arith::Terms::Term& part : index->terms) {
      const arith::Atom& atom = part.first;
      if (atom.kind != arith::Atom::Kind::quotient) continue;
      const auto loop = std::ranges::find_if(
          shared.loops, [&](const tir::For* one) { return *atom.whole == arith::variable(one->var); });
      if (loop == shared.loops.end() || sums->factor((*loop)->var) != 1) continue;
      const auto extent = tir::as_int(*(*loop)->extent);
      if (tir::as_int(*(*loop)->min) != 0 || !extent || *extent <= 0 || *extent % atom.by != 0) continue;
      shared.sums = *loop;
      shared.together = atom.by;
    }
  });
  facts.restore(mark);
  return shared.sums != nullptr ? std::optional(std::move(shared)) : std::nullopt;
}

class Parter {
 public:
  explicit Parter(tir::Module& module) : module_(module) {}

  void run(tir::Function& function) {
    arith::Facts facts(module_);
    facts.bind_ranges(function);
    loops::edit(function.body, facts,
                {.before =
                     [&](Block& block, std::size_t& at, arith::Facts& known) {
                       const auto* nest = std::get_if<tir::For>(&block[at].node);
                       const auto shared = nest == nullptr ? std::nullopt : shared_data(*nest, known);
                       if (!shared) return loops::Next::enter;
                       if (auto windows = at == 0 ? std::nullopt : as_windows(block[at - 1], *shared, known)) {
                         block.erase(block.begin() + static_cast<std::ptrdiff_t>(--at));
                         block[at] = std::move(*windows);
                       } else {
                         block[at] = in_channels(*shared, known);
                       }
                       return loops::Next::skip;
                     },
                 .after = {}});
  }

 private:
  // Loops without a body over channels, and inside of one.
  struct Parts {
    tir::For channels;
    tir::For inside;
  };
  Parts parts_of(const tir::For& loop, std::int64_t together) {
    return {counted(loop, "_channel", *tir::as_int(*loop.extent) / together), counted(loop, "_inside", together)};
  }
  tir::For counted(const tir::For& loop, std::string_view ending, std::int64_t extent) {
    const tir::DataType type = module_.var(loop.var).type;
    const VarId var = loops::fresh_var(module_, module_.var(loop.var).name + std::string(ending), type);
    return {var, tir::make_int(0, type), tir::make_int(extent, type), {}};
  }

  // What `loop` counts: c · together + m.
  loops::Substitution number_of(const tir::For& loop, const tir::For& channels, const tir::For& inside,
                                std::int64_t together) const {
    const ExprRef first = tir::make_binary(tir::ExprKind::mul, tir::make_var(module_, channels.var),
                                           tir::make_int(together, module_.var(loop.var).type));
    return {{loop.var, tir::make_binary(tir::ExprKind::add, first, tir::make_var(module_, inside.var))}};
  }

  // The nest, with `instead` of its loop over sums around the store with the number of the sum.
  Stmt nest_with(const SharedData& shared, std::vector<tir::For> instead, const loops::Substitution& number,
                 arith::Facts& facts) {
    const auto& store = std::get<tir::Store>(shared.loops.back()->body[0].node);
    const std::size_t mark = facts.mark();
    for (const tir::For* loop : shared.loops) {
      if (loop != shared.sums) facts.bind_loop(*loop);
    }
    Stmt result{tir::Store{store.storage, loops::substituted(store.index, facts, number),
                           loops::substituted(store.value, facts, number), nullptr}};
    // What is added to is the element that is stored, in the same words.
    auto& sum = std::get<tir::Store>(result.node);
    const ExprRef before = tir::make_load(sum.value->type, sum.storage, sum.index);
    sum.value = tir::make_binary(tir::ExprKind::add, before, sum.value->operands[1]);
    facts.restore(mark);
    const auto put_inside = [&](tir::For loop) {
      loop.body.clear();
      loop.body.push_back(std::move(result));
      result = Stmt{std::move(loop)};
    };
    for (std::size_t i = shared.loops.size(); i-- > 0;) {
      if (shared.loops[i] != shared.sums) {
        put_inside({shared.loops[i]->var, shared.loops[i]->min, shared.loops[i]->extent, {}});
        continue;
      }
      for (std::size_t k = instead.size(); k-- > 0;) put_inside(std::move(instead[k]));
    }
    return result;
  }

  // Each channel's sums side by side.
  Stmt in_channels(const SharedData& shared, arith::Facts& facts) {
    Parts parts = parts_of(*shared.sums, shared.together);
    const std::size_t mark = facts.mark();
    facts.bind_loop(parts.channels);
    facts.bind_loop(parts.inside);
    Stmt result = nest_with(shared, {parts.channels, parts.inside},
                            number_of(*shared.sums, parts.channels, parts.inside, shared.together), facts);
    facts.restore(mark);
    return result;
  }

  // With the loop in front that sets the sums to 0. Nothing: there is none, or no call adds up such windows.
  std::optional<Stmt> as_windows(const Stmt& front, const SharedData& shared, arith::Facts& facts) {
    const auto* zeros = std::get_if<tir::For>(&front.node);
    if (zeros == nullptr || tir::as_int(*zeros->min) != 0 || !tir::as_int(*zeros->extent) ||
        tir::as_int(*zeros->extent) != tir::as_int(*shared.sums->extent)) {
      return std::nullopt;
    }
    Parts parts = parts_of(*shared.sums, shared.together);
    const std::size_t mark = facts.mark();
    facts.bind_loop(parts.inside);
    facts.bind_loop(parts.channels);
    Stmt nest = nest_with(shared, {parts.channels},
                          number_of(*shared.sums, parts.channels, parts.inside, shared.together), facts);
    tir::For cleared = counted(*zeros, "_channel", *tir::as_int(*zeros->extent) / shared.together);
    facts.bind_loop(cleared);
    cleared.body = zeros->body;
    loops::rename(cleared.body, number_of(*zeros, cleared, parts.inside, shared.together));
    Stmt clear{std::move(cleared)};
    const auto sum = product_sum(std::get<tir::For>(nest.node), facts);
    const bool are_windows = sum && sets_to_0(clear, *sum, facts) && may_be_window(*sum);
    facts.restore(mark);
    if (!are_windows) return std::nullopt;
    parts.inside.body.push_back(std::move(clear));
    parts.inside.body.push_back(std::move(nest));
    return Stmt{std::move(parts.inside)};
  }

  tir::Module& module_;
};

}  // namespace

void part_sums_of_shared_data(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) Parter(module).run(function);
  }
}

}  // namespace usmp::kernels
