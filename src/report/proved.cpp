// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names the reason of each bound, and the buffers that are live where it comes from.
#include "report/proved.hpp"

#include <algorithm>
#include <utility>

#include "report/layout.hpp"
#include "usmp/report/text.hpp"

namespace usmp::report {

using compare::PoolFigures;
using plan_file::PlanDocument;

namespace {

// "not in dtcm", "in neither dtcm nor sram", if these are the first choices of all buffers that have others.
std::string outside_text(const std::vector<Choices>& buffers, std::size_t count) {
  std::vector<std::string> first;
  for (const auto& [pools, pool] : buffers) {
    if (pools.size() <= count) continue;
    std::vector<std::string> own(pools.begin(), pools.begin() + static_cast<std::ptrdiff_t>(count));
    if (!first.empty() && first != own) {
      return "outside their first " + (count == 1 ? "choice" : std::to_string(count) + " choices");
    }
    first = std::move(own);
  }
  std::string text = count == 1 ? "not in " : count == 2 ? "in neither " : "in none of ";
  for (std::size_t i = 0; i < first.size(); ++i) {
    text += (i == 0 ? "" : count == 2 ? " nor " : ", ") + printable(first[i]);
  }
  return text;
}

}  // namespace

std::string reason_text(const std::string& reason) {
  return reason == "load" ? "as many bytes are live at once" : printable(reason);
}

std::string proved_text(Bytes value, Bytes bound, const std::string& reason, bool color) {
  const std::string why = reason.empty() ? "" : " (" + reason_text(reason) + ")";
  if (value == bound) {
    const std::string by = reason.starts_with("proved by ") ? printable(reason.substr(reason.find(' '))) : why;
    return (color ? "\x1b[32mproved minimal\x1b[0m" : "proved minimal") + by;
  }
  const std::string gap = "gap of " + std::to_string(value - bound);
  return gap + (bound > 0 ? " (" + percent(value - bound, bound) + ")" : "") + " to the lower bound " +
         std::to_string(bound) + why;
}

bool bound_tells(Bytes used, Bytes bound, bool smaller_is_better, bool overflows) {
  return smaller_is_better || (used == bound && !overflows);
}

bool bound_tells(const PlanDocument::Pool& pool, const compare::PoolFigures& figures) {
  return pool.lower_bound && bound_tells(pool.used, *pool.lower_bound, figures.smaller_is_better, figures.overflows);
}

std::string against_bound(const PlanDocument::Pool& pool, const compare::PoolFigures& figures, bool color) {
  if (!bound_tells(pool, figures) || pool.used == 0) return {};
  return ", " + proved_text(pool.used, *pool.lower_bound, pool.lower_bound_reason, color);
}

namespace {

// "a (832), b (64) and 3 smaller ones"
std::string named_buffers(const PlanDocument& plan, const std::vector<std::size_t>& buffers, std::size_t most) {
  std::string text;
  const std::size_t shown = buffers.size() <= most + 1 ? buffers.size() : most;
  for (std::size_t i = 0; i < shown; ++i) {
    const PlanDocument::Buffer& buffer = plan.buffers[buffers[i]];
    text += (i == 0 ? "" : ", ") + printable(buffer.name) + " (" + std::to_string(buffer.size) + ")";
  }
  return shown == buffers.size() ? text : text + " and " + std::to_string(buffers.size() - shown) + " smaller ones";
}

std::string live_proof(const PlanDocument& plan, Bytes bound, const PoolFigures& figures, std::size_t most) {
  const std::vector<std::size_t>& live = figures.at_peak;
  const bool is_of_these =
      figures.load + figures.lost_to_alignment == bound &&
      std::ranges::all_of(live, [&](std::size_t i) { return plan.buffers[i].candidates.size() == 1; });
  if (!is_of_these) return {};
  Bytes sum = 0;
  for (const std::size_t i : live) sum += plan.buffers[i].size;
  return "at step " + std::to_string(figures.peak_at) + " of " + std::to_string(plan.horizon) + ", " +
         std::to_string(live.size()) + (live.size() == 1 ? " buffer is live: " : " buffers are live: ") +
         named_buffers(plan, live, most) + ", " + bytes_text(sum) + " in all" +
         (sum > figures.load ? ", " + std::to_string(figures.load) + " if they share what they may" : "") +
         (figures.lost_to_alignment > 0 ? ", and " + std::to_string(figures.lost_to_alignment) + " between them" : "");
}

std::string buffer_proof(const PlanDocument& plan, Bytes bound, const PoolFigures& figures, bool pinned) {
  for (const std::size_t i : figures.buffers) {
    const PlanDocument::Buffer& buffer = plan.buffers[i];
    if (pinned && buffer.pinned && buffer.offset + buffer.size == bound) {
      return printable(buffer.name) + " is pinned to " + std::to_string(buffer.offset) + " and has " +
             bytes_text(buffer.size);
    }
    if (!pinned && buffer.size <= bound && buffer.size + buffer.alignment > bound) {
      return printable(buffer.name) + " has " + bytes_text(buffer.size);
    }
  }
  return {};
}

std::string search_proof(const PlanDocument& plan, Bytes bound) {
  if (!plan.search) return {};
  if (plan.search->iterations == 0) return "the rules of the search contradict every smaller size, without a choice";
  return "a search of " + std::to_string(plan.search->iterations) +
         (plan.distances.empty() ? " nodes, each the lowest offset of a buffer"
                                 : " nodes, each the order of two buffers or the lowest offset of one") +
         ", left no choice of less than " + bytes_text(bound);
}

}  // namespace

std::string proof_line(const PlanDocument& plan, const PlanDocument::Pool& pool, const PoolFigures& figures,
                       std::size_t most) {
  if (!bound_tells(pool, figures) || pool.used == 0 || *pool.lower_bound == 0) return {};
  const std::string& reason = pool.lower_bound_reason;
  const Bytes bound = *pool.lower_bound;
  std::string text;
  if (reason == "load" || reason == "aligned load" || reason == "all constants are live") {
    text = pool.reserved > 0 ? "" : live_proof(plan, bound, figures, most);
  } else if (reason == "largest buffer" || reason == "end of a pinned buffer") {
    text = buffer_proof(plan, bound, figures, reason != "largest buffer");
  } else if (reason == "proved by optimal") {
    text = search_proof(plan, bound);
  }
  return text.empty() ? text : "no plan uses less than " + std::to_string(bound) + ": " + text + "\n";
}

bool Choices::beyond(std::size_t count) const {
  if (pool.empty()) return false;
  return std::ranges::find(pools, pool) - pools.begin() >= static_cast<std::ptrdiff_t>(count);
}

std::string spilled_text(const std::vector<Bytes>& spilled, const std::vector<Bytes>& spilled_bounds,
                         const std::vector<Choices>& buffers, bool color) {
  std::string text;
  for (std::size_t r = 0; r < spilled.size(); ++r) {
    if (spilled[r] == 0) continue;
    const auto count = std::ranges::count_if(buffers, [&](const Choices& one) { return one.beyond(r + 1); });
    text += outside_text(buffers, r + 1) + ": " + std::to_string(count) +
            (count == 1 ? " buffer of " : " buffers of ") + bytes_text(spilled[r]) + (count == 1 ? "" : " in all") +
            (spilled_bounds[r] > 0 ? ", " + proved_text(spilled[r], spilled_bounds[r], {}, color) : "") + "\n";
  }
  return text;
}

std::string search_text(StopReason stopped, std::uint64_t iterations) {
  if (stopped == StopReason::finished) return {};
  std::string text = "search: " + stop_text(stopped) + " after " + std::to_string(iterations) + " steps";
  if (stopped != StopReason::node_limit) text += "; the plan depends on this machine";
  return text + "\n";
}

}  // namespace usmp::report
