// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions and variables that somebody added to TVM's files: kept in place, or named where planned C lacks them.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tvm_c/added_model.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::added_code_test {
using namespace added_model;

namespace {

// What is kept of these files where planned C takes their place.
std::string in_place(const std::vector<Source>& files) {
  std::set<std::string> names;
  for (const Source& file : files) names.insert(file.name);
  try {
    const PlannedModule read = read_planned_module("m", files, {}, {}, Unread::kept, names);
    if (read.edited_run) return read.edited_run->what();
    const std::vector<std::string>& texts = read.module.functions[read.module.entry].imported_c;
    CHECK(texts.size() <= 1);
    return texts.empty() ? "" : texts[0];
  } catch (const Error& error) {
    return error.what();
  }
}

const std::string run_begin = "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs) {";
const std::string run = run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, ((uint8_t*)&sram));\n}\n";
const std::string front = "#include <tvmgen_m.h>\nstatic uint8_t sram[64];\n";

TEST_CASE("in place: what somebody added to TVM's files and others may use is kept with what it needs") {
  const std::string model = "static const int8_t table[4] = {1, 2, 3, 4};\n" + pooled_text();
  const auto kept = [&](const std::string& added) {
    const std::string entry = front + run + added;
    return in_place({{"lib0.c", entry}, {"lib1.c", model}});
  };
  CHECK(kept("").empty());
  CHECK(kept("static int unused[2];\nstatic void helper(void) { }\nextern int other;\nstruct s;\nstruct t { int a; };\n"
             "enum e { one };\nint prototype(int alias, const char* name);\n#define N 1\n")
            .empty());
  const std::string include = "#include <tvmgen_m.h>\n";
  for (const std::string added :
       {"uint32_t runs;\n", "volatile uint32_t runs = 1, others;\n", "my_type_t state;\n", "struct s state;\n",
        "struct s { int a[2]; };\nstruct s state = {.a = {1, 2}};\n", "struct { int a; } state;\n",
        "int (*callback)(int);\n", "DECLARE(state);\n", "static const char version[] __attribute__((used)) = \"1\";\n",
        "_Static_assert(sizeof(int) == 4, \"int\");\n", "#ifdef PROFILE\nuint32_t times[3];\n#endif\n",
        "#if LEVEL > 1\nstatic int level;\n#endif\n",
        "static int count;\n#define NEXT ++count\nint next(void) { return NEXT; }\n",
        "static int twice(int a) { return 2 * a; }\nint four(void) { return twice(2); }\n",
        "int again(void) { return tvmgen_m_run(0); } /* sram, table */\n",
        "int32_t tvmgen_m_get_c_metadata(void) { return 0; }\n", "int tvmgen_m_version(void) { return 3; }\n"}) {
    CHECK(kept(added) == include + added);
  }
  const std::string scales = "const float scales[2] = {1, 2};\n";
  CHECK(kept(scales) == "#include <stdint.h>\n\n" + scales + "\n");
  // What runs by itself, or is looked for by a linker, an alias and what is included.
  const std::string boot = "static void boot(void) { start(); }\n";
  for (const std::string& added :
       {"__attribute__((constructor)) " + boot,
        "static void boot(void) __attribute__((__constructor__(101)));\n" + boot,
        "#define INIT __attribute__((destructor))\nINIT " + boot, "__attribute__((interrupt)) " + boot,
        boot + "void irq(void) __attribute__((alias(\"boot\")));\n", std::string("#include \"extra.inc\"\n"),
        std::string("static const char tag[] __attribute__((section(\"tags\"))) = \"1\";\n"),
        std::string("inline int two(int a) { return 2 * a; }\nextern inline int two(int a);\n"),
        std::string("inline int two(int a) { return 2 * a; }\nint two(int a);\n"),
        std::string("extern __inline__ int two(int a) { return 2 * a; }\n"),
        std::string("extern inline int two(int a) { return 2 * a; }\n"),
        std::string("static const char tag[] __attribute__((section(TAGS))) = \"1\";\n"),
        std::string("#ifdef A\nstatic int two(int a)\n#else\nstatic int two(void)\n#endif\n{ return 2; }\n")}) {
    CHECK(kept(added) == include + added);
  }
  for (const std::string& added :
       {"__attribute__((noinline, section(\".iram1\"))) " + boot,
        "static void boot(void) __attribute__((section(\".iram1\")));\n" + boot,
        std::string("inline int two(int a) { return 2 * a; }\n"),
        std::string("static inline int two(int a) { return 2 * a; }\nextern int two(int a);\n"),
        std::string("static int two(int (*f)(reg_t)) { static int a __attribute__((used)); return 2 * a; }\n"),
        std::string("__attribute__((unused)) static int two(int (*f)(reg_t)) { return f(2); }\n"),
        std::string("static const char tag[] __attribute__((section(\".rodata.tags\"), aligned(4))) = \"1\";\n")}) {
    CHECK_MESSAGE(kept(added).empty(), added);
  }
  // Conditional attributes are gone with what they belong to.
  for (const auto& [attributes, stay] :
       {std::pair("#ifdef ESP32\nIRAM_ATTR\n#endif\n", ""),
        {"#if A\nIRAM_ATTR\n#else\nTVM_DLL\n#endif\n", ""},
        {"#ifdef ESP32\n#define N 2\n#endif\n", "#ifdef ESP32\n#define N 2\n#endif\n"},
        {"#ifdef A\nPLACE(a) B\n#else\nB\n#endif\n", ""},
        {"#ifdef ZEPHYR\nREGISTER(m)\n#endif\n", "#ifdef ZEPHYR\nREGISTER(m)\n#endif\n"}}) {
    const std::string entry = front + attributes + run + "int runs;\n";
    CHECK(in_place({{"lib0.c", entry}, {"lib1.c", model}}) == include + stay + "int runs;\n");
  }
  // Whatever its name, nothing of the model calls it.
  for (const std::string name : {"TVM_DLL int32_t tvmgen_m_conv2d(", "int32_t tvmgen_m_fused_add("}) {
    CHECK(kept(name + "const int8_t* p) { return p[0]; }\n") == include + name + "const int8_t* p) { return p[0]; }\n");
  }
  // What is written anew.
  for (const std::string name :
       {"struct tvmgen_m_inputs tvmgen_m_map_inputs(", "struct tvmgen_m_outputs tvmgen_m_map_outputs("}) {
    CHECK_MESSAGE(kept(name + "const int8_t* p) { return p + table[0]; }\n").empty(), name);
  }
  CHECK(kept("#ifdef __cplusplus\nextern \"C\" {\n#endif\n#ifdef __cplusplus\n}\n#endif\n;\nint runs;\n") ==
        include + "int runs;\n");
  // In the other file, and where only one is written anew.
  const std::string hidden = "#if LEVEL > 1\nint a = sizeof(sram);\n#endif\n";
  CHECK(in_place({{"lib0.c", front + run}, {"lib1.c", hidden + model}})
            .starts_with("lib1.c: line 2, column 16: found 'sram' in code that somebody added"));
  CHECK(kept("enum { size = sizeof(sram) };\nint two(void) { return 2; }\n")
            .starts_with("lib0.c: line 5, column 22: found 'sram'"));
  CHECK(kept("int a = 1, *b = sram;\n").starts_with("lib0.c: line 5, column 17: found 'sram'"));
  const std::string own = front + run_begin + " gpio_set(1); return 0; }\nint runs;\n";
  const std::vector<Source> files = {{"lib0.c", own}, {"lib1.c", model}};
  const PlannedModule one = read_planned_module("m", files, {}, {}, Unread::kept, {"lib1.c"});
  CHECK(!one.edited_run);
  CHECK(one.module.functions[one.module.entry].imported_c.empty());
  const std::string balanced =
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint runs = 1;\n#ifdef __cplusplus\n}\n#endif\n";
  CHECK(kept(balanced + ";\n") == include + balanced);
}

TEST_CASE("what planned C elsewhere lacks of the files is named") {
  const auto left_out = [](const std::string& added) {
    std::string result;
    const std::string entry = front + run + added;
    const std::string model = pooled_text();
    const std::vector<Source> files = {{"lib0.c", entry}, {"lib1.c", model}};
    for (const std::string& one : read_planned_module("m", files, {}, {}, Unread::kept).warnings) result += one + "\n";
    return result;
  };
  const std::string lacks = ") is not in planned C, since the model does not use it; --in-place keeps it\n";
  CHECK(
      left_out("static int helper(void) { return 1; }\nint prototype(int);\nextern int other;\n#define N 1\n").empty());
  // Another module, and what TVM says of one.
  CHECK(left_out("int32_t tvmgen_b_op(void) { return 0; }\nint32_t tvmgen_b___tvm_main__(void) { return 0; }\n"
                 "int32_t tvmgen_m_get_c_metadata(void) { return 0; }\n")
            .empty());
  CHECK(left_out("int version(void) { return 3; }\n") == "lib0.c: function 'version' (line 5, column 1" + lacks);
  // TVM's kernels define instructions; all other names may be somebody's.
  const std::string inlined = "__attribute__((always_inline)) uint32_t ";
  const std::string turned = "ror(uint32_t a, uint32_t by) { return (a >> by) | (a << (32U - by)); }\n";
  CHECK(left_out(inlined + "__" + turned).empty());
  CHECK(left_out("__inline__ " + inlined + "__" + turned).empty());
  CHECK(left_out(inlined + turned) == "lib0.c: function 'ror' (line 5, column 1" + lacks);
  CHECK(left_out("uint32_t __" + turned) == "lib0.c: function '__ror' (line 5, column 1" + lacks);
  CHECK(left_out("int times[3];\nTVM_DLL int32_t tvmgen_m_fused_old(int8_t* p) { return 0; }\n") ==
        "lib0.c: variable 'times' (line 5, column 1" + lacks +
            "lib0.c: function 'tvmgen_m_fused_old' (line 6, column 1" + lacks);
  // Variables of a type that is not known stay with statements of the entry, whether these name them or not.
  const std::string with_counter =
      "#include \"pulp.h\"\nvolatile perf_t *perf;\nint cycles;\n" + text_of({"", "", "  cycles = 3;\n", ""});
  REQUIRE(with_counter.find("  cycles = 3;\n") != std::string::npos);
  const Source counting{"lib1.c", with_counter};
  for (const std::string& one : read_planned_module("m", {&counting, 1}, {}, {}, Unread::kept).warnings) {
    CHECK_MESSAGE(one.find("a declaration") == std::string::npos, one);
  }
  // The firmware calls the entry itself, or finds it in a registry.
  const auto of_entry = [](const std::string& more) {
    const std::string text = text_of({"", "", "", ""}) + more;
    const Source file{"lib1.c", text};
    const std::vector<std::string> all = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept).warnings;
    return all.empty() ? std::string() : all.back();
  };
  CHECK(of_entry("") ==
        "no file of the model defines 'tvmgen_m_run', so the firmware calls 'tvmgen_m___tvm_main__', which is not in "
        "planned C; call 'tvmgen_m_run', or use --in-place, which keeps it");
  CHECK(of_entry("const TVMModule* TVMSystemLibEntryPoint(void) { return &module; }\n").empty());
  // The firmware calls a function of this name with other arguments, which a linker does not see.
  const auto with_params = [&](const std::string& params, const std::string& arguments) {
    return of_entry("int32_t tvmgen_m_run(" + params + ") { return tvmgen_m___tvm_main__(" + arguments + "); }\n");
  };
  for (const std::string params :
       {"void* x, void* y", "const float*, struct tvmgen_m_outputs* outputs", "void* const x"}) {
    CHECK(with_params(params, "x, y").starts_with("lib1.c: 'tvmgen_m_run' (line "));
    CHECK(with_params(params, "x, y")
              .ends_with(") has other parameters in planned C, structs of inputs and outputs: include its header in "
                         "all files that call "
                         "it"));
  }
  CHECK(with_params("struct tvmgen_m_inputs* in, struct tvmgen_m_outputs * const out", "in->x, out->y").empty());
  CHECK(
      with_params("const tvmgen_m_inputs*in, struct tvmgen_m_outputs*out, struct tvmgen_m_devices* d", "in->x, out->y")
          .empty());
  CHECK(with_params("void", "").empty());
  // Whatever its name is.
  CHECK(left_out("int rows[2][4];\nint (*row(int i))[4] { return &rows[i]; }\nint (*first)[4] = &rows[0];\n") ==
        "lib0.c: variable 'rows' (line 5, column 1" + lacks + "lib0.c: a declaration (line 6, column 1" + lacks +
            "lib0.c: a declaration (line 7, column 1" + lacks);
}

TEST_CASE("what planned C elsewhere needs of other files is named") {
  const auto warnings = [](const Parts& parts) {
    std::string result;
    for (const std::string& one : read(text_of(parts)).warnings) result += one + "\n";
    return result;
  };
  const std::string link = ", which no file of the model defines: link it from elsewhere\n";
  CHECK(warnings({"int fast(int);\nint other(int);\n", "  fast(3);\n", "", ""}) == "planned C calls 'fast'" + link);
  const PlannedModule fast = read(text_of({"int fast(int (*f)(int), int a) FAST;\n", "  fast(3);\n", "", ""}));
  CHECK(fast.external.at(0).prototype == "int fast(int(* f)(int), int a)");
  CHECK(warnings({"#include \"parts/fast.c\"\n#include \"fast.h\"\n", "  fast(3);\n", "", ""}) ==
        "planned C calls 'fast'" + link +
            "lib1.c: planned C includes 'parts/fast.c', which is not copied: compile it with that directory among the "
            "include paths\n");
  CHECK(
      warnings({"#include \"parts/fast.c\"\n", "", "", ""}) ==
      "lib1.c: #include \"parts/fast.c\" (line 1, column 1) is not in planned C: if it has functions or variables that "
      "others use, compile it apart; --in-place keeps it\n");
  CHECK(warnings({"#include \"fast.h\"\n#include <cstdint>\n#include \"a/fast.hpp\"\n", "", "", ""}).empty());
  CHECK(warnings({"static const int8_t t[2] = {\n#include \"t.inc\"\n};\n", "", "", ""}).empty());
  CHECK(warnings({"int fast(int);\nstatic int two(void) { return fast(2); }\n", "  runs = two();\n", "", ""}) ==
        "planned C calls 'fast'" + link);
  CHECK(warnings({"#include <stdio.h>\n", "  printf(\"%d\", 3);\n", "", ""}).empty());
  CHECK(warnings({"#include <assert.h>\n", "  assert(sizeof(int) > 1);\n", "", ""}).empty());
  const std::string gains = "extern const int8_t gains[4];\nstatic int first(void) { return gains[0]; }\n";
  CHECK(warnings({gains, "  runs = first();\n", "", ""}) == "planned C uses 'gains'" + link);
  CHECK(warnings({gains + "const int8_t gains[4] = {1, 2, 3, 4};\n", "  runs = first();\n", "", ""}).empty());
}

TEST_CASE("memory of the model that others may use later is named") {
  const auto warning = [](const std::string& middle) {
    const std::vector<std::string> all =
        read(text_of({"static const int8_t* last;\nstatic void dump(const int8_t* p) { last = p; }\n", "", middle, ""}))
            .warnings;
    for (const std::string& one : all) {
      if (one.find(" may keep addresses ") != std::string::npos) return one;
    }
    return std::string();
  };
  CHECK(warning("  dump(sid_1);\n")
            .starts_with(
                "function 'dump' may keep addresses of tensors that it gets: it stores it in 'last'; no tensor"));
  CHECK(warning("  log_it(sid_1);\n")
            .starts_with(
                "function 'log_it' may keep addresses of tensors that it gets: it is in no C file of the model"));
  CHECK(warning("  dump(x_buffer_var);\n").empty());
  CHECK(warning("  memset(sid_1, 0, 16);\n").empty());
  CHECK(warning("  for (int i = 0; i < 3; ++i) printf(\"%d\", ((int8_t*)sid_1)[i]);\n").empty());
  std::string renamed = text_of({"", "", "", ""});
  for (std::size_t at = 0; (at = renamed.find("tvmgen_m_op", at)) != std::string::npos;) renamed.replace(at, 11, "add");
  CHECK(read(renamed).warnings.empty());  // an operator that is read keeps no pointer, whatever its name
  std::string pooled = pooled_text();
  const auto pool = [&](const std::string& linkage) {
    const std::string text = linkage + "uint8_t sram[64];\n" + pooled;
    const std::vector<std::string> all = read(text).warnings;
    return all.empty() ? "" : all[0];
  };
  CHECK(pool("static ").empty());
  CHECK(pool("").starts_with("lib1.c: pool 'sram' (line 1, column 9) is not static, so other files may use it"));
  const auto constants = [&](const std::string& linkage) {
    std::string text =
        linkage + "struct sram { int8_t a[2] __attribute__((aligned(16))); } sram = { .a = {1, 2}, };\n" + pooled;
    text.replace(text.find("p[i];"), 5, "p[i % 2];");
    text.replace(text.find("x_buffer_var, sid_1"), 12, "c_let");
    text.insert(text.find("  void* sid_1"), "  void* c_let = (&(sram_0_var[0]));\n");
    const PlannedModule module = read(text);
    const bool is_constant = module.pools.size() == 1 && module.pools[0].is_constant;
    return std::pair(is_constant, module.warnings.empty() ? std::string() : module.warnings[0]);
  };
  CHECK(constants("static ") == std::pair(true, std::string()));
  CHECK(constants("const ").first);
  CHECK(constants("const ").second.starts_with("lib1.c: pool 'sram' (line 1, column 65) is not static"));
}

TEST_CASE("in place: what tells others where a pool is, is written anew with the pool of planned C") {
  const std::string model = pooled_text();
  const auto read = [&](const std::string& added) {
    const std::string entry = front + run + added;
    const std::vector<Source> files = {{"lib0.c", entry}, {"lib1.c", model}};
    return read_planned_module("m", files, {}, {}, Unread::kept, {"lib0.c", "lib1.c"});
  };
  using Pieces = std::vector<std::string>;
  const auto pieces = [&](const std::string& added) {
    const PlannedModule module = read(added);
    CHECK(module.warnings.size() == module.pool_accesses.size());
    return module.pool_accesses.size() == 1 && module.pool_accesses[0].pool == "sram" ? module.pool_accesses[0].text
                                                                                      : Pieces{};
  };
  CHECK(pieces("").empty());
  for (const Pieces& text :
       {Pieces{"uint8_t *where(void)\n{\n  return &", "[0];  // its first byte\n}"},
        Pieces{"void* where() { return ", "; }"},
        Pieces{"uint32_t where(void) { return (uint32_t)(uint8_t*)&(", "[0]); }"},
        Pieces{"size_t bytes(void) { return sizeof(", "); }"},
        Pieces{"unsigned long bytes(void) { return sizeof ", "; }"}, Pieces{"uint8_t* const begin = (uint8_t*)&", ";"},
        Pieces{"const volatile void* begin = ", ";"}}) {
    CHECK(pieces(text[0] + "sram" + text[1] + "\n") == text);
  }
  CHECK(read("static uint8_t* at(void) { return sram; }\nuint8_t* a(void) { return at(); }\n"
             "uint8_t* b(void) { return at(); }\n")
            .pool_accesses.size() == 3);
  // Static ones go with those that call them.
  const PlannedModule both = read(
      "static uint8_t* at(void) { return sram; }\nstatic int no(void) { return sizeof(sram); }\nuint8_t* where(void) { "
      "return at(); }\n");
  REQUIRE(both.pool_accesses.size() == 2);
  CHECK(both.pool_accesses[0].text == Pieces{"static uint8_t* at(void) { return ", "; }"});
  CHECK(both.pool_accesses[1].text == Pieces{"uint8_t* where(void) { return at(); }"});
  // What may use bytes of the pool that planned C has otherwise, or names that it does not have, is none.
  for (const char* added :
       {"uint8_t where(void) { return sram[0]; }",
        "uint8_t where(void) { return *(uint8_t*)sram; }",
        "uint8_t* where(void) { return &sram[16]; }",
        "uint8_t* where(void) { return sram + 0; }",
        "uint8_t* where(int at) { return sram; }",
        "uint8_t* where(void) { return (byte*)sram; }",
        "size_t bytes(void) { return sizeof(sram) * 2; }",
        "size_t bytes(void) { return sizeof(sram[0]); }",
        "void* where(void) { sram[0] = 1; return sram; }",
        "void* where(void) { return sram; return 0; }",
        "uint8_t* ends[2] = {sram, sram};",
        "uint8_t* a = sram, *b;",
        "int same = sram == sram;",
        "uint8_t (*where(void))[64] { return &sram; }",
        "static uint8_t (*where(void))[64] { return &sram; }\nint a;",
        "__attribute__((noinline)) uint8_t (*where(int i))[sizeof(sram)] { return 0; }",
        "uint8_t (*at)[64] = &sram;",
        "int a;\nstatic uint8_t (*at)[64] = &sram;",
        "static uint8_t* at(void) { return sram; }\nuint8_t* (*where)(void) = at;",
        "#ifdef HEAP\nuint8_t* where(void) { return 0; }\n#else\nuint8_t* where(void) { return sram; }\n#endif",
        "#ifdef HEAP\nuint8_t* where(void) { return &sram[0]; }\n#endif"}) {
    CAPTURE(std::string(added));
    CHECK_THROWS_WITH_AS((void)read(std::string(added) + "\n"),
                         doctest::Contains("found 'sram' in code that somebody added"), Error);
  }
  // Constants of TVM's plan are written anew, too.
  const std::string constants = "static struct flash { int8_t a[1]; } flash = {\n  .a = {5},\n};\n" + front + run;
  const std::vector<Source> files = {{"lib0.c", constants}, {"lib1.c", model}};
  CHECK_NOTHROW((void)read_planned_module("m", files, {}, {}, Unread::kept, {"lib0.c", "lib1.c"}));
  const std::string pointer = constants + "const struct flash (*at)[1] = (const void*)&flash;\n";
  const std::vector<Source> with_pointer = {{"lib0.c", pointer}, {"lib1.c", model}};
  CHECK_THROWS_WITH_AS((void)read_planned_module("m", with_pointer, {}, {}, Unread::kept, {"lib0.c", "lib1.c"}),
                       doctest::Contains("found 'flash' in code that somebody added"), Error);
}

TEST_CASE("what stays may not have the address of an operator that is written anew") {
  for (const std::string pointer : {"static int32_t (*run_op)(int8_t*, int8_t*) = tvmgen_m_op;\n",
                                    "#define OP tvmgen_m_op\nint32_t (*run_op)(int8_t*, int8_t*) = OP;\n"}) {
    CAPTURE(pointer);
    const std::string prototype = "int32_t tvmgen_m_op(int8_t* p, int8_t* q);\n";
    CHECK(error_of({prototype + pointer, "", "  npu_start(sid_1);\n", ""})
              .find("found 'tvmgen_m_op' in code that somebody added") != std::string::npos);
    CHECK(error_of({prototype + pointer, "", "", ""}) == "no error");  // it is not in planned C
  }
}

TEST_CASE("in place: a function that passes a pool on is refused, with what to do") {
  const std::string model = pooled_text();
  const auto error = [&](const std::string& added) {
    const std::string entry = front + run + added;
    return in_place({{"lib0.c", entry}, {"lib1.c", model}});
  };
  const std::string way_out =
      "'sram' in code that somebody added, expected nothing that planned C does not have: the model's operators, "
      "constants and memory; move that code to a file of the firmware, and let functions here tell it where the pool "
      "is: uint8_t* f(void) { return &sram[0]; }";
  CHECK(error("void flush(void) { clean(sram, sizeof(sram)); }\n").ends_with(": found " + way_out));
  // Somebody else may call what a pointer to a function stands for.
  for (const std::string words : {"", "static "}) {
    CHECK(error("static void all(void) { memset(sram, 0, sizeof(sram)); }\nint runs;\n" + words +
                "void (*hook)(void) = all;\n")
              .ends_with(": found " + way_out));
  }
  CHECK(error("uint8_t* f(void) { return &sram[0]; }\n").find("found") == std::string::npos);
}

TEST_CASE("in place: a function that returns a pointer to an array ends with its body") {
  const std::string array = "static int8_t rows[2][4];\nint8_t (*row(int i))[4] { return &rows[i]; }\n";
  const std::string text = text_of({"", "", "", ""});
  const std::string kept = in_place({{"lib1.c", array + text}});
  CHECK(kept.find("int8_t (*row(int i))[4] { return &rows[i]; }\n") != std::string::npos);
  CHECK(kept.find("tvmgen_m_op") == std::string::npos);
  const std::string of_function = "int (*chosen(int i))(int) { return 0; }\n";
  CHECK(in_place({{"lib1.c", of_function + text}}).find("tvmgen_m_op") == std::string::npos);
}

TEST_CASE("in place: a table that operators share stays with those whose C stays") {
  std::string text = text_of({"", "", "", ""});
  text.replace(text.find("= p[i]"), 6, "= table[i]");
  text.replace(text.find("tvmgen_m_op(sid_1, y"), 11, "tvmgen_m_odd");
  text =
      "int32_t tvmgen_m_odd(int8_t* p, int8_t* q) {\n  static int n;\n  q[0] = table[n & 3];\n  return 0;\n}\n" + text;
  const std::string table = "const int8_t table[4] = {1, 2, 3, 4};\n";
  const std::string own = "static " + table + text;
  const std::string other = "extern const int8_t table[4];\n" + text;
  CHECK(in_place({{"lib1.c", own}}).find(table) != std::string::npos);
  CHECK(in_place({{"lib1.c", other}, {"weights.c", table}}).find("\n" + table) != std::string::npos);
}

TEST_CASE("in place: what somebody added is refused if it needs what planned C does not have") {
  std::string model = "static const int8_t table[4] = {1, 2, 3, 4};\n" + pooled_text();
  model.replace(model.find("= p[i]"), 6, "= table[i]");
  const auto error = [&](const std::string& added, const std::string& run_text = run) {
    const std::string entry = front + run_text + added;
    return in_place({{"lib0.c", entry}, {"lib1.c", model}});
  };
  const std::string expected =
      " in code that somebody added, expected nothing that planned C does not have: the model's operators, constants "
      "and "
      "memory";
  CHECK(error("int a(void) {\n  return tvmgen_m_op(0, 0); }\n") ==
        "lib0.c: line 6, column 10: found 'tvmgen_m_op'" + expected);
  CHECK(error("int a(void) { return tvmgen_m___tvm_main__(0, 0); }\n") ==
        "lib0.c: line 5, column 22: found 'tvmgen_m___tvm_main__'" + expected);
  CHECK(error("const int8_t* a(void) { return table; }\n") == "lib0.c: line 5, column 32: found 'table'" + expected);
  CHECK(error("const int8_t* tvmgen_m_a(void) { return table; }\n") ==
        "lib0.c: line 5, column 41: found 'table'" + expected);
  CHECK(error("static int b(void) { return table[0]; }\nint a(void) { return b(); }\n") ==
        "lib0.c: line 5, column 29: found 'table'" + expected);
  CHECK(error("const int8_t* const a = table;\n") == "lib0.c: line 5, column 25: found 'table'" + expected);
  CHECK(error("#ifdef A\nconst int8_t* const a = table;\n#endif\n") ==
        "lib0.c: line 6, column 25: found 'table'" + expected);
  // The function that the firmware calls is written anew.
  const std::string anew =
      " in 'tvmgen_m_run', which is written anew, expected nothing but the call of the entry: move the addition out of "
      "'tvmgen_m_run', to where that is called";
  const std::string call_of = "return tvmgen_m___tvm_main__(inputs->x, inputs->y, ((uint8_t*)&sram));\n}\n";
  CHECK(error("", run_begin + " runs++; " + call_of) == "lib0.c: line 3, column 56: found 'runs'" + anew);
  CHECK(error("", run_begin + " if (inputs) " + call_of) == "lib0.c: line 3, column 56: found 'if'" + anew);
  CHECK(error("", run_begin + " if (!inputs) " + call_of).starts_with("lib0.c: line 3, column 56: found 'if'"));
  CHECK(error("", run_begin + "\n#ifdef A\n  runs++;\n#endif\n" + call_of) ==
        "lib0.c: line 4, column 1: found a directive in a function, expected none");
  CHECK(
      error("", run_begin + "return tvmgen_m___tvm_main__((int8_t*)inputs->x, inputs->y, (const float*)(&sram));\n}\n")
          .empty());
  CHECK(error("", run_begin + "TVMValue tensors[1];\ntensors[0] = ((TVMValue*)inputs)[0];\n" + call_of) != "");
}

TEST_CASE("what somebody added to the function that the firmware calls is told, in place or not") {
  const auto told = [](const std::string& text_of_run, const std::string& more = "") {
    const std::string entry = front + text_of_run;
    const std::string model = pooled_text();
    std::vector<Source> files = {{"lib0.c", entry}, {"lib1.c", model}};
    if (!more.empty()) files.push_back({"lib2.c", more});
    const PlannedModule read = read_planned_module("m", files, {}, {}, Unread::kept);
    return read.edited_run ? std::string(read.edited_run->what()) : std::string();
  };
  const std::string call_of = "return tvmgen_m___tvm_main__(inputs->x, inputs->y, ((uint8_t*)&sram));\n}\n";
  const std::string at = "lib0.c: line 3, column 56: found ";
  CHECK(told(run).empty());
  CHECK(told("").empty());  // the firmware calls the entry
  CHECK(
      told(run_begin + "/* gpio_set(1); */ return (tvmgen_m___tvm_main__((int8_t*)inputs->x, inputs->y, &sram));\n}\n")
          .empty());
  const auto passing = [&](const std::string& memory) {
    return told(run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, " + memory + ");\n}\n");
  };
  CHECK(passing("&sram[0]").empty());
  CHECK(passing("(uint8_t*)(&sram[0])").empty());
  for (const char* other : {"&sram[16]", "&sram[i]", "&sram[0][0]", "sram[0]", "&inputs[0]", "&inputs->x[0]"}) {
    CHECK_MESSAGE(passing(other).find("found '['") != std::string::npos, other);
  }
  // What is no pool gets what the caller passes.
  const std::string memory = "static int8_t staged[4];\n" + run_begin + "return tvmgen_m___tvm_main__(";
  for (const std::string given : {"staged", "&staged", "&staged[0]", "(void*)(&staged[0])"}) {
    CAPTURE(given);
    CHECK(told(memory + "inputs->x, " + given + ", &sram);\n}\n")
              .ends_with("nothing but the call of the entry: it is passed for 'y_buffer_var', which is no pool; pass "
                         "that memory where 'tvmgen_m_run' is called"));
    CHECK(told(memory + given + ", inputs->y, &sram);\n}\n").find("found 'staged'") != std::string::npos);
  }
  const std::string plain = "int32_t tvmgen_m_run(void* x, void* y) {return tvmgen_m___tvm_main__(";
  CHECK(told(plain + "x, y, sram);\n}\n").empty());
  CHECK(told(plain + "x, x, sram);\n}\n").find("found 'x'") != std::string::npos);
  CHECK(told(memory + "inputs->x, inputs->y, inputs->sram);\n}\n").empty());
  CHECK(told(memory + "(*inputs).x, inputs->y, &sram);\n}\n").empty());
  for (const std::string given : {"*inputs->y", "&inputs->y", "inputs->y->z", "other->y", "inputs->y + 1", "0"}) {
    CAPTURE(given);
    std::string said;
    try {
      said = told(memory + "inputs->x, " + given + ", &sram);\n}\n");
    } catch (const Error& error) {
      said = error.what();
    }
    CHECK(!said.empty());
  }
  CHECK(told(memory + "inputs->x, inputs->y);\n}\n").find("which is written anew") != std::string::npos);
  for (const char* pointer : {"board_ram", "(uint8_t*)board_ram", "((board_ram))"}) {
    const std::string way_out =
        ": a pool is an array, 'static uint8_t board_ram[N];', which nothing sets; with --pools, planned C has it "
        "elsewhere, or the application passes it";
    CHECK(passing(pointer).ends_with(way_out));
    const std::string called =
        run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, " + std::string(pointer) + ");\n}\n";
    const std::string error = told("uint8_t* board_ram;\n" + called);
    CHECK_MESSAGE(error.ends_with(way_out + "; change its declaration (lib0.c: line 3, column 1) and what sets it"),
                  error);
    CHECK(told("my_t* a;\nuint8_t* board_ram;\n" + called).ends_with("(lib0.c: line 4, column 1) and what sets it"));
  }
  // What sets a pointer in front of the call is not to be moved: the pool is an array.
  const std::string sets = "\n  if (board_ram == 0) {\n    board_ram = take(208);\n  }\n";
  CHECK(told(run_begin + sets + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, board_ram);\n}\n")
            .starts_with("lib0.c: line 7, column 52: found 'board_ram' in 'tvmgen_m_run', which is written anew, "
                         "expected nothing but the call of the entry: a pool is an array"));
  CHECK(told(run_begin + " gpio_set(1); " + call_of) ==
        at + "'gpio_set' in 'tvmgen_m_run', which is written anew, expected nothing but the call of the entry: move "
             "the addition out of 'tvmgen_m_run', to where that is called");
  // Which of two it is, a compiler may say otherwise.
  CHECK(told("#ifdef A\n" + run_begin + " return 0;\n}\n#else\n" + run + "#endif\n") ==
        "lib0.c: line 3, column 9: found 'tvmgen_m_run' in a conditional group, too, expected one function of it");
  CHECK(told(run_begin + " if (inputs == 0) return -9; " + call_of).starts_with(at + "'if'"));
  CHECK(told(run_begin + " inputs->x = &sram; " + call_of).starts_with(at + "'inputs'"));
  CHECK(told(run_begin + " tvmgen_m___tvm_main__(inputs->x, inputs->y, &sram); " + call_of)
            .starts_with(at + "'tvmgen_m___tvm_main__'"));
  CHECK(told(run_begin + " return (tvmgen_m___tvm_main__(inputs->x, inputs->y, &sram), inputs); }")
            .starts_with(at + "'return'"));
  CHECK(told(run_begin + " return 0; }").starts_with(at + "'return'"));
  CHECK(told(run_begin + " }").starts_with(at + "'}'"));
  CHECK(told(run_begin + "return tvmgen_m___tvm_main__(&inputs->x[16], inputs->y, &sram);\n}\n").find("found '['") !=
        std::string::npos);
  CHECK(told(run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, &sram); runs++;\n}\n")
            .find("found 'runs'") != std::string::npos);
  CHECK(told(run_begin + "\n#ifdef A\n  runs++;\n#endif\n" + call_of).find("found a directive") != std::string::npos);
  CHECK(told(run, run_begin + " runs++; " + call_of).find("'tvmgen_m_run' in another file, too") != std::string::npos);
}

}  // namespace
}  // namespace usmp::tvm_c::added_code_test
