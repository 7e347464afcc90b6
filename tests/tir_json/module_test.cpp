// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions, parameters, entry, attributes and pools.
#include "tir_json/reading.hpp"

namespace usmp::testing::module_test {
namespace {

struct Fixture {
  JsonBuilder b;
  Node nothing() { return b.evaluate(b.integer(0)); }
  Node entry(Node body) { return b.function({}, body, {{"runner_function", b.integer(1, "bool")}}); }
  Node entry() { return entry(nothing()); }
};

TEST_CASE_FIXTURE(Fixture, "a tensor parameter is the data variable of its buffer") {
  const Node handle = b.handle("p0");
  const Node data = b.handle("p0", "int8");
  const Node plain = b.handle("device");
  const Node buffer = b.buffer(data, "int8", {b.integer(1), b.integer(16)});
  const Node body = b.evaluate(b.call_extern("f", {handle, data, plain}));
  const Node function = b.function({{handle, buffer}, {plain}}, body, {{"runner_function", b.integer(1)}});
  const tir::Module module = read(b.module({{"main", function}}));
  const tir::Function& main = module.functions[0];
  REQUIRE(main.params.size() == 2);
  CHECK(main.params[0].name == "p0");
  CHECK(main.params[0].is_tensor);
  CHECK(main.params[0].element == *tir::parse_data_type("int8"));
  CHECK(main.params[0].shape == std::vector<std::int64_t>{1, 16});
  CHECK_FALSE(main.params[1].is_tensor);
  const auto& call = *std::get<tir::Evaluate>(main.body[0].node).value;
  CHECK(call.operands[1]->var == main.params[0].var);  // the handle is an alias
  CHECK(call.operands[2]->var == main.params[0].var);
  CHECK(call.operands[3]->var == main.params[1].var);
  CHECK(module.var(main.params[0].var).element == *tir::parse_data_type("int8"));
}

TEST_CASE_FIXTURE(Fixture, "TVM 0.9 keeps the shape in preflattened_buffer_map") {
  const Node handle = b.handle("p0");
  const Node data = b.handle("p0", "int8");
  const Node flat = b.buffer(data, "int8", {b.integer(16)});
  const Node original = b.buffer(data, "int8", {b.integer(2), b.integer(8)});
  const Node function = b.function({{handle, flat}}, nothing(), {{"runner_function", b.integer(1)}});
  b.at(function)["attrs"]["preflattened_buffer_map"] = b.ref(b.node_map({{handle, original}}));
  const tir::Module module = read(b.module({{"main", function}}));
  CHECK(module.functions[0].params[0].shape == std::vector<std::int64_t>{2, 8});
}

TEST_CASE_FIXTURE(Fixture, "a shape that is not constant is not given") {
  const Node handle = b.handle("p0");
  const Node buffer = b.buffer(b.handle("p0", "int8"), "int8", {b.add("tir.Any", {{"dtype", "int32"}})});
  const Node function = b.function({{handle, buffer}}, nothing(), {{"runner_function", b.integer(1)}});
  CHECK_FALSE(read(b.module({{"main", function}})).functions[0].params[0].shape.has_value());
}

TEST_CASE_FIXTURE(Fixture, "parameters that repeat are refused") {
  const Node handle = b.handle("p0");
  const Node other = b.handle("p1");
  const Node data = b.handle("data", "int8");
  const Node buffer = b.buffer(data, "int8", {b.integer(4)});
  const Node twice = b.function({{handle}, {handle}}, nothing());
  CHECK(contains(refused(b.module({{"main", twice}})).message(), "the variable is a parameter twice"));
  const Node shared = b.function({{handle, buffer}, {other, buffer}}, nothing());
  CHECK(contains(refused(b.module({{"main", shared}})).message(), "the storage belongs to two parameters"));
}

TEST_CASE_FIXTURE(Fixture, "functions are sorted by symbol, wherever the hash table put them") {
  const Node op = b.function({}, nothing(), {{"global_symbol", b.string("a_op")}, {"target", b.target("cmsis-nn")}});
  const tir::Module module = read(b.module({{"main", entry()}, {"z_op", op}}));
  REQUIRE(module.functions.size() == 2);
  CHECK(module.functions[0].name == "a_op");
  CHECK(module.functions[0].target == "cmsis-nn");
  CHECK_FALSE(module.functions[0].is_entry);
  CHECK(module.functions[1].name == "main");
  CHECK(module.entry == 1);
  CHECK(module.functions[1].is_entry);
  CHECK(module.find("a_op") == 0);
}

TEST_CASE_FIXTURE(Fixture, "from TVM 0.18 a target kind is its text") {
  const Node kind = b.add("TargetKind");
  b.at(kind)["repr_str"] = "c";
  const Node target = b.add("Target", {{"kind", b.ref(kind)}});
  const Node function = b.function({}, nothing(), {{"runner_function", b.integer(1)}, {"target", target}});
  CHECK(read(b.module({{"main", function}})).functions[0].target == "c");
}

TEST_CASE_FIXTURE(Fixture, "the entry: by attribute, else by name") {
  const Node op = b.function({}, nothing());
  CHECK(read(b.module({{"f", op}, {"tvmgen_default___tvm_main__", op}})).entry == 1);
  CHECK(read(b.module({{"run_model", op}, {"a", op}})).entry == 1);
  CHECK(read(b.module({{"run_model", op}, {"a", entry()}})).entry == 0);
  const Node renamed = b.function({}, nothing(), {{"global_symbol", b.string("anything")}});
  CHECK(read(b.module({{"__tvm_main__", renamed}, {"b", op}})).entry == 0);

  CHECK(contains(refused(b.module({{"f", op}})).message(), "no entry function: none of 1 functions"));
  CHECK(contains(refused(b.module({{"f", entry()}, {"g", entry()}})).message(), "two entry functions, 'f' and 'g'"));
  CHECK(contains(refused(b.module({{"x__tvm_main__", op}, {"run_model", op}})).message(), "two entry functions"));
  CHECK(contains(refused(b.module({{"f", entry()}, {"f", op}})).message(), "two functions are called 'f'"));
}

TEST_CASE_FIXTURE(Fixture, "functions of other kinds are passed over") {
  const Node relay = b.add("relay.Function", {{"body", "99999"}});
  CHECK(read(b.module({{"main", entry()}, {"relay", relay}})).functions.size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "version and alignments") {
  b.set_version("0.9.0");
  const Node attributes = b.dict_attrs({{"workspace-byte-alignment", b.integer(16)},
                                        {"constant-byte-alignment", b.integer(32)},
                                        {"interface-api", b.string("c")}});
  const Node executor = b.add("Executor", {{"name", b.ref(b.string("aot"))}, {"attrs", b.ref(attributes)}});
  const tir::Module module = read(b.module({{"main", entry()}}, {{"executor", executor}}));
  CHECK(module.tvm_version == "0.9.0");
  CHECK(module.workspace_alignment == 16);
  CHECK(module.constant_alignment == 32);
  CHECK_FALSE(read(b.module({{"main", entry()}})).workspace_alignment.has_value());

  const Node wrong = b.dict_attrs({{"workspace-byte-alignment", b.integer(0)}});
  const Node bad = b.add("Executor", {{"attrs", b.ref(wrong)}});
  CHECK(refused(b.module({{"main", entry()}}, {{"executor", bad}})).message() ==
        "workspace-byte-alignment is 0, expected at least 1");
}

TEST_CASE_FIXTURE(Fixture, "TVM 0.8 keeps the alignment in the target") {
  const Node target = b.target("c");
  b.at(target)["attrs"]["attrs"] = b.ref(b.map({{"workspace-byte-alignment", b.integer(8)}}));
  const Node function = b.function({}, nothing(), {{"runner_function", b.integer(1)}, {"target", target}});
  CHECK(read(b.module({{"main", function}})).workspace_alignment == 8);
}

struct PoolFixture : Fixture {
  Node pool(const std::string& name, std::int64_t size, const std::string& kind = "Workspace") {
    return b.add("ir." + kind + "PoolInfo", {{"pool_name", b.ref(b.string(name))},
                                             {"size_hint_bytes", b.ref(b.integer(size))},
                                             {"clock_frequency_hz", b.ref(b.integer(1000))},
                                             {"target_burst_bytes", b.ref(b.map({}))},
                                             {"targets", b.ref(b.array({b.target("c"), b.target("c")}))},
                                             {"is_internal", "1"}});
  }
  Node allocate(const JsonBuilder::Nodes& pools) {
    const Node x = b.handle("x", "int8");
    return b.allocate(x, "int8", {b.integer(4)}, b.evaluate(b.call_extern("f", {x})),
                      {{"candidate_memory_pools", b.array(pools)}});
  }
};

TEST_CASE_FIXTURE(PoolFixture, "pools of annotations and of the module") {
  const Node fast = pool("fast", 1000);
  const Node slow = pool("slow", -1);
  const Node rom = pool("rom", -1, "Constant");
  const Node constants = b.add("ir.ConstantMemoryPools", {{"pools", b.ref(b.array({rom}))}});
  const tir::Module module =
      read(b.module({{"main", entry(allocate({fast, slow}))}}, {{"constant_memory_pools", constants}}));
  REQUIRE(module.annotated_pools.size() == 3);
  CHECK(module.annotated_pools[0].name == "rom");
  CHECK(module.annotated_pools[0].is_constant);
  const tir::AnnotatedPool& first = module.annotated_pools[1];
  CHECK(first.name == "fast");
  CHECK_FALSE(first.is_constant);
  CHECK(first.size_hint == 1000);
  CHECK(first.is_internal);
  CHECK(first.targets == std::vector<std::string>{"c"});
  CHECK_FALSE(module.annotated_pools[2].size_hint.has_value());
  const auto& statement = std::get<tir::Allocate>(module.functions[0].body[0].node);
  CHECK(statement.candidate_pools == std::vector<std::string>{"fast", "slow"});
  CHECK(contains(entry_text(module), "allocate x: int8[4] pools fast, slow\n"));
}

TEST_CASE_FIXTURE(PoolFixture, "targets of pools as development versions wrote them: a map, in any order") {
  const Node ram = pool("ram", 5);
  b.at(ram)["attrs"]["targets"] = b.ref(b.array({}));
  b.at(ram)["attrs"]["target_access"] =
      b.ref(b.node_map({{b.target("npu"), b.string("rw")}, {b.target("c"), b.string("ro")}}));
  const tir::Module module = read(b.module({{"main", entry(allocate({ram}))}}));
  CHECK(module.annotated_pools.at(0).targets == std::vector<std::string>{"c", "npu"});
}

TEST_CASE_FIXTURE(PoolFixture, "pools of one name must agree") {
  CHECK(read(b.module({{"main", entry(allocate({pool("ram", 5), pool("ram", 5)}))}})).annotated_pools.size() == 1);
  const Node other = pool("ram", 6);
  const Error error = refused(b.module({{"main", entry(allocate({pool("ram", 5), other}))}}));
  CHECK(error.where().place == place(other));
  CHECK(contains(error.message(), "pool 'ram' is described twice with different kinds or sizes"));
  const Node wrong = b.integer(3);
  CHECK(contains(refused(b.module({{"main", entry(allocate({wrong}))}})).message(), "expected a memory pool info"));
}

}  // namespace
}  // namespace usmp::testing::module_test
