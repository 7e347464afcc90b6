// SPDX-License-Identifier: Apache-2.0
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
        return begin_loop(instruction);
      case Code::loop_end:
        return end_iteration(instruction);
      case Code::alike_end:
        return end_alike(instruction);
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
    registers_[loop.a] = min;
    registers_[loop.result] = *end;
    accesses_before_ = played_.accesses;
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

  // The first iteration has read what the others read, and nothing is written between them.
  void end_alike(const Instruction& end) {
    const std::int64_t count = registers_[end.result] - registers_[end.a];
    const auto steps = checked_mul(end.low, count);
    if (!steps || *steps > left_) return end_iteration(end);
    left_ -= *steps;
    played_.accesses += (played_.accesses - accesses_before_) * static_cast<std::uint64_t>(count - 1);
    ++next_;
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

  void access(const Instruction& instruction) {
    const std::uint32_t site = instruction.b;
    const std::int64_t begin = registers_[instruction.a];
    const auto bytes = static_cast<Bytes>(instruction.c);
    if (places_[site].ring) return access_ring(instruction, begin, bytes);
    if (begin < 0 || begin > places_[site].size - bytes) return touch(site, Reason::address);
    ++played_.accesses;
    instruction.code == Code::store ? write(site, begin, bytes) : read(site, begin, bytes);
  }

  // Of bytes of the tensor that the ring holds rows of. An element is not divided between rows.
  void access_ring(const Instruction& instruction, std::int64_t begin, Bytes bytes) {
    const std::uint32_t site = instruction.b;
    const tir::Ring& ring = *places_[site].ring;
    const Bytes tensor = places_[site].size / ring.rows * ring.extent;
    if (begin < 0 || begin > tensor - bytes) return touch(site, Reason::address);
    ++played_.accesses;
    const Bytes first = ring.place(begin);
    const auto tag = tags_.begin() + static_cast<std::ptrdiff_t>(sites_[site].tags) + first;
    if (instruction.code == Code::store) {
      write(site, first, bytes);
      std::iota(tag, tag + bytes, begin);
      return;
    }
    read(site, first, bytes);
    const Site& state = sites_[site];
    for (Bytes i = 0; i < bytes; ++i) {
      const auto byte = static_cast<std::size_t>(first + i);
      const bool is_lost = tag[i] != begin + i && written_[state.bytes + byte] == state.life;
      if (is_lost && !program_.escaped[site]) return report(site, site, byte);
    }
  }

  void write(std::uint32_t site, Bytes begin, Bytes bytes) {
    const Site& state = sites_[site];
    const auto first = static_cast<std::size_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(bytes);
    std::fill_n(owners_.begin() + static_cast<std::ptrdiff_t>(state.row + first), count, site);
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(state.bytes + first), count, state.life);
  }

  // What was not written since it was allocated has no value that could be lost.
  void read(std::uint32_t site, Bytes begin, Bytes bytes) {
    const Site& state = sites_[site];
    for (auto byte = static_cast<std::size_t>(begin); byte < static_cast<std::size_t>(begin + bytes); ++byte) {
      const std::uint32_t owner = owners_[state.row + byte];
      const bool is_lost = owner != site && written_[state.bytes + byte] == state.life;
      if (is_lost && !program_.escaped[site]) return report(site, owner, byte);
    }
  }

  void report(std::uint32_t site, std::uint32_t other, std::size_t byte) {
    if (played_.lost.size() >= most_lost || !seen_.emplace(site, other).second) return;
    Lost lost{.site = site, .other = other, .byte = static_cast<Bytes>(byte), .instruction = next_};
    for (std::size_t i = 0; i < next_ && next_ < program_.instructions.size(); ++i) {
      const Instruction& loop = program_.instructions[i];
      const bool is_around = loop.code == Code::loop && i + static_cast<std::size_t>(loop.jump) > next_;
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
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
  Played played_;
  std::size_t next_ = 0;
  std::uint64_t accesses_before_ = 0;  // the loop that began last
  std::size_t outermost_ = 0;          // the last loop without one around it
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
