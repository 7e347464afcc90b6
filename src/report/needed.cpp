// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words needed, available and missing bytes, and writes the choices of enlargements as JSON.
#include "usmp/report/needed.hpp"

#include "report/needed_json.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

std::string pool_lines(const Enlargement& pools, const std::string& front) {
  std::string text;
  for (const NeededSize& size : pools) text += front + printable(size.pool) + ": " + needed_text(size);
  return text;
}

std::string shortfall_text(const Shortfall& shortfall, bool is_only_one) {
  const Enlargement& first = shortfall.choices.front();
  if (shortfall.choices.size() > 1) {
    std::string text =
        is_only_one ? "\n  one of these is enough, with the other pools unchanged:" : "\n  one of these is needed:";
    for (const Enlargement& choice : shortfall.choices) text += pool_lines(choice, "\n    ");
    return text;
  }
  if (first.size() == 1) return pool_lines(first, "\n  ");
  return "\n  no single pool was found to be enough; these together are:" + pool_lines(first, "\n    ");
}

}  // namespace

std::string needed_text(const NeededSize& size) {
  const std::string available = std::to_string(size.available) + " available";
  const bool is_bounded = size.at_least > size.available;
  if (!size.enough) {
    return is_bounded ? "at least " + bytes_text(size.at_least) + " needed, " + available
                      : available + ", no size was found that is enough";
  }
  const std::string missing = std::to_string(size.missing()) + " missing";
  if (size.proved()) return bytes_text(*size.enough) + " needed, " + available + ", " + missing;
  return "at most " + bytes_text(*size.enough) + " needed" +
         (is_bounded ? ", at least " + std::to_string(size.at_least) : "") + ", " + available + ", at most " + missing;
}

std::string needed_text(const NeededSizes& sizes) {
  std::string text;
  for (const Shortfall& shortfall : sizes.shortfalls) text += shortfall_text(shortfall, sizes.shortfalls.size() == 1);
  if (!sizes.fits_with.empty()) {
    text += "\n  algorithm " + printable(sizes.fits_with) + " finds a plan in these pools";
  }
  return text;
}

nlohmann::ordered_json shortfalls_json(const NeededSizes& sizes) {
  using nlohmann::ordered_json;
  ordered_json shortfalls = ordered_json::array();
  for (const Shortfall& shortfall : sizes.shortfalls) {
    ordered_json choices = ordered_json::array();
    for (const Enlargement& choice : shortfall.choices) {
      ordered_json pools = ordered_json::array();
      for (const NeededSize& size : choice) {
        ordered_json json;
        json["pool"] = size.pool;
        json["available"] = size.available;
        json["at_least"] = size.at_least;
        json["enough"] = plan_file::or_null(size.enough);
        pools.push_back(std::move(json));
      }
      choices.push_back({{"pools", std::move(pools)}});
    }
    shortfalls.push_back({{"choices", std::move(choices)}});
  }
  return shortfalls;
}

}  // namespace usmp::report
