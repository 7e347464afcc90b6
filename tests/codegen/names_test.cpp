// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names in C: sanitised, numbered, kept apart from reserved ones and from those of other text.
#include "codegen/names.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "codegen/helpers.hpp"
#include "usmp/support/error.hpp"

namespace usmp::codegen::names_test {
namespace {

TEST_CASE("names are sanitised, numbered in order and kept apart from the parent's") {
  NameTable file;
  CHECK(file.take("tvmgen_default_f"));
  CHECK_FALSE(file.take("tvmgen_default_f"));
  NameTable function(&file);
  CHECK(function.unique("p0") == "p0");
  CHECK(function.unique("p0") == "p0_1");
  CHECK(function.unique("p0") == "p0_2");
  CHECK(function.unique("p0_1") == "p0_1_1");
  CHECK(function.unique("a.b c") == "a_b_c");
  CHECK(function.unique("tvmgen_default_f") == "tvmgen_default_f_1");
  function.forbid("dot");
  CHECK(function.unique("dot") == "dot_1");
  NameTable other(&file);
  CHECK(other.unique("p0") == "p0");
}

TEST_CASE("names of text that somebody else has, too, are told") {
  const auto error = [](const std::string& text) {
    try {
      require_own_names(text, {"sum", "NULL", "USMP_ALIGNED", "usmp_word"},
                        [](const std::string& name) { return name == "usmp_pairs" || name == "x"; });
      return std::string("none");
    } catch (const Error& fault) {
      return std::string(fault.what());
    }
  };
  for (const std::string name : {"sum", "usmp_word"}) {
    const std::string found = "found macro '" + name +
                              "' in the model's header or one that it includes, a name of planned C's, expected "
                              "another";
    CHECK(error("int a; /* x */ int " + name + ";") == found);
    CHECK(error("// a\nint " + name + ";") == found);
  }
  CHECK(error("usmp_pairs x;") ==
        "found 'usmp_pairs' in code that stays or its headers, a name of planned C's, expected another");
  CHECK(error("int sums; /* sum */ // sum\nint a = x; // sum") == "none");
  CHECK(error("USMP_ALIGNED(4) void* a = NULL;") == "none");
  CHECK(error("") == "none");
}

TEST_CASE("reserved names") {
  NameTable names;
  for (const char* name :
       {"int", "class", "restrict", "NULL", "expf", "expl", "isnan", "uint8_t", "linux", "signgam"}) {
    CHECK(is_reserved_name(name));
    CHECK_FALSE(names.take(name));
    CHECK(names.unique(name) == std::string(name) + "_1");
  }
  CHECK(names.unique("_Bool") == "v_Bool");
  CHECK(names.unique("__func__") == "v__func__");
  CHECK(names.unique("3x") == "v_3x");
  CHECK(names.unique("usmp_min_i32") == "vusmp_min_i32");
  CHECK(names.unique("TVMBackendAllocWorkspace") == "vTVMBackendAllocWorkspace");
  CHECK_FALSE(is_reserved_name("data_pad"));
  CHECK_FALSE(is_reserved_name("f"));
}

TEST_CASE("a helper stands once, after those that it calls") {
  Helpers helpers;
  CHECK(helpers.round_to_half({tir::TypeCode::float_, 16, 1}) == "usmp_round_f16");
  CHECK(helpers.round_to_half({tir::TypeCode::float_, 16, 1}) == "usmp_round_f16");
  CHECK(helpers.min({tir::TypeCode::int_, 8, 1}) == "usmp_min_i32");
  CHECK(helpers.min(tir::int32_type) == "usmp_min_i32");
  StringSink sink;
  helpers.write(sink);
  const std::string& text = sink.text();
  const auto position = [&](const char* part) { return text.find(part); };
  CHECK(position("float usmp_round_f16(") == text.rfind("float usmp_round_f16("));
  CHECK(position("usmp_min_i32(") == text.rfind("usmp_min_i32("));
  CHECK(position("usmp_f16_to_f32(uint16_t") < position("usmp_round_f16("));
  CHECK(position("usmp_f32_to_f16(float") < position("usmp_round_f16("));
  CHECK(helpers.headers().contains("string.h"));
  CHECK_FALSE(helpers.headers().contains("math.h"));
}

}  // namespace
}  // namespace usmp::codegen::names_test
