// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arrays of constants as text, and random bits that a C compiler has to read back.
#include "codegen/constant_data.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "codegen/c_compiler.hpp"

namespace usmp::codegen::testing::constant_data_test {
namespace {

using tir::DataType;
using tir::TypeCode;

template <class T>
tir::Constant constant(DataType type, const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {.type = type, .shape = {static_cast<std::int64_t>(values.size())}, .bytes = bytes};
}

std::string elements(const tir::Constant& data) {
  StringSink sink;
  write_elements(data, "", sink);
  return sink.text();
}

TEST_CASE("elements of every type") {
  CHECK(elements(constant<std::int8_t>({TypeCode::int_, 8, 1}, {0, -1, 127, -128})) == "0,-1,127,-128");
  CHECK(elements(constant<std::uint8_t>({TypeCode::uint, 8, 1}, {0, 255})) == "0,255");
  CHECK(elements(constant<std::uint8_t>(tir::bool_type, {0, 1})) == "0,1");
  CHECK(elements(constant<std::int16_t>({TypeCode::int_, 16, 1}, {-32768, 32767})) == "-32768,32767");
  CHECK(elements(constant<std::int32_t>(tir::int32_type, {INT32_MIN, INT32_MAX})) == "(-2147483647-1),2147483647");
  CHECK(elements(constant<std::uint32_t>({TypeCode::uint, 32, 1}, {UINT32_MAX, 1})) == "4294967295U,1");
  CHECK(elements(constant<std::int64_t>(tir::int64_type, {INT64_MIN, INT64_MAX})) ==
        "(-9223372036854775807LL-1),9223372036854775807");
  CHECK(elements(constant<std::uint64_t>({TypeCode::uint, 64, 1}, {UINT64_MAX})) == "18446744073709551615U");
  CHECK(elements(constant<float>({TypeCode::float_, 32, 1}, {0.0F, -0.0F, 0.1F, 1e20F, 1e-45F})) ==
        "0.0f,-0.0f,0.1f,1e+20f,1e-45f");
  CHECK(elements(constant<double>({TypeCode::float_, 64, 1}, {0.1, 3.0})) == "0.1,3.0");
  CHECK(elements(constant<std::uint16_t>({TypeCode::float_, 16, 1}, {0x3c00})) == "15360");
  CHECK(elements(constant<std::int8_t>({TypeCode::int_, 8, 4}, {1, 2, 3, 4})) == "1,2,3,4");
}

TEST_CASE("the array's declaration") {
  CHECK(array_of(constant<float>({TypeCode::float_, 32, 1}, {1, 2})).element == "float");
  CHECK(array_of(constant<float>({TypeCode::float_, 32, 1}, {1, 2})).count == 2);
  CHECK(array_of(constant<std::uint16_t>({TypeCode::bfloat, 16, 1}, {1})).element == "uint16_t");
  CHECK(array_of(constant<std::uint8_t>(tir::bool_type, {1})).element == "uint8_t");
  const ConstantArray odd = array_of(constant<std::uint8_t>({TypeCode::int_, 24, 1}, {1, 2, 3}));
  CHECK(odd.element == "uint8_t");
  CHECK(odd.count == 3);
}

TEST_CASE("floats that C cannot write keep their bits") {
  const float nan = std::bit_cast<float>(0x7fc12345U);
  const tir::Constant data =
      constant<float>({TypeCode::float_, 32, 1}, {1.0F, nan, -std::numeric_limits<float>::infinity()});
  CHECK(array_of(data).element == "uint32_t");
  CHECK(elements(data) == "1065353216,2143363909,4286578688U");
  const tir::Constant wide = constant<double>({TypeCode::float_, 64, 1}, {std::numeric_limits<double>::infinity()});
  CHECK(array_of(wide).element == "uint64_t");
}

TEST_CASE("lines are short and nothing follows the last element") {
  const std::string text = elements(constant(tir::int32_type, std::vector<std::int32_t>(1000, -1234567)));
  CHECK(text.back() == '7');
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    CHECK(end - begin <= 120);
    begin = end + 1;
  }
}

TEST_CASE("bytes: lines end as asked, pieces join, gaps are zero") {
  StringSink sink;
  ByteWriter writer("> ", "|\n", sink);
  writer.write("\x01\xff");
  writer.fill(2);
  writer.write(std::string(17, '\x10'));
  writer.finish();
  CHECK(sink.text() ==
        "> 0x01,0xff,0x00,0x00,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,0x10,|\n"
        "> 0x10");
}

// The C compiler reads back what was written, bit for bit.
TEST_CASE("random bits survive a compiler") {
  std::mt19937 random(7);
  std::string program = "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n";
  std::string checks;
  int number = 0;
  for (const DataType type :
       {DataType{TypeCode::float_, 32, 1}, DataType{TypeCode::float_, 64, 1}, DataType{TypeCode::int_, 64, 1},
        DataType{TypeCode::uint, 32, 1}, DataType{TypeCode::int_, 16, 1}, DataType{TypeCode::float_, 16, 1}}) {
    tir::Constant data{.type = type, .shape = {}, .bytes = {}};
    for (int i = 0; i < 400; ++i) data.bytes += static_cast<char>(random() & 0xffU);
    if (type.is_float()) {  // the values that stay floats
      const auto size = static_cast<std::size_t>(type.element_bytes());
      for (std::size_t i = size - 1; i < data.bytes.size(); i += size)
        data.bytes[i] = static_cast<char>(data.bytes[i] & 0xbf);
    }
    const std::string name = "a" + std::to_string(number++);
    program += "static const " + array_of(data).element + " " + name + "[] = {\n" + elements(data) + "};\n";
    StringSink bytes;
    ByteWriter writer("", "\n", bytes);
    writer.write(data.bytes);
    writer.finish();
    program += "static const uint8_t " + name + "_bytes[] = {" + bytes.text() + "};\n";
    checks += "  if (sizeof " + name + " != sizeof " + name + "_bytes || memcmp(" + name + ", " + name +
              "_bytes, sizeof " + name + ") != 0) { printf(\"" + name + "\\n\"); return 1; }\n";
  }
  const CompilerSandbox sandbox;
  sandbox.add("main.c", program + "int main(void) {\n" + checks + "  return 0;\n}\n");
  sandbox.expect_clean("main.c");
  const auto outcome = sandbox.build_and_run("main.c");
  CHECK_MESSAGE(outcome.status == 0, outcome.output);
}

}  // namespace
}  // namespace usmp::codegen::testing::constant_data_test
