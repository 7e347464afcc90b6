// SPDX-License-Identifier: Apache-2.0
// Entries that somebody divided into functions, with pointers that these share.
#include <doctest/doctest.h>

#include <string>

#include "tvm_c/read_entry.hpp"

namespace usmp::tvm_c::entry_parts_test {
namespace {

std::string read(const std::string& front, const std::string& statements) {
  return test::read_entry("#include <stdio.h>\n" + test::two_operators + front, statements, "");
}

// Its calls are calls of a function.
bool stays(const std::string& front, const std::string& statements, const std::string& function) {
  return read(front, statements).find("call_extern(\"" + function + "\"") != std::string::npos;
}

bool is_refused(const std::string& front, const std::string& statements) {
  return read(front, statements).starts_with("lib1.c: line ");
}

// Allocates where the pointer is declared, or set.
std::string taken(const std::string& pointer) {
  return "  " + pointer +
         " = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n  }\n";
}

const std::string plain_statements = taken("void* sid_1") +
                                     "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n"
                                     "  if (tvmgen_m_dev(sid_1, y_buffer_var) != 0) return -1;\n";
const std::string pointer = "static void* sid_1;\n";
const std::string calls = "  if (first(x_buffer_var) != 0) return -1;\n  if (second(y_buffer_var) != 0) return -1;\n";

// Of the second part: its last statements.
std::string parts(const std::string& end = "  return 0;\n") {
  return pointer + "static int32_t first(int8_t* from) {\n" + taken("sid_1") +
         "  if (tvmgen_m_dev(from, sid_1) != 0) return -2;\n  return 0;\n}\n" +
         "static int32_t second(int8_t* y_buffer_var) {\n  if (tvmgen_m_dev(sid_1, y_buffer_var) != 0) return -1;\n" +
         end + "}\n";
}

}  // namespace

TEST_CASE("pointers of the file that the entry alone sets and uses are its variables") {
  const std::string plain = read("", plain_statements);
  REQUIRE(plain.find("tvm_check_return") != std::string::npos);
  std::string statements = plain_statements;
  statements.erase(statements.find("void* "), 6);
  CHECK(read(pointer, statements) == plain);
  CHECK(read("static void* sid_1 = NULL;\n", statements) == plain);
  const std::string use = "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n";
  CHECK(is_refused(pointer, use + statements));                                         // before it is set
  CHECK(is_refused(pointer, statements + taken("sid_1")));                              // twice
  CHECK(is_refused(pointer, "  if (device(1)) {\n" + taken("sid_1") + "  }\n" + use));  // perhaps
  CHECK(is_refused("void* sid_1;\n", statements));                                      // of other files, too
  CHECK(is_refused(pointer + "void* where(void) { return sid_1; }\n", statements));     // or functions
  CHECK(is_refused(pointer, "#ifdef A\n" + statements + "#endif\n" + use));
}

TEST_CASE("functions that somebody made of the entry are read as its statements") {
  const std::string plain = read("", plain_statements);
  CHECK(read(parts(), calls) == plain);
  // In one another, and declared first.
  const std::string all = "static int32_t both(int8_t* from, int8_t* to);\n" + parts() +
                          "static int32_t both(int8_t* from, int8_t* to) {\n  if (first(from)) return -1;\n"
                          "  if (second(to)) { return -1; }\n  return 0;\n}\n";
  CHECK(read(all, "  if (both(x_buffer_var, y_buffer_var) != 0) return -1;\n") == plain);
  // What they declare does not mix with what the entry does.
  const std::string counted =
      "static void part(int8_t* p, int8_t* q) {\n  int32_t ret = tvmgen_m_op(p, q);\n  (void)ret;\n}\n";
  const std::string rest = "  int32_t ret = tvmgen_m_dev(y_buffer_var, x_buffer_var);\n  if (ret != 0) return ret;\n";
  CHECK(read(counted, "  part(x_buffer_var, y_buffer_var);\n" + rest) ==
        read("", "  int32_t more = tvmgen_m_op(x_buffer_var, y_buffer_var);\n  (void)more;\n" + rest));
}

TEST_CASE("functions of the entry stay functions where a call may be something else") {
  CHECK(stays(parts("  return device(2);\n"), calls, "second"));
  CHECK(stays(parts(), calls + calls, "second"));                                        // called twice
  CHECK(stays(parts(), "  first(x_buffer_var);\n  second(y_buffer_var);\n", "second"));  // leaves the part alone
  CHECK(stays(parts("  y_buffer_var += 1;\n  return 0;\n"), calls, "second"));
  CHECK(stays(parts() + "int32_t again(int8_t* p) { return second(p); }\n", calls, "second"));
  std::string shared = parts();
  shared.replace(shared.find("static int32_t second"), 6, "");
  CHECK(stays(shared, calls, "second"));  // other files may call it
  // A parameter of another type accesses other elements.
  const std::string words = "static void part(int32_t* p, int8_t* q) {\n  p[0] = 1;\n  tvmgen_m_op(q, q);\n}\n";
  CHECK(stays(words, "  part(x_buffer_var, y_buffer_var);\n", "part"));
}

}  // namespace usmp::tvm_c::entry_parts_test
