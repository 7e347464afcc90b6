// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds connected parts of what may share bytes, and takes the most of one buffer, a pair, or all cores in each.
#include "bounds/sharing.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace usmp::bounds {
namespace {

// Steps of one sweep over time.
constexpr std::uint64_t most_sharing_steps = std::uint64_t{1} << 22U;
// Beyond, one buffer and what stands beside it has to do.
constexpr std::size_t most_compared = 32;

}  // namespace

Sharing::Sharing(const Problem& problem, Bytes granule) : problem_(problem), granule_(granule) {
  if (problem.distances.empty()) return;
  const std::size_t count = problem.buffers.size();
  std::vector<std::pair<BufferId, BufferId>> pairs;
  pairs.reserve(2 * problem.distances.size());
  for (const Distance& distance : problem.distances) {
    pairs.emplace_back(distance.below, distance.above);
    pairs.emplace_back(distance.above, distance.below);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  first_.assign(count + 1, 0);
  for (const auto& [a, b] : pairs) {
    ++first_[a.index() + 1];
    partners_.push_back(b);
  }
  for (std::size_t i = 0; i < count; ++i) first_[i + 1] += first_[i];
  live_.resize(count, false);
  live_partners_.resize(count, 0);
  part_of_.resize(count, none);
  marks_.resize(count, 0);
}

std::span<const BufferId> Sharing::partners(BufferId id) const {
  return std::span(partners_).subspan(first_[id.index()], first_[id.index() + 1] - first_[id.index()]);
}

void Sharing::begin(BufferId id) {
  if (first_.empty()) return;
  live_[id.index()] = true;
  for (const BufferId partner : partners(id)) {
    if (!live_[partner.index()]) continue;
    count_partner(id, true);
    count_partner(partner, true);
    forget_part_of(partner);
  }
  if (live_partners_[id.index()] > 0) changed_.push_back(id);
}

void Sharing::end(BufferId id) {
  if (first_.empty()) return;
  live_[id.index()] = false;
  forget_part_of(id);
  for (const BufferId partner : partners(id)) {
    if (!live_[partner.index()]) continue;
    count_partner(id, false);
    count_partner(partner, false);
    changed_.push_back(partner);
  }
}

// One partner more or less that is live together with the buffer.
void Sharing::count_partner(BufferId id, bool begins) {
  Index& count = live_partners_[id.index()];
  if (begins ? count++ > 0 : --count > 0) return;
  const Bytes size = rounded(id);
  sum_ += begins ? size : -size;
  if (begins) {
    sizes_.insert(size);
  } else {
    sizes_.erase(sizes_.find(size));
  }
}

void Sharing::forget_part_of(BufferId id) {
  const Index part = part_of_[id.index()];
  if (part == none || !parts_[part].is_current) return;
  saved_ -= parts_[part].saved;
  parts_[part].is_current = false;
}

Bytes Sharing::saved() {
  for (const BufferId id : changed_) {
    if (steps_ > most_sharing_steps) break;
    if (live_[id.index()] && live_partners_[id.index()] > 0) compute_part_of(id);
  }
  changed_.clear();
  if (steps_ <= most_sharing_steps) return saved_;
  return sizes_.empty() ? 0 : sum_ - *sizes_.rbegin();
}

void Sharing::compute_part_of(BufferId id) {
  const Index known = part_of_[id.index()];
  if (known != none && parts_[known].is_current) return;
  const auto number = static_cast<Index>(parts_.size());
  std::vector<BufferId> part = {id};
  part_of_[id.index()] = number;
  Bytes sum = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    sum += rounded(part[i]);
    steps_ += 8 + partners(part[i]).size();
    for (const BufferId partner : partners(part[i])) {
      if (!live_[partner.index()] || part_of_[partner.index()] == number) continue;
      part_of_[partner.index()] = number;
      part.push_back(partner);
    }
  }
  parts_.push_back({.saved = sum - needed(std::move(part))});
  saved_ += parts_.back().saved;
}

// Bytes that two buffers need together, as close to each other as they may be.
Bytes Sharing::together(BufferId a, BufferId b) const {
  const Bytes closest = std::min(align_up(distance(problem_, a, b), granule_) + rounded(b),
                                 align_up(distance(problem_, b, a), granule_) + rounded(a));
  return std::max({closest, rounded(a), rounded(b)});
}

// The best of what can be begun with: one buffer, or two that share; or all, as far as none of their bytes are shared.
Bytes Sharing::needed(std::vector<BufferId> part) {
  std::sort(part.begin(), part.end(),
            [&](BufferId a, BufferId b) { return rounded(a) != rounded(b) ? rounded(a) > rounded(b) : a < b; });
  const Bytes apart = part.size() > most_compared ? needed_of_many(part) : needed_of_few(part);
  return std::max({apart, bytes_of_cores(part, true), bytes_of_cores(part, false)});
}

// What starts above a buffer starts as far above as their distance says. So the bytes of each from its start on up to
// the least distance of all others are its own, and the sum of these, its core, is needed. Likewise at the ends.
Bytes Sharing::bytes_of_cores(const std::vector<BufferId>& part, bool at_starts) {
  Bytes bytes = 0;
  for (const BufferId id : part) {
    Bytes core = rounded(id);
    steps_ += partners(id).size();
    for (const BufferId partner : partners(id)) {
      if (!live_[partner.index()]) continue;
      const Bytes own = at_starts
                            ? align_up(distance(problem_, id, partner), granule_)
                            : align_up(distance(problem_, partner, id), granule_) - rounded(partner) + rounded(id);
      core = std::min(core, own);
    }
    bytes += std::max<Bytes>(core, 0);
  }
  return bytes;
}

Bytes Sharing::needed_of_few(const std::vector<BufferId>& part) {
  using Set = std::uint32_t;  // of indices into the part
  std::array<Bytes, most_compared> sizes{};
  std::array<Set, most_compared> sharers{};  // of each, itself included
  for (std::size_t i = 0; i < part.size(); ++i) {
    sizes[i] = rounded(part[i]);
    for (std::size_t j = 0; j < part.size(); ++j) {
      const bool shares = i == j || std::ranges::binary_search(partners(part[i]), part[j]);
      sharers[i] |= static_cast<Set>(shares) << j;
    }
  }
  const Set all = ~Set{0} >> (most_compared - part.size());
  // Bytes of the others that share neither with what is counted nor with each other, the largest first.
  const auto beside = [&](Set taken) {
    Bytes bytes = 0;
    for (Set left = all & ~taken; left != 0;) {
      const auto next = static_cast<std::size_t>(std::countr_zero(left));
      bytes += sizes[next];
      left &= ~sharers[next];
    }
    return bytes;
  };
  Bytes most = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    most = std::max(most, sizes[i] + beside(sharers[i]));
    for (std::size_t j = 0; j < i; ++j) {
      ++steps_;
      if ((sharers[i] >> j & 1U) == 0) continue;
      most = std::max(most, together(part[i], part[j]) + beside(sharers[i] | sharers[j]));
    }
  }
  return most;
}

// The largest, and the others that share neither with it nor with each other.
Bytes Sharing::needed_of_many(const std::vector<BufferId>& part) {
  ++mark_;
  Bytes bytes = 0;
  for (const BufferId id : part) {
    if (marks_[id.index()] == mark_) continue;
    bytes += rounded(id);
    for (const BufferId partner : partners(id)) marks_[partner.index()] = mark_;
  }
  return bytes;
}

}  // namespace usmp::bounds
