// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Breaks lines between members of the outermost object and between elements of their lists; the rest is compact.
#include "usmp/plan_file/json_lines.hpp"

#include "usmp/support/printable.hpp"

namespace usmp::plan_file {
namespace {

using Json = nlohmann::ordered_json;

// All ASCII if there is something in it that a terminal could take for a command.
std::string compact(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (printable(text) == text) return text;
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::string json_lines(const Json& object) {
  std::string text = "{";
  std::string_view separator = "\n";
  for (const auto& [key, value] : object.items()) {
    text += separator;
    text += ' ';
    text += compact(Json(key));
    text += ": ";
    separator = ",\n";
    if (!value.is_array() || value.empty()) {
      text += compact(value);
      continue;
    }
    std::string_view element_separator = "[\n";
    for (const Json& element : value) {
      text += element_separator;
      text += "  ";
      text += compact(element);
      element_separator = ",\n";
    }
    text += "\n ]";
  }
  return text + "\n}\n";
}

Json live_json(const std::vector<LiveRange>& live) {
  Json ranges = Json::array();
  for (const LiveRange& range : live) ranges.push_back({range.begin, range.end});
  return ranges;
}

}  // namespace usmp::plan_file
