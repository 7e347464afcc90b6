// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// M.plan.json. test_schema.py holds the golden files against docs/schema/plan.schema.json.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "plan_support/golden.hpp"
#include "plan_support/planned.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/support/error.hpp"

namespace usmp::plan_file::plan_json_test {

using nlohmann::json;

namespace {

void fill_everything(Planned& planned) {
  fill_example(planned);
  planned.document.unplanned = {{"dyn", "conv", "extent 0 is not a constant"}};
  planned.document.warnings = {"lib2.c is copied unchanged"};
  planned.document.transformed = example_steps();
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& item : object.items()) keys.insert(item.key());
  return keys;
}

// Whether the object has all required keys of the schema's part, and none that the part does not know.
void check_keys(const json& object, const json& part) {
  const std::set<std::string> known = keys_of(part["properties"]);
  for (const json& key : part["required"]) CHECK_MESSAGE(object.contains(key.get<std::string>()), key);
  for (const std::string& key : keys_of(object)) CHECK_MESSAGE(known.contains(key), key);
}

}  // namespace

TEST_CASE("the example as JSON") {
  Planned planned;
  fill_everything(planned);
  check_golden("plan.json", plan_json(with_other_modules(with_rows(planned.finish()))), "plan_file");
}

TEST_CASE("a module of which there is nothing to say, as JSON") {
  Planned planned;
  check_golden("plan_empty.json", plan_json(planned.finish()), "plan_file");
}

TEST_CASE("the JSON has the schema's keys") {
  const json schema = json::parse(read_file(USMP_TESTDATA "/../docs/schema/plan.schema.json"));
  Planned planned;
  fill_everything(planned);
  const json plan = json::parse(plan_json(with_other_modules(with_rows(planned.finish()))));
  check_keys(plan, schema);
  check_keys(plan["totals"], schema["properties"]["totals"]);
  check_keys(plan["search"], schema["properties"]["search"]);
  REQUIRE(plan["spilled"].size() == 1);
  check_keys(plan["spilled"][0], schema["properties"]["spilled"]["items"]);
  REQUIRE(plan["pools"].size() == 3);
  for (const json& pool : plan["pools"]) {
    check_keys(pool, schema["$defs"]["pool"]);
    check_keys(pool["all_modules"], schema["$defs"]["all_modules"]);
  }
  REQUIRE(plan["buffers"].size() == 5);
  for (const json& buffer : plan["buffers"]) check_keys(buffer, schema["$defs"]["buffer"]);
  const json& step = schema["properties"]["transformed"]["items"];
  REQUIRE(plan["transformed"].size() == 6);
  for (const json& one : plan["transformed"]) check_keys(one, step);
  const json& by_rows = schema["properties"]["calls"]["items"]["properties"]["by_rows"]["items"];
  REQUIRE(plan["calls"][0]["by_rows"].size() == 3);
  for (const json& one : plan["calls"][0]["by_rows"]) check_keys(one, by_rows);
  check_keys(plan["buffers"][1]["ring"], schema["$defs"]["buffer"]["properties"]["ring"]);
  for (const json& call : plan["calls"]) check_keys(call, schema["properties"]["calls"]["items"]);
  for (const json& allocate : plan["unplanned"]) check_keys(allocate, schema["properties"]["unplanned"]["items"]);
  CHECK(plan["schema"] == schema["properties"]["schema"]["const"]);
  CHECK(plan["schema_version"] == schema["properties"]["schema_version"]["const"]);
  CHECK(plan["schema_version"] == usmp::plan_file::plan_schema_version);
}

TEST_CASE("names that are not UTF-8 or need escapes stay valid JSON") {
  Planned planned;
  fill_example(planned);
  planned.problem.buffers[0].name = "x\xffy\"\n\\ä";
  planned.document.archive = "a\xc0.tar";
  const json plan = json::parse(plan_json(planned.finish()));
  CHECK(plan["buffers"][0]["name"] == "x\xef\xbf\xbdy\"\n\\ä");
  CHECK(plan["archive"] == "a\xef\xbf\xbd.tar");
}

TEST_CASE("large values are exact") {
  Planned planned;
  fill_example(planned);
  planned.document.seed = UINT64_MAX;
  planned.plan.allocations[3].offset = usmp::Problem::max_total_bytes - 100;
  const std::string text = plan_json(planned.finish());
  CHECK(text.find("\"seed\": 18446744073709551615,") != std::string::npos);
  CHECK(text.find("\"offset\":72057594037927836,") != std::string::npos);
}

TEST_CASE("without a plan, what is not placed is null") {
  Planned planned;
  fill_example(planned);
  for (usmp::Allocation& allocation : planned.plan.allocations) allocation = {};
  planned.document.status = usmp::PlanStatus::infeasible;
  const json plan = json::parse(plan_json(planned.finish()));
  CHECK(plan["status"] == "infeasible");
  CHECK(plan["pools"][0]["status"] == "infeasible");
  CHECK(plan["pools"][0]["used"] == 0);
  CHECK(plan["buffers"][0]["pool"].is_null());
  CHECK(plan["buffers"][0]["offset"].is_null());
}

TEST_CASE("a plan that is written reads back as the same document") {
  Planned planned;
  fill_everything(planned);
  planned.document.imported_c = {{"conv", 14, "int f(void);"}};
  planned.document.tvm_headers = {"dlpack/dlpack.h", "tvm/runtime/crt/error_codes.h"};
  planned.document.search->minimized = "sram";
  planned.document.seed = UINT64_MAX;
  planned.problem.pools[2].reserved = 16;
  planned.problem.buffers[4].pinned = 0;
  planned.problem.distances = {{usmp::BufferId(1), usmp::BufferId(0), 7}};
  planned.plan.allocations[1] = {};
  planned.document.calls[0].kind = "conv2d";
  planned.document.calls[0].multiply_accumulates = INT64_MAX;
  planned.document.calls[0].reads = {"int8[1,4]", "int8[?]"};
  planned.document.calls[0].writes = {"int16[1,2]"};
  planned.document.constant_bytes = 11;
  planned.document.tvm_workspace = 247392;
  planned.document.stack_estimate = 12;
  planned.document.stack_arrays = 20;
  planned.document.stack_saved = 17;
  planned.document.multiply_accumulates = 13;
  planned.document.inputs = {{"x", 14, true}, {"z", std::nullopt, false}};
  planned.document.outputs = {{"y", 15, false}};
  const PlanDocument document = planned.finish();
  CHECK(document.buffers.size() == 5);
  CHECK(document.transformed.at(0).changes.at(0).what == "T_add: computed where it is read");
  CHECK(document.transformed.at(3).constants == PlanDocument::Constants{24, 10});
  CHECK(parse_plan_document(plan_json(document)) == document);
  CHECK(document.distances.size() == 1);
  PlanDocument other = document;
  other.distances[0].bytes = 8;
  CHECK_FALSE(parse_plan_document(plan_json(other)) == document);
  other = document;
  other.buffers[3].live->back().end = 5;
  CHECK_FALSE(parse_plan_document(plan_json(other)) == document);
  PlanDocument charged = document;
  charged.charge = {.in_cycles = true, .value = 5, .lower_bound = 4};
  charged.pools[0].accesses = {.loads = 1, .stores = 2, .bytes = 3, .cycles = 4};
  charged.pools[1].accesses = {.loads = INT64_MAX, .stores = 0, .bytes = 0, .cycles = std::nullopt};
  CHECK_FALSE(charged == document);
  CHECK(parse_plan_document(plan_json(charged)) == charged);
  charged.charge->in_cycles = false;
  CHECK(parse_plan_document(plan_json(charged)) == charged);
  const PlanDocument rolled = with_rows(document);
  CHECK_FALSE(rolled == document);
  CHECK(parse_plan_document(plan_json(rolled)) == rolled);
  const PlanDocument shared = with_other_modules(document);
  CHECK_FALSE(shared == document);
  CHECK(parse_plan_document(plan_json(shared)) == shared);
}

TEST_CASE("what all modules need of a pool is read whole or not at all") {
  Planned planned;
  fill_everything(planned);
  const json plan = json::parse(plan_json(with_other_modules(planned.finish())));
  const auto error_of = [&](const json& all) {
    json wrong = plan;
    wrong["pools"][0]["all_modules"] = all;
    try {
      (void)parse_plan_document(wrong.dump());
    } catch (const usmp::Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(error_of({{"used", 1}, {"set_by", {"a"}}}) == "accepted");
  CHECK(error_of({{"used", 1}}) == "pools[0].all_modules: the key set_by is missing: expected a plan of usmp-plan");
  CHECK(error_of({{"used", -1}, {"set_by", json::array()}}).find("pools[0].all_modules: used is -1") == 0);
  CHECK(error_of({{"used", 1}, {"set_by", {1}}}).find("pools[0].all_modules.set_by[0]: is number") == 0);
  CHECK(error_of(json::array()).find("pools[0].all_modules: ") == 0);
}

TEST_CASE("what constants need stands in older plans not at all, and never by half") {
  Planned planned;
  fill_everything(planned);
  json plan = json::parse(plan_json(planned.finish()));
  json& step = plan["transformed"][3];
  step.erase("constant_bytes_after");
  CHECK_THROWS_WITH(parse_plan_document(plan.dump()),
                    "transformed[3]: the key constant_bytes_after is missing: expected a plan of usmp-plan");
  step["constant_bytes_after"] = -1;
  CHECK_THROWS_AS(parse_plan_document(plan.dump()), usmp::Error);
  step.erase("constant_bytes_after");
  step.erase("constant_bytes_before");
  CHECK_FALSE(parse_plan_document(plan.dump()).transformed.at(3).constants);
}

TEST_CASE("distances name buffers that there are") {
  Planned planned;
  fill_example(planned);
  planned.problem.distances = {{usmp::BufferId(0), usmp::BufferId(5), 1}};
  const std::string text = plan_json(planned.finish());
  CHECK_THROWS_WITH(parse_plan_document(text), "distances[0]: there is no buffer 5: the plan has 5");
}

TEST_CASE("a plan of the first version reads, and what it does not say is not made up") {
  const PlanDocument document = parse_plan_document(R"({"schema": "usmp-plan/plan", "schema_version": 1, "module": "m",
    "archive": "m.tar", "algorithm": "hill_climb", "seed": 3, "workspace_io": true, "status": "feasible", "horizon": 7,
    "totals": {"workspace_used": 48, "constants_used": 0, "unplanned_workspace": null},
    "pools": [{"name": "sram", "kind": "workspace", "internal": true, "capacity": null, "alignment": 16, "used": 48,
               "lower_bound": 32, "lower_bound_reason": "load", "status": "feasible"}],
    "buffers": [{"id": 0, "name": "a", "function": "f", "kind": "scratch", "pool": "sram", "offset": 16, "size": 32,
                 "alignment": 8, "live": [[0, 2], [4, 7]], "candidates": ["sram"]}],
    "calls": [{"callee": "f", "ticks": [0, 7]}], "unplanned": [], "warnings": ["w"]})");
  CHECK(document.schema_version == 1);
  CHECK_FALSE(document.search);
  CHECK(document.transformed.empty());
  CHECK(document.workspace_io == true);
  REQUIRE(document.find_pool("sram") != nullptr);
  CHECK(document.find_pool("sram")->lower_bound == 32);
  CHECK(document.find_pool("sram")->reserved == 0);
  CHECK(document.find_pool("flash") == nullptr);
  CHECK(document.buffers.at(0).kind == usmp::BufferKind::scratch);
  CHECK(document.buffers.at(0).live == std::vector<usmp::LiveRange>{{0, 2}, {4, 7}});
  CHECK(parse_plan_document(plan_json(document)) == document);
}

TEST_CASE("what is no plan file is refused with its place") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)parse_plan_document(text);
    } catch (const usmp::Error& error) {
      CHECK(error.kind() == usmp::ErrorKind::usage);
      return error.what();
    }
    return "accepted";
  };
  const auto with = [&](const std::string& key, const json& value) {
    json buffer = {{"name", "a"}, {"function", "f"}, {"size", 4}, {"pool", "sram"}, {"offset", 8}};
    buffer[key] = value;
    const json plan = {
        {"schema", "usmp-plan/plan"}, {"schema_version", 2}, {"module", "m"}, {"buffers", json::array({buffer})}};
    return message(plan.dump());
  };
  CHECK(with("name", "b") == "accepted");
  CHECK(with("offset", -8) == "buffers[0]: offset is -8: expected bytes from 0 to 72057594037927936");
  CHECK(with("size", "4") == "buffers[0]: size is string: expected bytes from 0 to 72057594037927936");
  CHECK(with("pool", 3) == "buffers[0]: pool is number: expected text");
  CHECK(with("alignment", 0) == "buffers[0]: alignment is 0: expected bytes from 1 to 72057594037927936");
  CHECK(with("kind", "heap") ==
        "buffers[0]: kind is \"heap\": expected one of tensor, scratch, input, output, constant");
  CHECK(with("pinned", 1) == "buffers[0]: pinned is number: expected true or false");
  CHECK(with("candidates", {"sram", 2}) == "buffers[0].candidates[1]: is number: expected text");
  CHECK(with("ring", {{"rows", 2}, {"of", 9}, {"row_bytes", 2}}) == "accepted");
  CHECK(with("ring", {{"rows", 2}, {"of", 9}}) ==
        "buffers[0].ring: the key row_bytes is missing: expected a plan of usmp-plan");
  CHECK(with("ring", {{"rows", 0}, {"of", 9}, {"row_bytes", 2}}) ==
        "buffers[0].ring: rows is 0: expected bytes from 1 to 72057594037927936");
  CHECK(with("ring", {{"rows", 2}, {"of", 1}, {"row_bytes", 2}}) ==
        "buffers[0].ring: 2 of 1 rows, 2 bytes each: expected 4 bytes in rows of a tensor of at most "
        "1099511627776 bytes");
  CHECK(with("ring", {{"rows", 3}, {"of", 9}, {"row_bytes", 2}}) ==
        "buffers[0].ring: 3 of 9 rows, 2 bytes each: expected 4 bytes in rows of a tensor of at most "
        "1099511627776 "
        "bytes");
  CHECK(with("ring", {{"rows", 4}, {"of", std::int64_t{1} << 41}, {"row_bytes", 1}}) ==
        "buffers[0].ring: 4 of 2199023255552 rows, 1 byte each: expected 4 bytes in rows of a tensor of at "
        "most "
        "1099511627776 bytes");
  CHECK(with("live", {{0, 2}, {2, 3}}) == "accepted");
  CHECK(with("live", {{0, 2}, {3}}) == "buffers[0].live[1]: expected a live range of two ticks");
  CHECK(with("live", {{0, 2}, {1, 3}}) ==
        "buffers[0].live: [1,3] is empty, not after the range before it, or ends after the horizon 3");
  const auto with_member = [&](const std::string& key, const json& value) {
    json plan = {{"schema", "usmp-plan/plan"}, {"schema_version", 2}, {"module", "m"}, {"buffers", json::array()}};
    plan[key] = value;
    return message(plan.dump());
  };
  const json sram = {{"name", "sram"}, {"kind", "workspace"}, {"used", 8}};
  CHECK(with_member("pools", json::array({sram})) == "accepted");
  CHECK(with_member("pools", json::array({sram, sram})) == "pools[1]: pool 'sram' appears twice");
  CHECK(with_member("pools", std::vector<json>(257, sram)) == "pools: holds 257 pools: expected at most 256");
  CHECK(with_member("pools", json::array({{{"name", "sram"}, {"kind", "workspace"}}})) ==
        "pools[0]: the key used is missing: expected a plan of usmp-plan");
  CHECK(with_member("status", "best") ==
        "status is \"best\": expected one of optimal, feasible, infeasible, not_found");
  CHECK(with_member("horizon", -1) == "horizon is -1: expected a whole number from 0 to 9223372036854775807");
  CHECK(with_member("totals", 3) == "totals: is number: expected totals");
  CHECK(with_member("search", {{"stopped", 1}}) ==
        "search: stopped is number: expected one of finished, node_limit, time_limit, interrupted");
  CHECK(with_member("unknown", 1) == "accepted");
  const json buffer = {{"name", "a"}, {"function", "f"}, {"size", 4}, {"pool", "dtcm"}, {"offset", 8}};
  CHECK(message(json{{"schema", "usmp-plan/plan"},
                     {"schema_version", 2},
                     {"module", "m"},
                     {"pools", json::array({sram})},
                     {"buffers", json::array({buffer})}}
                    .dump()) == "buffers[0]: pool is 'dtcm': expected one of the pools of the plan");
  CHECK(message("{") == "byte 2: is not JSON: expected a plan of usmp-plan");
  CHECK(message(R"({"schema": "usmp-plan/plan", "module": "a", "module": "b"})") ==
        "byte 45: the key 'module' appears twice: expected one");
  CHECK(message("[]") == "is not a plan of usmp-plan: expected the key schema with usmp-plan/plan");
  CHECK(message(R"({"schema": "usmp-plan/inspect"})").starts_with("is not a plan of usmp-plan"));
  CHECK(message(R"({"schema": "usmp-plan/plan", "schema_version": 3})") == "schema_version is 3: expected at most 2");
  CHECK(message(R"({"schema": "usmp-plan/plan", "schema_version": 2})") ==
        "the key module is missing: expected a plan of usmp-plan");
  CHECK(message(R"({"schema": "usmp-plan/plan", "schema_version": 2, "module": "m", "buffers": {}})") ==
        "buffers: is object: expected a list");
  CHECK(message(R"({"schema": "usmp-plan/plan", "schema_version": 2, "module": "m", "buffers": [3]})") ==
        "buffers[0]: is number: expected a buffer");
  CHECK(message(R"({"schema": "usmp-plan/plan", "schema_version": 1e999})") ==
        "contains a number that is too large: expected a plan of usmp-plan");
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  CHECK(message(nested(64)) == "is not a plan of usmp-plan: expected the key schema with usmp-plan/plan");
  std::string many = "[0";
  for (int i = 0; i < 4'000'000; ++i) many += ",0";
  CHECK(message(many + "]") == "has more than 4000000 keys and values: expected a plan of usmp-plan");
  CHECK(message(nested(65)) == "nested deeper than 64 levels: expected a plan of usmp-plan");
  CHECK(message(R"({"schema": "usmp-plan/plan", "schema_version": )" + nested(1'000'000) + "}") ==
        "nested deeper than 64 levels: expected a plan of usmp-plan");
}

TEST_CASE("the plans of several modules are read from one file, and a single plan as well") {
  Planned planned;
  fill_everything(planned);
  const PlanDocument plan = planned.finish();
  PlanDocument other = plan;
  other.module = "other";
  const std::string both = "{\"modules\": [\n" + plan_json(plan) + ",\n" + plan_json(other) + "]}\n";
  CHECK(parse_plan_documents(both) == std::vector{plan, other});
  CHECK(parse_plan_documents(plan_json(plan)) == std::vector{plan});

  const auto refused = [](const std::string& text, const char* message) {
    CHECK_THROWS_WITH_AS((void)parse_plan_documents(text), message, usmp::Error);
  };
  refused("{\"modules\": [\n" + plan_json(plan) + ",\n" + plan_json(plan) + "]}\n",
          "modules[1]: module is 'default', which already has a plan");
  refused("{\"modules\": []}", "modules: is empty: expected at least one plan of usmp-plan");
  refused("{\"modules\": {}}", "modules: is object: expected a list");
  refused("{\"modules\": [3]}", "modules[0]: is not a plan of usmp-plan: expected the key schema with usmp-plan/plan");
  std::string bad = both;
  bad.replace(bad.rfind("\"size\":48"), 9, "\"size\":-1");
  refused(bad, "modules[1].buffers[0]: size is -1: expected bytes from 0 to 72057594037927936");
  CHECK_THROWS_AS((void)parse_plan_document(both), usmp::Error);
}

TEST_CASE("where a programmer writes the contents of a pool") {
  PlanDocument document;
  document.pools.resize(2);
  document.pools[0].name = "qspi";
  document.pools[0].address = 0x90000000;
  document.pools[1].name = "flash";
  const PlanDocument read = parse_plan_document(plan_json(document));
  CHECK(read.pools[0].address == 0x90000000);
  CHECK_FALSE(read.pools[1].address);
}

TEST_CASE("the first lines of a plan say whose it is") {
  PlanDocument document;
  document.module = "kws";
  document.archive = "a\"b,\n.tar";
  const std::string text = plan_json(document);
  const auto head = head_of_plan(text);
  REQUIRE(head);
  CHECK(head->module == "kws");
  CHECK(head->archive == document.archive);
  CHECK(head_of_plan(text.substr(0, text.find("\"pools\""))));
  for (const char* other :
       {"", "{}", "{\n \"schema\": \"usmp-plan/diff\",\n \"module\": \"a\",\n \"archive\": \"b\",\n}",
        "{\n \"schema\": \"usmp-plan/plan\",\n \"module\": 3,\n \"archive\": \"b\",\n}",
        "{\n \"schema\": \"usmp-plan/plan\",\n \"module\": \"a\",\n \"archive\": \"b"}) {
    CHECK_FALSE(head_of_plan(other));
  }
}

}  // namespace usmp::plan_file::plan_json_test
