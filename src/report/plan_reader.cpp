// Reads only what a plan says of places, so that plans of other versions of the program serve as long as this part is
// the same.
#include <limits>
#include <nlohmann/json.hpp>

#include "usmp/report/plan_json.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/json_depth.hpp"

namespace usmp::report {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;  // a plan is five deep

[[noreturn]] void fail(std::string place, std::string message) {
  throw Error(ErrorKind::usage, {{}, {}, std::move(place)}, std::move(message));
}

const Json& member(const Json& object, const char* key, const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) fail(place, std::string("the key ") + key + " is missing: expected a plan of usmp-plan");
  return *found;
}

std::string text_of(const Json& object, const char* key, const std::string& place) {
  const Json& value = member(object, key, place);
  if (!value.is_string()) fail(place, std::string(key) + " is " + value.type_name() + ": expected text");
  return value.get<std::string>();
}

Bytes bytes_of(const Json& object, const char* key, const std::string& place) {
  const Json& value = member(object, key, place);
  const bool fits =
      value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Problem::max_total_bytes);
  if (!fits) {
    fail(place, std::string(key) + " is " + (value.is_number() ? value.dump() : value.type_name()) +
                    ": expected bytes from 0 to " + std::to_string(Problem::max_total_bytes));
  }
  return value.get<Bytes>();
}

LiveRange range_of(const Json& range, const std::string& place) {
  const auto is_tick = [](const Json& tick) {
    return tick.is_number_unsigned() &&
           tick.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Tick>::max());
  };
  if (!range.is_array() || range.size() != 2 || !is_tick(range[0]) || !is_tick(range[1])) {
    fail(place, "expected a live range of two ticks");
  }
  return {range[0].get<Tick>(), range[1].get<Tick>()};
}

std::vector<LiveRange> live_of(const Json& live, const std::string& place) {
  if (!live.is_array()) fail(place, std::string("is ") + live.type_name() + ": expected a list of live ranges");
  std::vector<LiveRange> ranges;
  for (std::size_t i = 0; i < live.size(); ++i) {
    ranges.push_back(range_of(live[i], place + "[" + std::to_string(i) + "]"));
  }
  return ranges;
}

assemble::EarlierPlan::Place place_of(const Json& buffer, const std::string& place) {
  if (!buffer.is_object()) fail(place, std::string("is ") + buffer.type_name() + ": expected a buffer");
  assemble::EarlierPlan::Place result;
  result.buffer = text_of(buffer, "name", place);
  result.function = text_of(buffer, "function", place);
  result.size = bytes_of(buffer, "size", place);
  if (const auto live = buffer.find("live"); live != buffer.end()) result.live = live_of(*live, place + ".live");
  if (member(buffer, "pool", place).is_null()) return result;
  result.pool = text_of(buffer, "pool", place);
  result.offset = bytes_of(buffer, "offset", place);
  return result;
}

Json parsed(std::string_view text) {
  if (json_depth(text) > max_depth) {
    fail({}, "nested deeper than " + std::to_string(max_depth) + " levels: expected a plan of usmp-plan");
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail("byte " + std::to_string(error.byte), "is no JSON: expected a plan of usmp-plan");
  } catch (const Json::out_of_range&) {
    fail({}, "holds a number that is too large: expected a plan of usmp-plan");
  }
}

}  // namespace

assemble::EarlierPlan parse_plan_json(std::string_view text) {
  const Json json = parsed(text);
  if (!json.is_object() || json.value("schema", Json()) != Json("usmp-plan/plan")) {
    fail({}, "is no plan of usmp-plan: expected the key schema with usmp-plan/plan");
  }
  const Json& version = member(json, "schema_version", {});
  if (version != Json(1) && version != Json(plan_schema_version)) {
    fail({}, "schema_version is " + version.dump(-1, ' ', false, Json::error_handler_t::replace) +
                 ": expected at most " + std::to_string(plan_schema_version));
  }
  assemble::EarlierPlan plan;
  plan.module = text_of(json, "module", {});
  if (const auto io = json.find("workspace_io"); io != json.end()) {
    if (!io->is_boolean()) fail("workspace_io", std::string("is ") + io->type_name() + ": expected true or false");
    plan.workspace_io = io->get<bool>();
  }
  const Json& buffers = member(json, "buffers", {});
  if (!buffers.is_array()) fail("buffers", std::string("is ") + buffers.type_name() + ": expected a list");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    plan.places.push_back(place_of(buffers[i], "buffers[" + std::to_string(i) + "]"));
  }
  return plan;
}

}  // namespace usmp::report
