// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// NDArrays in all the places where TVM keeps them, and blobs that lie.
#include "tir_json/reading.hpp"

namespace usmp::testing::constants_test {
namespace {

struct Fixture {
  JsonBuilder b;
  Node x = b.handle("x", "int16");
  NDArrayBlob blob{.type_code = 0, .bits = 16, .shape = {3}, .bytes = std::string("\x25\0\xEB\0\x8C\0", 6)};

  Node use() { return b.evaluate(b.call_extern("f", {x})); }
  Node constant(Node data, std::int64_t storage_index = -1) {
    return b.allocate_const(x, "int16", {b.integer(3)}, data, use(), storage_index);
  }
  static const tir::Constant& first(const tir::Module& module) {
    return *std::get<tir::AllocateConst>(module.functions[0].body[0].node).data;
  }
  // The message for an NDArray in an AllocateConst, whose place is the NDArray.
  std::string refusal(const NDArrayBlob& bad) {
    const Node data = b.ndarray(bad);
    const Error error = refused(b.module_of_body(constant(data)));
    CHECK(error.where().place == "nodes[" + std::to_string(data) + "].repr_str");
    return error.message();
  }
};

TEST_CASE_FIXTURE(Fixture, "data in the node, shared by its users") {
  const Node data = b.ndarray(blob);
  const tir::Module module = read(b.module_of_body(b.seq({constant(data), constant(data)})));
  const auto& scope = std::get<tir::Scope>(module.functions[0].body[0].node);
  const auto& one = std::get<tir::AllocateConst>(scope.body[0].node);
  const auto& two = std::get<tir::AllocateConst>(module.functions[0].body[1].node);
  CHECK(one.data == two.data);
  CHECK(one.data->bytes == blob.bytes);
  CHECK(one.data->shape == std::vector<std::int64_t>{3});
  CHECK(one.data->type == *tir::parse_data_type("int16"));
}

TEST_CASE_FIXTURE(Fixture, "data in the module's constants") {
  const Node data = b.ndarray(blob);
  for (const char* const name : {"constants", "Constants"}) {
    CHECK(first(read(b.module_of_body(constant(0, 1), {{name, b.array({b.integer(0), data})}}))).bytes == blob.bytes);
  }
  const Error error = refused(b.module_of_body(constant(0, 2), {{"constants", b.array({data})}}));
  CHECK(contains(error.where().place, ".attrs.irmod_storage_idx"));
  CHECK(contains(error.message(), "index 2 is out of range, the module has 1 constants"));
  CHECK(contains(refused(b.module_of_body(constant(0))).message(), "found null, expected the constant here"));
}

TEST_CASE_FIXTURE(Fixture, "data in b64ndarrays") {
  b.add_blob(blob.encoded());
  const Node relay = b.add("relay.Constant", {{"data", "0"}});
  CHECK(first(read(b.module_of_body(constant(0, 0), {{"constants", b.array({relay})}}))).bytes == blob.bytes);
  const Node wrong = b.add("relay.Constant", {{"data", "1"}});
  const Error error = refused(b.module_of_body(constant(0, 0), {{"constants", b.array({wrong})}}));
  CHECK(contains(error.message(), "index 1 is out of range, b64ndarrays has 1"));
}

TEST_CASE_FIXTURE(Fixture, "constants longer than what the parser is shown") {
  // Texts on both sides of JsonSource::shortest_left_out, of every length modulo 3.
  for (const int count : {0, 1, 2, 3, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 100, 1000, 4097}) {
    const auto size = static_cast<std::size_t>(count);
    JsonBuilder fresh;
    NDArrayBlob large{.type_code = 1, .bits = 8, .shape = {count}, .bytes = {}};
    for (std::size_t i = 0; i < size; ++i) large.bytes += static_cast<char>(i * 37 + size);
    const Node var = fresh.handle("x", "uint8");
    const Node extent = fresh.integer(count);
    const Node body = fresh.evaluate(fresh.call_extern("f", {var}));
    const Node data = fresh.ndarray(large);
    CHECK(first(read(fresh.module_of_body(fresh.allocate_const(var, "uint8", {extent}, data, body)))).bytes ==
          large.bytes);
  }
}

TEST_CASE_FIXTURE(Fixture, "a scalar has no extents; a bool takes a byte") {
  const Node scalar = b.ndarray({.type_code = 2, .bits = 32, .shape = {}, .bytes = std::string("\0\0\x80\x3F", 4)});
  const tir::Module module = read(b.module_of_body(b.allocate_const(x, "float32", {}, scalar, use())));
  CHECK(first(module).bytes.size() == 4);
  const Node flags = b.ndarray({.type_code = 1, .bits = 1, .shape = {2}, .bytes = std::string("\0\1", 2)});
  CHECK(first(read(b.module_of_body(b.allocate_const(x, "bool", {b.integer(2)}, flags, use())))).type.is_bool());
}

TEST_CASE_FIXTURE(Fixture, "an AllocateConst whose data does not fit") {
  const Node data = b.ndarray(blob);
  for (const auto& [dtype, extent] : {std::pair("int16", 4), std::pair("int8", 6), std::pair("int16", -3)}) {
    const Node allocate = b.allocate_const(x, dtype, {b.integer(extent)}, data, use());
    const Error error = refused(b.module_of_body(allocate));
    CHECK(error.where().place == place(allocate));
    CHECK(contains(error.message(), "but its data is int16 of 6 bytes"));
  }
}

TEST_CASE_FIXTURE(Fixture, "blobs that do not fit their headers") {
  NDArrayBlob bad = blob;
  SUBCASE("wrong magic") {
    bad.magic = 1;
    CHECK(contains(refusal(bad), "does not begin with the magic number 0xDD5E40F096B4A13F"));
  }
  SUBCASE("ten GiB that are not there") {
    bad.shape = {std::int64_t{10} << 29};
    bad.byte_size = std::int64_t{10} << 30;
    CHECK(contains(refusal(bad), "claims 10737418240 bytes, but 6 follow its header"));
  }
  SUBCASE("a size that its shape does not give") {
    bad.shape = {4};
    CHECK(contains(refusal(bad), "claims 6 bytes, expected 8 from its shape and type"));
  }
  SUBCASE("a shape that overflows") {
    bad.shape = {INT64_MAX, INT64_MAX};
    CHECK(contains(refusal(bad), "expected more than an int64 holds from its shape and type"));
  }
  SUBCASE("a negative extent") {
    bad.shape = {-3};
    CHECK(contains(refusal(bad), "a dimension of -3 elements"));
  }
  SUBCASE("an unknown type") {
    bad.type_code = 9;
    CHECK(contains(refusal(bad), "the NDArray has type code 9 with 16 bits"));
  }
  SUBCASE("data cut off") {
    bad.byte_size = 6;
    bad.bytes.resize(3);
    CHECK(contains(refusal(bad), "claims 6 bytes, but 3 follow its header"));
  }
}

TEST_CASE_FIXTURE(Fixture, "base64 cut off anywhere is refused") {
  const std::string whole = blob.encoded();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Node data = b.ndarray(blob);
    b.at(data)["repr_str"] = whole.substr(0, length);
    CHECK_FALSE(refused(b.module_of_body(constant(data))).message().empty());
  }
  const Node data = b.ndarray(blob);
  std::string text = whole;
  text[10] = '*';
  b.at(data)["repr_str"] = text;
  CHECK(contains(refused(b.module_of_body(constant(data))).message(), "character 10 of the base64 text"));
  text[10] = '=';
  b.at(data)["repr_str"] = text;
  CHECK(contains(refused(b.module_of_body(constant(data))).message(), "character 10 of the base64 text"));
}

TEST_CASE("strings kept as base64 have their length in front") {
  JsonBuilder b;
  const Node text = b.string("");
  const auto found = [&](const std::string& base64_of_text) {
    b.at(text)["repr_b64"] = base64_of_text;
    const Error error = refused(b.module_of_body(b.evaluate(text)));
    CHECK(error.where().place == "nodes[" + std::to_string(text) + "].repr_b64");
    return error.message();
  };
  b.at(text)["repr_b64"] = base64_text("a\tb");
  CHECK(expr_text(b, text) == R"("a\x09b")");
  b.at(text)["repr_b64"] = base64_text("");
  CHECK(expr_text(b, text) == R"("")");
  CHECK(contains(found("abc"), "expected a multiple of 4"));
  CHECK(contains(found(base64("1234567")), "found 7 bytes, expected 8 bytes of length and the text"));
  CHECK(contains(found(base64("\3" + std::string(7, '\0') + "ab")),
                 "found a text of 2 bytes, expected 3, as its first 8 bytes say"));
  CHECK(contains(found(base64("\2" + std::string(6, '\0') + "\1ab")), "expected 72057594037927938"));
}

}  // namespace
}  // namespace usmp::testing::constants_test
