// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Long lists of numbers, each of which is one token.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::long_lists_test {
namespace {

// 4096 numbers in lines of 16. `last`: the one before the last line.
std::string numbers(const std::string& last = "+0x05", const std::string& line_break = "\n    ") {
  std::string text = line_break;
  for (int i = 0; i < 4080; ++i) {
    text += (i == 2047 ? last : i % 3 == 0 ? "-0x11" : "+0x2f") + std::string(i % 16 == 15 ? "," + line_break : ", ");
  }
  return text + "+0x07, +0x08\n";
}

std::string table(const std::string& list, const std::string& name = "c", const std::string& words = "static const") {
  return words + " int8_t " + name + "[4096] = {" + list + "};\n";
}

// The operator adds the table to its input.
std::string model(const std::string& before, const std::string& type = "int8_t") {
  return before + "int32_t tvmgen_m_op(" + type + "* p, " + type +
         "* q) {\n  for (int32_t i = 0; i < 4096; ++i) {\n    q[i] = ((" + type +
         ")(((int32_t)p[i]) + ((int32_t)c[i])));\n  }\n  return 0;\n}\n"
         "int32_t tvmgen_m___tvm_main__(" +
         type + "* x_buffer_var, " + type +
         "* y_buffer_var) {\n  if (tvmgen_m_op(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
}

PlannedModule read(const std::string& text, Unread unread = Unread::kept) {
  const Source file{"lib1.c", text};
  return read_planned_module("m", {&file, 1}, {}, {}, unread);
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text, Unread::refused);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> constants(const std::string& text) {
  std::vector<std::string> result;
  const tir::Module module = read(text).module;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) result.push_back(constant->data->bytes);
    });
  }
  return result;
}

TEST_CASE("tables in long lists have the values that they have number by number") {
  const std::string text = model(table(numbers()));
  const auto spaced = [](std::string list) {  // a comment, behind which each number is a token
    return list.insert(list.find("{\n") + 1, " /**/");
  };
  const auto values = constants(text);
  REQUIRE(values.size() == 1);
  CHECK(values[0].size() == 4096);
  CHECK(values[0].substr(2046, 2) == "\xef\x05");
  CHECK(values[0].substr(4079) == std::string("\x2f\x07\x08") + std::string(14, '\0'));
  CHECK(values == constants(spaced(text)));
  // Numbers that are not read in bulk, of which the text itself is read.
  for (const char* number :
       {"0x05 /* five */", "0x05u", "017", "'a'", "1L", "1 2", "ONE", "- 5", "08", "5x", "", "+"}) {
    CAPTURE(number);
    const std::string odd = model(table(numbers(number)));
    CHECK(error_of(odd) == error_of(spaced(odd)));
    if (error_of(odd) == "no error") CHECK(constants(odd) == constants(spaced(odd)));
  }
  for (const char* number : {"017", "-017", "0x1p3f", "1e3", "1.", ".5", "0x10", "2147483648", "18446744073709551616.",
                             "1.0000001192092896f"}) {
    CAPTURE(number);
    const std::string odd = model("static const float c[4096] = {" + numbers(number) + "};\n", "float");
    CHECK(error_of(odd) == "no error");
    const auto found = constants(odd);
    REQUIRE(found.size() == 1);
    CHECK(found == constants(spaced(odd)));
  }
}

TEST_CASE("numbers of tables, however they are spelled") {
  const auto text_of = [](const std::string& type, const std::string& list, const std::string& extent = "4096") {
    return model("static const " + type + " c[" + extent + "] = {" + list + "};\n", type);
  };
  const auto bytes = [&](const std::string& type, const std::string& list, std::size_t count) {
    const auto values = constants(text_of(type, list));
    REQUIRE(values.size() == 1);
    CHECK(values[0].find_first_not_of('\0', count) == std::string::npos);
    return values[0].substr(0, count);
  };
  CHECK(bytes("int8_t", "1, -2, +3, - -4, (int8_t)5, (int16_t)-6, -(int32_t)7, 010, -0x80", 9) ==
        "\x01\xfe\x03\x04\x05\xfa\xf9\x08\x80");
  CHECK(bytes("int32_t", "-2147483648, -0x80000000, 0x7fffffff, 1L", 16) ==
        std::string("\0\0\0\x80\0\0\0\x80\xff\xff\xff\x7f\x01\0\0\0", 16));
  // A literal without sign stays so when it is negated.
  CHECK(
      bytes("int64_t", "-0x80000000, -1u, -1ull, -2147483648", 32) ==
      std::string(
          "\0\0\0\x80\0\0\0\0\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\x80\xff\xff\xff\xff", 32));
  CHECK(bytes("float", "INFINITY, -INFINITY, (float)1, -1u, 017, -2.0f", 24) ==
        std::string("\0\0\x80\x7f\0\0\x80\xff\0\0\x80\x3f\0\0\x80\x4f\0\0\x70\x41\0\0\0\xc0", 24));
  CHECK(bytes("float", "NAN, (float)INFINITY", 8) == std::string("\0\0\xc0\x7f\0\0\x80\x7f", 8));
  CHECK(bytes("int16_t", "(uint8_t)0, (int8_t)-127, (uint8_t)255, (int8_t)127", 8) ==
        std::string("\0\0\x81\xff\xff\0\x7f\0", 8));
  for (const auto& [list, message] :
       {std::pair("1, ONE", "found 'ONE', expected a number"), std::pair("(int8_t*)3", "expected a cast to int8"),
        std::pair("(float)3", "expected a cast to int8"), std::pair("(uint8_t)-1", "a number that casts do not change"),
        std::pair("(uint8_t)256", "a number that casts do not change"),
        std::pair("-(uint8_t)1", "a number that casts do not change"),
        std::pair("(int16_t)-1u", "a number that casts do not change"), std::pair("(int8_t)128", "int8 does not hold"),
        std::pair("-129", "int8 does not hold"), std::pair("INFINITY", ""), std::pair("~1", "found"),
        std::pair("1 2", "found"), std::pair("1 + 2", "found")}) {
    CAPTURE(list);
    const std::string error = error_of(text_of("int8_t", list));
    CHECK(error != "no error");
    CHECK_MESSAGE(error.find(message) != std::string::npos, error);
  }
  CHECK(error_of(text_of("int8_t", "1", "8192")) == "no error");
  CHECK(error_of(text_of("int8_t", "1", "8194")).find("found 1 values of 8194") != std::string::npos);
  CHECK(error_of(text_of("int8_t", "1, 2", "1")).find("more values than the array") != std::string::npos);
}

// More than what is read at once.
TEST_CASE("a table of megabytes has all its numbers") {
  std::string list;
  std::string expected;
  for (int i = 0; i < 300000; ++i) {
    list += (i % 12 == 0 ? "\n    " : " ") + std::string(i % 5 == 0 ? "-" : "+") + std::to_string(i % 97) + ",";
    expected += static_cast<char>(i % 5 == 0 ? -(i % 97) : i % 97);
  }
  const std::string text = model("static const int8_t c[300001] = {" + list + "\n 1};\n");
  const auto values = constants(text);
  REQUIRE(values.size() == 1);
  CHECK((values[0] == expected + "\1"));
  const std::string few = model("static const int8_t c[299999] = {" + list + "\n 1};\n");
  CHECK(error_of(few).find("more values than the array has elements") != std::string::npos);
}

TEST_CASE("messages and texts that stay are of the text as it is") {
  const auto is_at = [](const std::string& text, const std::string& place, const std::string& message) {
    const std::string error = error_of(text);
    CAPTURE(error);
    CHECK(error.find("lib1.c: " + line_and_column(text, text.find(place) + 1)) != std::string::npos);
    CHECK(error.find(message) != std::string::npos);
  };
  // In a list, in front of it, behind it.
  is_at(model(table(numbers("+0x7ff"))), "0x7ff", "int8 does not hold");
  is_at(model("static const int8_t c[100] = {" + numbers() + "};\n"), "{", "more values than the array has");
  is_at(model(table(numbers()) + "  return 1;\n"), "return 1", "a declaration outside of functions");
  // A helper's table.
  const std::string helper = "static int8_t look(int32_t i) {\n  return d[i];\n}\n";
  std::string text = model(table(numbers()) + table(numbers(), "d", "static const") + helper);
  const std::string use = "((int32_t)c[i])";
  text.replace(text.find(use), use.size(), use + " + look(i)");
  bool has_table = false;
  for (const tir::Function& function : read(text).module.functions) {
    for (const std::string& kept : function.imported_c) {
      has_table = has_table || kept.find(table(numbers(), "d")) != std::string::npos;
    }
  }
  CHECK(has_table);
}

// Texts that stay in the entry, and other functions.
std::vector<std::string> kept_texts(const std::string& text) {
  std::vector<std::string> result;
  const tir::Module module = read(text).module;
  for (const tir::Function& function : module.functions) {
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      if (const std::string* kept = tir::kept_text_of(expr)) result.push_back(*kept);
      if (const auto failure = tir::kept_failure_of(expr)) result.emplace_back(failure->text);
    });
    result.insert(result.end(), function.imported_c.begin(), function.imported_c.end());
  }
  return result;
}

TEST_CASE("statements of the entry that stay have their lists") {
  const std::string list = "{" + numbers("+0x05") + "}";
  for (const char* const statement :
       {"  { static const int8_t w[4096] = LIST; trace(w); }\n", "  static const int8_t w[4096] = LIST;\n  trace(w);\n",
        "#ifdef TRACE\n  static const int8_t w[4096] = LIST;\n  trace(w);\n#endif\n", "  TRACE(LIST);\n",
        "  trace((const int8_t[])LIST);\n", "  do { trace((const int8_t[])LIST); } while (0);\n",
        "  if (tvmgen_m_op(x_buffer_var, y_buffer_var) != 0) {\n    trace((const int8_t[])LIST);\n    return -1;\n  "
        "}\n"}) {
    CAPTURE(statement);
    std::string added = statement;
    added.replace(added.find("LIST"), 4, list);
    std::string text = model("void trace(const int8_t* w);\n" + table(numbers()));
    text.insert(text.rfind("  if (tvmgen_m_op"), added);
    if (added.starts_with("  if")) {  // what a failure does; the operator may fail, and is not read
      text.insert(text.find("  for (int32_t i"), "  if (p[0] == 7) goto out;\n");
      text.insert(text.find("  return 0;"), "out:\n  if (p[0] == 7) return 1;\n");
    }
    std::string spaced = text;  // not folded
    const std::string comment = "/* \1 */";
    spaced.insert(spaced.find("  for (int32_t i"), comment);
    const auto texts = kept_texts(text);
    bool has_list = false;
    for (const std::string& kept : texts) has_list = has_list || kept.find(list) != std::string::npos;
    CHECK(has_list);
    auto expected = kept_texts(spaced);
    for (std::string& kept : expected) {
      if (const std::size_t at = kept.find(comment); at != std::string::npos) kept.erase(at, comment.size());
    }
    CHECK(texts == expected);
  }
}

}  // namespace
}  // namespace usmp::tvm_c::long_lists_test
