// SPDX-License-Identifier: Apache-2.0
#include "report/operator_colors.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace usmp::report {
namespace {

using Maker = std::pair<std::size_t, std::size_t>;

// An operator, and from when to when its buffers are live.
struct Lifetime {
  Tick begin = 0;
  Tick end = 0;
  std::size_t number = 0;  // of the operator
  Maker maker;

  [[nodiscard]] std::tuple<Tick, std::size_t> order() const { return {begin, number}; }
};

std::map<Maker, Lifetime> lifetimes(const plan_file::PlanDocument& document, const compare::PlanFigures& figures) {
  std::map<Maker, Lifetime> makers;
  for (std::size_t i = 0; i < document.buffers.size(); ++i) {
    const plan_file::PlanDocument::Buffer& buffer = document.buffers[i];
    if (!figures.operators[i]) continue;
    const Maker maker(*figures.operators[i], buffer.row_operator);
    Lifetime& lifetime = makers.try_emplace(maker, Lifetime{-1, -1, 0, maker}).first->second;
    if (buffer.kind == BufferKind::constant || buffer.live->empty()) continue;
    const Tick begin = buffer.live->front().begin;
    lifetime.begin = lifetime.begin < 0 ? begin : std::min(lifetime.begin, begin);
    lifetime.end = std::max(lifetime.end, buffer.live->back().end);
  }
  std::size_t number = 0;
  for (auto& [maker, lifetime] : makers) lifetime.number = number++;
  return makers;
}

}  // namespace

std::map<Maker, std::size_t> operator_colors(const plan_file::PlanDocument& document,
                                             const compare::PlanFigures& figures) {
  std::vector<Lifetime> by_time;
  for (const auto& [maker, lifetime] : lifetimes(document, figures)) by_time.push_back(lifetime);
  std::ranges::sort(by_time, {}, &Lifetime::order);
  std::map<Maker, std::size_t> colors;
  std::array<Tick, palette_size> taken_until = {};
  taken_until.fill(-1);
  for (const Lifetime& lifetime : by_time) {
    if (lifetime.end < 0) {
      colors[lifetime.maker] = lifetime.number % palette_size;
      continue;
    }
    std::size_t best = lifetime.number % palette_size;
    for (std::size_t turn = 1; turn < palette_size && taken_until[best] >= lifetime.begin; ++turn) {
      const std::size_t other = (lifetime.number + turn) % palette_size;
      if (taken_until[other] < taken_until[best]) best = other;
    }
    taken_until[best] = std::max(taken_until[best], lifetime.end);
    colors[lifetime.maker] = best;
  }
  return colors;
}

}  // namespace usmp::report
