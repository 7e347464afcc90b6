// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words a pool's figures at the peak: step, occupied and live bytes, and which buffers share how many.
#include "report/peak.hpp"

#include <algorithm>
#include <numeric>

#include "report/layout.hpp"

namespace usmp::report {

using compare::PoolFigures;
using plan_file::PlanDocument;

std::string peak_text(const PlanDocument& plan, const PoolFigures& figures) {
  return bytes_text(figures.occupied_at_peak) + " at step " + std::to_string(figures.peak_at) + " of " +
         std::to_string(plan.horizon);
}

std::string live_at_peak_text(const PoolFigures& figures) {
  if (figures.occupied_at_peak == figures.load) return {};
  return "Live: " + bytes_text(figures.load) + ", as if buffers shared all the bytes that they may.";
}

std::vector<std::size_t> shown_at_peak(const PlanDocument& plan, const PoolFigures& figures, std::size_t most) {
  const std::size_t all = figures.at_peak.size();
  std::vector<std::size_t> shown(all <= most + 1 ? all : most);
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::ranges::stable_sort(shown, {}, [&](std::size_t i) { return plan.buffers[figures.at_peak[i]].offset; });
  return shown;
}

bool shares_at_peak(const PoolFigures& figures) {
  return std::any_of(figures.shared_bytes.begin(), figures.shared_bytes.end(),
                     [&](const PoolFigures::SharedBytes& shared) { return shared.at(figures.peak_at); });
}

std::string shared_at_peak(const PlanDocument& plan, const PoolFigures& figures, std::size_t buffer) {
  constexpr std::size_t most = 3;
  std::string text;
  std::size_t count = 0;
  for (const PoolFigures::SharedBytes& shared : figures.shared_bytes) {
    if ((shared.first != buffer && shared.second != buffer) || !shared.at(figures.peak_at)) continue;
    if (++count > most) continue;
    const std::size_t other = shared.first == buffer ? shared.second : shared.first;
    text += (text.empty() ? bytes_text(shared.bytes()) : ", " + std::to_string(shared.bytes())) + " with " +
            printable(plan.buffers[other].name);
  }
  return count > most ? text + " and " + std::to_string(count - most) + " more" : text;
}

std::string used_text(const PlanDocument::Pool& pool, const PoolFigures& figures) {
  std::string text = bytes_text(pool.used) + " =";
  const auto add = [&](Bytes bytes, const char* what) {
    if (bytes > 0) text += (text.back() == '=' ? " " : " + ") + std::to_string(bytes) + " " + what;
  };
  add(pool.reserved, "reserved");
  add(figures.load, "live at the peak");
  add(figures.lost_to_alignment, "lost to alignment");
  add(figures.proved_gap, "in gaps, proved unavoidable");
  add(figures.open_gap, figures.proved_gap > 0 ? "in further gaps" : "in gaps");
  return text;
}

}  // namespace usmp::report
