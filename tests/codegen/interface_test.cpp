// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which entry parameter is which tensor of the interface.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "codegen/planned_module.hpp"

namespace usmp::codegen::testing::interface_test {
namespace {

struct Param {
  std::string name;
  std::vector<std::int64_t> shape = {8};
  bool is_tensor = true;
};

// A module whose entry has these parameters and copies the first to all that are named in `written`.
tir::Module module_of(const std::vector<Param>& params, const std::vector<std::size_t>& written = {}) {
  ModuleBuilder b;
  std::vector<tir::VarId> vars;
  for (const Param& param : params) vars.push_back(b.pointer(param.name));
  tir::Block body;
  for (const std::size_t i : written) body.push_back(b.copy(vars[i], vars[0]));
  b.entry(vars, std::move(body));
  tir::Module module = b.build();
  for (std::size_t i = 0; i < params.size(); ++i) {
    tir::Param& param = module.functions[module.entry].params[i];
    param.shape = params[i].shape;
    param.is_tensor = params[i].is_tensor;
  }
  return module;
}

model::Tensor tensor(std::string name, std::optional<Bytes> size = {}, std::string dtype = "") {
  return {.name = std::move(name), .dtype = std::move(dtype), .size = size};
}

std::string describe(const std::vector<InterfaceTensor>& tensors) {
  std::string text;
  for (const InterfaceTensor& t : tensors) {
    text += (text.empty() ? "" : ", ") + t.name + "=" + std::to_string(t.param) + ":" + std::to_string(t.size) +
            (t.member == t.name ? "" : " as " + t.member);
  }
  return text;
}

std::string error_of(const model::Description& info, const tir::Module& module) {
  try {
    (void)interface_of(info, module);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::archive);
    return error.what();
  }
  return "no error";
}

TEST_CASE("inputs match parameter names, outputs are the other tensors in order, the rest are devices") {
  const tir::Module module = module_of(
      {{"b"}, {"a", {4}}, {"output", {2}}, {"output2", {3}}, {"device_context_npu", {}, false}, {"odd", {}, false}});
  const model::Description info = info_of("m", {tensor("a"), tensor("b")}, {tensor("y"), tensor("x")});
  const Interface interface = interface_of(info, module);
  CHECK(describe(interface.inputs) == "a=1:4, b=0:8");
  CHECK(describe(interface.outputs) == "y=2:2, x=3:3");
  CHECK(describe(interface.devices) == "npu=4:0, odd=5:0");
}

TEST_CASE("outputs whose names are all parameters are matched by name") {
  const tir::Module module = module_of({{"in"}, {"second", {2}}, {"first", {3}}});
  CHECK(describe(interface_of(info_of("m", {tensor("in")}, {tensor("first"), tensor("second")}), module).outputs) ==
        "first=2:3, second=1:2");
  CHECK_MESSAGE(
      describe(interface_of(info_of("m", {tensor("in")}, {tensor("other"), tensor("second")}), module).outputs) ==
          "other=1:2, second=2:3",
      "all or none");
}

TEST_CASE("names are compared as TVM sanitises them, an exact match first") {
  const model::Description info = info_of("m", {tensor("input.1"), tensor("serving:0")}, {tensor("out:0")});
  const Interface interface = interface_of(info, module_of({{"serving_0"}, {"input_1"}, {"output"}}));
  CHECK(describe(interface.inputs) == "input.1=1:8 as input_1, serving:0=0:8 as serving_0");
  CHECK(describe(interface.outputs) == "out:0=2:8 as out_0");
  const model::Description clash = info_of("m", {tensor("a_b"), tensor("a.b")}, {tensor("y")});
  CHECK(describe(interface_of(clash, module_of({{"a.b"}, {"a_b"}, {"output"}})).inputs) == "a_b=1:8, a.b=0:8 as a_b_2");
}

TEST_CASE("members are unique C and C++ identifiers within their struct") {
  const model::Description info =
      info_of("m", {tensor("class"), tensor("a.b"), tensor("a:b"), tensor("2d"), tensor("log")}, {tensor("class")});
  const Interface interface = interface_of(info, module_of({{"class"}, {"a.b"}, {"a:b"}, {"2d"}, {"log"}, {"output"}}));
  CHECK(describe(interface.inputs) == "class=0:8 as class_, a.b=1:8 as a_b, a:b=2:8 as a_b_2, 2d=3:8 as _2d, log=4:8");
  CHECK(describe(interface.outputs) == "class=5:8 as class_");
}

TEST_CASE("TVM 0.8: plain handles, all alike; their order decides and sizes come from the metadata") {
  const tir::Module module = module_of({{"input", {}, false}, {"input", {}, false}, {"output", {}, false}});
  const model::Description info = info_of("m", {tensor("x", 12), tensor("y")}, {tensor("z", 3)});
  const Interface interface = interface_of(info, module);
  CHECK(describe(interface.inputs) == "x=0:12, y=1:0");
  CHECK(describe(interface.outputs) == "z=2:3");
  CHECK(interface.devices.empty());
}

TEST_CASE("plain handles behind the outputs are device contexts") {
  const tir::Module module = module_of({{"x", {}, false}, {"output", {}, false}, {"device_context_npu", {}, false}});
  const Interface interface = interface_of(info_of("m", {tensor("x")}, {tensor("y")}), module);
  CHECK(describe(interface.outputs) == "y=1:0");
  CHECK(describe(interface.devices) == "npu=2:0");
}

TEST_CASE("an archive that names no tensors: what is written is an output, under TVM's names") {
  const model::Description info = info_of("m", {}, {});
  const Interface one = interface_of(info, module_of({{"x"}, {"y", {2}}, {"output"}}, {2}));
  CHECK(describe(one.inputs) == "x=0:8, y=1:2");
  CHECK(describe(one.outputs) == "output=2:8");
  const Interface two = interface_of(info, module_of({{"x"}, {"output"}, {"output2", {2}}}, {1, 2}));
  CHECK(describe(two.outputs) == "output0=1:8, output1=2:2");
}

TEST_CASE("an archive that names no tensors, with opaque kernels that may write everything") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  b.function("kernel", {p, q}, {}, "npu");
  const auto x = b.pointer("x");
  const auto output = b.pointer("output");
  b.entry({x, output}, block(b.call("kernel", {x, output})));
  const Interface interface = interface_of(info_of("m", {}, {}), b.build());
  CHECK(describe(interface.inputs) == "x=0:8");
  CHECK(describe(interface.outputs) == "output=1:8");
}

TEST_CASE("what does not fit is an error of the archive") {
  const tir::Module module = module_of({{"x"}, {"output", {2}}});
  CHECK(error_of(info_of("m", {tensor("z"), tensor("w")}, {tensor("y")}), module) ==
        "main: the archive names an input 'z', which is not a parameter of the entry function");
  CHECK(error_of(info_of("m", {tensor("x"), tensor("x")}, {tensor("y")}), module) ==
        "main: the archive names inputs that share parameters of the entry function");
  CHECK(error_of(info_of("m", {tensor("x")}, {tensor("y"), tensor("z")}), module) ==
        "main: the archive names 2 outputs, but the entry function has 1 tensor parameters besides its inputs");
  CHECK(error_of(info_of("m", {tensor("x", 9)}, {tensor("y")}), module) ==
        "main: input 'x' has 9 bytes in metadata.json, but parameter 'x' has 8");
  CHECK(error_of(info_of("m", {tensor("x", 8)}, {tensor("y", 3)}), module) ==
        "main: output 'y' has 3 bytes in metadata.json, but parameter 'output' has 2");
  CHECK(error_of(info_of("m", {tensor("x", 8, "uint8")}, {tensor("y")}), module) ==
        "main: input 'x' is uint8 in metadata.json, but parameter 'x' is int8");
  CHECK(error_of(info_of("m", {tensor("x", 8, "int8")}, {tensor("y", 2, "int8")}), module) == "no error");
}

TEST_CASE("a zero point is a value of the type") {
  const tir::Module module = module_of({{"x"}, {"output", {2}}});
  model::Tensor x = tensor("x", 8, "int8");
  for (const auto& [zero_point, error] :
       {std::pair<std::int64_t, std::string>{-128, "no error"},
        {127, "no error"},
        {128, "main: input 'x' has the zero point 128 in metadata.json, which is no int8"},
        {-129, "main: input 'x' has the zero point -129 in metadata.json, which is no int8"}}) {
    x.quantization = {0.5F, zero_point};
    CHECK(error_of(info_of("m", {x}, {tensor("y")}), module) == error);
  }
}

}  // namespace
}  // namespace usmp::codegen::testing::interface_test
