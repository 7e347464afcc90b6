// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A nest is compiled to statements whose expressions are flat programs, and these are run: loops with all their values
// as long as the groups last, the next one in as many chunks as are left, and what is inside at once, with intervals
// for the values of its variables. Tests: tests/liveness/distances_test.cpp.
#include "liveness/address_walk.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "liveness/address_program.hpp"

namespace usmp::liveness {
namespace {

using addresses::Access;
using addresses::Compiled;
using addresses::Guard;
using addresses::Statement;
using tir::VarId;

class AddressWalk {
 public:
  AddressWalk(Compiled& compiled, const std::map<VarId, Bytes>& sizes, std::size_t most)
      : compiled_(compiled), environment_(compiled.variables), left_(most) {
    for (const VarId var : compiled.storages) {
      const auto size = sizes.find(var);
      sizes_.push_back(size == sizes.end() ? std::nullopt : std::optional(size->second));
      footprints_.push_back({.touches = {}, .type = compiled.types[sizes_.size() - 1]});
    }
  }

  // By storage.
  std::vector<Footprint> run() {
    walk(compiled_.statements, true);
    return std::move(footprints_);
  }

 private:
  // `in_order`: every variable has one value, so that accesses can be told apart. Otherwise a group is open.
  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  void walk(std::vector<Statement>& statements, bool in_order) {
    std::vector<std::pair<std::uint32_t, IndexRange>> outside;
    for (Statement& statement : statements) {
      const bool repeats = statement.kind == Statement::Kind::loop || statement.kind == Statement::Kind::repeat;
      if (!repeats) touch_all(statement, in_order);
      switch (statement.kind) {
        case Statement::Kind::leaf:
          if (statement.write) touch(*statement.write, true);
          if (in_order) ++group_;
          break;
        case Statement::Kind::let:
          outside.emplace_back(statement.variable, environment_[statement.variable]);
          environment_[statement.variable] = statement.values.front().run(environment_);
          break;
        case Statement::Kind::loop:
          walk_loop(statement, in_order);
          break;
        case Statement::Kind::branch:
          walk_branch(statement, in_order);
          break;
        case Statement::Kind::repeat:
          touch_all(statement, false);
          walk(statement.body, false);
          if (in_order) ++group_;
          break;
        case Statement::Kind::block:
          walk(statement.body, in_order);
          break;
      }
    }
    for (; !outside.empty(); outside.pop_back()) environment_[outside.back().first] = outside.back().second;
  }

  void walk_branch(Statement& statement, bool in_order) {
    const IndexRange condition = statement.values.front().run(environment_);
    if (!is_never(condition, true)) walk(statement.body, in_order);
    if (!is_never(condition, false)) walk(statement.else_body, in_order);
  }

  void walk_loop(Statement& statement, bool in_order) {
    const IndexRange min = statement.values[0].run(environment_);
    const IndexRange extent = statement.values[1].run(environment_);
    const IndexRange outside = environment_[statement.variable];
    const auto last = min.is_known() && extent.is_known() ? checked_add(min.high, extent.high) : std::nullopt;
    // Its bounds are read all the same.
    if (extent.is_known() && extent.high <= 0) return touch_all(statement, in_order);
    const bool is_fixed = last && min.is_point() && extent.is_point() && statement.reads.empty();
    if (in_order && is_fixed && left_ > 1) {
      walk_values(statement, min.low, extent.low);
    } else {
      environment_[statement.variable] = last ? IndexRange{min.low, *last - 1} : IndexRange{};
      touch_all(statement, false);
      walk(statement.body, false);
      if (in_order) ++group_;
    }
    environment_[statement.variable] = outside;
  }

  // One by one, or in chunks if they are too many.
  void walk_values(Statement& statement, std::int64_t min, std::int64_t extent) {
    const std::size_t groups = left_;
    const auto most = static_cast<std::int64_t>(groups);
    const std::int64_t chunk = extent / most + (extent % most == 0 ? 0 : 1);
    left_ = chunk == 1 ? groups / static_cast<std::size_t>(extent) : 1;
    for (std::int64_t done = 0; done < extent;) {
      const std::int64_t count = std::min(chunk, extent - done);
      environment_[statement.variable] = {min + done, min + done + (count - 1)};
      walk(statement.body, chunk == 1);
      ++group_;
      done += count;
    }
    left_ = groups;
  }
  // NOLINTEND(misc-no-recursion)

  // In order, reads come before what the statement does next.
  void touch_all(Statement& statement, bool in_order) {
    if (statement.reads.empty()) return;
    for (Access& access : statement.reads) {
      const bool never = std::any_of(access.guards.begin(), access.guards.end(), [&](const Guard& guard) {
        return is_never(statement.conditions[guard.condition].run(environment_), guard.holds);
      });
      if (!never) touch(access, false);
    }
    if (in_order) ++group_;
  }

  // Whether a condition of these values cannot be what it has to be.
  static bool is_never(const IndexRange& condition, bool holds) {
    return holds ? condition.low == 0 && condition.high == 0 : condition.low > 0 || condition.high < 0;
  }

  void touch(Access& access, bool writes) {
    const std::optional<Bytes> size = sizes_[access.storage];
    if (!size) return;
    const IndexRange index = access.index.run(environment_);
    Touch touch{.group = group_, .begin = 0, .end = *size, .writes = writes};
    const auto begin = index.is_known() ? checked_mul(index.low, access.element) : std::nullopt;
    const auto last = index.is_known() ? checked_mul(index.high, access.element) : std::nullopt;
    const auto end = last ? checked_add(*last, access.element) : std::nullopt;
    // No access is outside of its storage. Where all seem to be, something is not as it looks: it could be anywhere.
    const bool is_outside = begin && end && (*end <= 0 || *begin >= *size);
    if (begin && !is_outside) touch.begin = std::clamp<Bytes>(*begin, 0, *size);
    if (end && !is_outside) touch.end = std::clamp<Bytes>(*end, 0, *size);
    add(footprints_[access.storage].touches, touch);
  }

  static void add(std::vector<Touch>& touches, const Touch& touch) {
    for (std::size_t i = touches.size(); i-- > 0 && touches[i].group == touch.group;) {
      if (touches[i].writes != touch.writes) continue;
      touches[i].begin = std::min(touches[i].begin, touch.begin);
      touches[i].end = std::max(touches[i].end, touch.end);
      return;
    }
    touches.push_back(touch);
  }

  Compiled& compiled_;
  Environment environment_;
  std::vector<std::optional<Bytes>> sizes_;  // by storage; nothing: nobody asks
  std::vector<Footprint> footprints_;        // by storage
  std::size_t group_ = 0;
  std::size_t left_;  // groups that the loops at hand may make
};

constexpr std::size_t most_memory = 2'000'000;  // touches and words: some tens of megabytes

}  // namespace

std::size_t NestFootprints::touches() const {
  std::size_t count = 0;
  for (const Footprint& footprint : *footprints) count += footprint.touches.size();
  return count;
}

std::size_t FootprintMemo::HashOfForm::operator()(const Form& form) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : form) hash = (hash ^ word ^ (hash >> 29U)) * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(hash ^ (hash >> 32U));
}

FootprintMemo::Footprints FootprintMemo::find(const Form& form) const {
  const auto known = known_.find(form);
  return known == known_.end() ? nullptr : known->second;
}

void FootprintMemo::add(Form form, Footprints footprints) {
  std::size_t size = form.size();
  for (const Footprint& footprint : *footprints) size += footprint.touches.size();
  if (kept_ + size > most_memory) {
    known_.clear();
    kept_ = 0;
  }
  kept_ += size;
  known_.emplace(std::move(form), std::move(footprints));
}

std::shared_ptr<FootprintMemo> make_footprint_memo() { return std::make_shared<FootprintMemo>(); }

std::optional<NestFootprints> walk_addresses(const tir::For& nest, const std::map<VarId, Bytes>& sizes,
                                             std::size_t most, FootprintMemo& memo) {
  std::optional<Compiled> compiled = addresses::compile(nest);
  if (!compiled) return std::nullopt;
  // Larger nests get fewer groups, so that none takes long.
  constexpr std::size_t most_work = 1'000'000;
  const std::size_t affordable = most_work / std::max<std::size_t>(compiled->size, 1);
  const std::size_t groups = std::clamp<std::size_t>(affordable, 1, most);
  FootprintMemo::Form form = addresses::form_of(*compiled, sizes, groups);
  NestFootprints result{.vars = compiled->storages, .footprints = memo.find(form)};
  if (result.footprints == nullptr) {
    result.footprints = std::make_shared<const std::vector<Footprint>>(AddressWalk(*compiled, sizes, groups).run());
    memo.add(std::move(form), result.footprints);
  }
  return result;
}

void OffsetBounds::add(const Footprint* born, const Footprint* dying) {
  static const Footprint nothing;
  const std::vector<Touch>& writes = (born == nullptr ? nothing : *born).touches;
  std::size_t next = 0;
  for (const Touch& access : (dying == nullptr ? nothing : *dying).touches) {
    for (; next < writes.size() && writes[next].group <= access.group; ++next) write(writes[next]);
    if (!written_ || access.begin >= access.end) continue;
    born_above_ = std::max(born_above_, access.end - written_->first);
    dying_above_ = std::max(dying_above_, written_->second - access.begin);
  }
  for (; next < writes.size(); ++next) write(writes[next]);
}

void OffsetBounds::write(const Touch& touch) {
  if (!touch.writes || touch.begin >= touch.end) return;
  if (!written_) written_ = {touch.begin, touch.end};
  written_ = {std::min(written_->first, touch.begin), std::max(written_->second, touch.end)};
}

}  // namespace usmp::liveness
