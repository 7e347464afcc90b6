// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads limits with their positions, percentages as hundredths, and compares them with the size of the pool.
#include "config/budget.hpp"

#include <algorithm>
#include <array>

#include "config/keys.hpp"
#include "config/size.hpp"
#include "config/values.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

constexpr std::int64_t most_hundredths = 10 * Percent::whole;

Position position_of(Mark mark) { return {.line = mark.line, .column = mark.column}; }
Mark mark_of(Position position) { return {.line = position.line, .column = position.column}; }

Limit<Bytes> bytes_of(const YamlEntry& entry) { return {offset_of(entry), position_of(entry.value.mark)}; }

Limit<Percent> percent_of(const YamlEntry& entry, std::int64_t least, std::int64_t most) {
  const YamlNode& value = entry.value;
  const auto percent = value.kind == YamlNode::Kind::scalar ? parse_percent(value.text) : std::nullopt;
  if (!percent || percent->hundredths < least || percent->hundredths > most) {
    fail_value(entry, "a percentage from " + format_percent({least}) + " to " + format_percent({most}) +
                          ", such as 95% or 0.5% (at most two decimal places)");
  }
  return {*percent, position_of(value.mark)};
}

}  // namespace

std::optional<Percent> parse_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t point = text.find('.');
  const std::string_view front = text.substr(0, point);
  std::string behind(point == std::string_view::npos ? "00" : text.substr(point + 1));
  if (behind.size() == 1) behind += '0';
  constexpr std::size_t most_digits = 4;  // of 1000%
  const bool digits = behind.size() == 2 && behind.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || front.size() > most_digits || front.starts_with('-')) return std::nullopt;
  const auto whole = parse_integer(front);
  if (!whole) return std::nullopt;
  const std::int64_t hundredths = *whole * 100 + std::int64_t{10} * (behind[0] - '0') + (behind[1] - '0');
  return hundredths <= most_hundredths ? std::optional(Percent{hundredths}) : std::nullopt;
}

std::string format_percent(Percent percent) {
  std::string text = std::to_string(percent.hundredths / 100);
  const std::int64_t rest = percent.hundredths % 100;
  if (rest != 0) text += "." + std::to_string(rest / 10) + (rest % 10 == 0 ? "" : std::to_string(rest % 10));
  return text + "%";
}

Bytes share_of(Bytes size, Percent percent) {
  // Taken apart, since the product of both would not fit.
  return size / Percent::whole * percent.hundredths + size % Percent::whole * percent.hundredths / Percent::whole;
}

Budget read_budget(const YamlEntry& entry) {
  static const std::string example = "as {max: 60KiB, warn_at: 95%}";
  if (entry.value.kind != YamlNode::Kind::map) fail_value(entry, "a map of limits, " + example);
  Budget budget;
  for (const YamlEntry& limit : entry.value.entries) {
    if (limit.key == "max") {
      budget.max = bytes_of(limit);
    } else if (limit.key == "warn_at") {
      budget.warn_at = percent_of(limit, 1, Percent::whole);
    } else if (limit.key == "min_headroom") {
      budget.min_headroom = bytes_of(limit);
    } else if (limit.key == "max_growth") {
      budget.max_growth = percent_of(limit, 0, most_hundredths);
    } else {
      fail_unknown_key(limit, "a budget", budget_keys());
    }
  }
  if (!budget.any())
    fail(entry.value.mark, "the budget has no limit: expected at least one of " + joined(budget_keys()));
  return budget;
}

namespace {

std::vector<RegionBudget> region_budgets(const YamlEntry& entry) {
  if (entry.value.kind != YamlNode::Kind::map || entry.value.entries.empty()) {
    fail_value(entry, "a map of regions of the linker script to sizes, as {SRAM: 64KiB}");
  }
  std::vector<RegionBudget> budgets;
  for (const YamlEntry& region : entry.value.entries) budgets.push_back({region.key, bytes_of(region)});
  return budgets;
}

Limit<Bytes> count_of(const YamlEntry& entry) {
  const auto count = integer_at_least(entry.value, 0);
  if (!count) fail_value(entry, "a number of instructions, such as 4000000");
  return {*count, position_of(entry.value.mark)};
}

}  // namespace

WholeBudget read_whole_budget(const YamlEntry& entry) {
  static const std::string example = "as {ram: 96KiB, stack: 2KiB}";
  if (entry.value.kind != YamlNode::Kind::map) fail_value(entry, "a map of limits, " + example);
  WholeBudget budget;
  for (const YamlEntry& limit : entry.value.entries) {
    if (limit.key == "ram") {
      budget.ram = bytes_of(limit);
    } else if (limit.key == "flash") {
      budget.flash = bytes_of(limit);
    } else if (limit.key == "stack") {
      budget.stack = bytes_of(limit);
    } else if (limit.key == "instructions") {
      budget.instructions = count_of(limit);
    } else if (limit.key == "regions") {
      budget.regions = region_budgets(limit);
    } else {
      fail_unknown_key(limit, "budgets", whole_keys());
    }
  }
  if (!budget.any()) {
    fail(entry.value.mark, "budgets has no limit: expected at least one of " + joined(whole_keys()));
  }
  return budget;
}

void check_budget(const Budget& budget, std::optional<Bytes> pool_size) {
  const auto pools_size = [&] { return "the pool's " + format_size(*pool_size) + " (size_hint_bytes)"; };
  if (budget.max && pool_size && budget.max->value > *pool_size) {
    fail(mark_of(budget.max->position),
         "max is " + format_size(budget.max->value) + ": expected at most " + pools_size());
  }
  if (budget.warn_at && !budget.max && !pool_size) {
    fail(mark_of(budget.warn_at->position),
         "warn_at is a percentage of max or of the pool's size, and there is neither: expected max or size_hint_bytes");
  }
  if (!budget.min_headroom) return;
  if (!pool_size) {
    fail(mark_of(budget.min_headroom->position), "min_headroom of an unbounded pool: expected size_hint_bytes");
  }
  if (budget.min_headroom->value >= *pool_size) {
    fail(mark_of(budget.min_headroom->position),
         "min_headroom is " + format_size(budget.min_headroom->value) + ": expected less than " + pools_size());
  }
}

}  // namespace usmp::config
