// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds module and archive of a plan in its first lines, without parsing the rest.
#include <nlohmann/json.hpp>

#include "usmp/plan_file/plan_json.hpp"

namespace usmp::plan_file {
namespace {

// The text of a member that stands on a line of its own, as plan_json writes them.
std::optional<std::string> member(std::string_view front, const std::string& key) {
  const std::string start = "\n \"" + key + "\": ";
  const std::size_t at = front.find(start);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t end = front.find(",\n", at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + start.size();
  const nlohmann::json value = nlohmann::json::parse(front.substr(begin, end - begin), nullptr, false);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

}  // namespace

std::optional<PlanHead> head_of_plan(std::string_view front) {
  if (member(front, "schema") != "usmp-plan/plan") return std::nullopt;
  auto module = member(front, "module");
  auto archive = member(front, "archive");
  if (!module || !archive) return std::nullopt;
  return PlanHead{std::move(*module), std::move(*archive)};
}

}  // namespace usmp::plan_file
