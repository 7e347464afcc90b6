// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Files that lie, loop, nest or end early: an Error with its place each time, never a crash.
#include "tir_json/reading.hpp"

namespace usmp::testing::bad_input_test {
namespace {

struct Fixture {
  JsonBuilder b;
  Node use(const JsonBuilder::Nodes& args = {}) { return b.evaluate(b.call_extern("f", args)); }
};

TEST_CASE_FIXTURE(Fixture, "node indices out of range") {
  const Node body = use();
  const Node function = b.function({}, body, {{"runner_function", b.integer(1)}});
  SUBCASE("in data") {
    const Node array = b.array({0, 1, 999});
    const Error error = refused(b.module({{"main", function}}));
    const nlohmann::json graph = nlohmann::json::parse(b.module({{"main", function}}));
    const Node last = nlohmann::json::parse(b.dump(0))["nodes"].size() - 1;
    CHECK(error.where().place == "nodes[" + std::to_string(array) + "].data[2]");
    CHECK(contains(error.message(), "node index 999 is out of range, expected 0 to "));
    CHECK(last < 999);
  }
  SUBCASE("negative or huge in data") {
    const Node array = b.array({});
    for (const nlohmann::json& index : {nlohmann::json(-1), nlohmann::json(99999999999999)}) {
      b.at(array)["data"] = nlohmann::json::array({0, index});
      const Error error = refused(b.module({{"main", function}}));
      CHECK(error.where().place == "nodes[" + std::to_string(array) + "].data[1]");
      CHECK(contains(error.message(), "node index " + index.dump() + " is out of range"));
    }
  }
  SUBCASE("no integer in data") {
    const Node array = b.array({});
    for (const nlohmann::json& index : {nlohmann::json("7"), nlohmann::json(1.5), nlohmann::json(nullptr),
                                        nlohmann::json::array(), nlohmann::json::object()}) {
      b.at(array)["data"] = nlohmann::json::array({0, index});
      const Error error = refused(b.module({{"main", function}}));
      CHECK(error.where().place == "nodes[" + std::to_string(array) + "].data[1]");
      CHECK(contains(error.message(), "found "));
    }
  }
  SUBCASE("in attributes") {
    b.at(body)["attrs"]["value"] = "12345";
    Error error = refused(b.module({{"main", function}}));
    CHECK(error.where().place == place(body, "value"));
    CHECK(contains(error.message(), "node index 12345 is out of range, expected 0 to "));
    CHECK(contains(error.message(), "(in function 'main')"));
    b.at(body)["attrs"]["value"] = "-2";
    CHECK(contains(refused(b.module({{"main", function}})).message(), "node index -2 is out of range"));
    b.at(body)["attrs"]["value"] = "f00";
    CHECK(contains(refused(b.module({{"main", function}})).message(), "found 'f00', expected a node index"));
  }
  SUBCASE("root") {
    const std::string json = b.dump(123456);
    CHECK(refused(json).where().place == "root");
    CHECK(contains(refused(json).message(), "node index 123456 is out of range"));
    CHECK(contains(refused(b.dump(body)).message(), "found 'tir.Evaluate', expected 'IRModule'"));
  }
}

TEST_CASE_FIXTURE(Fixture, "attributes that are missing, null or of another kind") {
  const Node x = b.handle("x", "int8");
  const Node i = b.var("i");
  const Node loop = b.for_loop(i, b.integer(0), b.integer(4), use({x}));
  const auto refusal = [&](const char* attribute, const std::optional<std::string>& value) {
    const nlohmann::json whole = b.at(loop);
    if (value) {
      b.at(loop)["attrs"][attribute] = *value;
    } else {
      b.at(loop)["attrs"].erase(attribute);
    }
    Error error = refused(b.module_of_body(loop));
    b.at(loop) = whole;
    return error;
  };
  for (const char* const attribute : {"loop_var", "min", "extent", "body"}) {
    const Error missing = refusal(attribute, std::nullopt);
    CHECK(missing.where().place == place(loop) + ".attrs");
    CHECK(contains(missing.message(), std::string("attribute '") + attribute + "' of 'tir.For' is missing"));
    const Error null = refusal(attribute, "0");
    CHECK(null.where().place == place(loop, attribute));
    CHECK(contains(null.message(), "found null, expected a node"));
    CHECK_FALSE(refusal(attribute, b.ref(b.map({}))).message().empty());
  }
  CHECK(contains(refusal("loop_var", b.ref(b.integer(1))).message(), "found 'IntImm', expected 'tir.Var'"));
  CHECK(contains(refusal("min", b.ref(loop)).message(), "'tir.For' contains itself"));

  b.at(i)["attrs"]["dtype"] = "int99";
  const Error bad_type = refused(b.module_of_body(loop));
  CHECK(bad_type.where().place == place(i, "dtype"));
  CHECK(contains(bad_type.message(), "found 'int99', expected a data type"));
  b.at(i)["attrs"]["dtype"] = "int32";
  b.at(i)["attrs"]["name"] = b.ref(b.integer(3));
  CHECK(contains(refused(b.module_of_body(loop)).message(), "found 'IntImm', expected a 'runtime.String'"));
}

TEST_CASE_FIXTURE(Fixture, "operators that only lowering makes") {
  for (const std::string name : {"usmp.dot4", "usmp.memory_fence", "usmp."}) {
    const Node call = b.call(name, {});
    const Error error = refused(b.module_of_body(b.evaluate(call)));
    CHECK(error.where().place == place(call, "op"));
    CHECK(contains(error.message(), "found the operator '" + name + "', which only this program generates"));
  }
}

TEST_CASE_FIXTURE(Fixture, "every attribute of a module broken in turn gives an Error or a module") {
  const Node x = b.handle("x", "int8");
  const Node i = b.var("i");
  const Node buffer = b.buffer(x, "int8", {b.integer(2), b.integer(4)});
  const Node store = b.store(buffer, {b.integer(1), i}, b.load(buffer, {b.integer(0), i}, "int8"));
  const Node data = b.ndarray({.type_code = 0, .bits = 8, .shape = {2}, .bytes = "ab"});
  const Node inner = b.allocate_const(b.handle("c", "int8"), "int8", {b.integer(2)}, data, store);
  const Node loop = b.for_loop(i, b.integer(0), b.integer(4), inner);
  const Node parameter = b.handle("p");
  const Node main = b.function({{parameter, b.buffer(b.handle("p", "int8"), "int8", {b.integer(8)})}},
                               b.allocate(x, "int8", {b.integer(8)}, b.seq({loop, use({x, parameter})})),
                               {{"runner_function", b.integer(1)}, {"target", b.target("c")}});
  nlohmann::json graph = nlohmann::json::parse(b.module({{"main", main}}));
  CHECK_NOTHROW(read(graph.dump()));
  std::size_t refusals = 0;
  const auto attempt = [&] {
    try {
      static_cast<void>(read(graph.dump()));
    } catch (const Error& error) {
      ++refusals;
      CHECK_FALSE(error.message().empty());
    }
  };
  for (auto& node : graph["nodes"]) {
    if (!node.contains("attrs")) continue;
    const nlohmann::json whole = node["attrs"];
    for (const auto& [name, value] : whole.items()) {
      for (const char* const broken : {"0", "1", "2", "17", "-1", "1000000", "", "x", "int8"}) {
        node["attrs"][name] = broken;
        attempt();
      }
      node["attrs"].erase(name);
      attempt();
      node["attrs"] = whole;
    }
    const std::string type = node["type_key"];
    for (const char* const broken : {"", "Array", "IntImm", "tir.Var", "tir.For", "tir.Buffer", "nonsense"}) {
      node["type_key"] = broken;
      attempt();
    }
    node["type_key"] = type;
  }
  CHECK(refusals > 500);
}

TEST_CASE_FIXTURE(Fixture, "JSON cut off at every byte") {
  const Node x = b.handle("x", "int8");
  const Node data = b.ndarray({.type_code = 1, .bits = 8, .shape = {100}, .bytes = std::string(100, 'y')});
  const std::string json =
      b.module_of_body(b.allocate_const(x, "uint8", {b.integer(100)}, data, use({x, b.string_imm("\xC3\xA4")})));
  CHECK_NOTHROW(read(json));
  for (std::size_t length = 0; length < json.size(); ++length) {
    const Error error = refused(json.substr(0, length));
    CHECK(error.where().place == "byte " + std::to_string(length));
    CHECK(error.message().starts_with("malformed JSON: "));
  }
}

TEST_CASE("malformed JSON names its byte, also behind a constant that the parser was not shown") {
  const std::string front = R"({"b64ndarrays": [")" + std::string(1000, 'A') + "\", ";
  Error error = refused(front + "?]}");
  CHECK(error.where().place == "byte " + std::to_string(front.size() + 1));
  CHECK(contains(error.message(), "invalid literal"));
  CHECK(refused(std::string(100, '\xFF')).message().size() < 300);
  error = refused("{\"x\": \"" + std::string(100000, '-') + "\x01\"}");
  CHECK(error.message().size() < 300);
}

TEST_CASE("another shape than save_json writes") {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "found an array, expected an object"},
      {"3", "found '3', expected an object"},
      {R"({"nodes": []})", "root: the member is missing"},
      {R"({"root": 0})", "nodes: the member is missing"},
      {R"({"root": "0", "nodes": []})", "root: found '0', expected a node index"},
      {R"({"root": 0, "nodes": {}})", "nodes: found an object, expected"},
      {R"({"root": 0, "nodes": 7})", "nodes: found '7', expected an array"},
      {R"({"root": 0, "nodes": [7]})", "nodes[0]: found '7', expected an object"},
      {R"({"root": 0, "nodes": [[]]})", "nodes[0]: found an array, expected"},
      {R"({"root": 0, "nodes": [{}]})", "nodes[0]: the member 'type_key' is missing"},
      {R"({"root": 0, "nodes": [{"type_key": 3}]})", "nodes[0].type_key: found '3', expected a string"},
      {R"({"root": 0, "nodes": [{"type_key": "", "attrs": 3}]})", "nodes[0].attrs: found '3', expected an object"},
      {R"({"root": 0, "nodes": [{"type_key": "", "attrs": {"a": null}}]})", "nodes[0].attrs.a: found null"},
      {R"({"root": 0, "nodes": [{"type_key": "", "attrs": {"a": [1]}}]})", "nodes[0].attrs.a: found an array"},
      {R"({"root": 0, "nodes": [{"type_key": "", "keys": [3]}]})", "nodes[0].keys[0]: found '3', expected a string"},
      {R"({"root": 0, "nodes": [{"type_key": "", "data": [], "data": []}]})", "nodes[0].data: the member occurs twice"},
      {R"({"root": 0, "nodes": [], "nodes": []})", "nodes: the member occurs twice"},
      {R"({"root": 0, "nodes": [{"type_key": ""}], "b64ndarrays": [1]})", "b64ndarrays[0]: found '1'"},
      {R"({"root": 0, "nodes": [{"type_key": ""}], "attrs": 1})", "attrs: found '1', expected an object"},
      {R"({"root": 0, "nodes": [{"type_key": ""}]})", "nodes[0]: found null, expected 'IRModule'"}};
  for (const auto& [json, message] : cases) {
    const std::string what = refused(json).what();
    CHECK_MESSAGE(what.starts_with(message), what);
  }
}

TEST_CASE_FIXTURE(Fixture, "long texts of base64 characters are texts everywhere") {
  // The parser is not shown them (JsonSource), which must not be seen from outside.
  const std::string text(200, 'A');
  const Node seven = b.add("IntImm", {{"dtype", "int32"}, {"value", std::string(200, '0') + "7"}});
  b.at(seven)["attrs"][text] = text;
  b.at(seven)[text] = text;
  const Node pools = b.add("Map");
  b.at(pools)["keys"] = {text, "candidate_memory_pools"};
  b.at(pools)["data"] = {seven, b.array({})};
  const Node x = b.handle(text, "int8");
  const Node allocate = b.allocate(x, "int8", {seven}, use({x}));
  b.at(allocate)["attrs"]["annotations"] = b.ref(pools);
  CHECK(body_text(b, allocate) == "allocate " + text + ": int8[7]\ntir.call_extern(\"f\", " + text + ")\n");
  CHECK(contains(refused(b.module_of_body(b.add(text))).message(), "found '" + text.substr(0, 60)));
}

// Every string with its first letter as an escape, every number in a string as a number, or both.
std::string spelled(const nlohmann::json& part, bool escapes, bool numbers) {
  if (part.is_structured()) {
    std::string text;
    for (const auto& [key, value] : part.items()) {
      if (!text.empty()) text += " ,\n";
      if (part.is_object()) text += spelled(key, escapes, false) + " :\t";
      text += spelled(value, escapes, numbers);
    }
    return (part.is_object() ? "{ " : "[ ") + text + (part.is_object() ? " }" : " ]");
  }
  const std::string text = part.dump();
  if (!part.is_string() || text.size() < 3) return text;
  const std::string inside = text.substr(1, text.size() - 2);
  if (numbers && inside.find_first_not_of("0123456789") == std::string::npos) return inside;
  if (!escapes || inside[0] == '\\') return text;
  constexpr std::string_view digits = "0123456789abcdef";
  const auto first = static_cast<unsigned char>(inside[0]);
  return std::string("\"\\u00") + digits[first / 16U] + digits[first % 16U] + inside.substr(1) + "\"";
}

TEST_CASE_FIXTURE(Fixture, "strings with escapes, numbers and white space are the same module") {
  const Node x = b.handle("x", "int8");
  const Node sum = b.binary("tir.Add", b.integer(300, "int16"), b.integer(7, "int16"), "int16");
  const Node allocate = b.allocate(x, "int8", {b.integer(12)}, use({x, sum, b.string_imm("two words; 3")}));
  const std::string json = b.module_of_body(allocate);
  const std::string expected = tir::print(read(json));
  CHECK(contains(expected, "two words; 3"));
  for (const bool escapes : {false, true}) {
    for (const bool numbers : {false, true}) {
      const std::string text = spelled(nlohmann::json::parse(json), escapes, numbers);
      CHECK(nlohmann::json::accept(text));
      CHECK(tir::print(read(text)) == expected);
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "members that save_json does not write are skipped") {
  nlohmann::json graph = nlohmann::json::parse(b.module_of_body(use()));
  graph["extra"] = {{"nodes", {1, {2, {{"type_key", 3}}}}}};
  graph["attrs"]["more"] = {"x", {"y"}};
  graph["nodes"][1]["extra"] = {{"data", {"z"}}, {"list", {1, 2, {3}}}};
  graph["nodes"][1]["number"] = -1.5e300;
  CHECK(entry_text(read(graph.dump())) == "tir.call_extern(\"f\")\n");
}

TEST_CASE("deep JSON is refused") {
  for (const char* const open : {"[", R"({"a":)", R"({"nodes":[{"x":)"}) {
    std::string json = "{\"extra\":";
    for (int i = 0; i < 100000; ++i) json += open;
    CHECK(contains(refused(json).message(), "arrays and objects nest deeper than 64 levels"));
  }
}

TEST_CASE_FIXTURE(Fixture, "cycles") {
  SUBCASE("of statements") {
    const Node x = b.handle("x", "int8");
    const Node inner = b.allocate(x, "int8", {b.integer(1)}, 0);
    const Node outer = b.seq({use(), inner});
    b.at(inner)["attrs"]["body"] = b.ref(outer);
    const Error error = refused(b.module_of_body(outer));
    CHECK(error.where().place == place(outer));
    CHECK(contains(error.message(), "'tir.SeqStmt' contains itself (in function 'main')"));
  }
  SUBCASE("of expressions") {
    const Node sum = b.binary("tir.Add", b.integer(1), b.integer(2));
    b.at(sum)["attrs"]["b"] = b.ref(sum);
    CHECK(contains(refused(b.module_of_body(b.evaluate(sum))).message(), "'tir.Add' contains itself"));
  }
  SUBCASE("through a buffer's strides") {
    const Node x = b.handle("x", "int8");
    const Node buffer = b.buffer(x, "int32", {b.integer(2), b.integer(2)});
    const Node load = b.load(buffer, {b.integer(0), b.integer(0)});
    b.at(buffer)["attrs"]["strides"] = b.ref(b.array({load, load}));
    CHECK(contains(refused(b.module_of_body(b.evaluate(load))).message(), "'tir.BufferLoad' contains itself"));
  }
}

TEST_CASE_FIXTURE(Fixture, "depth") {
  constexpr int deep = 100000;
  const std::string message = "loops, branches and scopes nest deeper than 250 levels, which is the limit";
  const std::string expression_message = "an expression nests deeper than 100000 levels, which is the limit";
  const Node leaf = use();
  const Node x = b.handle("x", "int8");
  const Node one = b.integer(1);
  const std::string name = b.ref(b.string("v"));
  const auto fresh = [&](const char* dtype) { return b.add("tir.Var", {{"dtype", dtype}, {"name", name}}); };
  const Node extents = b.array({one});
  const Node p = b.var("p", "bool");
  const auto allocate = [&](Node body) {
    return b.add("tir.Allocate", {{"buffer_var", b.ref(fresh("handle"))},
                                  {"dtype", "int8"},
                                  {"extents", b.ref(extents)},
                                  {"body", b.ref(body)}});
  };
  SUBCASE("of expressions") {
    Node sum = b.var("y");
    for (int i = 0; i < deep; ++i) sum = b.binary("tir.Add", sum, one);
    CHECK(contains(refused(b.module_of_body(b.evaluate(sum))).message(), expression_message));
  }
  SUBCASE("of indices") {
    const JsonBuilder::Nodes shape(deep, b.integer(2, "int64"));
    const JsonBuilder::Nodes indices(deep, b.var("i", "int64"));
    const Node load = b.load(b.buffer(x, "int32", shape), indices);
    CHECK(contains(refused(b.module_of_body(b.evaluate(load))).message(), expression_message));
  }
  SUBCASE("of loops") {
    Node body = leaf;
    for (int level = 0; level < deep; ++level) body = b.for_loop(fresh("int32"), one, one, body);
    CHECK(contains(refused(b.module_of_body(body)).message(), message));
  }
  SUBCASE("of scopes") {
    Node body = leaf;
    for (int i = 0; i < deep; ++i) body = b.seq({allocate(body), leaf});
    CHECK(contains(refused(b.module_of_body(body)).message(), message));
  }
  SUBCASE("is that of the tree, not of its else branches") {
    Node body = leaf;
    for (int i = 0; i < 249; ++i) body = b.if_then_else(p, body, leaf);
    CHECK_NOTHROW(read(b.module_of_body(body)));
    body = b.if_then_else(p, body, leaf);
    CHECK(contains(refused(b.module_of_body(body)).message(), message));
  }
  SUBCASE("up to the limit can be printed, and taken apart again") {
    Node sum = b.var("y");
    for (int level = 0; level < deep - 2; ++level) sum = b.binary("tir.Add", one, sum);
    Node body = use({sum});
    for (int level = 0; level < 249; ++level) body = b.for_loop(fresh("int32"), one, one, body);
    const std::string text = tir::print(read(b.module_of_body(body)));
    CHECK(contains(text, "for v_248 in [1, 1 + 1) {"));
    CHECK(contains(text, "(1 + (1 + y))"));
  }
  SUBCASE("a variable of a let is declared once in its scope") {
    const Node v = b.var("v");
    const auto let = [&](Node value, Node body) {
      return b.add("tir.Let", {{"dtype", "int32"}, {"var", b.ref(v)}, {"value", b.ref(value)}, {"body", b.ref(body)}});
    };
    CHECK_NOTHROW(read(b.module_of_body(b.evaluate(let(let(one, v), v)))));
    CHECK(contains(refused(b.module_of_body(b.evaluate(let(one, let(one, v))))).message(),
                   "declared again within its own scope"));
  }
  SUBCASE("a long run of declarations and sequences is flat") {
    Node body = leaf;
    for (int i = 0; i < deep; ++i) body = i % 2 == 0 ? allocate(body) : b.seq({leaf, body});
    const tir::Module module = read(b.module_of_body(body));
    CHECK(module.functions[0].body.size() == deep + 1);
  }
  SUBCASE("sequences nested to the left") {
    Node body = leaf;
    for (int i = 0; i < deep; ++i) body = b.seq({body, leaf});
    CHECK(read(b.module_of_body(body)).functions[0].body.size() == deep + 1);
  }
}

TEST_CASE_FIXTURE(Fixture, "sharing that grows exponentially") {
  const std::string message = " nodes and references, counting shared ones at every use, which is the limit";
  SUBCASE("of expressions") {
    Node x = b.var("x");
    for (int i = 0; i < 60; ++i) x = b.binary("tir.Add", x, x);
    CHECK(contains(refused(b.module_of_body(b.evaluate(x))).message(), message));
  }
  SUBCASE("of statements") {
    Node body = use();
    for (int i = 0; i < 60; ++i) body = b.seq({body, body});
    CHECK(contains(refused(b.module_of_body(body)).message(), message));
  }
  SUBCASE("past what 64 bits count") {
    Node body = use();
    for (int i = 0; i < 1000; ++i) body = b.seq({body, body, body, body, body});
    CHECK(contains(refused(b.module_of_body(body)).message(), message));
  }
  SUBCASE("within the limit it is kept") {
    Node x = b.var("x");
    for (int i = 0; i < 10; ++i) x = b.binary("tir.Add", x, x);
    const tir::Module module = read(b.module_of_body(b.evaluate(x)));
    const auto& sum = *std::get<tir::Evaluate>(module.functions[0].body[0].node).value;
    CHECK(sum.operands[0] == sum.operands[1]);
  }
}

TEST_CASE_FIXTURE(Fixture, "variables are used where they are declared") {
  const auto refusal = [&](Node body) {
    const Node function = b.function({}, body, {{"runner_function", b.integer(1)}});
    const Error error = refused(b.module({{"main", function}}));
    CHECK(error.where().place.starts_with(place(function) + ", body"));
    return error.message();
  };
  const Node x = b.handle("x", "int8");
  const Node i = b.var("i");
  const Node loop = b.for_loop(i, b.integer(0), b.integer(4), use({i}));
  const Node allocate = b.allocate(x, "int8", {b.integer(4)}, use({x}));
  CHECK(contains(refusal(use({x})), "variable 'x' is used where nothing declares it (in function 'main')"));
  CHECK(contains(refusal(b.seq({loop, use({i})})), "variable 'i' is used where nothing declares it"));
  CHECK(contains(refusal(b.for_loop(i, b.integer(0), i, use())), "variable 'i' is used where nothing declares it"));
  CHECK(contains(refusal(b.seq({allocate, b.seq({use(), use({x})})})), "variable 'x' is used where nothing"));
  CHECK(contains(refusal(b.let_stmt(i, i, use())), "variable 'i' is used where nothing declares it"));
  CHECK(
      contains(refusal(b.for_loop(i, b.integer(0), b.integer(1), loop)), "variable 'i' is declared again within its"));
  CHECK(
      contains(refusal(b.allocate(x, "int8", {b.integer(4)}, allocate)), "variable 'x' is declared again within its"));
  CHECK(contains(refusal(b.allocate(i, "int8", {b.integer(4)}, use())),
                 "variable 'i' of type 'int32' is used as storage, expected a handle"));
  const Node let =
      b.add("tir.Let", {{"var", b.ref(i)}, {"value", b.ref(b.integer(2))}, {"body", b.ref(i)}, {"dtype", "int32"}});
  const Node function = b.function({}, b.seq({loop, use({let}), loop, allocate, allocate, b.seq({allocate, loop})}),
                                   {{"runner_function", b.integer(1)}});
  CHECK_NOTHROW(read(b.module({{"main", function}})));
}

TEST_CASE_FIXTURE(Fixture, "limits on the memory of a graph") {
  const std::string json = b.module_of_body(use());
  CHECK_NOTHROW(tir_json::read_module(json, {.json_bytes = json.size(), .graph_bytes = 20'000}));
  const Error large = refused(json, {.json_bytes = json.size() - 1});
  CHECK(large.message() ==
        "has " + std::to_string(json.size()) + " bytes, expected at most " + std::to_string(json.size() - 1));
  const auto said = [&](const std::string& text, std::size_t limit) {
    const Error error = refused(text, {.graph_bytes = limit});
    CHECK(contains(error.message(), "take more than " + std::to_string(limit) + " bytes of memory"));
    return error.where().place;
  };
  CHECK(said(json, 200).starts_with("nodes["));
  // One node: attributes, elements, keys, names and texts that are decoded.
  const auto with = [](const std::string& node) { return R"({"root":1,"nodes":[{"type_key":""},)" + node + "]}"; };
  const auto many = [](const std::string& part) {
    std::string text = part;
    for (int i = 0; i < 999; ++i) text += "," + part;
    return text;
  };
  CHECK(said(with(R"({"type_key":"a","attrs":{)" + many(R"("x":"1")") + "}}"), 10'000) == "nodes[1].attrs.x");
  CHECK(said(with(R"({"type_key":"Array","data":[)" + many("0") + "]}"), 3'000).starts_with("nodes[1].data["));
  CHECK(said(with(R"({"type_key":"Map","keys":[)" + many(R"("k")") + "]}"), 10'000).starts_with("nodes[1].keys["));
  const std::string long_text(4'000, 'n');
  CHECK(said(with(R"({"type_key":")" + long_text + R"("})"), 5'000) == "nodes[1].type_key");
  CHECK(said(with(R"({"type_key":"runtime.String","repr_str":"\t)" + long_text + R"("})"), 3'000) ==
        "nodes[1].repr_str");
  CHECK(said(R"({"b64ndarrays":[)" + many(R"("")") + R"(],"nodes":[]})", 10'000).starts_with("b64ndarrays["));
}

TEST_CASE_FIXTURE(Fixture, "what the parser copies is not as long as it likes") {
  const std::string digits((std::size_t{16} << 20) + 1, '1');
  for (const std::string& json : {"{\"x\":" + digits + "}", "{\"x\":\"\\n" + digits + "\"}"}) {
    CHECK(contains(refused(json).message(), "a number, or a text with escapes, of more than 16777216 bytes"));
  }
}

}  // namespace
}  // namespace usmp::testing::bad_input_test
