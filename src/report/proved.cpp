// SPDX-License-Identifier: Apache-2.0
#include "report/proved.hpp"

#include <algorithm>
#include <utility>

#include "report/layout.hpp"
#include "usmp/report/text.hpp"

namespace usmp::report {

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
