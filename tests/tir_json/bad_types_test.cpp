// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Types that do not go together: literals, vectors, indices. An Error with its place each time.
#include "tir_json/reading.hpp"

namespace usmp::testing::bad_types_test {
namespace {

struct Fixture {
  JsonBuilder b;

  // Refuses the expression, evaluated for nothing.
  Error refusal(Node expr) { return refused(b.module_of_body(b.evaluate(b.call("tir.sink", {expr})))); }
  Node ramp(Node base, Node stride, const std::string& dtype) {
    return b.add("tir.Ramp", {{"base", b.ref(base)}, {"stride", b.ref(stride)}, {"lanes", "4"}, {"dtype", dtype}});
  }
  Node broadcast(Node value, const std::string& dtype) {
    return b.add("tir.Broadcast", {{"value", b.ref(value)}, {"lanes", "4"}, {"dtype", dtype}});
  }
  // Refuses a load through these indices from a buffer of int32.
  Error refused_load(const JsonBuilder::Nodes& indices, const std::string& dtype) {
    const Node x = b.handle("x", "int32");
    JsonBuilder::Nodes shape;
    for (std::size_t i = 0; i < indices.size(); ++i) shape.push_back(b.integer(8));
    const Node load = b.load(b.buffer(x, "int32", shape), indices, dtype);
    const Node body = b.allocate(x, "int32", {b.integer(64)}, b.evaluate(b.call("tir.sink", {load}, dtype)));
    return refused(b.module_of_body(body));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "bad types: literals") {
  const Node text = b.floating("0x1.8");
  CHECK(contains(refusal(text).message(), "found '0x1.8', expected a floating point number"));
  CHECK(refusal(text).where().place == place(text, "value"));
  CHECK(contains(refusal(b.floating("1.5", "int32")).message(), "found 'int32', expected a floating point type"));
  CHECK(contains(refusal(b.floating("1.5", "float32x4")).message(), "found 'float32x4', expected a floating"));
  CHECK(contains(refusal(b.integer(1, "float32")).message(), "found 'float32', expected an integer type"));
  CHECK(contains(refusal(b.add("tir.Any", {{"dtype", "int32"}})).message(), "a 'tir.Any' dimension has no value"));
}

TEST_CASE_FIXTURE(Fixture, "bad types: vectors") {
  const Node one = b.integer(1);
  const Node scalar = ramp(one, one, "int32");
  CHECK(contains(refusal(scalar).message(), "found 'int32', expected a vector type"));
  CHECK(refusal(scalar).where().place == place(scalar, "dtype"));
  const Node mixed = ramp(one, b.integer(1, "int64"), "int32x4");
  CHECK(contains(refusal(mixed).message(), "found an operand of type 'int64', expected 'int32'"));
  CHECK(refusal(mixed).where().place == place(mixed, "stride"));
  CHECK(contains(refusal(broadcast(one, "int8x4")).message(), "found an operand of type 'int32', expected 'int8'"));
  CHECK(expr_text(b, ramp(one, one, "int32x4")) == "ramp(1, 1, 4)");
}

TEST_CASE_FIXTURE(Fixture, "bad types: indices") {
  const Node one = b.integer(1);
  CHECK(contains(refused_load({b.floating("1.0")}, "int32").message(),
                 "an index has type 'float32', expected an integer type"));
  CHECK(contains(refused_load({one, b.floating("1.0")}, "int32").message(),
                 "an index has type 'float32', expected an integer type"));
  const Node four = ramp(one, one, "int32x4");
  CHECK(contains(refused_load({four, four}, "int32x4").message(), "more than one index is a vector"));
  const Node two =
      b.add("tir.Ramp", {{"base", b.ref(one)}, {"stride", b.ref(one)}, {"lanes", "2"}, {"dtype", "int32x2"}});
  CHECK(contains(refused_load({broadcast(one, "int32x4"), broadcast(one, "int32x4"), two}, "int32x4").message(),
                 "more than one index is a vector"));
}

}  // namespace usmp::testing::bad_types_test
