// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects stages from the last unit backwards, checks what they read, and adds up rings and what is live beside them.
#include "transform/rolling_segment.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "transform/rolling_strips.hpp"
#include "usmp/loops/stores_first.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using loops::Rows;
using tir::Stmt;
using tir::VarId;

bool has_rows(const loops::Stage& stage) { return stage.iterations >= 2 && stage.iterations <= most_stage_iterations; }

// Whether the rows of an iteration are complete after it, and no other iteration touches them.
bool provides_rows(const Rows& rows) {
  const loops::Advance& advance = rows.advance;
  return advance.step >= 1 && advance.per == 1 && advance.turn == 0 && rows.reach.high - rows.reach.low < advance.step;
}

bool accesses(const Unit& unit, VarId storage) {
  return std::ranges::binary_search(unit.reads, storage) || std::ranges::binary_search(unit.writes, storage);
}

// Whether one of them writes what the other one accesses.
bool depend(const Unit& a, const Unit& b) {
  return std::ranges::any_of(a.writes, [&](VarId var) { return accesses(b, var); }) ||
         std::ranges::any_of(b.writes, [&](VarId var) { return accesses(a, var); });
}

// Bytes of a unit as it is, with all that is live.
Bytes unit_bytes(const CallRun& run, std::size_t u) {
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
    if (grain_ == Grain::strips && !find_columns(module_, run_, segment_)) return std::nullopt;
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
    // One of them may be no stage: a single store, say.
    const auto provides_tensor = [&](std::size_t u) { return tensor_of(u) == rolled.tensor; };
    if (!std::ranges::all_of(rolled.units, provides_tensor)) return false;
    const loops::Stage& first = stage(rolled.units[0]);
    const Rows* rows = rows_in(first.provided, *rolled.tensor);
    return std::ranges::all_of(rolled.units, [&](std::size_t u) {
      if (stage(u).iterations != first.iterations) return false;
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
          if (!is_private || !loops::stores_first(module_, loop.body, var, storage.elements)) return false;
        }
        // The variables of loops can be computed from each other if they are of one type.
        if (module_.var(loop.var).type != tir::int32_type) return false;
      }
      if (!is_last && !stage.tensor) return false;
      if (!reads_what_is_there(s)) return false;
    }
    return true;
  }

  // Whether all that the stage reads is written before the segment, before the chain, after it, by earlier stages a row
  // after the other, or by the reading unit itself. What the last stage provides, none of them may read.
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
        if (loops::stores_first(module_, loop(u).body, var, storage.elements)) stage.row_buffers.insert(var);
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

  // Bytes of a unit before or after the chain, which stood among it: what the chain writes is not there yet, or its
  // rings no more.
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

const Rows* rows_in(const std::vector<Rows>& all, VarId storage) {
  const auto found = std::ranges::find(all, storage, &Rows::storage);
  return found == all.end() ? nullptr : &*found;
}

const tir::For& loop_of(const CallRun& run, std::size_t unit, Grain grain) {
  const Unit& of = run.units[unit];
  return grain != Grain::rows && of.pixels ? of.pixels->loop : std::get<tir::For>(run.function.body[of.statement].node);
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

std::optional<Segment> rolled_segment(const tir::Module& module, const CallRun& run, std::size_t first,
                                      std::size_t last, Grain grain, Bytes most) {
  return SegmentBuilder(module, run, first, last, grain).build(most);
}

Bytes plain_bytes(const CallRun& run, std::size_t call) {
  Bytes bytes = 0;
  const auto [first, last] = run.units_of(call, call + 1);
  for (std::size_t u = first; u < last; ++u) bytes = std::max(bytes, unit_bytes(run, u));
  return bytes;
}

}  // namespace usmp::transform
