// SPDX-License-Identifier: Apache-2.0
#include "transform/rolling_segment.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "usmp/loops/accesses.hpp"
#include "usmp/loops/coverage.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using loops::Rows;
using tir::Stmt;
using tir::VarId;

const Rows* rows_in(const std::vector<Rows>& all, VarId storage) {
  const auto found = std::ranges::find(all, storage, &Rows::storage);
  return found == all.end() ? nullptr : &*found;
}

bool has_rows(const loops::Stage& stage) { return stage.iterations >= 2 && stage.iterations <= most_stage_iterations; }

// Whether the rows of an iteration are complete after it, and no other iteration touches them.
bool provides_rows(const Rows& rows) {
  const loops::Advance& advance = rows.advance;
  return advance.step >= 1 && advance.per == 1 && advance.turn == 0 && rows.reach.high - rows.reach.low < advance.step;
}

bool reads(const Unit& unit, VarId storage) { return std::ranges::binary_search(unit.reads, storage); }

bool accesses(const Unit& unit, VarId storage) {
  return reads(unit, storage) || std::ranges::binary_search(unit.writes, storage);
}

// Whether one of them writes what the other one accesses.
bool depend(const Unit& a, const Unit& b) {
  return std::ranges::any_of(a.writes, [&](VarId var) { return accesses(b, var); }) ||
         std::ranges::any_of(b.writes, [&](VarId var) { return accesses(a, var); });
}

// Whether the statements store every element of the storage before they load any.
class WritesFirst {
 public:
  WritesFirst(const tir::Module& module, VarId storage, std::int64_t elements)
      : module_(module), storage_(storage), elements_(elements) {}

  [[nodiscard]] bool holds(const tir::Block& outermost) const {
    const tir::Block* block = &outermost;
    while (true) {
      const auto first = std::ranges::find_if(*block, [&](const Stmt& stmt) { return mentions(stmt); });
      if (first == block->end()) return true;  // not accessed
      if (fills(*first)) return true;
      // A loop that runs at least once: each of its iterations has to.
      const auto* loop = std::get_if<tir::For>(&first->node);
      if (loop == nullptr || tir::as_int(*loop->extent).value_or(0) < 1) return false;
      block = &loop->body;
    }
  }

 private:
  [[nodiscard]] bool mentions(const Stmt& stmt) const {
    loops::Accesses accesses;
    loops::add_accesses(stmt, accesses);
    return accesses.loads_of(storage_) + accesses.stores_of(storage_) > 0;
  }

  // A nest of loops around one store, which nothing guards.
  [[nodiscard]] bool fills(const Stmt& root) const {
    arith::Facts facts(module_);
    std::map<VarId, Interval> ranges;
    const Stmt* stmt = &root;
    while (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
      const auto min = tir::as_int(*loop->min);
      const auto extent = tir::as_int(*loop->extent);
      if (!min || !extent || *extent < 1 || loop->body.size() != 1) return false;
      facts.bind_loop(*loop);
      ranges[loop->var] = {*min, *min + *extent - 1};
      stmt = &loop->body[0];
    }
    const auto* store = std::get_if<tir::Store>(&stmt->node);
    if (store == nullptr || store->storage != storage_ || store->predicate != nullptr) return false;
    if (store->value->type.is_vector()) return false;
    loops::Accesses loads;
    for (const VarId var : loops::loaded_by(*store->value)) loads.loads[var] = 1;
    for (const VarId var : loops::loaded_by(*store->index)) loads.loads[var] = 1;
    if (loads.loads_of(storage_) > 0) return false;
    const auto index = facts.affine(*store->index);
    const auto numbers = index ? loops::mixed_radix(*index, ranges) : std::nullopt;
    const auto values = numbers ? loops::dense_values(*numbers) : std::nullopt;
    return values && values->low == 0 && values->high == elements_ - 1;
  }

  const tir::Module& module_;
  VarId storage_;
  std::int64_t elements_;
};

class SegmentBuilder {
 public:
  SegmentBuilder(const tir::Module& module, const CallRun& run, std::size_t first, std::size_t last, Grain grain)
      : module_(module), run_(run), grain_(grain), units_(run.units_of(first, last)) {
    segment_.first_call = first;
    segment_.last_call = last;
  }

  std::optional<Segment> build(Bytes most) && {
    if (!find_last() || !collect() || segment_.stages.size() < 2 || !sort_others() || !check_stages()) {
      return std::nullopt;
    }
    for (RolledStage& stage : segment_.stages) find_row_buffers(stage);
    if (!make_chain()) return std::nullopt;
    if (grain_ == Grain::strips && !find_columns()) return std::nullopt;
    count_other_bytes();
    if (segment_.around_bytes > most) return std::nullopt;
    auto schedule = row_schedule(segment_.chain, most - segment_.other_bytes);
    if (!schedule) return std::nullopt;
    segment_.schedule = std::move(*schedule);
    segment_.chain_bytes = segment_.schedule.ring_bytes + segment_.schedule.whole_bytes;
    return std::move(segment_);
  }

 private:
  [[nodiscard]] const Unit& unit(std::size_t index) const { return run_.units[index]; }
  [[nodiscard]] bool is_stage(std::size_t u) const {
    return unit(u).stage && has_rows(row_stage(u)) && (grain_ != Grain::strips || unit(u).pixels);
  }
  // As the schedule counts.
  [[nodiscard]] const loops::Stage& row_stage(std::size_t u) const {
    return stage_of(run_, u, grain_ == Grain::strips ? Grain::rows : grain_);
  }
  [[nodiscard]] const loops::Stage& stage(std::size_t u) const { return stage_of(run_, u, grain_); }
  [[nodiscard]] const tir::For& loop(std::size_t u) const { return loop_of(run_, u, grain_); }
  [[nodiscard]] bool is_inside(std::size_t u) const { return u >= units_.first && u < units_.second; }

  // Units of the segment that write it, ascending.
  [[nodiscard]] std::span<const std::size_t> writers_of(VarId var) const {
    const auto storage = run_.storages.find(var);
    if (storage == run_.storages.end()) return {};
    const std::vector<std::size_t>& all = storage->second.writers;
    const auto first = std::ranges::lower_bound(all, units_.first);
    return {first, std::ranges::lower_bound(first, all.end(), units_.second)};
  }

  // The tensor whose rows the unit provides; nothing: none.
  [[nodiscard]] std::optional<VarId> tensor_of(std::size_t u) const {
    if (!is_stage(u)) return std::nullopt;
    std::optional<VarId> tensor;
    for (const Rows& rows : stage(u).provided) {
      const RunStorage& storage = run_.storages.at(rows.storage);
      const bool is_private = storage.first == u && storage.last == u && !storage.outside;
      if (is_private) continue;
      if (tensor || !provides_rows(rows)) return std::nullopt;
      tensor = rows.storage;
    }
    return tensor;
  }

  // The last unit that reads rows of what another one of the segment provides.
  bool find_last() {
    for (std::size_t u = units_.second; u-- > units_.first;) {
      if (!is_stage(u)) continue;
      const bool reads_rows = std::ranges::any_of(stage(u).required, [&](const Rows& rows) {
        if (rows.advance.step < 1) return false;
        const auto writers = writers_of(rows.storage);
        return !writers.empty() && writers.back() < u && tensor_of(writers.back()) == rows.storage;
      });
      if (!reads_rows) continue;
      last_ = u;
      return true;
    }
    return false;
  }

  // The stages, from the last one back to those that it reads from.
  bool collect() {
    std::map<std::size_t, RolledStage> stages;  // by last unit
    std::vector<std::size_t> pending;           // these, as they are found
    const auto add = [&](std::size_t u) {
      RolledStage stage;
      stage.grain = grain_;
      stage.tensor = tensor_of(u);
      stage.units = {u};
      if (stage.tensor) stage.units.assign(writers_of(*stage.tensor).begin(), writers_of(*stage.tensor).end());
      if (stage.units.back() != u || !are_alike(stage)) return false;
      for (const std::size_t part : stage.units) rolled_.insert(part);
      stages.emplace(u, std::move(stage));
      pending.push_back(u);
      return true;
    };
    if (!add(last_)) return false;
    std::size_t next = 0;
    while (next < pending.size()) {
      const std::size_t reader = pending[next++];
      for (const std::size_t part : stages.at(reader).units) {
        for (const VarId var : unit(part).reads) {
          const auto writers = writers_of(var);
          if (writers.empty()) continue;
          const std::size_t writer = writers.back();
          if (writer >= reader || rolled_.contains(writer)) continue;
          if (tensor_of(writer) != var) continue;  // must run before
          if (!add(writer)) return false;
        }
      }
    }
    for (auto& [u, stage] : stages) segment_.stages.push_back(std::move(stage));
    return true;
  }

  // Whether the units provide the same rows in the same iterations.
  [[nodiscard]] bool are_alike(const RolledStage& rolled) const {
    if (rolled.units.size() == 1) return true;
    const loops::Stage& first = stage(rolled.units[0]);
    const Rows* rows = rows_in(first.provided, *rolled.tensor);
    return std::ranges::all_of(rolled.units, [&](std::size_t u) {
      if (tensor_of(u) != rolled.tensor || stage(u).iterations != first.iterations) return false;
      const Rows* own = rows_in(stage(u).provided, *rolled.tensor);
      return own->axis == rows->axis && own->advance == rows->advance && own->reach == rows->reach;
    });
  }

  // Everything else runs before or after.
  bool sort_others() {
    for (std::size_t u = units_.first; u < units_.second; ++u) {
      if (rolled_.contains(u)) continue;
      (u < last_ ? segment_.before : segment_.after).push_back(u);
    }
    for (const std::size_t u : segment_.before) {
      for (const std::size_t other : rolled_) {
        if (other < u && depend(unit(other), unit(u))) return false;
      }
    }
    // Units of the last stage all stand where its last one stands, which is `last_`.
    return true;
  }

  bool check_stages() {
    for (std::size_t s = 0; s < segment_.stages.size(); ++s) {
      const RolledStage& stage = segment_.stages[s];
      const bool is_last = s + 1 == segment_.stages.size();
      for (const std::size_t u : stage.units) {
        const loops::Stage& own = this->stage(u);
        const tir::For& loop = this->loop(u);
        const std::int64_t rows = own.rows > 0 ? own.rows : own.iterations;
        const auto extent = tir::as_int(*loop.extent);
        if (!extent || *extent % (own.by * rows) != 0 || loop.var != own.var) return false;
        const bool changes_order = *extent > own.by * rows;
        for (const VarId var : unit(u).writes) {
          if (stage.tensor == var) continue;
          const RunStorage& storage = run_.storages.at(var);
          const bool is_private = storage.first == u && storage.last == u && !storage.outside;
          if (!is_private && (!is_last || is_in_chain(var, u) || grain_ == Grain::strips)) return false;
          const bool keeps_order = !changes_order || planes_are_apart(loop, var, own.by * rows);
          if (keeps_order && grain_ != Grain::strips) continue;
          if (!is_private || !WritesFirst(module_, var, storage.elements).holds(loop.body)) return false;
        }
        // Of one type, the variables of loops can be computed from each other.
        if (module_.var(loop.var).type != tir::int32_type) return false;
      }
      if (!is_last && !stage.tensor) return false;
      if (!reads_what_is_there(s)) return false;
      if (is_last && stage.tensor) {
        // What it provides may be read by the chain too: then it would be a stage before the last one.
        for (const std::size_t u : rolled_) {
          const bool is_own = std::ranges::find(stage.units, u) != stage.units.end();
          if (!is_own && accesses(unit(u), *stage.tensor)) return false;
        }
      }
    }
    return true;
  }

  // Whether all that the stage reads is written before the segment, before the chain, after it, by earlier stages a row
  // after the other, or by the reading unit itself.
  [[nodiscard]] bool reads_what_is_there(std::size_t s) const {
    const auto is_fine = [&](std::size_t u, VarId var, std::size_t writer) {
      if (writer == u || !rolled_.contains(writer)) return true;
      for (std::size_t earlier = 0; earlier < s; ++earlier) {
        if (segment_.stages[earlier].tensor == var) return writer < u;
      }
      return false;
    };
    return std::ranges::all_of(segment_.stages[s].units, [&](std::size_t u) {
      return std::ranges::all_of(unit(u).reads, [&](VarId var) {
        return std::ranges::all_of(writers_of(var), [&](std::size_t writer) { return is_fine(u, var, writer); });
      });
    });
  }

  // Whether iterations of the loop that differ in v / period access different elements of the storage.
  [[nodiscard]] bool planes_are_apart(const tir::For& loop, VarId storage, std::int64_t period) const {
    const std::int64_t planes = *tir::as_int(*loop.extent) / period;
    const std::int64_t elements = run_.storages.at(storage).elements;
    if (elements < planes || elements % planes != 0) return false;
    arith::Facts facts(module_);
    facts.bind_loop(loop);
    const auto plane = facts.divide(arith::variable(loop.var), period);
    bool are_apart = plane.has_value();
    loops::visit_accesses(loop.body, facts, [&](VarId var, const tir::Expr& index, bool, const arith::Facts& here) {
      if (var != storage || !are_apart) return;
      const auto place = here.affine(index);
      const auto part = place ? here.divide(*place, elements / planes) : std::nullopt;
      are_apart = part && part->quotient == plane->quotient;
    });
    return are_apart;
  }

  // Whether another rolled unit accesses it.
  [[nodiscard]] bool is_in_chain(VarId var, std::size_t u) const {
    return std::ranges::any_of(rolled_, [&](std::size_t other) { return other != u && accesses(unit(other), var); });
  }

  void find_row_buffers(RolledStage& stage) const {
    for (const std::size_t u : stage.units) {
      for (const VarId var : unit(u).writes) {
        const RunStorage& storage = run_.storages.at(var);
        const bool is_private = storage.first == u && storage.last == u && !storage.outside;
        if (!is_private || stage.tensor == var) continue;
        if (WritesFirst(module_, var, storage.elements).holds(loop(u).body)) stage.row_buffers.insert(var);
      }
    }
  }

  std::size_t tensor_index(VarId var, const loops::Axis& axis) {
    const auto [found, is_new] = segment_.tensors.emplace(var, segment_.chain.tensors.size());
    if (is_new) {
      const RunStorage& storage = run_.storages.at(var);
      RowTensor tensor;
      tensor.rows = axis.extent;
      tensor.row_bytes = storage.bytes() / axis.extent;
      const bool is_used_outside =
          storage.is_used_before || storage.first < units_.first || storage.last >= units_.second;
      const bool is_used_around =
          std::ranges::any_of(segment_.before, [&](std::size_t u) { return accesses(unit(u), var); }) ||
          std::ranges::any_of(segment_.after, [&](std::size_t u) { return accesses(unit(u), var); });
      const bool is_written = !writers_of(var).empty();
      tensor.is_whole =
          storage.is_read_later || is_used_around || (is_written ? is_used_outside : storage.last >= units_.second);
      tensor.is_free = storage.is_free;
      tensor.is_scattered = storage.elements > axis.stride * axis.extent;
      segment_.chain.tensors.push_back(tensor);
      segment_.axes.push_back(axis);
    }
    return found->second;
  }

  // The finest axis of those by which stages divide the tensor, if rows of the others are so many of its own.
  void find_axes() {
    const auto note = [&](const Rows& rows) {
      const auto [known, is_new] = axes_.emplace(rows.storage, rows.axis);
      const Rows coarse{.storage = rows.storage, .axis = known->second, .advance = {}, .reach = {}};
      if (!is_new && coarse.along(rows.axis)) known->second = rows.axis;
    };
    for (const RolledStage& rolled : segment_.stages) {
      for (const std::size_t u : rolled.units) {
        std::ranges::for_each(row_stage(u).provided, note);
        for (const Rows& rows : row_stage(u).required) {
          if (rows.advance.step > 0) note(rows);
        }
      }
    }
  }

  // In rows of the tensor's axis; all: the unit's rows are none of these.
  [[nodiscard]] Rows on_axis(const Rows& rows) const {
    const auto found = axes_.find(rows.storage);
    const loops::Axis& axis = found == axes_.end() ? rows.axis : found->second;
    const auto along = rows.advance.step >= 0 ? rows.along(axis) : std::nullopt;
    if (along) return *along;
    return {.storage = rows.storage, .axis = axis, .advance = {}, .reach = {0, axis.extent - 1}};
  }

  bool make_chain() {
    find_axes();
    for (RolledStage& rolled : segment_.stages) {
      RowStage row;
      const loops::Stage& first = row_stage(rolled.units[0]);
      row.iterations = first.iterations;
      for (const VarId var : rolled.row_buffers) row.scratch += run_.storages.at(var).bytes();
      if (rolled.tensor) {
        const Rows rows = on_axis(*rows_in(first.provided, *rolled.tensor));
        if (!provides_rows(rows)) return false;
        row.supply = RowSupply{tensor_index(*rolled.tensor, rows.axis), rows.advance.step, rows.reach};
        const std::int64_t elements = run_.storages.at(*rolled.tensor).elements;
        if (elements % (rows.axis.stride * rows.axis.extent) != 0) return false;
      }
      std::map<std::size_t, RowNeed> needs;
      for (const std::size_t u : rolled.units) {
        for (const Rows& required : row_stage(u).required) {
          const RunStorage& storage = run_.storages.at(required.storage);
          if (storage.first == u && storage.last == u && !storage.outside) continue;
          const Rows rows = on_axis(required);
          const RowNeed need{tensor_index(rows.storage, rows.axis), rows.advance, rows.reach, rows.lines};
          const auto [known, is_new] = needs.emplace(need.tensor, need);
          if (is_new) continue;
          RowNeed& other = known->second;
          if (other.advance == need.advance) {
            other.reach = hull(other.reach, need.reach);
            if (other.lines != need.lines) other.lines.reset();
          } else {
            other = {need.tensor, {}, {0, rows.axis.extent - 1}, {}};
          }
        }
      }
      for (const auto& [tensor, need] : needs) row.needs.push_back(need);
      segment_.chain.stages.push_back(std::move(row));
    }
    return true;
  }

  // Which columns each stage computes for a strip, from the last one back to those that it reads from.
  bool find_columns() {
    const std::size_t count = segment_.stages.size();
    segment_.columns.resize(count);
    std::vector<bool> is_known(count, false);
    for (std::size_t s = count; s-- > 0;) {
      const RowStage& row = segment_.chain.stages[s];
      const bool is_last = s + 1 == count;
      if (!row.supply || segment_.chain.tensors[row.supply->tensor].is_whole != is_last) return false;
      if (!is_last && !is_known[s]) return false;
      if (!has_pixels(s)) return false;
      for (const RowNeed& need : row.needs) {
        const auto supplier = std::ranges::find_if(segment_.chain.stages, [&](const RowStage& other) {
          return other.supply && other.supply->tensor == need.tensor;
        });
        if (supplier == segment_.chain.stages.end()) continue;  // whole
        const auto from = static_cast<std::size_t>(supplier - segment_.chain.stages.begin());
        const auto needed = columns_needed(s, from, need);
        if (!needed) return false;
        StripColumns& all = segment_.columns[from];
        if (is_known[from]) {
          if (all.scale != needed->scale) return false;
          all.low = std::min(all.low, needed->low);
          all.high = std::max(all.high, needed->high);
        } else {
          all = *needed;
          is_known[from] = true;
        }
      }
    }
    return true;
  }

  // Whether iteration n of the stage's units is pixel n of its tensor, and notes how long its lines are.
  bool has_pixels(std::size_t s) {
    StripColumns& columns = segment_.columns[s];
    const RolledStage& rolled = segment_.stages[s];
    const RowSupply& supply = *segment_.chain.stages[s].supply;
    const loops::Axis& lines = segment_.axes[supply.tensor];
    if (supply.step != 1 || supply.reach != Interval{0, 0}) return false;
    for (const std::size_t u : rolled.units) {
      const Rows* pixels = rows_in(stage(u).provided, *rolled.tensor);
      if (pixels == nullptr || pixels->advance != loops::Advance{.step = 1} || pixels->reach != Interval{0, 0}) {
        return false;
      }
      columns.pixels = pixels->axis;
      const std::int64_t pixel = pixels->axis.stride;
      if (pixel >= lines.stride || lines.stride % pixel != 0) return false;
      columns.columns = lines.stride / pixel;
      const std::int64_t all = columns.columns * lines.extent;
      if (pixels->axis.extent != all || stage(u).iterations != all) return false;
      if (segment_.chain.stages[s].iterations != lines.extent) return false;
    }
    return true;
  }

  // What stage `s` needs of the columns of the tensor of `from`: an iteration's rows of pixels are a box of lines and
  // columns, of which the first and the last pixel are known, and the lines.
  [[nodiscard]] std::optional<StripColumns> columns_needed(std::size_t s, std::size_t from, const RowNeed& need) const {
    const StripColumns& own = segment_.columns[s];
    const loops::Axis& lines = segment_.axes[need.tensor];
    const VarId tensor = *segment_.stages[from].tensor;
    if (need.lines || need.advance.per != 1 || need.advance.turn != 0 || need.advance.step < 1) return std::nullopt;
    std::optional<StripColumns> needed;
    for (const std::size_t u : segment_.stages[s].units) {
      const Rows* pixels = rows_in(stage(u).required, tensor);
      if (pixels == nullptr) {
        if (reads(unit(u), tensor)) return std::nullopt;
        continue;
      }
      const loops::Advance& advance = pixels->advance;
      const std::int64_t line = lines.stride / pixels->axis.stride;
      if (pixels->axis.stride * line != lines.stride || advance.per != 1 || advance.step < 1) return std::nullopt;
      if (advance.turn != 0 && advance.width != own.columns) return std::nullopt;
      if (advance.step * own.columns + advance.turn != need.advance.step * line) return std::nullopt;
      const Interval reach{pixels->reach.low - need.reach.low * line, pixels->reach.high - need.reach.high * line};
      if (reach.low > reach.high || reach.low <= -line || reach.high >= line) return std::nullopt;
      StripColumns of_unit = segment_.columns[from];
      of_unit.scale = own.scale * advance.step;
      of_unit.low = own.low * advance.step + reach.low;
      of_unit.high = (own.high - 1) * advance.step + reach.high + 1;
      if (needed) {
        if (needed->scale != of_unit.scale) return std::nullopt;
        of_unit.low = std::min(of_unit.low, needed->low);
        of_unit.high = std::max(of_unit.high, needed->high);
      }
      needed = of_unit;
    }
    return needed;
  }

  void count_other_bytes() {
    Bytes bytes = 0;
    Bytes scratch = 0;
    for (const RowStage& stage : segment_.chain.stages) scratch = std::max(scratch, stage.scratch);
    std::set<VarId> counted;
    for (const RolledStage& stage : segment_.stages) counted.insert(stage.row_buffers.begin(), stage.row_buffers.end());
    // What is live besides: all that is live somewhere in the chain, but for what has been counted.
    const std::size_t begin = *rolled_.begin();
    bytes += run_.live[begin] + run_.begun[last_] - run_.begun[begin];
    for (const auto& [var, tensor] : segment_.tensors) counted.insert(var);
    for (const VarId var : counted) {
      const RunStorage& storage = run_.storages.at(var);
      const bool is_live = storage.first <= last_ && (storage.last >= begin || storage.is_read_later);
      if (is_live && !storage.is_free) bytes -= storage.bytes();
    }
    segment_.other_bytes = bytes + scratch;
    for (const std::size_t u : segment_.before) {
      segment_.around_bytes = std::max(segment_.around_bytes, bytes_around(u, true));
    }
    for (const std::size_t u : segment_.after) {
      segment_.around_bytes = std::max(segment_.around_bytes, bytes_around(u, false));
    }
  }

  // Of a unit before or after the chain, which stood among it: what the chain writes is not there yet, or its rings no
  // more.
  [[nodiscard]] Bytes bytes_around(std::size_t u, bool is_before) const {
    Bytes bytes = unit_bytes(run_, u);
    for (const auto& [var, index] : segment_.tensors) {
      const RunStorage& storage = run_.storages.at(var);
      const bool is_there = storage.first < u && (storage.last > u || storage.is_read_later);
      const bool is_written = !writers_of(var).empty() && !storage.is_used_before && storage.first >= units_.first;
      const bool is_gone = is_before ? is_written : is_written && !segment_.chain.tensors[index].is_whole;
      if (is_there && is_gone && !storage.is_free && !accesses(unit(u), var)) bytes -= storage.bytes();
    }
    return bytes;
  }

 public:
  // Of a unit as it is, with all that is live.
  static Bytes unit_bytes(const CallRun& run, std::size_t u) {
    const Unit& unit = run.units[u];
    RowChain chain;
    RowStage row;
    Bytes bytes = 0;
    std::set<VarId> in_chain;
    if (unit.stage && has_rows(*unit.stage)) {
      row.iterations = unit.stage->iterations;
      for (const Rows& rows : unit.stage->required) {
        const RunStorage& storage = run.storages.at(rows.storage);
        const bool is_input = storage.first < u || storage.outside;
        if (!is_input || rows.advance.step < 0) continue;
        in_chain.insert(rows.storage);
        row.needs.push_back({chain.tensors.size(), rows.advance, rows.reach, rows.lines});
        chain.tensors.push_back({rows.axis.extent, storage.bytes() / rows.axis.extent,
                                 storage.last > u || storage.is_read_later, storage.is_free});
      }
      for (const Rows& rows : unit.stage->provided) {
        const RunStorage& storage = run.storages.at(rows.storage);
        if (row.supply || !provides_rows(rows)) continue;
        in_chain.insert(rows.storage);
        row.supply = RowSupply{chain.tensors.size(), rows.advance.step, rows.reach};
        chain.tensors.push_back({rows.axis.extent, storage.bytes() / rows.axis.extent, true, storage.is_free});
      }
    }
    bytes += run.live[u];
    for (const VarId var : in_chain) {
      const RunStorage& storage = run.storages.at(var);
      const bool is_live = storage.first <= u && (storage.last >= u || storage.is_read_later);
      if (is_live && !storage.is_free) bytes -= storage.bytes();
    }
    if (chain.tensors.empty()) return bytes;
    chain.stages.push_back(std::move(row));
    const auto schedule = row_schedule(chain);
    if (schedule) return bytes + schedule->whole_bytes;
    for (const RowTensor& tensor : chain.tensors) bytes += tensor.is_free ? 0 : tensor.rows * tensor.row_bytes;
    return bytes;
  }

 private:
  const tir::Module& module_;
  const CallRun& run_;
  const Grain grain_;
  const std::pair<std::size_t, std::size_t> units_;
  std::size_t last_ = 0;
  std::set<std::size_t> rolled_;
  std::map<VarId, loops::Axis> axes_;
  Segment segment_;
};

}  // namespace

const loops::Stage& stage_of(const CallRun& run, std::size_t unit, Grain grain) {
  const Unit& of = run.units[unit];
  return grain != Grain::rows && of.pixels ? of.pixels->stage : *of.stage;
}

const tir::For& loop_of(const CallRun& run, std::size_t unit, Grain grain) {
  const Unit& of = run.units[unit];
  return grain != Grain::rows && of.pixels ? of.pixels->loop : std::get<tir::For>(run.function.body[of.statement].node);
}

Interval StripColumns::in(std::int64_t strip, std::int64_t width) const {
  return {std::max<std::int64_t>(0, scale * width * strip + low),
          std::min(columns, scale * width * (strip + 1) + high) - 1};
}

std::optional<tir::Ring> Segment::ring_of(std::size_t tensor) const {
  const std::int64_t rows = schedule.ring_rows[tensor];
  if (chain.tensors[tensor].is_whole) return std::nullopt;
  if (strips == 0) {
    const loops::Axis& axis = axes[tensor];
    return rows >= axis.extent ? std::nullopt : std::optional(tir::Ring{axis.stride, axis.extent, rows});
  }
  const auto stage = std::ranges::find_if(
      chain.stages, [&](const RowStage& one) { return one.supply && one.supply->tensor == tensor; });
  if (stage == chain.stages.end()) return std::nullopt;
  const loops::Axis& pixels = columns[static_cast<std::size_t>(stage - chain.stages.begin())].pixels;
  if (strip_pixels[tensor] >= pixels.extent) return std::nullopt;
  return tir::Ring{pixels.stride, pixels.extent, strip_pixels[tensor]};
}

std::int64_t strip_places(std::int64_t rows, std::int64_t columns, std::int64_t line, std::int64_t pixels) {
  const auto are_apart = [&](std::int64_t places) {
    for (std::int64_t i = 1; i < rows; ++i) {
      const std::int64_t apart = i * line % places;
      if (apart < columns || apart > places - columns) return false;
    }
    return true;
  };
  std::int64_t places = std::min(rows * columns, pixels);
  while (places < pixels && !are_apart(places)) ++places;
  return places;
}

bool divide_into_strips(const CallRun& run, Segment& segment, std::int64_t width) {
  const std::size_t count = segment.stages.size();
  const std::int64_t columns = segment.columns[count - 1].columns;
  segment.strip_width = width;
  segment.strips = (columns + width - 1) / width;
  segment.strip_pixels.assign(segment.chain.tensors.size(), 0);
  segment.computed.assign(count, 0);
  Bytes rings = 0;
  for (std::size_t s = 0; s < count; ++s) {
    std::int64_t widest = 0;
    std::int64_t all = 0;
    for (std::int64_t strip = 0; strip < segment.strips; ++strip) {
      const Interval needed = segment.columns[s].in(strip, width);
      if (needed.low > needed.high) return false;
      widest = std::max(widest, needed.high - needed.low + 1);
      all += needed.high - needed.low + 1;
    }
    segment.computed[s] = all * segment.schedule.runs[s];
    const std::size_t tensor = segment.chain.stages[s].supply->tensor;
    if (segment.chain.tensors[tensor].is_whole) continue;
    const std::int64_t pixels = segment.columns[s].pixels.extent;
    segment.strip_pixels[tensor] =
        strip_places(segment.schedule.ring_rows[tensor], widest, segment.columns[s].columns, pixels);
    rings += run.storages.at(*segment.stages[s].tensor).bytes() / pixels * segment.strip_pixels[tensor];
  }
  // Whole tensors are read and written strip by strip: none of their rows is dead before the last one.
  Bytes whole = 0;
  for (const RowTensor& tensor : segment.chain.tensors) {
    if (tensor.is_free) continue;
    const bool is_ring = !tensor.is_whole && std::ranges::any_of(segment.chain.stages, [&](const RowStage& stage) {
      return stage.supply && &segment.chain.tensors[stage.supply->tensor] == &tensor;
    });
    if (!is_ring) whole += tensor.rows * tensor.row_bytes;
  }
  segment.chain_bytes = rings + whole;
  return true;
}

std::optional<Segment> rolled_segment(const tir::Module& module, const CallRun& run, std::size_t first,
                                      std::size_t last, Grain grain, Bytes most) {
  return SegmentBuilder(module, run, first, last, grain).build(most);
}

Bytes plain_bytes(const CallRun& run, std::size_t call) {
  Bytes bytes = 0;
  const auto [first, last] = run.units_of(call, call + 1);
  for (std::size_t u = first; u < last; ++u) bytes = std::max(bytes, SegmentBuilder::unit_bytes(run, u));
  return bytes;
}

}  // namespace usmp::transform
