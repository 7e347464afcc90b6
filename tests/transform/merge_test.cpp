// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "merge": what it does to small networks, and that each condition, where it does not hold, leaves them alone.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "random_modules/interpreter.hpp"
#include "random_modules/transformed.hpp"
#include "transform/callees.hpp"
#include "transform/merge_calls.hpp"
#include "transform/merge_network.hpp"
#include "transform/peak.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::transform::merge_test {
namespace {

using namespace testing;  // the fixture and what it is made of

std::string text(const tir::Module& module, const std::string& name) {
  const auto found = module.find(name);
  return found ? tir::print(module, module.functions[*found]) : "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> names(const tir::Module& module) {
  std::vector<std::string> all;
  for (const tir::Function& function : module.functions) all.push_back(function.name);
  return all;
}

// That `after` is well formed and leaves in the outputs what `before` does.
void check_same(const tir::Module& before, const tir::Module& after) {
  const auto fault = random_modules::fault_of(after);
  REQUIRE_MESSAGE(!fault, fault.value_or("") << "\n" << tir::print(after));
  std::string contents;
  for (int n = 0; n < 8; ++n) contents += {static_cast<char>(3 * n + 1), 0, 0, 0};
  std::vector<random_modules::Argument> arguments(before.functions[before.entry].params.size(), {32, std::nullopt});
  arguments[0].contents = contents;
  const random_modules::Outcome reference = random_modules::Interpreter(before).run(arguments);
  const auto difference = random_modules::difference_to(reference, arguments, after);
  REQUIRE_MESSAGE(!difference, difference.value_or("") << "\n" << tir::print(after));
}

struct Merged {
  tir::Module module;
  std::vector<Change> changes;
};

Merged merged(const tir::Module& module) {
  Merged result{module, {}};
  result.changes = merge_calls(result.module);
  check_same(module, result.module);
  return result;
}

void check_alone(const tir::Module& module) {
  tir::Module after = module;
  CHECK(merge_calls(after).empty());
  CHECK(tir::print(after) == tir::print(module));
}
void check_alone(Network& network) { check_alone(network.network()); }

// --- What is done ----------------------------------------------------------------------------------------------------

TEST_CASE("two operators become one, and the tensor between them is gone") {
  Network network;
  const tir::Module before = network.network();
  const Merged result = merged(before);
  CHECK(peak_of(before).load == 32);
  CHECK(peak_of(result.module).load == 0);
  CHECK(text(result.module, "main") ==
        "primfn main(in: int32*, out: int32*, out2: int32*) target c entry {\n"
        "  tir.tvm_check_return(0, -1, tir.call_extern(\"add_merged\", in, out))\n"
        "}\n");
  CHECK(text(result.module, "add_merged") ==
        "primfn add_merged(a: int32*, o: int32*) target c {\n"
        "  for j in [0, 8) {\n"
        "    o[j] = a[j] * 2 + a[j]\n"
        "  }\n"
        "}\n");
}

TEST_CASE("functions that nobody calls any more go, the others stay in order, and the entry is found") {
  Network network;
  SUBCASE("nobody calls the two any more") {
    // `pass` and `fill` were never called: they are not the step's.
    const tir::Module module = merged(network.network()).module;
    CHECK(names(module) == std::vector<std::string>{"add_merged", "fill", "main", "pass"});
    CHECK(module.functions[module.entry].name == "main");
  }
  SUBCASE("the writer is called elsewhere") {
    network.then(network.call("scale", {network.in, network.out2}));
    const tir::Module module = merged(network.network()).module;
    CHECK(names(module) == std::vector<std::string>{"add_merged", "fill", "main", "pass", "scale"});
    CHECK(module.functions[module.entry].name == "main");
  }
  SUBCASE("the reader is called elsewhere") {
    network.then(network.call("add", {network.in, network.in, network.out2}));
    const tir::Module module = merged(network.network()).module;
    CHECK(names(module) == std::vector<std::string>{"add", "add_merged", "fill", "main", "pass"});
    CHECK(module.functions[module.entry].name == "main");
  }
}

TEST_CASE("the new function takes no name that the application's function has") {
  Network network;
  tir::Module module = network.network();
  tir::Function& fill = module.functions[*module.find("fill")];
  fill.body.push_back(network.call("add_merged", {fill.params[0].var}));
  CHECK_FALSE(merge_calls(module).empty());  // the interpreter does not know the application's function
  CHECK(names(module) == std::vector<std::string>{"add_merged_1", "fill", "main", "pass"});
  CHECK(has(text(module, "main"), "\"add_merged_1\", in, out"));
}

TEST_CASE("the changes are told in order, and all are the step's") {
  Network network;
  const std::vector<Change> changes = merged(network.network()).changes;
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].function == "main");
  CHECK(changes[0].text == "mid: removed, its writer and its reader are one operator");
  CHECK(changes[1].function == "add_merged");
  CHECK(changes[1].text == "t (32 bytes): computed where it is read");
  for (const Change& change : changes) CHECK(change.step == Step::merge);
}

TEST_CASE("the new function says what was done to both") {
  Network network;
  tir::Module module = network.network();
  module.functions[*module.find("scale")].notes = {"fuse: first", "fuse: same"};
  module.functions[*module.find("add")].notes = {"fuse: same", "fuse: second"};
  const Result result = transform::transform(module, {.steps = {Step::merge}});
  CHECK(result.module().functions[*result.module().find("add_merged")].notes ==
        std::vector<std::string>{"fuse: first", "fuse: same", "fuse: second",
                                 "merge: two operators merged, mid between them",
                                 "merge: t (32 bytes): computed where it is read"});
}

TEST_CASE("storage that both are passed is one parameter") {
  Network network;
  SUBCASE("the same") {
    const tir::Module module = merged(network.network()).module;
    CHECK(has(text(module, "main"), "\"add_merged\", in, out)"));
  }
  SUBCASE("others") {
    network.calls[1] = network.call("add", {network.mid, network.out2, network.out});
    network.calls.insert(network.calls.begin(), network.call("pass", {network.in, network.out2}));
    const tir::Module module = merged(network.network()).module;
    CHECK(has(text(module, "main"), "\"add_merged\", in, out2, out)"));
    CHECK(has(text(module, "add_merged"), "primfn add_merged(a: int32*, b: int32*, o: int32*)"));
    CHECK(has(text(module, "add_merged"), "o[j] = a[j] * 2 + b[j]"));
  }
  SUBCASE("the reader writes what the writer reads") {
    network.calls.insert(network.calls.begin(), network.call("pass", {network.in, network.out}));
    network.calls[1] = network.call("scale", {network.out, network.mid});
    network.calls[2] = network.call("add", {network.mid, network.out, network.out});
    const tir::Module module = network.network();
    tir::Module after = module;
    (void)merge_calls(after);
    check_same(module, after);  // no matter what was done
  }
}

TEST_CASE("of a row of operators nothing is stored, and each new function has a name of its own") {
  Network network;
  const VarId next = network.tensor("next");
  network.calls[1] = network.call("add", {network.mid, network.in, next});
  network.then(network.call("add", {next, network.in, network.out}));
  const Merged result = merged(network.network());
  CHECK(peak_of(result.module).load == 0);
  CHECK(has(text(result.module, "add_merged_1"), "o[j] = a[j] * 2 + a[j] + a[j]"));
  CHECK(names(result.module) == std::vector<std::string>{"add_merged_1", "fill", "main", "pass"});
}

// scale(in, t), pass(t, out2) for `count` tensors t, all first calls before all second ones.
tir::Module many(Network& network, std::size_t count) {
  Block passes;
  network.declarations.clear();
  network.calls.clear();
  for (std::size_t n = 0; n < count; ++n) {
    const VarId tensor = network.tensor("many");
    network.then(network.call("scale", {network.in, tensor}));
    passes.push_back(network.call("pass", {tensor, network.out2}));
  }
  network.calls.insert(network.calls.end(), passes.begin(), passes.end());
  return network.network();
}

TEST_CASE("a merge that leaves the tensor is tried without the rest of the module") {
  Network network;  // each element is written twice, so that its loop is no value
  network.scale.push_back(network.store(network.t, network.var(network.i), imm(3)));
  tir::Module module = many(network, 100);
  const std::string before = tir::print(module);
  MergeWork work;
  CHECK(merge_calls(module, work).empty());
  CHECK(tir::print(module) == before);
  CHECK(work.made == 0);
  CHECK(work.tried > 0);
  CHECK(work.tried < 100 * 50);
}

TEST_CASE("no more is tried than a limit says") {
  Network network;
  for (int n = 0; n < 1500; ++n) network.scale.push_back(network.store(network.t, network.var(network.i), imm(3)));
  tir::Module module = many(network, 200);
  MergeWork work;
  CHECK(merge_calls(module, work).empty());
  CHECK(work.tried > MergeWork::most_tried);
  CHECK(work.tried < MergeWork::most_tried + 20'000);
}

TEST_CASE("in a large module fewer merges are made") {
  const auto load_of = [](std::size_t variables) {
    Network network;
    tir::Module module = many(network, 20);
    const std::size_t entry = module.functions[module.entry].body.size();
    module.vars.resize(variables - module.functions.size() - entry, tir::Var{"unused", i32, tir::void_type, ""});
    return apply(begin(module), Step::merge, {.steps = {Step::merge}}).load;
  };
  CHECK(load_of(1'000) == 0);
  // Each merge adds variables.
  const std::size_t most = MergeWork::most_made / MergeWork::least_merges;
  CHECK(load_of(most) == (20 - 19) * 32);
  CHECK(load_of(most + 1) == 20 * 32);
}

TEST_CASE("a module that is too large to merge says so") {
  Network network;
  tir::Module module = many(network, 20);
  const auto step_of = [](const tir::Module& given) {
    return apply(begin(given), Step::merge, {.steps = {Step::merge}}).steps.back();
  };
  CHECK(step_of(module).too_large.empty());
  module.vars.resize(MergeWork::most_made, tir::Var{"unused", i32, tir::void_type, ""});
  CHECK(step_of(module).too_large == "more than 20000 variables, functions and statements");
  CHECK(step_of(module).changes.empty());
}

TEST_CASE("what stands between the calls stays before the merged one") {
  Network network;
  network.between(network.call("fill", {network.out2}));
  const tir::Module module = merged(network.network()).module;
  const std::string main = text(module, "main");
  REQUIRE(has(main, "\"fill\", out2"));
  CHECK(main.find("\"fill\", out2") < main.find("\"add_merged\", in, out"));
}

TEST_CASE("checks of what the caller passes stay where they are, and no operator passes them") {
  const auto check = [](Network& network, VarId var, ExprRef more = nullptr) {
    ExprRef asked = tir::make_call(tir::bool_type, tir::Op::isnullptr, {network.var(var)});
    ExprRef value = cast(i32, std::move(asked));
    if (more) value = tir::testing::add(std::move(value), std::move(more));
    return network.evaluate(tir::make_call(i32, tir::Op::tvm_check_return,
                                           {tir::testing::imm(0), tir::testing::imm(-2), std::move(value)}));
  };
  const auto main_of = [](Network& network) { return text(merged(network.network()).module, "main"); };
  const std::string asks = "tvm_check_return(0, -2, ";
  {
    Network n;
    n.calls.insert(n.calls.begin(), check(n, n.out));
    n.calls.insert(n.calls.begin(), check(n, n.in));
    n.then(check(n, n.out2));
    const std::string main = main_of(n);
    REQUIRE(has(main, "\"add_merged\", in, out"));
    CHECK(main.find("isnullptr<bool>(out)") < main.find("add_merged"));
    CHECK(main.find("isnullptr<bool>(out2)") > main.find("add_merged"));
    CHECK(main.find(asks) != main.rfind(asks));
  }
  {
    Network n;
    n.between(check(n, n.in));
    check_alone(n);
  }
  {  // of memory that is no parameter
    Network n;
    n.then(check(n, n.mid));
    check_alone(n);
  }
}

TEST_CASE("calls of what is no operator stay where they are, and hold what they are passed") {
  const auto dump = [](const Network& network, VarId var) {
    return Builder::call_expr("dump", {tir::make_string("a tensor"), network.var(var), imm(8)});
  };
  const auto said = [](const char* function, const char* what) {
    return Network::evaluate(Builder::call_expr(function, {tir::make_string(what)}));
  };
  {
    Network n;
    n.calls.insert(n.calls.begin(), n.evaluate(dump(n, n.in)));
    n.calls.insert(n.calls.begin(), said(tir::kept_text, "++runs;"));
    n.then(n.evaluate(tir::make_call(i32, tir::Op::tvm_check_return, {imm(0), imm(-1), dump(n, n.out)})));
    n.then(n.evaluate(Builder::call_expr("print", {n.load(n.out, imm(3))})));
    tir::Module module = n.network();
    CHECK_FALSE(merge_calls(module).empty());  // the interpreter does not know these functions
    CHECK(peak_of(module).load == 0);
    const std::string main = text(module, "main");
    std::size_t at = 0;
    for (const char* part :
         {"++runs;", "\"a tensor\", in", "\"add_merged\", in, out", "\"a tensor\", out", "\"print\", out[3]"}) {
      CAPTURE(part);
      const std::size_t found = main.find(part);
      REQUIRE(found != std::string::npos);
      CHECK(found >= at);
      at = found;
    }
  }
  {
    Network n;
    n.then(n.evaluate(dump(n, n.mid)));
    check_alone(n);
  }
  {
    Network n;
    n.then(n.evaluate(Builder::call_expr("print", {n.load(n.mid, imm(0))})));
    check_alone(n);
  }
  {
    Network n;
    n.between(said(tir::kept_text, "stamp(1);"));
    check_alone(n);
  }
  {
    Network n;
    n.between(said("printf", "half of it"));
    check_alone(n);
  }
  {  // an operator's result is part of it
    Network n;
    n.between(n.evaluate(Builder::call_expr("print", {Builder::call_expr("fill", {n.var(n.in)})})));
    check_alone(n);
  }
}

TEST_CASE("hooks of devices stay where they are, and calls do not pass from one state of devices to another") {
  const auto hook = [](Network& network, const char* name) {
    return network.evaluate(Builder::call_expr(std::string("TVMDeviceEthosU") + name, {network.var(network.out2)}));
  };
  const auto bracketed = [&](Network& network, const Stmt& call) {
    return std::vector<Stmt>{hook(network, "Open"), call, hook(network, "Close")};
  };
  const auto names = [](const tir::Module& module) {
    std::string all;
    for (const std::string& name : callees(module)) all += (all.empty() ? "" : " ") + name;
    return all;
  };
  const auto after = [&](Network& network, const std::vector<Stmt>& calls) {
    network.calls = {calls.begin(), calls.end()};
    tir::Module module = network.network();
    (void)merge_calls(module);
    return names(module);
  };
  using Parts = std::vector<std::vector<Stmt>>;
  const auto joined = [](const Parts& parts) {
    std::vector<Stmt> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const std::string open = "TVMDeviceEthosUOpen ";
  const std::string close = "TVMDeviceEthosUClose";
  {
    Network n;
    const Stmt writer = n.call("scale", {n.in, n.mid}), reader = n.call("add", {n.mid, n.in, n.out});
    CHECK(after(n, {hook(n, "Activate"), writer, hook(n, "Open"), hook(n, "Close"), reader, hook(n, "Deactivate")}) ==
          "TVMDeviceEthosUActivate " + open + close + " add_merged TVMDeviceEthosUDeactivate");
  }
  {
    Network n;
    const Stmt writer = n.call("scale", {n.in, n.mid}), reader = n.call("add", {n.mid, n.in, n.out});
    CHECK(after(n, joined({bracketed(n, writer), bracketed(n, reader)})) ==
          open + close + " " + open + "add_merged " + close);
  }
  for (const bool is_first : {true, false}) {
    CAPTURE(is_first);
    Network n;
    const Stmt writer = n.call("scale", {n.in, n.mid}), reader = n.call("add", {n.mid, n.in, n.out});
    const auto calls = is_first ? joined({bracketed(n, writer), {reader}}) : joined({{writer}, bracketed(n, reader)});
    CHECK(after(n, calls) == (is_first ? open + "scale " + close + " add" : "scale " + open + "add " + close));
  }
  {  // active is another state than not
    Network n;
    CHECK(after(n, {n.call("scale", {n.in, n.mid}), hook(n, "Activate"), n.call("add", {n.mid, n.in, n.out})}) ==
          "scale TVMDeviceEthosUActivate add");
  }
  {  // it is handed what an operator writes
    Network n;
    n.between(n.evaluate(Builder::call_expr("TVMDeviceEthosUClose", {n.var(n.out)})));
    n.between(n.evaluate(Builder::call_expr("TVMDeviceEthosUOpen", {n.var(n.out)})));
    check_alone(n.network());
  }
  {  // or a tensor
    Network n;
    n.between(n.evaluate(Builder::call_expr("TVMDeviceEthosUOpen", {n.var(n.mid)})));
    n.then(n.evaluate(Builder::call_expr("TVMDeviceEthosUClose", {n.var(n.mid)})));
    tir::Module module = n.network();
    CHECK(merge_calls(module).empty());
  }
}

TEST_CASE("a call keeps the handle behind its arguments") {
  Network network;
  const ExprRef handle = tir::make_call(tir::handle_type, "tir.reinterpret", {imm(0)});
  const auto packed = [&](const char* callee, const std::vector<VarId>& arguments) {
    std::vector<ExprRef> operands = {tir::make_string(callee)};
    for (const VarId argument : arguments) operands.push_back(network.var(argument));
    operands.push_back(handle);
    return network.evaluate(tir::make_call(i32, "tir.tvm_call_cpacked", operands));
  };
  network.calls =
      block(packed("scale", {network.in, network.mid}), packed("add", {network.mid, network.in, network.out}));
  tir::Module module = network.network();
  CHECK(merge_calls(module).size() == 2);
  CHECK(has(text(module, "main"),
            "  tir.tvm_call_cpacked(\"add_merged\", in, out, " + tir::print_expr(module, *handle) + ")\n"));
}

TEST_CASE("a merge that raises the load is left out, and others are done") {
  // `wide` would live on while `large` does. Both are read twice.
  Network network;
  const VarId wide = network.tensor("wide", 16);
  const VarId large = network.tensor("large", 25);
  const VarId small = network.tensor("small", 4);
  const VarId w = network.pointer("w", i32);
  const VarId v = network.pointer("v", i32);
  const VarId n = network.integer("n");
  const VarId m = network.integer("m");
  network.function("widen", {w}, block(network.loop(n, 16, block(network.store(w, network.var(n), imm(7))))));
  network.function("four", {v}, block(network.loop(m, 4, block(network.store(v, network.var(m), imm(9))))));
  const VarId q = network.pointer("q", i32);
  const VarId r = network.pointer("r", i32);
  const VarId h = network.integer("h");
  network.function("use", {q, r},
                   block(network.loop(h, 4, block(network.store(r, network.var(h), network.load(q, network.var(h)))))));
  network.calls =
      block(network.call("widen", {wide}), network.call("pass", {wide, network.out2}),
            network.call("scale", {wide, network.mid}), network.call("four", {small}), network.call("fill", {large}),
            network.call("pass", {large, network.out2}), network.call("pass", {large, network.out2}),
            network.call("use", {small, network.out2}), network.call("add", {network.mid, network.in, network.out}));
  const tir::Module before = network.network();
  CHECK(peak_of(before).load == 4 * (8 + 4 + 25));
  const Merged result = merged(before);
  CHECK(peak_of(result.module).load == 4 * (8 + 25));
  REQUIRE_FALSE(result.changes.empty());
  CHECK(has(result.changes[0].text, "small: removed"));
  CHECK(has(text(result.module, "main"), "allocate mid"));
}

// --- What is left alone ----------------------------------------------------------------------------------------------

TEST_CASE("a tensor that is not one call's for one other call stays") {
  Network network;
  SUBCASE("two calls read it") { network.then(network.call("pass", {network.mid, network.out2})); }
  SUBCASE("two calls write it") { network.between(network.call("fill", {network.mid})); }
  SUBCASE("the reader is passed it twice") {
    network.calls[1] = network.call("add", {network.mid, network.mid, network.out});
  }
  SUBCASE("the reader writes it, too") {
    const auto read = network.add;
    network.add = [&network, read] {
      Block body = read();
      std::get<tir::For>(body[0].node).body.push_back(network.store(network.p, network.var(network.j), imm(0)));
      return body;
    };
  }
  SUBCASE("it is an output of the network") {
    network.calls = block(network.call("scale", {network.in, network.out}),
                          network.call("add", {network.out, network.in, network.out2}));
    network.shared_tensor("load");
  }
  check_alone(network);
}

TEST_CASE("a writer with another output stays") {
  Network network;
  const VarId second = network.pointer("second", i32);
  network.scale_params = {network.a, network.t, second};
  network.calls[0] = network.call("scale", {network.in, network.mid, network.out2});
  SUBCASE("it does not write it") { CHECK(merged(network.network()).changes.size() == 2); }
  SUBCASE("it does") {
    network.scale.push_back(network.store(second, network.var(network.i), imm(4)));
    check_alone(network);
  }
}

// fill -> out2 -> scale -> mid, so that the writer reads what may be written.
struct Waiting : Network {
  Waiting() { calls = block(call("fill", {out2}), call("scale", {out2, mid}), call("add", {mid, in, out})); }
  void before_reader(const Stmt& stmt) { calls.insert(calls.begin() + 2, stmt); }
};

TEST_CASE("a writer waits for its reader if its input is the same then") {
  Waiting network;
  SUBCASE("nothing stands between") {}
  SUBCASE("it is written behind the reader") { network.then(network.call("pass", {network.in, network.out2})); }
  SUBCASE("it is read between") {
    network.before_reader(network.call("pass", {network.out2, network.tensor("other", 8)}));
    network.declarations[0] = network.allocate(network.mid, 9);
  }
  CHECK(merged(network.network()).changes.size() == 2);
}

TEST_CASE("a writer whose input changes before its reader is called stays") {
  Waiting network;
  SUBCASE("it is written between") { network.before_reader(network.call("pass", {network.in, network.out2})); }
  SUBCASE("a function that is not simple is passed it") {
    // That it only seems to read it says nothing of an operator of somebody else.
    network.pass_target = "cmsis-nn";
    network.before_reader(network.call("pass", {network.out2, network.out}));
  }
  check_alone(network);
}

TEST_CASE("operators that are not the host's or not simple stay") {
  Network network;
  SUBCASE("the writer is an operator of somebody else") { network.scale_target = "cmsis-nn"; }
  SUBCASE("the reader is an operator of somebody else") { network.add_target = "cmsis-nn"; }
  SUBCASE("the writer has no target") { network.scale_target = ""; }
  SUBCASE("the reader has no target") { network.add_target = ""; }
  SUBCASE("the writer calls what the module lacks") {
    network.scale.push_back(network.evaluate(Builder::call_expr("external", {imm(1)})));
  }
  SUBCASE("the reader makes a pointer of the tensor") {
    const auto read = network.add;
    network.add = [&network, read] {
      Block body = read();
      body.push_back(network.evaluate(Builder::call_expr("external", {network.access_ptr(network.p, 0, 8)})));
      return body;
    };
  }
  check_alone(network);
}

TEST_CASE("an entry that is not a row of calls with whole storages stays") {
  Network network;
  SUBCASE("a loop") {
    network.then(network.loop(network.integer("n"), 2, block(network.call("fill", {network.out2}))));
  }
  SUBCASE("a branch") {
    network.then(network.when(tir::make_int(1, tir::bool_type), block(network.call("fill", {network.out2}))));
  }
  SUBCASE("a scope") { network.then(network.scope(block(network.call("fill", {network.out2})))); }
  SUBCASE("a store") { network.then(network.set(network.out2)); }
  SUBCASE("a let") { network.then(network.let(network.integer("n"), imm(1))); }
  check_alone(network);
}

TEST_CASE("no operator passes a call that is none of whole storages") {
  Network network;
  SUBCASE("a statement that calls nothing") { network.between(network.evaluate(imm(0))); }
  SUBCASE("two calls in one statement") {
    network.between(network.evaluate(add(Builder::call_expr("fill", {network.var(network.out2)}),
                                         Builder::call_expr("fill", {network.var(network.out2)}))));
  }
  SUBCASE("a part of storage") {
    network.between(network.call("fill", std::vector{network.address_of(network.out2, 0)}));
  }
  SUBCASE("a number") { network.between(network.call("fill", std::vector{imm(0)})); }
  SUBCASE("a function that the module lacks") { network.between(network.call("external", {network.out2})); }
  check_alone(network);
}

TEST_CASE("operators between which the tensor would still be needed stay") {
  Network network;
  SUBCASE("each element is dear and read often") {
    const VarId n = network.integer("n");
    const auto read = network.add;
    network.scaled =
        tir::make_call(i32, "tir.q_multiply_shift",
                       {network.load(network.a, network.var(network.i)), imm(1805621035), imm(31), imm(3)});
    network.scale = block(network.store(network.t, network.var(network.i), network.scaled));
    network.add = [&network, read, n] { return block(network.loop(n, 50, read())); };
  }
  SUBCASE("an element of it would be left, a loop each") {
    const VarId n = network.integer("n");
    const ExprRef element = network.load(network.a, network.var(network.i));
    network.scale =
        block(network.store(network.t, network.var(network.i),
                            tir::make_call(i32, "tir.q_multiply_shift", {element, imm(1805621035), imm(31), imm(3)})));
    network.add = [&network, n] {
      return block(network.loop(
          network.j, 8,
          block(network.loop(
              n, 50,
              block(network.store(network.o, network.var(network.j),
                                  add(network.load(network.p, network.var(network.j)), network.var(n))))))));
    };
  }
  SUBCASE("its elements are found at indices that memory holds") {
    network.add = [&network] {
      const ExprRef at = remainder(network.load(network.b, network.var(network.j)), imm(8));
      return block(network.loop(network.j, 8,
                                block(network.store(network.o, network.var(network.j), network.load(network.p, at)))));
    };
  }
  SUBCASE("it is no whole number of elements") {
    network.declarations[0] = network.allocate(network.mid, 8);
    auto& allocate = std::get<tir::Allocate>(network.declarations[0].node);
    allocate.type = tir::testing::int8_type;
    allocate.extents = {imm(33)};
  }
  SUBCASE("it is allocated under a condition") {
    std::get<tir::Allocate>(network.declarations[0].node).condition = tir::make_int(1, tir::bool_type);
  }
  check_alone(network);
}

TEST_CASE("a tensor of which the operators do not say the element type stays") {
  Network network;
  for (const VarId var : {network.t, network.p}) network.module().vars[var.index()].element = tir::void_type;
  check_alone(network);
}

TEST_CASE("the new function takes no name of a function that nobody calls") {
  Network network;
  network.function("add_merged", {}, {});
  const Merged result = merged(network.network());
  CHECK_FALSE(result.changes.empty());
  CHECK(result.module.find("add_merged_1"));
}

TEST_CASE("a tensor that its first reader changes is not made again for the others") {
  Network network;
  const VarId q = network.pointer("q", i32);
  network.function("change", {q}, block(network.store(q, 3, add(network.load(q, 3), imm(1)))));
  network.between(network.call("change", {network.mid}));
  tir::Module module = network.network();
  CHECK_FALSE(merge_into_readers(module, network.mid));
}

TEST_CASE("a tensor that no operator could allocate is not made again") {
  Network network;
  auto& allocate = std::get<tir::Allocate>(network.declarations[0].node);
  SUBCASE("it is no whole number of elements") {
    allocate.type = tir::testing::int8_type;
    allocate.extents = {imm(33)};
  }
  SUBCASE("it is allocated under a condition") { allocate.condition = tir::make_int(1, tir::bool_type); }
  tir::Module module = network.network();
  CHECK_FALSE(merge_into_readers(module, network.mid));
}

TEST_CASE("nothing is done if the peak stays as high as it was") {
  Network network;
  SUBCASE("it is as high elsewhere") { network.shared_tensor("load", 8); }
  SUBCASE("it is higher elsewhere") { network.shared_tensor("load", 9); }
  check_alone(network);
}

// mid[i] = 2 < i ? value : border
void pad(Network& network, const ExprRef& value, const ExprRef& border) {
  const ExprRef inside = tir::make_binary(ExprKind::lt, imm(2), network.var(network.i));
  const ExprRef padded = tir::make_call(tir::int32_type, tir::Op::if_then_else, {inside, value, border});
  network.scale = block(network.store(network.t, network.var(network.i), padded));
  network.shared_tensor("load", 9);
}

TEST_CASE("a copy with a border goes although the peak stays") {
  Network network;
  pad(network, network.load(network.a, network.var(network.i)), imm(5));
  const Merged result = merged(network.network());
  REQUIRE(!result.changes.empty());
  CHECK(has(result.changes.at(0).text, "mid: removed"));
  CHECK(peak_of(result.module).load == 4 * 9);
}

TEST_CASE("what is no copy with a border stays if the peak does") {
  Network network;
  ExprRef value = network.load(network.a, network.var(network.i));
  SUBCASE("it computes more") {
    for (int n = 0; n < 4; ++n) value = mul(value, imm(3));
    pad(network, value, imm(5));
  }
  SUBCASE("its border is no number") { pad(network, value, mul(value, imm(2))); }
  check_alone(network);
}

TEST_CASE("a peak that is lower elsewhere falls") {
  Network network;
  network.declarations[0] = network.allocate(network.mid, 9);
  network.shared_tensor("load", 8);
  const Merged result = merged(network.network());
  CHECK(has(result.changes.at(0).text, "mid: removed"));
  CHECK(peak_of(result.module).load == 4 * 8);
}

}  // namespace
}  // namespace usmp::transform::merge_test
