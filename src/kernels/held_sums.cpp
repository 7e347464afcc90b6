// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds nests that update elements at constant distances, and puts variables for groups of these around the loops.
#include "kernels/held_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/run.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/loops/sum_storage.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

constexpr std::int64_t most_elements = 1024;  // of all sums of a nest
constexpr std::int64_t most_floats = 16;      // held: of 4, 8, 12, 16, 20 and 24 the fastest
constexpr std::int64_t lanes_of_vector = 4;

// A store that adds to elements of the sums: in each iteration of `lanes`, or once.
struct Update {
  const tir::Store* store = nullptr;
  const tir::For* lanes = nullptr;  // from 0, with a constant extent
  std::vector<const tir::Let*> lets;
  std::int64_t count = 1;
  std::int64_t first = 0;  // element, counted from the first of the nest
  std::int64_t distance = 0;
};

// A loop around updates, and the lets in front of what it holds.
struct Level {
  const tir::For* loop = nullptr;
  std::vector<const tir::Let*> lets;
};

struct Nest {
  std::vector<Level> levels;  // outermost first
  std::vector<Update> updates;
  VarId storage;
  tir::DataType type;
  arith::Affine origin = {};           // index of element 0
  std::vector<std::int64_t> elements;  // ascending
  ExprRef begin = nullptr;             // a literal; null: what is stored
};

// Elements of an update that are held.
struct Part {
  const Update* update = nullptr;
  ExprRef from;  // lane
  std::int64_t count = 1;
};

bool is_number(tir::DataType type) {
  return !type.is_vector() && (type.bits == 32 || type.bits == 64) && (type.is_int() || type.is_float());
}

// How far one group of parts is from another that is the same otherwise.
struct Shift {
  std::int64_t elements = 0;                     // of the sums
  std::vector<std::vector<std::int64_t>> loads;  // of each part, of the indices of what its term reads

  [[nodiscard]] bool is(std::int64_t times, const Shift& one) const {
    const auto is_multiple = [&](std::int64_t a, std::int64_t b) { return a == times * b; };
    const auto are_multiples = [&](const auto& a, const auto& b) { return std::ranges::equal(a, b, is_multiple); };
    return is_multiple(elements, one.elements) && std::ranges::equal(loads, one.loads, are_multiples);
  }
};

// Loads of the term, none in the index of another. Nothing: some is.
std::optional<std::vector<ExprRef>> loads_of(const ExprRef& term) {
  std::vector<ExprRef> loads;
  bool are_plain = true;
  tir::for_each_expr(*term, [&](const tir::Expr& expr) {
    if (expr.kind != ExprKind::load) return;
    loads.push_back(tir::make_expr(expr));
    are_plain = are_plain && expr.operands.size() == 1;
    tir::for_each_expr(*expr.operands[0],
                       [&](const tir::Expr& part) { are_plain = are_plain && part.kind != ExprKind::load; });
  });
  return are_plain ? std::optional(std::move(loads)) : std::nullopt;
}

// The term with these numbers added to the indices of its loads.
ExprRef moved(const ExprRef& term, const std::vector<ExprRef>& loads, const std::vector<ExprRef>& by) {
  tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
    if (expr->kind != ExprKind::load) return nullptr;
    const auto is_same = [&](const ExprRef& load) { return tir::is_same(*load, *expr); };
    const auto at = static_cast<std::size_t>(std::ranges::find_if(loads, is_same) - loads.begin());
    return tir::make_load(expr->type, expr->var, plus(expr->operands[0], by[at]));
  });
  return rewriter.rewritten(term);
}

// Takes lets off the front.
std::vector<const tir::Let*> leading_lets(std::span<const Stmt>& statements) {
  std::vector<const tir::Let*> lets;
  while (!statements.empty()) {
    const auto* let = std::get_if<tir::Let>(&statements.front().node);
    if (let == nullptr) break;
    lets.push_back(let);
    statements = statements.subspan(1);
  }
  return lets;
}

// Inside of the lanes, if they hold nothing else.
void find_store(Update& update) {
  const tir::For& loop = *update.lanes;
  const auto count = tir::as_int(*loop.extent);
  if (loop.row_runs != 0 || tir::as_int(*loop.min) != 0 || !count || *count < 1 || *count > most_elements) return;
  std::span<const Stmt> body(loop.body);
  update.lets = leading_lets(body);
  update.store = body.size() == 1 ? std::get_if<tir::Store>(&body[0].node) : nullptr;
  update.count = *count;
}

std::optional<Update> update_of(const Stmt& stmt) {
  Update update{.store = std::get_if<tir::Store>(&stmt.node), .lanes = std::get_if<tir::For>(&stmt.node), .lets = {}};
  if (update.lanes != nullptr) find_store(update);
  const bool adds = update.store != nullptr && loops::added_term(*update.store) != nullptr;
  return adds ? std::optional(std::move(update)) : std::nullopt;
}

// All statements as updates; else none.
std::vector<Update> updates_of(std::span<const Stmt> statements) {
  std::vector<Update> updates;
  for (const Stmt& stmt : statements) {
    auto update = update_of(stmt);
    if (!update) return {};
    updates.push_back(std::move(*update));
  }
  return updates;
}

std::optional<Nest> nest_of(const tir::For& outermost) {
  Nest nest;
  for (const tir::For* loop = &outermost; loop != nullptr;) {
    std::span<const Stmt> body(loop->body);
    nest.levels.push_back({loop, leading_lets(body)});
    nest.updates = updates_of(body);
    if (!nest.updates.empty()) break;
    loop = body.size() == 1 ? std::get_if<tir::For>(&body[0].node) : nullptr;
  }
  if (nest.updates.empty()) return std::nullopt;
  nest.storage = nest.updates[0].store->storage;
  nest.type = nest.updates[0].store->value->type;
  return nest;
}

class Holder {
 public:
  Holder(tir::Module& module, tir::Function& function, std::int64_t ints, bool vectors)
      : module_(module), function_(function), ints_(ints), vectors_(vectors), storage_(function) {}

  void run() {
    arith::Facts facts(module_);
    facts.bind_ranges(function_);
    loops::edit(function_.body, facts,
                {.before =
                     [&](Block& block, std::size_t& at, arith::Facts& known) {
                       const auto* loop = std::get_if<tir::For>(&block[at].node);
                       auto nest = loop == nullptr ? std::nullopt : nest_of(*loop);
                       if (!nest || !is_possible(*nest) || !find_elements(*nest, known)) return loops::Next::enter;
                       const std::size_t begin = before_begin(*nest, block, at, known);
                       auto made = held(*nest, known);
                       if (!made) return loops::Next::enter;
                       block[at] = {tir::Scope{std::move(*made)}};
                       const auto first = block.begin() + static_cast<std::ptrdiff_t>(begin);
                       block.erase(first, block.begin() + static_cast<std::ptrdiff_t>(at));
                       at = begin;
                       return loops::Next::skip;
                     },
                 .after = {}});
  }

 private:
  [[nodiscard]] bool is_possible(const Nest& nest) const {
    if (!storage_.is_alone(nest.storage) || !is_number(nest.type)) return false;
    const auto may_read = [&](const ExprRef& value) { return storage_.may_read(*value, nest.storage); };
    const auto may_bind = [&](const tir::Let* let) { return may_read(let->value); };
    for (const Level& level : nest.levels) {
      const bool is_loop = level.loop->row_runs == 0 && may_read(level.loop->min) && may_read(level.loop->extent);
      if (!is_loop || !std::ranges::all_of(level.lets, may_bind)) return false;
    }
    return std::ranges::all_of(nest.updates, [&](const Update& update) {
      return update.store->storage == nest.storage && update.store->value->type == nest.type &&
             may_read(update.store->index) && may_read(update.store->value->operands[1]) &&
             std::ranges::all_of(update.lets, may_bind);
    });
  }

  // Sets the elements. False: they depend on the loops, two are one, or they are not known.
  bool find_elements(Nest& nest, arith::Facts& facts) const {
    const std::size_t mark = facts.mark();
    bind_levels(nest, facts);
    std::optional<arith::Affine> origin;
    std::vector<std::int64_t>& elements = nest.elements;
    bool are_known = true;
    for (Update& update : nest.updates) {
      const auto place = first_place(nest, update, facts);
      if (!origin) origin = place;
      const auto from_origin = place ? arith::difference(*place, *origin) : std::nullopt;
      are_known = from_origin && from_origin->is_constant();
      if (!are_known) break;
      update.first = from_origin->constant;
      for (std::int64_t i = 0; i < update.count; ++i) elements.push_back(update.first + i * update.distance);
      are_known = elements.size() <= static_cast<std::size_t>(most_elements);
      if (!are_known) break;
    }
    facts.restore(mark);
    std::ranges::sort(elements);
    if (origin) nest.origin = std::move(*origin);
    return are_known && elements.size() > 1 && std::ranges::adjacent_find(elements) == elements.end();
  }

  // Where statements begin that set all sums of the nest to one literal, which is then what they begin with; else where
  // the nest stands.
  static std::size_t before_begin(Nest& nest, const Block& block, std::size_t at, arith::Facts& facts) {
    std::vector<std::int64_t> set;
    ExprRef begin;
    for (std::size_t i = at; i > 0 && set.size() < nest.elements.size();) {
      const auto first = set_elements(nest, block[--i], set, facts);
      if (first == nullptr || (begin != nullptr && !tir::is_same(*begin, *first))) return at;
      begin = first;
      if (set.size() < nest.elements.size()) continue;
      std::ranges::sort(set);
      if (set != nest.elements) return at;
      nest.begin = begin;
      return i;
    }
    return at;
  }

  // What the statement sets elements of the sums to, appended to `set`; null: it does something else.
  static ExprRef set_elements(const Nest& nest, const Stmt& stmt, std::vector<std::int64_t>& set, arith::Facts& facts) {
    Update update{.store = std::get_if<tir::Store>(&stmt.node), .lanes = std::get_if<tir::For>(&stmt.node), .lets = {}};
    if (update.lanes != nullptr) find_store(update);
    const bool is_literal =
        update.store != nullptr && update.store->storage == nest.storage && update.store->predicate == nullptr &&
        update.store->value->type == nest.type &&
        (update.store->value->kind == ExprKind::int_imm || update.store->value->kind == ExprKind::float_imm);
    const bool has_pure_lets =
        std::ranges::all_of(update.lets, [](const tir::Let* let) { return tir::is_pure(*let->value); });
    const auto place = is_literal && has_pure_lets ? first_place(nest, update, facts) : std::nullopt;
    if (!place) return nullptr;
    const auto from_origin = arith::difference(*place, nest.origin);
    if (!from_origin || !from_origin->is_constant()) return nullptr;
    for (std::int64_t i = 0; i < update.count; ++i) set.push_back(from_origin->constant + i * update.distance);
    return update.store->value;
  }

  static void bind_levels(const Nest& nest, arith::Facts& facts) {
    for (const Level& level : nest.levels) {
      facts.bind_loop(*level.loop);
      for (const tir::Let* let : level.lets) facts.bind_value(let->var, *let->value);
    }
  }

  // The place of the element in lane 0; sets the distance. Nothing: lanes are not equally far apart, or depend on the
  // loops around.
  static std::optional<arith::Affine> first_place(const Nest& nest, Update& update, arith::Facts& facts) {
    auto place = place_of(nest, update, facts);
    if (!place || update.lanes == nullptr) return place;
    update.distance = place->factor(update.lanes->var);
    *place = place->without(update.lanes->var);
    return place->mentions(update.lanes->var) ? std::nullopt : place;
  }

  // The element's place. Nothing: it depends on the loops around, by a let or not.
  static std::optional<arith::Affine> place_of(const Nest& nest, const Update& update, arith::Facts& facts) {
    const std::size_t mark = facts.mark();
    if (update.lanes != nullptr) facts.bind_loop(*update.lanes);
    for (const tir::Let* let : update.lets) facts.bind_value(let->var, *let->value);
    auto place = sum_of(update.store->index, facts);
    facts.restore(mark);
    const ExprRef index = loops::renamed(update.store->index, expanded(update, {}));
    for (const Level& level : nest.levels) {
      const auto is_inside = [&](VarId var) { return tir::mentions(*index, var); };
      if (is_inside(level.loop->var) || std::ranges::any_of(level.lets, is_inside, &tir::Let::var)) return std::nullopt;
    }
    return place;
  }

  static std::optional<arith::Affine> sum_of(const ExprRef& index, const arith::Facts& facts) {
    std::set<VarId> inside;
    auto sum = affine_of(index, facts, inside);
    return inside.empty() ? std::move(sum) : std::nullopt;
  }

  // With the lets of the update.
  static loops::Substitution expanded(const Update& update, loops::Substitution values) {
    for (const tir::Let* let : update.lets) values[let->var] = with_values(let->value, values);
    return values;
  }
  static loops::Substitution in_lane(const Part& part, std::int64_t i, loops::Substitution values) {
    const Update& update = *part.update;
    if (update.lanes != nullptr) values[update.lanes->var] = plus(part.from, tir::make_int(i, part.from->type));
    return expanded(update, std::move(values));
  }

  // Groups of elements, one after the other. Nothing: not so many are held.
  std::optional<Block> held(const Nest& nest, arith::Facts& facts) {
    const std::int64_t most = nest.type.is_float() ? most_floats : ints_;
    if (most < 2) return std::nullopt;
    const bool is_one = nest.updates.size() == 1;
    Block result;
    if (is_one && nest.updates[0].count > most) {
      hold_lanes(nest, most, facts, result);
      return result;
    }
    std::vector<std::vector<Part>> groups(1);
    std::int64_t count = 0;
    for (const Update& update : nest.updates) {
      if (update.count > most) return std::nullopt;
      if (count + update.count > most) {
        groups.emplace_back();
        count = 0;
      }
      groups.back().push_back({&update, zero(update), update.count});
      count += update.count;
    }
    for (std::size_t i = 0; i < groups.size();) {
      std::size_t same = 1;
      const auto step = i + 1 < groups.size() ? shift_between(nest, groups[i], groups[i + 1], facts) : std::nullopt;
      for (; step && i + same < groups.size(); ++same) {
        const auto here = shift_between(nest, groups[i], groups[i + same], facts);
        if (!here || !here->is(static_cast<std::int64_t>(same), *step)) break;
      }
      if (same > 1) {
        const VarId g = loops::fresh_var(module_, "group", tir::int32_type);
        result.emplace_back().node.emplace<tir::For>(
            tir::For{g, tir::make_int(0), tir::make_int(static_cast<std::int64_t>(same)),
                     group(nest, groups[i], facts, &*step, tir::make_var(module_, g))});
      } else {
        result.emplace_back().node.emplace<tir::Scope>(tir::Scope{group(nest, groups[i], facts)});
      }
      i += same;
    }
    return result;
  }

  // Nothing: they differ in more.
  std::optional<Shift> shift_between(const Nest& nest, const std::vector<Part>& a, const std::vector<Part>& b,
                                     arith::Facts& facts) {
    if (a.size() != b.size()) return std::nullopt;
    Shift step;
    const std::size_t mark = facts.mark();
    bind_levels(nest, facts);
    bool is_same = true;
    for (std::size_t i = 0; is_same && i < a.size(); ++i) {
      const Update& x = *a[i].update;
      const Update& y = *b[i].update;
      const std::int64_t elements = y.first - x.first;
      if (i == 0) step.elements = elements;
      is_same = x.count == y.count && x.distance == y.distance && elements == step.elements &&
                (x.lanes == nullptr) == (y.lanes == nullptr);
      if (!is_same) break;
      const std::size_t inside = facts.mark();
      if (x.lanes != nullptr) facts.bind_loop(*x.lanes);
      auto loads = load_steps(term_of(x, x), term_of(y, x), facts);
      facts.restore(inside);
      is_same = loads.has_value();
      if (is_same) step.loads.push_back(std::move(*loads));
    }
    facts.restore(mark);
    return is_same ? std::optional(std::move(step)) : std::nullopt;
  }

  // In the lane of another update, with the lets of its own.
  [[nodiscard]] ExprRef term_of(const Update& update, const Update& lane_of) const {
    loops::Substitution values;
    if (update.lanes != nullptr) values[update.lanes->var] = tir::make_var(module_, lane_of.lanes->var);
    return with_values(update.store->value->operands[1], expanded(update, std::move(values)));
  }

  static std::optional<std::vector<std::int64_t>> load_steps(const ExprRef& a, const ExprRef& b,
                                                             const arith::Facts& facts) {
    const auto from = loads_of(a);
    const auto to = loads_of(b);
    if (!from || !to || from->size() != to->size()) return std::nullopt;
    std::vector<std::int64_t> steps;
    for (std::size_t i = 0; i < from->size(); ++i) {
      const auto first = sum_of((*from)[i]->operands[0], facts);
      const auto second = sum_of((*to)[i]->operands[0], facts);
      const auto difference = first && second ? arith::difference(*second, *first) : std::nullopt;
      if (!difference || !difference->is_constant()) return std::nullopt;
      for (std::size_t j = 0; j < i; ++j) {
        if (steps[j] != difference->constant && tir::is_same(*(*from)[j], *(*from)[i])) return std::nullopt;
      }
      steps.push_back(difference->constant);
    }
    const auto without_places = [](const ExprRef& term) {
      tir::ExprRewriter rewriter([](const ExprRef& expr) -> ExprRef {
        return expr->kind == ExprKind::load ? tir::make_load(expr->type, expr->var, tir::make_int(0)) : nullptr;
      });
      return rewriter.rewritten(term);
    };
    return tir::is_same(*without_places(a), *without_places(b)) ? std::optional(std::move(steps)) : std::nullopt;
  }

  [[nodiscard]] ExprRef zero(const Update& update) const {
    return tir::make_int(0, update.lanes == nullptr ? tir::int32_type : module_.var(update.lanes->var).type);
  }

  // More elements of an update than are held: a loop, and what is left over.
  void hold_lanes(const Nest& nest, std::int64_t most, arith::Facts& facts, Block& result) {
    const Update& update = nest.updates[0];
    const tir::DataType type = module_.var(update.lanes->var).type;
    const std::int64_t groups = update.count / most;
    const VarId b = loops::fresh_var(module_, module_.var(update.lanes->var).name + "_block", type);
    const ExprRef first = groups == 1 ? tir::make_int(0, type) : times(tir::make_var(module_, b), most);
    Block body = group(nest, {{&update, first, most}}, facts);
    if (groups == 1) {
      result.emplace_back().node.emplace<tir::Scope>(tir::Scope{std::move(body)});
    } else {
      result.emplace_back().node.emplace<tir::For>(
          tir::For{b, tir::make_int(0, type), tir::make_int(groups, type), std::move(body)});
    }
    if (const std::int64_t rest = update.count % most; rest > 0) {
      tir::Scope last{group(nest, {{&update, tir::make_int(groups * most, type), rest}}, facts)};
      result.emplace_back().node.emplace<tir::Scope>(std::move(last));
    }
  }

  // The sums of the parts; with a step, those of the group of that number from these on.
  Block group(const Nest& nest, const std::vector<Part>& parts, arith::Facts& facts, const Shift* step = nullptr,
              const ExprRef& number = nullptr) {
    std::vector<ExprRef> terms;  // in a lane of the update
    for (std::size_t p = 0; p < parts.size(); ++p) terms.push_back(any_term(parts[p], p, step, number));
    const std::int64_t width = are_vectors(nest, parts, terms, facts) ? lanes_of_vector : 1;
    Block result;
    std::vector<VarId> sums;
    std::vector<ExprRef> places;
    for (const Part& part : parts) {
      for (std::int64_t i = 0; i < part.count; i += width) {
        const VarId s = add_register(module_, result, "sum" + std::to_string(sums.size()), nest.type, width);
        sums.push_back(s);
        const ExprRef place = with_values(part.update->store->index, in_lane(part, i, {}));
        places.push_back(step == nullptr ? place : plus(place, times_int(number, step->elements)));
        const ExprRef begin = nest.begin != nullptr ? repeated(nest.begin, width)
                                                    : load_of(nest.type, nest.storage, places.back(), width);
        set_register(result, s, begin, width);
      }
    }
    Block loops = in_loops(nest, parts, terms, sums, width);
    std::move(loops.begin(), loops.end(), std::back_inserter(result));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      result.emplace_back().node.emplace<tir::Store>(
          tir::Store{nest.storage, neighbours(places[i], width), value_of(module_, sums[i], width), nullptr});
    }
    return result;
  }

  static ExprRef any_term(const Part& part, std::size_t p, const Shift* step, const ExprRef& number) {
    ExprRef any = with_values(part.update->store->value->operands[1], expanded(*part.update, {}));
    if (step == nullptr) return any;
    std::vector<ExprRef> by;
    for (const std::int64_t load : step->loads[p]) by.push_back(times_int(number, load));
    return moved(any, *loads_of(any), by);
  }

  // --- Vectors -------------------------------------------------------------------------------------------------------

  // Whether the sums and what is added to them are neighbours, four by four.
  bool are_vectors(const Nest& nest, const std::vector<Part>& parts, const std::vector<ExprRef>& terms,
                   arith::Facts& facts) const {
    if (!vectors_ || nest.type != tir::float32_type) return false;
    const std::size_t mark = facts.mark();
    bind_levels(nest, facts);
    bool are = true;
    for (std::size_t p = 0; are && p < parts.size(); ++p) {
      const Update& update = *parts[p].update;
      are = update.lanes != nullptr && update.distance == 1 && parts[p].count % lanes_of_vector == 0 &&
            module_.var(update.lanes->var).type == tir::int32_type && is_vector(terms[p], update, facts);
    }
    facts.restore(mark);
    return are;
  }

  // A product or one factor.
  static std::span<const ExprRef> factors_of(const ExprRef& term) {
    return term->kind == ExprKind::mul ? std::span<const ExprRef>(term->operands) : std::span(&term, 1);
  }

  // Whether each factor is read from neighbours, or the same in all lanes.
  static bool is_vector(const ExprRef& term, const Update& update, arith::Facts& facts) {
    const std::size_t mark = facts.mark();
    facts.bind_loop(*update.lanes);
    const VarId lane = update.lanes->var;
    const bool is = std::ranges::all_of(factors_of(term), [&](const ExprRef& factor) {
      if (factor->type != tir::float32_type) return false;
      if (!tir::mentions(*factor, lane)) return true;
      if (factor->kind != ExprKind::load || factor->operands.size() != 1) return false;
      std::set<VarId> inside;  // of remainders, as of rows of a ring
      const auto index = affine_of(factor->operands[0], facts, inside);
      return index && !inside.contains(lane) && index->factor(lane) == 1 && !index->without(lane).mentions(lane);
    });
    facts.restore(mark);
    return is;
  }

  // The term in this lane and the next three.
  static ExprRef vector_of(const ExprRef& term, VarId lane, const loops::Substitution& values) {
    std::vector<ExprRef> factors;
    for (const ExprRef& factor : factors_of(term)) {
      const bool is_same = !tir::mentions(*factor, lane);
      factors.push_back(
          is_same ? repeated(with_values(factor, values), lanes_of_vector)
                  : load_of(factor->type, factor->var, with_values(factor->operands[0], values), lanes_of_vector));
    }
    return factors.size() == 1 ? factors[0] : tir::make_binary(ExprKind::mul, factors[0], factors[1]);
  }

  static ExprRef load_of(tir::DataType type, VarId storage, const ExprRef& first, std::int64_t width) {
    return tir::make_load(vector_type(type, width), storage, neighbours(first, width));
  }

  // The loops, with variables of their own, around the terms of the parts.
  Block in_loops(const Nest& nest, const std::vector<Part>& parts, const std::vector<ExprRef>& terms,
                 const std::vector<VarId>& sums, std::int64_t width) {
    loops::Substitution values;
    std::vector<tir::For> loops;
    for (const Level& level : nest.levels) {
      const VarId var = fresh_like(level.loop->var);
      loops.push_back(
          {var, loops::renamed(level.loop->min, values), loops::renamed(level.loop->extent, values), Block{}});
      values[level.loop->var] = tir::make_var(module_, var);
      for (const tir::Let* let : level.lets) {
        const VarId bound = fresh_like(let->var);
        loops.back().body.emplace_back().node.emplace<tir::Let>(tir::Let{bound, loops::renamed(let->value, values)});
        values[let->var] = tir::make_var(module_, bound);
      }
    }
    Block body;
    std::size_t next = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Part& part = parts[p];
      for (std::int64_t i = 0; i < part.count; i += width, ++next) {
        const loops::Substitution here = in_lane(part, i, values);
        const ExprRef term =
            width == 1 ? with_values(terms[p], here) : vector_of(terms[p], part.update->lanes->var, here);
        set_register(body, sums[next], tir::make_binary(ExprKind::add, value_of(module_, sums[next], width), term),
                     width);
      }
    }
    for (std::size_t i = loops.size(); i-- > 0;) {
      Block& inside = loops[i].body;
      std::move(body.begin(), body.end(), std::back_inserter(inside));
      Block outer;
      outer.emplace_back().node.emplace<tir::For>(std::move(loops[i]));
      body = std::move(outer);
    }
    return body;
  }

  // 0 without a variable.
  static ExprRef times_int(const ExprRef& a, std::int64_t by) {
    return by == 0 ? tir::make_int(0, a->type) : times(a, by);
  }

  VarId fresh_like(VarId var) {
    const tir::Var known = module_.var(var);
    return loops::fresh_var(module_, known.name, known.type);
  }
  tir::Module& module_;
  tir::Function& function_;
  std::int64_t ints_;
  bool vectors_;
  loops::SumStorage storage_;
};

}  // namespace

void hold_sums(tir::Module& module, std::int64_t ints, bool vectors) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) Holder(module, function, ints, vectors).run();
  }
}

}  // namespace usmp::kernels
