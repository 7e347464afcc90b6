// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/stays/pool_passing.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace usmp::tvm_c::pool_passing_test {
namespace {

// The function with these statements as planned C has it, AT and BYTES in the place of the pool's address and size.
std::optional<std::string> passed(const std::string& statements, const std::string& front = "",
                                  const std::string& params = "void") {
  const std::string text = front + "void flush(" + params + ") {" + statements + "}\n";
  Item item;
  item.kind = Item::Kind::function;
  item.begin = front.size();
  item.end = text.size();
  item.name = "flush";
  const Names pools = {"sram", "dtcm"};
  const Macros macros(text);
  const auto found = passed_pools(item, text, pools, macros, "tvmgen_m");
  if (!found) return std::nullopt;
  CHECK(found->pools == Names{"sram"});
  std::string result = edited(text, 0, text.size(), found->edits).substr(front.size());
  result = result.substr(result.find('{') + 1);
  result.resize(result.rfind('}'));
  for (const auto& [name, by] :
       {std::pair("usmp_tvmgen_m_sram_size()", "BYTES"), std::pair("usmp_tvmgen_m_sram()", "AT")}) {
    const std::string of = name;
    for (std::size_t at = 0; (at = result.find(of, at)) != std::string::npos;) result.replace(at, of.size(), by);
  }
  return result;
}

TEST_CASE("functions that pass a pool on") {
  CHECK(passed("clean(sram, sizeof(sram));") == "clean(AT, BYTES);");
  CHECK(passed("clean((uint32_t *)&sram[0], (int32_t)sizeof sram);") == "clean((uint32_t *)AT, (int32_t)BYTES);");
  CHECK(passed("if (clean(&(sram[0]), 0, \"it\", NULL, (sizeof(sram))) != 3) runs++;") ==
        "if (clean(AT, 0, \"it\", NULL, (BYTES)) != 3) runs++;");
  CHECK(passed("runs++; memset(&sram, 0xff, sizeof(sram)); /* sram */ printf(\"%u\\n\", (unsigned)sizeof(sram));") ==
        "runs++; memset(AT, 0xff, BYTES); /* sram */ printf(\"%u\\n\", (unsigned)BYTES);");
  CHECK(passed("clean((uint32_t*)&sram, sizeof(sram));") == "clean((uint32_t*)AT, BYTES);");
  CHECK(passed("return clean((const volatile void*)(sram), sizeof(sram));") ==
        "return clean((const volatile void*)(AT), BYTES);");
  CHECK(passed("clean((const uint8_t*)sram, (const unsigned long)(size_t)(sizeof(sram)));") ==
        "clean((const uint8_t*)AT, (const unsigned long)(size_t)(BYTES));");
  CHECK(passed("memset(sram, (uint8_t)0, (uint32_t)sizeof(sram));") == "memset(AT, (uint8_t)0, (uint32_t)BYTES);");
  CHECK(passed("CLEAN(sram, sizeof(sram));") == "CLEAN(AT, BYTES);");  // of a header that is not here
  CHECK(!passed("runs++;"));
  std::string many;
  for (int i = 0; i < 32; ++i) many += "clean(sram, sizeof(sram)); ";
  CHECK(passed(many));
  CHECK(!passed(many + "printf(\"%u\", (unsigned)sizeof(sram));"));
}

TEST_CASE("nothing but its size says how large a pool is that is passed on") {
  for (const char* other : {"clean(sram, 512);",
                            "clean(sram, sizeof(sram) / 4);",
                            "clean(sram, sizeof(sram), 512);",
                            "clean(sram, (uint8_t)sizeof(sram));",
                            "clean(sram, (int16_t)(sizeof(sram)));",
                            "clean(sram, (uint32_t)(unsigned short)sizeof sram);",
                            "clean(sram, (unsigned char)(uint32_t)((sizeof(sram))));",
                            "clean(sram, (float)sizeof(sram));",
                            "clean(sram, (kib_t)sizeof(sram));",
                            "clean(sram, SIZE);",
                            "clean(sram, sizeof(sram), n);",
                            "clean(sram, sizeof(sram), n_t);",
                            "clean(sram, sizeof(sram), (n_t));",
                            "clean(sram);",
                            "clean(sram, 0);",
                            "clean(sram, sizeof(uint8_t));",
                            "clean(sram, sizeof(dtcm));",
                            "clean(dtcm, sizeof(sram));",
                            "clean(sram + 4, sizeof(sram));",
                            "clean(&sram[4], sizeof(sram));",
                            "clean(sram, -sizeof(sram));",
                            "clean(sram, sizeof(sram), next());",
                            "memset(sram, 0, 512);",
                            "memset(sram, sizeof(sram), 512);",
                            "memset(sram, 0, sizeof(sram) - 1);",
                            "clean(sizeof(sram), sram, 4096);"}) {
    CHECK_MESSAGE(!passed(other), other);
  }
}

TEST_CASE("what a call returns may be the pool's address") {
  for (const char* fine : {"if (n) clean(sram, sizeof(sram)); else clean(sram, sizeof(sram));",
                           "(void)memset(sram, 0, sizeof(sram));", "int32_t n = clean(sram, sizeof(sram));",
                           "runs += clean(sram, sizeof(sram));", "while (!clean(sram, sizeof(sram))) runs++;"}) {
    CHECK_MESSAGE(passed(fine), fine);
  }
  for (const char* other :
       {"same(sram, sizeof(sram))[511] = 1;", "clean(same(sram, sizeof(sram)), 512);", "p = same(sram, sizeof(sram));",
        "uint8_t* p = same(sram, sizeof(sram));", "memset(memset(sram, 0, sizeof(sram)), 1, 512);",
        "return memset(sram, 0, sizeof(sram));", "(void)(same(sram, sizeof(sram))[511] = 1);",
        "((uint8_t*)memset(sram, 0, sizeof(sram)))[511] = 1;", "(void)same(sram, sizeof(sram))[511];",
        "if (same(sram, sizeof(sram))[511]) runs++;", "(uint8_t*)same(sram, sizeof(sram));",
        "same(sram, sizeof(sram))->last = 1;", "uint8_t* p; p += memset(sram, 0, sizeof(sram));"}) {
    CHECK_MESSAGE(!passed(other), other);
  }
  // Of uint8_t* flush(void) { … }.
  const std::string pointer = "uint8_t* flush(void) {return same(sram, sizeof(sram));}";
  Item item;
  item.kind = Item::Kind::function;
  item.end = pointer.size();
  item.name = "flush";
  CHECK(!passed_pools(item, pointer, {"sram"}, Macros(pointer), "tvmgen_m"));
}

TEST_CASE("what a function does with a pool besides is not known") {
  for (const char* other :
       {"sram[0] = 1;", "clean(sram[0], sizeof(sram));", "clean(*sram, sizeof(sram));", "p = sram;",
        "uint8_t* p = sram;", "uint8_t sram[4]; memset(sram, 0, sizeof(sram));", "if (sram) runs++;", "return sram;",
        "clean(own.sram, sizeof(sram));", "clean(own->sram, sizeof(sram));", "clean(sram, sizeof(sram)); p = sram;",
        "void clean(uint8_t* sram, int n);", "uint8_t* f(sram, sizeof(sram));", "clean(&sram[0][0], sizeof(sram));",
        "region_t r = {sram, sizeof(sram)};", "clean(&sram, sizeof(sram));", "n = sizeof(sram);",
        "clean((region_t){sram, sizeof(sram)});"}) {
    CHECK_MESSAGE(!passed(other), other);
  }
  CHECK(!passed("clean(sram, sizeof(sram));", "", "uint8_t* sram"));
  CHECK(!passed("\n#ifdef A\nclean(sram, sizeof(sram));\n#endif\n"));
  CHECK(!passed("\n#include \"more.inc\"\nclean(sram, sizeof(sram));"));
  CHECK(!passed("clean(sram, sizeof(sram));", "#define clean(p, n) clean_all(p, 512)\n"));
  CHECK(!passed("clean(sram, sizeof(sram)); clear(BASE);", "#define BASE sram\n"));
  CHECK(!passed("clean(sram, sizeof(sram)); END", "#define LAST dtcm[3] = 1;\n#define END LAST\n"));
}

}  // namespace
}  // namespace usmp::tvm_c::pool_passing_test
