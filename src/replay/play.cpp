// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keeps the last writer of each byte, and passes runs of alike loads in one step.
#include "replay/play.hpp"

#include <algorithm>
#include <numeric>

namespace usmp::replay {
namespace {

constexpr std::uint32_t nobody = UINT32_MAX;
constexpr std::size_t most_lost = 100;

// Where each place begins in a row of all bytes that are covered, gaps left out; the row's length last.
std::vector<Bytes> row_of(const std::vector<Place>& places) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(places[a].pool, places[a].offset) < std::pair(places[b].pool, places[b].offset);
  });
  std::vector<Bytes> row(places.size() + 1);
  PoolId pool;
  Bytes covered = 0;  // of the pool: up to there
  Bytes shift = 0;    // from offsets to the row
  Bytes& length = row.back();
  for (const std::size_t i : order) {
    const Place& place = places[i];
    if (place.pool != pool || place.offset > covered) {
      shift = length - place.offset;
      covered = place.offset;
      pool = place.pool;
    }
    covered = std::max(covered, place.offset + place.size);
    row[i] = place.offset + shift;
    length = covered + shift;
  }
  return row;
}

class Player {
 public:
  Player(const Program& program, const std::vector<Place>& places, std::uint64_t steps)
      : program_(program), places_(places), registers_(program.registers), sites_(places.size()) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    left_ = static_cast<std::int64_t>(std::min(steps, most));
    const std::vector<Bytes> row = row_of(places);
    owners_.resize(static_cast<std::size_t>(row.back()), nobody);
    std::size_t bytes = 0;
    std::size_t of_rings = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      sites_[i].row = static_cast<std::size_t>(row[i]);
      sites_[i].bytes = bytes;
      bytes += static_cast<std::size_t>(places[i].size);
      sites_[i].tags = of_rings;
      if (places[i].ring) of_rings += static_cast<std::size_t>(places[i].size);
    }
    written_.resize(bytes);
    tags_.resize(of_rings);
    played_.reasons.resize(places.size());
  }

  Played run() && {
    for (std::uint32_t site = 0; site < places_.size(); ++site) {
      if (program_.escaped[site]) give_up(site, Reason::escape);
      if (places_[site].is_written_before) write(site, 0, places_[site].size);
    }
    play();
    for (std::uint32_t site = 0; site < places_.size(); ++site) {
      if (places_[site].is_read_afterwards) read(site, 0, places_[site].size);
    }
    return std::move(played_);
  }

 private:
  struct Site {
    std::size_t row = 0;    // its first byte in owners_
    std::size_t bytes = 0;  // and in written_
    std::size_t tags = 0;   // and in tags_, of a ring
    std::uint32_t life = 1;
  };

  void play() {
    const std::vector<Instruction>& instructions = program_.instructions;
    std::int64_t* const registers = registers_.data();
    while (next_ < instructions.size()) {
      const Instruction& instruction = instructions[next_];
      if (is_value(instruction.code)) {
        registers[instruction.result] = compute(instruction, registers);
        ++next_;
      } else {
        step(instruction);
      }
    }
  }

  void step(const Instruction& instruction) {
    switch (instruction.code) {
      case Code::load:
      case Code::store:
        access(instruction);
        ++next_;
        return;
      case Code::allocate:
        ++sites_[instruction.b].life;
        ++next_;
        return;
      case Code::touch:
        touch(instruction.b, instruction.reason);
        ++next_;
        return;
      case Code::loop:
      case Code::even_loop:
        return begin_loop(instruction);
      case Code::loop_end:
        return end_iteration(instruction);
      case Code::branch:
        return branch(instruction);
      case Code::jump:
        return go(instruction.jump);
      case Code::skip:
        return skip(instruction.jump, instruction.reason);
      default:
        ++next_;  // a value: not here
    }
  }

  // --- Order ---------------------------------------------------------------------------------------------------------

  void go(std::int32_t distance) { next_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(next_) + distance); }

  // Some of what is between may be executed, any number of times.
  void skip(std::int32_t distance, Reason reason) {
    const std::size_t begin = next_;
    left_ -= distance;
    go(distance);
    for (std::size_t i = begin; i < next_; ++i) {
      const Instruction& passed = program_.instructions[i];
      if (is_effect(passed.code)) touch(passed.b, reason);
    }
  }

  void begin_loop(const Instruction& loop) {
    const bool is_outermost = loop.low > 0;
    if (is_outermost) outermost_ = next_;
    if (is_outermost && loop.low > left_) return skip(loop.jump, Reason::limit);
    const std::int64_t min = registers_[loop.b];
    const std::int64_t extent = registers_[loop.c];
    if (min == unknown || extent == unknown) return skip(loop.jump, Reason::condition);
    if (extent <= 0) return go(loop.jump);
    const auto end = checked_add(min, extent);
    if (!end || *end > loop.high) return skip(loop.jump, Reason::condition);
    if (loop.code == Code::even_loop && sweep(loop, min, *end - 1)) return;
    registers_[loop.a] = min;
    registers_[loop.result] = *end;
    ++next_;
  }

  void end_iteration(const Instruction& end) {
    left_ -= end.low;
    if (left_ < 0) {
      // The estimate did not know the extents of inner loops.
      left_ = 0;
      next_ = outermost_;
      return skip(program_.instructions[next_].jump, Reason::limit);
    }
    if (++registers_[end.a] < registers_[end.result]) return go(end.jump);
    ++next_;
  }

  // Plays a loop that only loads, from places at even distances, all at once. False, and nothing is done: some byte is
  // lost or not there, and only the iterations one by one tell what comes of it.
  bool sweep(const Instruction& loop, std::int64_t min, std::int64_t last) {
    const std::size_t end = next_ + static_cast<std::size_t>(loop.jump) - 1;
    const std::int64_t count = last - min + 1;
    const auto steps = checked_mul(program_.instructions[end].low, count);
    if (!steps || *steps > left_) return false;
    offsets_.clear();
    for (const std::int64_t iteration : {min, last}) {
      registers_[loop.a] = iteration;
      for (std::size_t i = next_ + 1; i < end; ++i) {
        const Instruction& instruction = program_.instructions[i];
        if (is_value(instruction.code)) {
          registers_[instruction.result] = compute(instruction, registers_.data());
        } else {
          offsets_.push_back(registers_[instruction.a]);
        }
      }
    }
    const std::size_t loads = offsets_.size() / 2;
    std::uint64_t accesses = 0;
    for (std::size_t k = 0; k < loads; ++k) {
      const Instruction& load = program_.instructions[end - loads + k];
      if (!is_kept(load, offsets_[k], offsets_[k + loads], count)) return false;
      accesses += load.times * static_cast<std::uint64_t>(count);
    }
    played_.accesses += accesses;
    left_ -= *steps;
    next_ = end + 1;
    return true;
  }

  // All bytes that `count` loads from `first` to `last` read.
  [[nodiscard]] bool is_kept(const Instruction& load, std::int64_t first, std::int64_t last, std::int64_t count) const {
    const std::uint32_t site = load.b;
    const auto bytes = static_cast<Bytes>(load.c);
    if (!is_inside(site, first, bytes) || !is_inside(site, last, bytes)) return false;
    const std::int64_t distance = count > 1 ? (last - first) / (count - 1) : 0;
    const tir::Ring* ring = places_[site].ring ? &*places_[site].ring : nullptr;
    std::int64_t offset = first;
    for (std::int64_t i = 0; i < count; ++i, offset += distance) {
      const Bytes place = ring != nullptr ? ring->place(offset) : offset;
      if (lost_byte(site, place, bytes)) return false;
      if (ring != nullptr && lost_row(site, offset, place, bytes)) return false;
    }
    return true;
  }

  void branch(const Instruction& instruction) {
    const std::int64_t condition = registers_[instruction.a];
    if (condition == unknown) return skip(instruction.end, instruction.reason);
    if (condition == 0) return go(instruction.jump);
    ++next_;
  }

  // --- Bytes ---------------------------------------------------------------------------------------------------------

  void give_up(std::uint32_t site, Reason reason) {
    if (played_.reasons[site] == Reason::none) played_.reasons[site] = reason;
  }

  // What the site holds from here on is not known: a life of its own, of which nothing has been written.
  void touch(std::uint32_t site, Reason reason) {
    give_up(site, reason);
    ++sites_[site].life;
  }

  // Within the site's storage, or the tensor that the ring holds rows of.
  [[nodiscard]] bool is_inside(std::uint32_t site, std::int64_t begin, Bytes bytes) const {
    const Place& place = places_[site];
    const Bytes size = place.ring ? place.size / place.ring->rows * place.ring->extent : place.size;
    return begin >= 0 && begin <= size - bytes;
  }

  void access(const Instruction& instruction) {
    const std::uint32_t site = instruction.b;
    const std::int64_t begin = registers_[instruction.a];
    const auto bytes = static_cast<Bytes>(instruction.c);
    if (!is_inside(site, begin, bytes)) return touch(site, Reason::address);
    played_.accesses += instruction.times;
    if (places_[site].ring) return access_ring(instruction, begin, bytes);
    instruction.code == Code::store ? write(site, begin, bytes) : read(site, begin, bytes);
  }

  // An element is not divided between rows.
  void access_ring(const Instruction& instruction, std::int64_t begin, Bytes bytes) {
    const std::uint32_t site = instruction.b;
    const Bytes first = places_[site].ring->place(begin);
    if (instruction.code == Code::store) {
      write(site, first, bytes);
      const auto tag = tags_.begin() + static_cast<std::ptrdiff_t>(sites_[site].tags) + first;
      std::iota(tag, tag + bytes, begin);
      return;
    }
    read(site, first, bytes);
    if (const auto byte = lost_row(site, begin, first, bytes)) report(site, site, *byte);
  }

  // The first byte in whose place another row is than that of `begin`, which has the place `first`.
  [[nodiscard]] std::optional<std::size_t> lost_row(std::uint32_t site, std::int64_t begin, Bytes first,
                                                    Bytes bytes) const {
    const Site& state = sites_[site];
    const auto tag = tags_.begin() + static_cast<std::ptrdiff_t>(state.tags) + first;
    for (Bytes i = 0; i < bytes; ++i) {
      const auto byte = static_cast<std::size_t>(first + i);
      const bool is_lost = tag[i] != begin + i && written_[state.bytes + byte] == state.life;
      if (is_lost && !program_.escaped[site]) return byte;
    }
    return std::nullopt;
  }

  void write(std::uint32_t site, Bytes begin, Bytes bytes) {
    const Site& state = sites_[site];
    const auto first = static_cast<std::size_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(bytes);
    std::fill_n(owners_.begin() + static_cast<std::ptrdiff_t>(state.row + first), count, site);
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(state.bytes + first), count, state.life);
  }

  // The first byte that somebody else has overwritten. What was not written since it was allocated has no value that
  // could be lost.
  [[nodiscard]] std::optional<std::size_t> lost_byte(std::uint32_t site, Bytes begin, Bytes bytes) const {
    const Site& state = sites_[site];
    for (auto byte = static_cast<std::size_t>(begin); byte < static_cast<std::size_t>(begin + bytes); ++byte) {
      const std::uint32_t owner = owners_[state.row + byte];
      const bool is_lost = owner != site && written_[state.bytes + byte] == state.life;
      if (is_lost && !program_.escaped[site]) return byte;
    }
    return std::nullopt;
  }

  void read(std::uint32_t site, Bytes begin, Bytes bytes) {
    if (const auto byte = lost_byte(site, begin, bytes)) report(site, owners_[sites_[site].row + *byte], *byte);
  }

  void report(std::uint32_t site, std::uint32_t other, std::size_t byte) {
    if (played_.lost.size() >= most_lost || !seen_.emplace(site, other).second) return;
    Lost lost{.site = site, .other = other, .byte = static_cast<Bytes>(byte), .instruction = next_};
    for (std::size_t i = 0; i < next_ && next_ < program_.instructions.size(); ++i) {
      const Instruction& loop = program_.instructions[i];
      const bool is_around =
          (loop.code == Code::loop || loop.code == Code::even_loop) && i + static_cast<std::size_t>(loop.jump) > next_;
      if (is_around) lost.iteration.emplace_back(loop.var, registers_[loop.a]);
    }
    played_.lost.push_back(std::move(lost));
  }

  const Program& program_;
  const std::vector<Place>& places_;
  std::vector<std::int64_t> registers_;
  std::vector<Site> sites_;
  std::vector<std::uint32_t> owners_;   // of each byte of pools: the site that wrote it last
  std::vector<std::uint32_t> written_;  // of each byte of a site: the life in which it was written last; 0: never
  std::vector<std::int64_t> tags_;      // of each byte of a ring: the tensor's byte that was stored there last
  std::vector<std::int64_t> offsets_;   // of the loads of a loop, in its first iteration, then in its last
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
  Played played_;
  std::size_t next_ = 0;
  std::size_t outermost_ = 0;  // the last loop without one around it
  std::int64_t left_ = 0;
};

}  // namespace

Bytes bytes_of(const std::vector<Place>& places) {
  Bytes bytes = row_of(places).back();
  for (const Place& place : places) bytes += place.size;
  return bytes;
}

Played play(const Program& program, const std::vector<Place>& places, std::uint64_t steps) {
  return Player(program, places, steps).run();
}

}  // namespace usmp::replay
