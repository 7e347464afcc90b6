// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/pool_access.hpp"

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
  const auto found = pool_access_of(item, text, {"sram", "dtcm"});
  if (!found) return std::nullopt;
  CHECK(found->name == "where");
  CHECK(found->pool == "sram");
  return found->text[0] + "POOL" + found->text[1];
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
  for (const char* type : {"arena_t ", "byte_t* ", "TVM_DLL uint8_t* ", "__attribute__((noinline)) uint8_t* "}) {
    CHECK(!access(type + std::string("where(void) { return sram; }")));
  }
  CHECK(!access("uint8_t* where(int i) { return sram; }"));
  CHECK(!access("uint8_t* where(void) { runs++; return sram; }"));
  CHECK(!access("uint8_t* where(void) { return sram; runs++; }"));
  CHECK(!access("uint8_t* where(void) {\n#ifdef A\n  return sram;\n#endif\n}"));
}

}  // namespace
}  // namespace usmp::tvm_c::pool_access_test
