// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions and variables that tell where a pool is, found in files of C.
#include "tvm_c/kept/pool_access.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace usmp::tvm_c::pool_access_test {
namespace {

// With "POOL" in the place of the pool's name.
std::optional<std::string> access(const std::string& text, Item::Kind kind = Item::Kind::function) {
  Item item;
  item.kind = kind;
  item.begin = 0;
  item.end = text.size();
  item.name = "where";
  const auto found = pool_access_of(item, split(text), {"sram", "dtcm"}, {{"at_sram", "sram"}, {"at_dtcm", "dtcm"}});
  if (!found) return std::nullopt;
  CHECK(found->access.name == "where");
  CHECK(found->access.pool == "sram");
  std::string result = found->access.text[0];
  for (std::size_t i = 1; i < found->access.text.size(); ++i) result += "POOL" + found->access.text[i];
  return result;
}

TEST_CASE("functions and variables that tell where a pool is, or how large") {
  for (const char* front : {"uint8_t* where(void) { return ", "const void *where() { return ", "uint8_t* where = "}) {
    const bool is_variable = std::string(front).ends_with("= ");
    const Item::Kind kind = is_variable ? Item::Kind::data : Item::Kind::function;
    const std::string behind = is_variable ? ";" : "; }";
    CHECK(access(front + std::string("&sram[0]") + behind, kind) == front + std::string("&POOL[0]") + behind);
    CHECK(access(front + std::string("(uint8_t*)&sram") + behind, kind) ==
          front + std::string("(uint8_t*)&POOL") + behind);
    CHECK(access(front + std::string("sram /* it */") + behind, kind) == front + std::string("POOL /* it */") + behind);
    for (const char* other : {"sram + 1", "&sram[4]", "sram[0]", "*sram", "sram ? sram : 0", "other", "(arena_t)sram",
                              "sizeof(dtcm) ? sram : dtcm"}) {
      CHECK(!access(front + std::string(other) + behind, kind));
    }
  }
  CHECK(access("size_t where(void) { return (size_t)sizeof(sram); }"));
  CHECK(access("uint32_t where(void)\n{\n  return sizeof sram;\n}"));
  CHECK(!access("uint32_t where(void) { return sizeof(sram) / 2; }"));
}

TEST_CASE("only types that planned C has, and nothing else in front") {
  CHECK(access("unsigned char* where(void) { return sram; }"));
  CHECK(access("static inline uint8_t* where(void) { return sram; }") ==
        "static inline uint8_t* where(void) { return POOL; }");
  CHECK(access("uint8_t* __attribute__((noinline)) where(void) { return sram; }") ==
        "uint8_t* __attribute__((noinline)) where(void) { return POOL; }");
  CHECK(access("TVM_DLL uint8_t* where(void) { return sram; }") == " uint8_t* where(void) { return POOL; }");
  for (const char* type : {"arena_t ", "byte_t* ", "IRAM uint8_t* "}) {
    CHECK(!access(type + std::string("where(void) { return sram; }")));
  }
  CHECK(!access("uint8_t* where(int i) { return sram; }"));
  CHECK(!access("uint8_t* where(void) { runs++; return sram; }"));
  CHECK(!access("uint8_t* where(void) { (void)sram; return sram; }"));
  CHECK(!access("uint8_t* where(void) { return sram; runs++; }"));
  CHECK(!access("uint8_t* where(void) {\n#ifdef A\n  return sram;\n#endif\n}"));
  CHECK(!access("uint8_t* where(void) {\n#if 0\n  runs++;\n#endif\n  return sram;\n}"));
}

TEST_CASE("functions that tell where a pool is through their parameters, or by others") {
  CHECK(access("void where(uint8_t** p, size_t* n) {\n  *p = sram;\n  *n = sizeof(sram);\n}") ==
        "void where(uint8_t** p, size_t* n) {\n  *p = POOL;\n  *n = sizeof(POOL);\n}");
  CHECK(access("int where(uint8_t** p) { *p = &sram[0]; return sizeof sram; }"));
  CHECK(access("uint8_t* where(void) { return at_sram(); }") == "uint8_t* where(void) { return at_sram(); }");
  CHECK(access("uint8_t* where(void) { return sram + sizeof(sram); }") ==
        "uint8_t* where(void) { return POOL + sizeof(POOL); }");
  CHECK(access("uint8_t* where(void) { return &sram[0] + sizeof sram; }"));
  for (const char* other :
       {"void where(uint8_t** p) { *p = sram; *p = dtcm; }", "void where(uint8_t** p) { *sram = 3; }",
        "void where(uint8_t** p) { *p = *sram; }", "void where(uint8_t* p) { p = sram; }",
        "void where(uint8_t* p) { return *p = sram; }", "void where(uint8_t** p) { p[1] = sram; }",
        "void where(uint8_t** p) { *q = sram; }", "int where(void) { return sizeof(sram); return 3; }",
        "uint8_t* where(void) { return at_sram(3); }", "uint8_t* where(void) { return sram + (at_dtcm() == 0); }",
        "uint8_t* where(void) { return other(sram); }", "uint8_t* where(void) { return sram + sizeof(int); + sram }",
        "uint8_t* where(void) { return sram + sizeof(int); }",
        "uint8_t* where(void) { return sram + sizeof at_sram(); }",
        "uint32_t where(void) { return (uint32_t)sram + (uint32_t)sram; }",
        "void where(uint8_t** sram) { *sram = sram; }", "uint8_t* where(void) { }",
        "uint8_t* where(void) { return; }"}) {
    CHECK_MESSAGE(!access(other), other);
  }
}

}  // namespace
}  // namespace usmp::tvm_c::pool_access_test
