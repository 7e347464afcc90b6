// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which bytes of each storage a loop nest accesses, in the order in which it does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// A group of accesses to one storage. Those of one group may happen in any order; groups follow each other.
struct Touch {
  std::size_t group = 0;
  Bytes begin = 0;  // no byte outside [begin, end) is accessed
  Bytes end = 0;
  bool writes = false;
};

struct Footprint {
  std::vector<Touch> touches;         // by group; of one group at most one that writes and one that reads
  std::optional<tir::DataType> type;  // of all elements; nothing: they differ
};

// What a nest does to each variable that it loads from or stores to.
struct NestFootprints {
  std::vector<tir::VarId> vars;
  std::shared_ptr<const std::vector<Footprint>> footprints;  // by index into `vars`

  // The variable is one of `vars`.
  [[nodiscard]] const Footprint& of(tir::VarId var) const {
    return (*footprints)[static_cast<std::size_t>(std::ranges::find(vars, var) - vars.begin())];
  }
  [[nodiscard]] std::size_t touches() const;
};

// `sizes` says how many bytes the storage behind a variable has: no access is outside. Nothing if the nest does what
// this does not follow: pointers that are more than the base of a load or store, let expressions, more than the groups'
// worth of work. O(most · size of the nest), or O(size of the nest) if `memo` knows one of the same form.
[[nodiscard]] std::optional<NestFootprints> walk_addresses(const tir::For& nest,
                                                           const std::map<tir::VarId, Bytes>& sizes, std::size_t most,
                                                           FootprintMemo& memo);

// What the loops walked so far access, by their form.
class FootprintMemo {
 public:
  // What stands for a nest: its statements, programs, types and sizes as words, variables by number.
  using Form = std::vector<std::uint64_t>;
  using Footprints = std::shared_ptr<const std::vector<Footprint>>;

  // Null: not known.
  [[nodiscard]] Footprints find(const Form& form) const;
  // Forgets all that it knows where that has become too much.
  void add(Form form, Footprints footprints);

 private:
  struct HashOfForm {
    std::size_t operator()(const Form& form) const;
  };

  std::unordered_map<Form, Footprints, HashOfForm> known_;  // looked up only
  std::size_t kept_ = 0;                                    // touches, and words of forms
};

// How far apart two storages have to start so that no byte of `dying` is accessed after or in the group in which it was
// written through `born`, in loops that run one after the other.
class OffsetBounds {
 public:
  // What the next loop does with them; null: nothing. O(touches).
  void add(const Footprint* born, const Footprint* dying);

  // How far above the start of the dying one the other one has to start: 0 if every distance is right.
  [[nodiscard]] Bytes born_above() const { return born_above_; }
  // And the other way round.
  [[nodiscard]] Bytes dying_above() const { return dying_above_; }

 private:
  void write(const Touch& touch);

  // Through `born` so far: the lowest byte, and behind the highest one.
  std::optional<std::pair<Bytes, Bytes>> written_;
  Bytes born_above_ = 0;
  Bytes dying_above_ = 0;
};

}  // namespace usmp::liveness
