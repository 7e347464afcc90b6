// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bounds by what is live at one step, by one buffer, or by a search, as pseudo-Boolean constraints with a proof.
// Tests: tests/bounds/certificate_test.cpp; tests/e2e/proofs.py, which makes the constraints itself and checks proofs.
#include "usmp/bounds/certificate.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "usmp/bounds/load.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::bounds {
namespace {

using Index = std::size_t;  // of a buffer, into Confined::ids

// The buffers that must be in the pool.
struct Confined {
  const Problem& problem;
  const Pool& pool;
  std::vector<BufferId> ids;

  [[nodiscard]] const Buffer& buffer(Index i) const { return problem.buffer(ids[i]); }
  [[nodiscard]] Bytes least(Index i) const { return buffer(i).pinned.value_or(first_offset(buffer(i), pool)); }
  [[nodiscard]] Bytes apart(Index below, Index above) const { return distance(problem, ids[below], ids[above]); }
};

// Buffers that are live at one step: K of the header, with what its constraints say.
struct Pile {
  std::vector<Index> members;
  std::vector<Bytes> weights;  // w, by member
  Bytes foot = 0;              // F
  Bytes beyond = 0;            // R

  // What the pile proves.
  [[nodiscard]] Bytes height() const {
    return foot + std::accumulate(weights.begin(), weights.end(), Bytes{0}) - beyond;
  }
};

Pile pile_of(const Confined& confined, std::vector<Index> members) {
  Pile pile;
  std::vector<BufferId> ids;
  ids.reserve(members.size());
  for (const Index i : members) ids.push_back(confined.ids[i]);
  const Bytes granule = common_alignment(confined.problem, ids, confined.pool);
  pile.foot = align_up(confined.pool.reserved, granule);
  for (const Index i : members) {
    Bytes least = confined.buffer(i).size;
    for (const Index other : members) {
      if (other != i) least = std::min(least, confined.apart(i, other));
    }
    pile.weights.push_back(align_up(least, granule));
    const Bytes beyond = pile.weights.back() - confined.buffer(i).size;
    pile.beyond = pile.weights.size() == 1 ? beyond : std::max(pile.beyond, beyond);
  }
  pile.members = std::move(members);
  return pile;
}

// What is live at the step that needs most, without buffers of finer alignment if the others need more alone, nor those
// that share so much that the others do.
Pile best_pile(const Confined& confined, Bytes enough) {
  const Tick at = packing_bound(confined.problem, confined.ids, confined.pool).at;
  std::vector<Index> live;
  for (Index i = 0; i < confined.ids.size(); ++i) {
    if (overlap(confined.buffer(i).live, {{at, at + 1}})) live.push_back(i);
  }
  Pile best = pile_of(confined, live);
  std::set<Bytes> alignments;
  for (const Index i : live) alignments.insert(alignment_in(confined.buffer(i), confined.pool));
  for (const Bytes alignment : alignments) {
    std::vector<Index> coarse;
    std::copy_if(live.begin(), live.end(), std::back_inserter(coarse),
                 [&](Index i) { return alignment_in(confined.buffer(i), confined.pool) % alignment == 0; });
    Pile pile = pile_of(confined, std::move(coarse));
    if (pile.height() > best.height()) best = std::move(pile);
  }
  while (best.height() < enough && best.members.size() > 1) {
    std::optional<Pile> better;
    for (std::size_t left_out = 0; left_out < best.members.size(); ++left_out) {
      std::vector<Index> members = best.members;
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(left_out));
      Pile pile = pile_of(confined, std::move(members));
      if (pile.height() > (better ? *better : best).height()) better = std::move(pile);
    }
    if (!better) break;
    best = std::move(*better);
  }
  return best;
}

// A sum of variables that is at least a number.
class Constraint {
 public:
  void add(Bytes factor, std::size_t variable) {
    if (factor == 0) return;
    text_ += (factor < 0 ? "" : "+") + std::to_string(factor) + " x" + std::to_string(variable) + " ";
  }
  void raise(Bytes bytes) { least_ += bytes; }
  [[nodiscard]] std::string text() && { return std::move(text_) + ">= " + std::to_string(least_) + " ;\n"; }

 private:
  std::string text_;
  Bytes least_ = 0;
};

class Writer {
 public:
  Writer(const Confined& confined, Pile pile, Bytes bound)
      : confined_(confined), pile_(std::move(pile)), bound_(bound), capacity_(bound - 1) {
    for (Index i = 0; i < confined.ids.size(); ++i) {
      alignments_.push_back(alignment_in(confined.buffer(i), confined.pool));
      const auto steps = static_cast<std::uint64_t>(capacity_ / alignments_[i]);
      first_bits_.push_back(variables_ + 1);
      variables_ += static_cast<std::size_t>(std::bit_width(steps));
    }
    first_bits_.push_back(variables_ + 1);
  }

  Certificate write_sum() && {
    buffers();
    pairs();
    std::size_t line = 0;  // of the two that contradict each other, the first
    for (Index i = 0; i < confined_.ids.size(); ++i) {
      if (confined_.least(i) + confined_.buffer(i).size >= bound_) line = lowest_[i];
    }
    const std::size_t of_pile = lines_ + 1;
    if (line == 0) {
      pile();
      line = of_pile;
    }
    const std::size_t other = line == of_pile ? line + 1 : highest(buffer_of(line));
    derive("pol " + std::to_string(line) + " " + std::to_string(other) + " +");
    return std::move(*this).result(lines_ + 1);
  }

  Certificate write(const Refutation& refutation) && {
    buffers();
    pairs();
    std::vector<std::size_t> stacks;
    std::vector<std::size_t> lessons;
    stacks.reserve(refutation.stacks.size());
    lessons.reserve(refutation.lessons.size());
    for (const Refutation::Stack& stack : refutation.stacks) stacks.push_back(add(stack));
    for (const Refutation::Lesson& lesson : refutation.lessons) {
      const auto line = [&](const Refutation::Step& step) { return (step.is_lesson ? lessons : stacks)[step.number]; };
      std::string sum = "pol " + std::to_string(line(lesson.front()));
      for (std::size_t i = 1; i < lesson.size(); ++i) sum += " " + std::to_string(line(lesson[i])) + " + s";
      lessons.push_back(lesson.size() == 1 ? line(lesson.front()) : derive(sum));
    }
    return std::move(*this).result(lessons.back());
  }

 private:
  Certificate result(std::size_t contradiction) && {
    return {.constraints = "* #variable= " + std::to_string(variables_) + " #constraint= " + std::to_string(lines_) +
                           "\n* pool " + printable(confined_.pool.name) + ": a plan of at most " +
                           std::to_string(capacity_) + " bytes\n" + text_,
            .proof = "pseudo-Boolean proof version 3.0\n% " + printable(confined_.pool.name) +
                     ": no plan of less than " + std::to_string(bound_) + " bytes\nf " + std::to_string(lines_) +
                     " ;\n" + proof_ + "output NONE ;\nconclusion UNSAT : " + std::to_string(contradiction) +
                     " ;\nend pseudo-Boolean proof ;\n"};
  }

  // Behind all constraints: a line of the proof. Returns its number.
  std::size_t derive(const std::string& rule) {
    proof_ += rule + " ;\n";
    return lines_ + ++derived_;
  }

  // The line that says how high the buffer may be.
  [[nodiscard]] std::size_t highest(Index i) const { return lowest_[i] + (confined_.buffer(i).pinned ? 2 : 1); }

  // The line that says that not all of the stack's orders hold.
  std::size_t add(const Refutation::Stack& stack) {
    Bytes offset = confined_.least(stack.front());
    std::string sum = "pol " + std::to_string(lowest_[stack.front()]);
    for (std::size_t k = 1; k < stack.size(); ++k) {
      offset += confined_.apart(stack[k - 1], stack[k]);
      sum += " " + std::to_string(pair_lines_[stack[k - 1]][stack[k]]) + " +";
      const Bytes alignment = alignments_[stack[k]];
      if (offset % alignment == 0) continue;
      offset = align_up(offset, alignment);
      sum += " " + std::to_string(alignment) + " d " + std::to_string(alignment) + " *";
    }
    const Buffer& top = confined_.buffer(stack.back());
    // What pins the last one is the line before the one that says where it ends.
    const bool is_pinned = top.pinned && offset + top.size < bound_;
    const Bytes excess = is_pinned ? offset - *top.pinned : offset + top.size - capacity_;
    assert(excess > 0);
    sum += " " + std::to_string(highest(stack.back()) - (is_pinned ? 1 : 0)) + " + s";
    if (excess > 1) sum += " " + std::to_string(excess) + " d";
    return derive(sum);
  }

  void add_offset(Constraint& to, Bytes factor, Index i) const {
    for (std::size_t bit = first_bits_[i]; bit < first_bits_[i + 1]; ++bit) {
      to.add(factor * (alignments_[i] << (bit - first_bits_[i])), bit);
    }
  }

  // The largest offset that the bits of the buffer can say.
  [[nodiscard]] Bytes most(Index i) const {
    return alignments_[i] * ((Bytes{1} << (first_bits_[i + 1] - first_bits_[i])) - 1);
  }

  void put(Constraint constraint) {
    text_ += std::move(constraint).text();
    ++lines_;
  }

  void put_offset(Index i, Bytes factor, Bytes least) {
    Constraint constraint;
    add_offset(constraint, factor, i);
    constraint.raise(least);
    put(std::move(constraint));
  }

  void buffers() {
    for (Index i = 0; i < confined_.ids.size(); ++i) {
      const Buffer& buffer = confined_.buffer(i);
      text_ += "* buffer " + std::to_string(i) + ", " + printable(buffer.name) + ": " + std::to_string(buffer.size) +
               " bytes";
      if (first_bits_[i] < first_bits_[i + 1]) {
        text_ += ", offset in units of " + std::to_string(alignments_[i]) + ": x" + std::to_string(first_bits_[i]) +
                 " (1) to x" + std::to_string(first_bits_[i + 1] - 1);
      }
      text_ += "\n";
      lowest_.push_back(lines_ + 1);
      put_offset(i, 1, confined_.least(i));
      if (buffer.pinned) put_offset(i, -1, -*buffer.pinned);
      put_offset(i, -1, buffer.size - capacity_);
    }
  }

  [[nodiscard]] Index buffer_of(std::size_t line) const {
    return static_cast<Index>(std::find(lowest_.begin(), lowest_.end(), line) - lowest_.begin());
  }

  void pairs() {
    orders_.assign(confined_.ids.size(), std::vector<std::size_t>(confined_.ids.size(), 0));
    pair_lines_ = orders_;
    for (Index i = 0; i < confined_.ids.size(); ++i) {
      for (Index j = i + 1; j < confined_.ids.size(); ++j) {
        if (!overlap(confined_.buffer(i).live, confined_.buffer(j).live)) continue;
        orders_[i][j] = orders_[j][i] = ++variables_;
        text_ +=
            "* " + std::to_string(i) + " is below " + std::to_string(j) + ": x" + std::to_string(variables_) + "\n";
        pair_lines_[i][j] = lines_ + 1;
        pair(i, j);
        pair_lines_[j][i] = lines_ + 1;
        pair(j, i);
      }
    }
  }

  // Adds a multiple of y(below, above).
  void add_order(Constraint& to, Bytes factor, Index below, Index above) const {
    to.add(below < above ? factor : -factor, orders_[below][above]);
    if (below > above) to.raise(-factor);
  }

  void pair(Index below, Index above) {
    const Bytes apart = confined_.apart(below, above);
    const Bytes enough = apart + most(below);
    Constraint constraint;
    add_offset(constraint, 1, above);
    add_offset(constraint, -1, below);
    add_order(constraint, -enough, below, above);
    constraint.raise(apart - enough);
    put(std::move(constraint));
  }

  void pile() {
    text_ += "* live at one step:";
    for (const Index i : pile_.members) text_ += " " + std::to_string(i);
    text_ += "\n";
    for (std::size_t m = 0; m < pile_.members.size(); ++m) {
      const Index j = pile_.members[m];
      Constraint below;
      Constraint above;
      add_offset(below, 1, j);
      add_offset(above, -1, j);
      below.raise(pile_.foot);
      above.raise(pile_.weights[m] - capacity_ - pile_.beyond);
      for (std::size_t other = 0; other < pile_.members.size(); ++other) {
        const Index i = pile_.members[other];
        if (i == j) continue;
        add_order(below, -pile_.weights[other], i, j);
        add_order(above, -pile_.weights[other], j, i);
      }
      put(std::move(below));
      put(std::move(above));
    }
  }

  const Confined& confined_;
  Pile pile_;
  Bytes bound_;
  Bytes capacity_;  // C
  std::size_t variables_ = 0;
  std::size_t lines_ = 0;
  std::vector<Bytes> alignments_;
  std::vector<std::size_t> first_bits_;               // by buffer, and the end
  std::vector<std::size_t> lowest_;                   // by buffer, the line that says where it can begin
  std::vector<std::vector<std::size_t>> orders_;      // variables; 0: not live together
  std::vector<std::vector<std::size_t>> pair_lines_;  // that the first is below the second
  std::string text_;
  std::string proof_;
  std::size_t derived_ = 0;  // lines of the proof
};

}  // namespace

std::vector<BufferId> certified_buffers(const Problem& problem, PoolId pool) {
  std::vector<BufferId> buffers;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].size > 0 && possible_pools(problem, BufferId(i)) == std::vector{pool}) {
      buffers.emplace_back(i);
    }
  }
  if (buffers.size() > most_certified) {
    throw Error(ErrorKind::usage, {},
                "the bound of pool '" + problem.pool(pool).name + "' is one of " + std::to_string(buffers.size()) +
                    " buffers; proofs are written of at most " + std::to_string(most_certified));
  }
  return buffers;
}

std::optional<Certificate> certificate(const Problem& problem, PoolId pool, Bytes bound) {
  assert(bound > 0);
  const Confined confined{problem, problem.pool(pool), certified_buffers(problem, pool)};
  const bool one_buffer = [&] {
    for (Index i = 0; i < confined.ids.size(); ++i) {
      if (confined.least(i) + confined.buffer(i).size >= bound) return true;
    }
    return false;
  }();
  const Pile pile = one_buffer ? Pile{} : best_pile(confined, bound);
  if (!one_buffer && (pile.members.empty() || pile.height() < bound)) return std::nullopt;
  return Writer(confined, pile, bound).write_sum();
}

Certificate certificate(const Problem& problem, PoolId pool, Bytes bound, const Refutation& refutation) {
  assert(bound > 0 && !refutation.lessons.empty());
  const Confined confined{problem, problem.pool(pool), certified_buffers(problem, pool)};
  return Writer(confined, {}, bound).write(refutation);
}

}  // namespace usmp::bounds
