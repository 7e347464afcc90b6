// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Limits on what a file claims, each at the limit and beyond it. What sharing unfolds to counts at every use.
#include "tir_json/reading.hpp"

namespace usmp::testing::limits_test {
namespace {

// Functions "f0", "f1", … that share one body, and an entry that does nothing.
std::string functions_of_one_body(JsonBuilder& b, Node body, std::size_t count) {
  std::vector<std::pair<std::string, Node>> functions = {
      {"main", b.function({}, b.evaluate(b.integer(0)), {{"runner_function", b.integer(1)}})}};
  for (std::size_t i = 0; i < count; ++i) functions.emplace_back("f" + std::to_string(i), b.function({}, body));
  return b.module(functions);
}

void accept(const std::string& json, const tir_json::Limits& limits) {
  CHECK_NOTHROW(static_cast<void>(tir_json::read_module(json, limits)));
}

TEST_CASE("limit: statements and expressions of the module, shared ones at every use") {
  JsonBuilder b;
  const Node body = b.evaluate(b.call_extern("f", {}));  // a statement, a call, a text
  const std::string json = functions_of_one_body(b, body, 4);
  constexpr std::size_t count = 2 + 4 * 3;
  const std::size_t nodes = nlohmann::json::parse(json)["nodes"].size();

  SUBCASE("in all") {
    accept(json, {.expanded_nodes = count});
    CHECK(contains(refused(json, {.expanded_nodes = count - 1}).message(),
                   "more than 13 statements and expressions in a module"));
  }
  SUBCASE("in proportion to the graph") {
    accept(json, {.small_expanded_nodes = count, .unfolding = 0});
    CHECK(contains(refused(json, {.small_expanded_nodes = count - 1, .unfolding = 0}).message(),
                   "more than 13 statements and expressions in a module"));
    accept(json, {.small_expanded_nodes = 0, .unfolding = 1});
    CHECK(nodes > count);
  }
}

TEST_CASE("limit: small files cannot stand for large modules") {
  JsonBuilder b;
  Node body = b.evaluate(b.call_extern("f", {}));
  for (int i = 0; i < 12; ++i) body = b.seq({body, body});
  CHECK(contains(refused(functions_of_one_body(b, body, 1000)).message(), "counting shared ones at every use"));
}

TEST_CASE("limit: texts, shared ones at every use") {
  JsonBuilder b;
  const Node name = b.string(std::string(1000, 'x'));
  std::vector<JsonBuilder::Param> params;
  for (int i = 0; i < 100; ++i) {
    const Node var = b.var("");
    b.at(var)["attrs"]["name"] = std::to_string(name);
    params.push_back({var});
  }
  const std::string json =
      b.module({{"main", b.function(params, b.evaluate(b.integer(0)), {{"runner_function", b.integer(1)}})}});
  CHECK(json.size() < 40'000);
  accept(json, {.small_texts = 201'000, .text_unfolding = 0});
  CHECK(contains(refused(json, {.small_texts = 150'000, .text_unfolding = 0}).message(),
                 "names and other texts of more than 150000 bytes, counting shared ones at every use"));
  accept(json, {.small_texts = 0, .text_unfolding = 16});
  CHECK(contains(refused(json, {.small_texts = 0, .text_unfolding = 1}).message(), "names and other texts"));
}

TEST_CASE("limit: dimensions") {
  const auto module_with = [](std::size_t dimensions) {
    JsonBuilder b;
    const Node data = b.handle("p", "int8");
    const Node handle = b.var("p", "handle");
    const Node buffer = b.buffer(data, "int8", JsonBuilder::Nodes(dimensions, b.integer(1)));
    return b.module(
        {{"main", b.function({{handle, buffer}}, b.evaluate(b.integer(0)), {{"runner_function", b.integer(1)}})}});
  };
  CHECK(read(module_with(64)).functions[0].params[0].shape->size() == 64);
  CHECK(contains(refused(module_with(65)).message(), "65 dimensions, more than 64, which is the limit"));

  const auto constant_with = [](std::size_t dimensions) {
    JsonBuilder b;
    const Node data = b.ndarray({.shape = std::vector<std::int64_t>(dimensions, 1), .bytes = "a"});
    return b.module_of_body(
        b.allocate_const(b.handle("c", "int8"), "int8", {b.integer(1)}, data, b.evaluate(b.integer(0))));
  };
  CHECK_NOTHROW(read(constant_with(64)));
  CHECK(contains(refused(constant_with(65)).message(), "the NDArray has 65 dimensions, expected at most 64"));
}

TEST_CASE("limit: memory pools that the module names") {
  const auto module_with = [](std::size_t pools, std::size_t at_once) {
    JsonBuilder b;
    JsonBuilder::Nodes infos;
    for (std::size_t i = 0; i < pools; ++i) {
      infos.push_back(b.add("ir.WorkspacePoolInfo", {{"pool_name", b.ref(b.string("p" + std::to_string(i)))}}));
    }
    Node body = b.evaluate(b.integer(0));
    for (std::size_t i = 0; i < pools; i += at_once) {
      const auto begin = infos.begin() + static_cast<std::ptrdiff_t>(i);
      const JsonBuilder::Nodes some(begin, begin + static_cast<std::ptrdiff_t>(std::min(at_once, pools - i)));
      body =
          b.allocate(b.handle("x", "int8"), "int8", {b.integer(4)}, body, {{"candidate_memory_pools", b.array(some)}});
    }
    return b.module_of_body(body);
  };
  CHECK(read(module_with(32, 32)).annotated_pools.size() == 32);
  CHECK(read(module_with(32, 5)).annotated_pools.size() == 32);
  CHECK(contains(refused(module_with(33, 33)).message(), "33 memory pools, more than 32, which is the limit"));
  CHECK(contains(refused(module_with(33, 5)).message(), "33 memory pools, more than 32, which is the limit"));
}

}  // namespace
}  // namespace usmp::testing::limits_test
