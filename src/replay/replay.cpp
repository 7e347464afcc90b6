// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which pairs of storages share bytes, and what came of playing the program.
// Tests: tests/replay, and tests/random_modules/product_replay.cpp on random programs.
#include "usmp/replay/replay.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "replay/compile.hpp"
#include "replay/play.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::replay {
namespace {

using placement::Storage;
using placement::Table;
using Pair = std::pair<std::size_t, std::size_t>;  // of storages, the smaller id first

bool meet(const Table& table, std::size_t a, std::size_t b) {
  const Allocation& one = table.storages[a].place;
  const Allocation& other = table.storages[b].place;
  return one.pool == other.pool && one.offset < other.offset + table.storages[b].size &&
         other.offset < one.offset + table.storages[a].size;
}

bool takes_room(const Storage& storage) { return storage.size > 0 && !storage.live.empty(); }

struct Event {
  Tick tick;
  bool begins;  // behind the ends of the same tick
  std::size_t storage;

  auto operator<=>(const Event&) const = default;
};

std::vector<Event> sorted_events(const Table& table) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < table.storages.size(); ++i) {
    if (!takes_room(table.storages[i])) continue;
    for (const LiveRange& range : table.storages[i].live) {
      events.push_back({range.begin, true, i});
      events.push_back({range.end, false, i});
    }
  }
  std::sort(events.begin(), events.end());
  return events;
}

// What comparing each storage that begins with all that are live takes.
std::uint64_t comparisons_over_time(const std::vector<Event>& events) {
  std::uint64_t comparisons = 0;
  std::uint64_t live = 0;
  for (const Event& event : events) {
    if (event.begins) comparisons += live;
    live += event.begins ? 1 : std::uint64_t{0} - 1;
  }
  return comparisons;
}

std::set<Pair> pairs_over_time(const Table& table, const std::vector<Event>& events) {
  std::set<Pair> pairs;
  std::vector<std::size_t> live;
  for (const Event& event : events) {
    if (!event.begins) {
      std::erase(live, event.storage);
      continue;
    }
    for (const std::size_t other : live) {
      if (meet(table, event.storage, other)) pairs.insert(std::minmax(event.storage, other));
    }
    live.push_back(event.storage);
  }
  return pairs;
}

// The other way round: of those whose bytes meet, those that are live together.
std::set<Pair> pairs_over_addresses(const Table& table) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < table.storages.size(); ++i) {
    if (takes_room(table.storages[i])) order.push_back(i);
  }
  const auto place = [&](std::size_t i) {
    return std::pair(table.storages[i].place.pool, table.storages[i].place.offset);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  std::set<Pair> pairs;
  std::vector<std::size_t> open;  // those that may reach as far as the next one's first byte
  for (const std::size_t next : order) {
    std::erase_if(open, [&](std::size_t other) { return !meet(table, next, other); });
    for (const std::size_t other : open) {
      if (overlap(table.storages[next].live, table.storages[other].live)) pairs.insert(std::minmax(next, other));
    }
    open.push_back(next);
  }
  return pairs;
}

// Those that are live together and share bytes.
std::set<Pair> pairs_of(const Table& table) {
  constexpr std::uint64_t most_comparisons = 50'000'000;
  const std::vector<Event> events = sorted_events(table);
  return comparisons_over_time(events) <= most_comparisons ? pairs_over_time(table, events)
                                                           : pairs_over_addresses(table);
}

class Replay {
 public:
  Replay(const tir::Module& module, const Table& table, const Options& options)
      : module_(module), table_(table), options_(options) {}

  Result run() && {
    find_rings();
    std::set<Pair> pairs = pairs_of(table_);
    for (std::size_t i = 0; i < table_.storages.size(); ++i) {
      if (ring_of(table_.storages[i]) != nullptr && takes_room(table_.storages[i])) pairs.emplace(i, i);
    }
    result_.pairs = pairs.size();
    if (pairs.empty()) return std::move(result_);
    std::vector<std::uint32_t> numbers(table_.storages.size(), UINT32_MAX);
    for (const auto& [one, other] : pairs) {
      for (const std::size_t storage : {one, other}) {
        if (numbers[storage] == UINT32_MAX) numbers[storage] = follow(storage);
      }
    }
    const std::vector<Reason> reasons = play_program();
    for (const auto& [one, other] : pairs) {
      const Reason first = reasons[numbers[one]];
      const Reason reason = first != Reason::none ? first : reasons[numbers[other]];
      if (reason == Reason::none) continue;
      result_.left_out.push_back({placement::StorageId(one), placement::StorageId(other), reason});
    }
    return std::move(result_);
  }

 private:
  void find_rings() {
    for (const tir::Function& function : module_.functions) {
      tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
        const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
        if (allocate == nullptr || !allocate->ring) return;
        tir::Ring ring = *allocate->ring;
        ring.stride *= allocate->type.element_bytes();
        rings_.emplace(allocate->var, ring);
      });
    }
  }

  [[nodiscard]] const tir::Ring* ring_of(const Storage& storage) const {
    for (const placement::Declaration& declaration : storage.declarations) {
      const auto ring = rings_.find(declaration.var);
      if (ring != rings_.end()) return &ring->second;
    }
    return nullptr;
  }

  std::uint32_t follow(std::size_t index) {
    const Storage& storage = table_.storages[index];
    const auto number = static_cast<std::uint32_t>(places_.size());
    const bool is_named = std::ranges::count(options_.inputs, storage.declarations.front().var) > 0;
    places_.push_back(
        {.pool = storage.place.pool,
         .offset = storage.place.offset,
         .size = storage.size,
         .is_written_before = is_named || storage.kind == BufferKind::input || storage.kind == BufferKind::constant,
         .is_read_afterwards = storage.kind == BufferKind::output});
    if (const tir::Ring* ring = ring_of(storage)) places_.back().ring = *ring;
    names_.push_back(storage.name);
    for (const placement::Declaration& declaration : storage.declarations) followed_.emplace(declaration.var, number);
    return number;
  }

  // By number of the storage.
  std::vector<Reason> play_program() {
    // Steps also pay for the bytes, which have to be cleared, and for compiling.
    constexpr std::uint64_t steps_of_instruction = 16;
    constexpr std::uint64_t most_instructions = 2'000'000;
    std::vector<Reason> none_played(places_.size(), Reason::limit);
    if (bytes_of(places_) > max_bytes || static_cast<std::uint64_t>(bytes_of(places_)) > options_.steps) {
      return none_played;
    }
    const std::uint64_t most = std::min(options_.steps / steps_of_instruction, most_instructions);
    const Program program = compile(module_, followed_, places_.size(), static_cast<std::size_t>(most));
    if (!program.is_complete) return none_played;
    const Played played = play(program, places_, options_.steps);
    result_.accesses = played.accesses;
    for (const Lost& lost : played.lost) result_.violations.push_back(sentence(program, lost));
    return played.reasons;
  }

  [[nodiscard]] std::string sentence(const Program& program, const Lost& lost) const {
    const Place& place = places_[lost.site];
    const bool is_ring = lost.other == lost.site;
    std::string text = "element of '" + names_[lost.site] + "' at byte " + std::to_string(place.offset + lost.byte) +
                       " of pool '" + table_.pool(place.pool).name + "' is read after " +
                       (is_ring ? "another row of it" : "'" + names_[lost.other] + "'") + " has overwritten it, ";
    if (lost.instruction >= program.instructions.size()) return text + "by the application";
    text += "in function '" + module_.functions[program.instructions[lost.instruction].function].name + "'";
    for (const auto& [var, value] : lost.iteration) {
      text += (&value == &lost.iteration.front().second ? ", iteration " : ", ") + module_.var(var).name + " = " +
              std::to_string(value);
    }
    return text;
  }

  const tir::Module& module_;
  const Table& table_;
  const Options& options_;
  std::map<tir::VarId, tir::Ring> rings_;  // with strides in bytes
  Followed followed_;
  std::vector<Place> places_;       // of the storages that are followed, in the order of their numbers
  std::vector<std::string> names_;  // by the same
  Result result_;
};

}  // namespace

const char* to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "nothing";
    case Reason::limit:
      return "too many accesses";
    case Reason::condition:
      return "a condition or a loop depends on data";
    case Reason::address:
      return "an address depends on data";
    case Reason::call:
      return "they are passed to a function that is not followed";
    case Reason::escape:
      return "a pointer escapes";
  }
  return "";
}

Result replay(const tir::Module& module, const Table& table, const Options& options) {
  return Replay(module, table, options).run();
}

}  // namespace usmp::replay
