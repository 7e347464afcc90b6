// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Kinds and multiply-accumulates of small functions made by hand.
#include "usmp/operators/operators.hpp"

#include <doctest/doctest.h>

#include "tir_support/module_builder.hpp"

namespace usmp::operators::operators_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::ExprRef;
using tir::VarId;

struct Fixture : ModuleBuilder {
  VarId x = pointer("x", i32);
  VarId w = pointer("w", i32);
  VarId y = pointer("y", i32);
  VarId i = integer("i");
  VarId j = integer("j");
  VarId k = integer("k");
  VarId g = integer("g");

  static ExprRef at(const ExprRef& value, std::int64_t factor) { return mul(value, factor); }

  // y[index] = y[index] + a * b
  [[nodiscard]] tir::Stmt accumulate(const ExprRef& index, const ExprRef& a, const ExprRef& b) const {
    return store(y, index, add(load(y, index), mul(a, b)));
  }
  [[nodiscard]] tir::Function with(tir::Block body, const std::string& name = "f") const {
    tir::Function function;
    function.name = name;
    function.body = std::move(body);
    return function;
  }
  [[nodiscard]] std::optional<std::int64_t> count(tir::Block body) const {
    return multiply_accumulates(with(std::move(body)));
  }
  [[nodiscard]] std::string kind(tir::Block body) const { return kind_by_loops(module(), with(std::move(body))); }
};

TEST_CASE("kinds by name: the operator that computes most, wherever it stands") {
  const auto kind = [](const std::string& name) { return kind_by_name("tvmgen_default_" + name); };
  CHECK(kind("fused_nn_conv2d_add_clip_3") == "conv2d");
  CHECK(kind("fused_cast_subtract_multiply_add_nn_conv2d_add__596577fc2aac0419_") == "conv2d");
  CHECK(kind("fused_nn_contrib_conv2d_NCHWc_add_nn_relu") == "conv2d");
  CHECK(kind("fused_nn_contrib_depthwise_conv2d_NCHWc") == "depthwise conv2d");
  CHECK(kind("fused_nn_conv2d_transpose_add") == "transposed conv2d");
  CHECK(kind("fused_nn_contrib_dense_pack_add_merged") == "dense");
  CHECK(kind("fused_nn_batch_matmul") == "batch matmul");
  CHECK(kind("fused_nn_avg_pool2d_cast") == "average pool");
  CHECK(kind("fused_nn_global_avg_pool2d") == "average pool");
  CHECK(kind("fused_nn_max_pool2d_1") == "max pool");
  CHECK(kind("fused_nn_log_softmax") == "log softmax");
  CHECK(kind("fused_nn_softmax_divide_round") == "softmax");
  CHECK(kind("fused_nn_upsampling_concatenate") == "upsampling");
  CHECK(kind("fused_concatenate_1") == "concatenate");
  CHECK(kind("fused_layout_transform_nn_batch_flatten") == "layout transform");
  CHECK(kind("fused_reshape_add") == "add");
  CHECK(kind("fused_add_add_1") == "add");
  CHECK(kind("fused_conv2d1_add1") == "conv2d");
  CHECK(kind("fused_sigmoid_multiply_add") == "elementwise");
  CHECK(kind("fused_maximum") == "maximum");
  CHECK(kind("fused_myconv2d") == "");
  CHECK(kind("fused_mystery") == "");
  CHECK(kind("fused_") == "");
  CHECK(kind("_") == "");
  CHECK(kind_by_name("") == "");
  CHECK(kind_by_name("tvmgen_conv2d_net_fused_nn_softmax") == "softmax");  // a module of that name
}

TEST_CASE("external functions are what their names say") {
  CHECK(external_operator("cmsis_nn_main_0").kind == "external");
  CHECK(external_operator("ethosu_conv2d_1").kind == "conv2d");
  CHECK_FALSE(external_operator("cmsis_nn_main_0").multiply_accumulates);
}

TEST_CASE_FIXTURE(Fixture, "of external code nobody knows which operands it writes") {
  tir::Module net = module();
  tir::Function library = with({}, "library");
  library.target = "cmsis-nn";
  for (const VarId var : {x, y}) {
    tir::Param param;
    param.var = var;
    param.is_tensor = true;
    param.element = i32;
    library.params.push_back(param);
  }
  tir::Function entry = with({}, "entry");
  entry.target = "c";
  net.functions = {entry, library};
  net.entry = 0;
  const Operator one = operators_of(net).at(1);
  CHECK(one.reads == std::vector<std::string>{"int32[?]", "int32[?]"});
  CHECK(one.writes.empty());
}

TEST_CASE_FIXTURE(Fixture, "multiply-accumulates: products of loaded values, as often as they are added") {
  const ExprRef a = load(x, var(k));
  const ExprRef b = load(w, var(k));
  CHECK(count(block(loop(i, 5, block(loop(k, 7, block(accumulate(var(i), a, b))))))) == 35);
  CHECK(count(block(store(y, 0, add(load(y, 0), add(mul(a, b), mul(b, a)))))) == 2);
  CHECK(count(block(store(y, 0, sub(mul(a, b), load(y, 0))))) == 1);
  CHECK(count(block(accumulate(imm(0), sub(a, 3), b))) == 1);
  CHECK(count(block(let(j, mul(a, b)), store(y, 0, add(load(y, 0), var(j))))) == 1);
  // Neither a factor that is no value of memory, nor a sum that starts anew, nor another element.
  CHECK(count(block(accumulate(imm(0), a, imm(3)))) == 0);
  CHECK(count(block(store(y, 0, mul(a, b)))) == 0);
  CHECK(count(block(store(y, 0, add(load(y, 1), mul(a, b))))) == 0);
  CHECK(count(block(store(y, 0, add(load(y, 0), a)))) == 0);
}

TEST_CASE_FIXTURE(Fixture, "multiply-accumulates: nothing where it is not known how often") {
  const tir::Block sum = block(accumulate(imm(0), load(x, 0), load(w, 0)));
  tir::Stmt unknown{tir::For{i, imm(0), load(x, 3), sum}};
  CHECK_FALSE(count(block(unknown)));
  tir::Block deep = sum;
  for (int n = 0; n < 3; ++n) deep = block(loop(integer("n"), std::int64_t{1} << 30, deep));
  CHECK_FALSE(count(deep));
}

TEST_CASE_FIXTURE(Fixture, "multiply-accumulates: of a function with those that it calls, as often as it does") {
  const VarId p = pointer("p", i32);
  function("inner", {x, w, y}, block(loop(k, 6, block(accumulate(imm(0), load(x, var(k)), load(w, var(k)))))));
  function("outer", {p}, block(loop(i, 3, block(call("inner", std::vector<VarId>{p, p, p})))));
  entry({p}, block(call("outer", std::vector<VarId>{p}), call("elsewhere", std::vector<VarId>{p})));
  const tir::Module built = build();
  const std::vector<Operator> all = operators_of(built);
  CHECK(all[*built.find("outer")].multiply_accumulates == 18);
  CHECK_FALSE(all[built.entry].multiply_accumulates);  // of the function that is elsewhere nothing is known
  CHECK(all[*built.find("inner")].reads == std::vector<std::string>{"int32[8]", "int32[8]"});
  CHECK(all[*built.find("inner")].writes == std::vector<std::string>{"int32[8]"});
}

TEST_CASE_FIXTURE(Fixture, "kinds by loops: sums of products") {
  const auto nest = [&](tir::Stmt stmt) {
    return block(loop(g, 4, block(loop(i, 8, block(loop(j, 5, block(loop(k, 3, block(std::move(stmt))))))))));
  };
  const ExprRef G = var(g);
  const ExprRef I = var(i);
  const ExprRef J = var(j);
  const ExprRef K = var(k);
  // y[i, j] += x[i + k] * w[j, k]; without the window; with the channel g of all three
  CHECK(kind(nest(accumulate(add(at(I, 5), J), load(x, add(I, K)), load(w, add(at(J, 3), K))))) == "conv2d");
  CHECK(kind(nest(accumulate(add(at(I, 5), J), load(w, add(at(J, 3), K)), load(x, add(I, K))))) == "conv2d");
  CHECK(kind(nest(accumulate(add(at(I, 5), J), load(x, add(at(I, 3), K)), load(w, add(at(J, 3), K))))) == "dense");
  CHECK(kind(nest(accumulate(add(at(I, 4), G), load(x, add(at(add(I, K), 4), G)), load(w, add(at(K, 4), G))))) ==
        "depthwise conv2d");
  CHECK(kind(nest(accumulate(add(at(I, 20), add(at(G, 5), J)), load(x, add(at(add(I, K), 4), G)),
                             load(w, add(at(K, 20), add(at(G, 5), J)))))) == "grouped conv2d");
  CHECK(kind(nest(accumulate(add(at(G, 40), add(at(I, 5), J)), load(x, add(at(G, 24), add(at(I, 3), K))),
                             load(w, add(at(G, 15), add(at(J, 3), K)))))) == "batch matmul");
  CHECK(kind(nest(accumulate(I, load(x, add(at(I, 3), K)), load(w, add(at(I, 3), K))))) == "sum");
}

TEST_CASE_FIXTURE(Fixture, "kinds by loops: the sum of most products decides") {
  const tir::Stmt dense = accumulate(var(i), load(x, var(k)), load(w, add(at(var(i), 9), var(k))));
  const tir::Stmt conv = accumulate(var(i), load(x, add(var(i), var(k))), load(w, var(k)));
  CHECK(kind(block(loop(i, 4, block(loop(k, 9, block(dense)))), loop(i, 4, block(loop(k, 3, block(conv)))))) ==
        "dense");
  CHECK(kind(block(loop(i, 4, block(loop(k, 2, block(dense)))), loop(i, 4, block(loop(k, 3, block(conv)))))) ==
        "conv2d");
}

TEST_CASE_FIXTURE(Fixture, "kinds by loops: without products") {
  const ExprRef I = var(i);
  CHECK(kind(block(loop(i, 4, block(store(y, I, load(x, I)))))) == "copy");
  CHECK(kind(block(loop(i, 4, block(store(y, I, add(load(x, I), 1)))))) == "elementwise");
  CHECK(kind(block(loop(i, 4, block(store(y, 0, add(load(y, 0), load(x, I))))))) == "sum");
  CHECK(kind(block(loop(i, 4, block(store(y, 0, larger(load(y, 0), load(x, I))))))) == "max");
  CHECK(kind(block(loop(i, 4, block(store(y, I, larger(load(x, I), 0)))))) == "elementwise");
  CHECK(kind({}) == "");
}

TEST_CASE_FIXTURE(Fixture, "kinds: loops tell what a cut name leaves out, and which convolution it is") {
  const tir::Block sums =
      block(loop(i, 4, block(loop(k, 3, block(accumulate(var(i), load(x, add(var(i), var(k))), load(w, var(k))))))));
  const auto named = [&](const std::string& name, const tir::Block& body) {
    return kind_of(module(), with(body, name));
  };
  CHECK(named("fused_cast_subtract__72fae376b03fb28c_", sums) == "conv2d");
  CHECK(named("fused_mystery", sums) == "conv2d");
  CHECK(named("fused_nn_softmax", sums) == "softmax");
  CHECK(named("fused_nn_conv2d", block(store(y, 0, imm(1)))) == "conv2d");
  CHECK(named("fused_cast_subtract", block(store(y, 0, load(x, 0)))) == "elementwise");
  const VarId depthwise = pointer("DepthwiseConv2d", i32);
  CHECK(named("fused_nn_conv2d", block(allocate(depthwise, 4), store(y, 0, imm(1)))) == "depthwise conv2d");
}

}  // namespace
}  // namespace usmp::operators::operators_test
