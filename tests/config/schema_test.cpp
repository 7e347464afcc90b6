// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// docs/schema/pools.schema.json says what parse_pools does: the same keys, and examples that it accepts.
// test_schema.py holds the schema's rules against the fixtures.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "config/keys.hpp"
#include "files.hpp"
#include "usmp/config/pools.hpp"

namespace usmp::config::schema_test {

using nlohmann::json;
using usmp::Error;
using usmp::config::parse_pools;

namespace {

json schema() { return json::parse(read_file(USMP_TESTDATA "/../docs/schema/pools.schema.json")); }

std::set<std::string> keys_of(const json& properties) {
  std::set<std::string> keys;
  for (const auto& item : properties.items()) keys.insert(item.key());
  return keys;
}

std::set<std::string> as_set(const std::vector<std::string>& keys) { return {keys.begin(), keys.end()}; }

// The part of the schema that a key's "$ref" names, or the key's own.
json resolved(const json& whole, const json& part) {
  if (!part.contains("$ref")) return part;
  const std::string pointer = part["$ref"].get<std::string>().substr(1);
  return whole[json::json_pointer(pointer)];
}

bool accepted(const json& file) {
  try {
    static_cast<void>(parse_pools(file.dump()));  // JSON is YAML
    return true;
  } catch (const Error&) {
    return false;
  }
}

json file_with(const std::string& list, const std::string& key, const json& value) {
  json file = {{"workspace_pools", {{{"name", "w"}}}}, {"parameter_pools", {{{"name", "p"}}}}};
  if (key == "address") file[list][0]["emit"] = "binary";
  file[list][0][key] = value;
  return file;
}

// What stands in one of the lists may be narrower than what a pool is in general.
json::json_pointer own_part(const std::string& list, const std::string& key) {
  return json::json_pointer("/$defs/" + list.substr(0, list.size() - 1) + "/properties/" + key);
}

bool is_allowed(const json& whole, const std::string& list, const std::string& key) {
  const json::json_pointer own = own_part(list, key);
  return !whole.contains(own) || whole[own] != json(false);
}

json examples_of(const json& whole, const std::string& list, const std::string& key, const json& part) {
  const json::json_pointer own = own_part(list, key);
  if (whole.contains(own / "examples")) return whole[own / "examples"];
  return part.contains("examples") ? part["examples"] : resolved(whole, part)["examples"];
}

}  // namespace

TEST_CASE("the schema knows the parser's keys") {
  const json whole = schema();
  CHECK(keys_of(whole["properties"]) == as_set(usmp::config::file_keys()));
  CHECK(keys_of(whole["$defs"]["pool"]["properties"]) == as_set(usmp::config::pool_keys()));
  CHECK(keys_of(whole["$defs"]["pin"]["properties"]) == as_set(usmp::config::pin_keys()));
  CHECK(whole["$defs"]["pin"]["additionalProperties"] == false);
  CHECK(keys_of(whole["$defs"]["budget"]["properties"]) == as_set(usmp::config::budget_keys()));
  CHECK(whole["$defs"]["budget"]["additionalProperties"] == false);
  CHECK(keys_of(whole["properties"]["budgets"]["properties"]) == as_set(usmp::config::whole_keys()));
  CHECK(whole["properties"]["budgets"]["additionalProperties"] == false);
  CHECK(whole["additionalProperties"] == false);
  CHECK(whole["$defs"]["pool"]["additionalProperties"] == false);
}

TEST_CASE("the dictionary of the fuzzer knows the parser's keys") {
  const std::string words = read_file(USMP_TESTDATA "/../tests/fuzz/dictionaries/pools.dict");
  for (const auto* keys : {&file_keys(), &pool_keys(), &budget_keys(), &whole_keys(), &pin_keys()}) {
    for (const std::string& key : *keys) CHECK_MESSAGE(words.find('"' + key + ":\"") != std::string::npos, key);
  }
}

TEST_CASE("the parser accepts the schema's examples of every key, and nothing of another type") {
  const json whole = schema();
  for (const auto& [key, part] : whole["properties"].items()) {
    CAPTURE(key);
    REQUIRE_FALSE(part["examples"].empty());
    for (const json& example : part["examples"]) {
      json file = {{"workspace_pools", {{{"name", "w"}}}}};
      file[key] = example;
      CHECK(accepted(file));
      file[key] = {{"none", "such"}};
      CHECK_FALSE(accepted(file));
    }
  }
  for (const std::string list : {"workspace_pools", "parameter_pools"}) {
    for (const auto& [key, part] : whole["$defs"]["pool"]["properties"].items()) {
      CAPTURE(key);
      if (!is_allowed(whole, list, key)) {
        for (const json& example : part["examples"]) CHECK_FALSE(accepted(file_with(list, key, example)));
        continue;
      }
      const json examples = examples_of(whole, list, key, part);
      REQUIRE_FALSE(examples.empty());
      for (const json& example : examples) {
        CAPTURE(example);
        CHECK(accepted(file_with(list, key, example)));
      }
      CHECK_FALSE(accepted(file_with(list, key, nullptr)));
      CHECK_FALSE(accepted(file_with(list, key, json::array({1}))));
      CHECK_FALSE(accepted(file_with(list, key + "_", examples[0])));
    }
  }
}

TEST_CASE("the parser accepts the schema's examples of a pin, and none with a key of another type") {
  const json examples = schema()["$defs"]["pin"]["examples"];
  for (const json& example : examples) {
    CAPTURE(example);
    json file = {{"workspace_pools", {{{"name", "w"}}}}, {"pinned", {example}}};
    CHECK(accepted(file));
    for (const auto& [key, value] : example.items()) {
      json broken = file;
      broken["pinned"][0][key] = json::array({value});
      CHECK_FALSE(accepted(broken));
    }
  }
}

TEST_CASE("the parser takes the alignments of the schema") {
  const json alignments = schema()["$defs"]["pool"]["properties"]["alignment"]["enum"];
  for (std::int64_t alignment = 0; alignment <= 4096; ++alignment) {
    const bool listed = std::find(alignments.begin(), alignments.end(), json(alignment)) != alignments.end();
    CHECK(accepted(file_with("workspace_pools", "alignment", alignment)) == listed);
  }
  CHECK(alignments.back() == 1048576);
}

}  // namespace usmp::config::schema_test
