// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What TVM's headers and C offer against what planned C would: what is kept, replaced and refused.
#include "usmp/mlf/interface.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "mlf/tar_builder.hpp"

namespace usmp::mlf::interface_test {
namespace {

using Lines = std::vector<std::string>;

Archive archive_of(const std::vector<std::pair<std::string, std::string>>& files) {
  Archive archive;
  archive.path = "m";
  for (const auto& [name, bytes] : files) archive.members.push_back({name, bytes});
  return archive;
}

model::Description module_of(const Archive& archive) {
  model::Description info;
  info.name = "default";
  for (const Member& member : archive.members) info.c_members.push_back(member.name);
  return info;
}

const std::string main_function = "int32_t tvmgen_default___tvm_main__(void* a) {\n  return 0;\n}\n";
const std::string run_function = "int32_t tvmgen_default_run(void) { return tvmgen_default___tvm_main__(0); }\n";

TEST_CASE("headers of TVM's source tree are told from others") {
  const std::string text =
      "#include <tvm/runtime/crt/module.h>\n#include <stdint.h>\n  # include \"dlpack/dlpack.h\"\n"
      "#include <tvm_ethosu_runtime.h>\n#include <tvm/runtime/crt/module.h>\n#include \"my/tvm/x.h\"\n";
  CHECK(tvm_headers(text) == std::set<std::string>{"dlpack/dlpack.h", "tvm/runtime/crt/module.h"});
  CHECK(tvm_headers("int tvm;").empty());
}

TEST_CASE("a module's files are known by what they define") {
  const Archive archive = archive_of({{"b.c", main_function},
                                      {"a.c", "#include <net/tvmgen_default.h>\n" + run_function},
                                      {"wrapper.h", "int run(void); /* calls tvmgen_default_run */"},
                                      {"tvmgen_default.h", "int32_t tvmgen_default_run(void);"},
                                      {"k.c", "int32_t tvmgen_default_fused(void) { return 0; }"},
                                      {"meta.c", "static const struct TVMMetadata kTvmgenMetadata[1] = { };"}});
  const ModuleFiles files = files_of_module(archive, module_of(archive));
  CHECK(files.entry == "a.c");
  CHECK(files.operators == "b.c");
  CHECK(files.header == "tvmgen_default.h");
  CHECK(files.include == Lines{"<net/tvmgen_default.h>"});
  CHECK(files.others == Lines{"k.c"});
  const Archive one = archive_of({{"m.c", "#include \"tvmgen_default.h\"\n" + run_function + main_function}});
  CHECK(files_of_module(one, module_of(one)).operators == "m.c");
  CHECK(files_of_module(one, module_of(one)).header.empty());
}

TEST_CASE("the entry is what the firmware calls if nothing else does") {
  const std::string model = "TVM_DLL int32_t tvmgen_default_run_model(void* input, void* output) { return 0; }\n";
  const Archive bare = archive_of({{"b.c", model}});
  const ModuleFiles files = files_of_module(bare, module_of(bare));
  CHECK(files.entry == "b.c");
  CHECK(files.called == "int32_t tvmgen_default_run_model(void* input, void* output)");
  CHECK(files.called_params == Lines{"input", "output"});
  const Archive declared =
      archive_of({{"b.c", model}, {"tvmgen_default.h", "int32_t tvmgen_default_run_model(float *x, float* y);"}});
  CHECK(files_of_module(declared, module_of(declared)).called_params == Lines{"x", "y"});
  // Through TVM's registry it is called, too, if that finds functions of the packed interface.
  const std::string list = "static TVMBackendPackedCFunc _tvm_func_array[] = {\n    tvmgen_default___tvm_main__,\n};\n";
  const Archive registered = archive_of({{"b.c",
                                          "int32_t tvmgen_default___tvm_main__(void* args, int32_t* types, int32_t "
                                          "num_args, void* value, int32_t* code, void* handle) { return 0; }\n"},
                                         {"r.c", list}});
  model::Description packed = module_of(registered);
  CHECK_THROWS_AS((void)files_of_module(registered, packed), Error);
  packed.packed_interface = true;
  CHECK(files_of_module(registered, packed).called_params ==
        Lines{"args", "types", "num_args", "value", "code", "handle"});
  const Archive usual = archive_of({{"b.c", main_function}, {"a.c", run_function}});
  CHECK(files_of_module(usual, module_of(usual)).called.empty());
}

TEST_CASE("metadata tables beside what changes are part of it") {
  for (const auto& [b, a] : {std::pair(main_function + "static int kTvmgenMetadata;", run_function),
                             std::pair(main_function, run_function + "static int kTvmgenMetadata;")}) {
    const Archive archive = archive_of({{"b.c", b}, {"a.c", a}});
    const ModuleFiles files = files_of_module(archive, module_of(archive));
    CHECK(files.operators == "b.c");
    CHECK(files.entry == "a.c");
    CHECK(files.metadata.empty());
    CHECK(files.others.empty());
  }
  const Archive archive = archive_of(
      {{"b.c",
        main_function + "static int kTvmgenMetadata;\nint32_t tvmgen_default_get_c_metadata(void) { return 0; }\n"},
       {"a.c",
        "static TVMBackendPackedCFunc _tvm_func_array[] = {\n    "
        "(TVMBackendPackedCFunc)tvmgen_default_get_c_metadata,\n};\n" +
            run_function}});
  const model::Description module = module_of(archive);
  CHECK(planned_registry(archive, module, files_of_module(archive, module), run_function)
            .find("(TVMBackendPackedCFunc)tvmgen_default_get_c_metadata,") != std::string::npos);
}

TEST_CASE("files that cannot be replaced are refused") {
  const auto error = [](const Archive& archive) {
    return test::error_of([&] { (void)files_of_module(archive, module_of(archive)); });
  };
  const std::string nothing_to_call =
      "m: no C file of module 'default' defines tvmgen_default_run, the function to call";
  CHECK(error(archive_of({{"b.c", "int32_t tvmgen_default_fused(void) { return 0; }\n"}})) == nothing_to_call);
  CHECK(error(archive_of({{"b.c", main_function},
                          {"a.c", "int32_t tvmgen_default_x(void) { return tvmgen_default___tvm_main__(0); }"}})) ==
        nothing_to_call +
            ", and 'a.c' uses the entry, tvmgen_default___tvm_main__, itself: rename its function that "
            "does so to tvmgen_default_run, or write elsewhere with -o");
  CHECK(error(archive_of({
            {"b.c", main_function},
            {"a.h", "int32_t tvmgen_default___tvm_main__(void*);"},
        })) == "no error");
  CHECK(error(archive_of({{"b.c", main_function},
                          {"tvmgen_default.h", "int32_t tvmgen_default___tvm_main__(void*);"}})) == nothing_to_call);
  CHECK(error(archive_of({{"b.c",
                           "int32_t tvmgen_default___tvm_main__(void* args, int32_t* codes, int32_t num_args) "
                           "{ return 0; }"}})) == nothing_to_call);
  CHECK(error(archive_of({{"b.c", main_function + "int32_t tvmgen_kws___tvm_main__(void* a) { return 0; }\n"}})) ==
        "m: b.c: defines several modules (default, kws), expected one a file: divide it, or write elsewhere with -o");
  const std::string registry = "static TVMBackendPackedCFunc _tvm_func_array[] = { };\n";
  CHECK(error(archive_of({{"b.c", main_function + registry}, {"a.c", run_function + registry}})) ==
        "m: a.c: holds a registry of functions, as 'b.c' does, expected one");
}

TEST_CASE("the registry keeps the entry and what stays in its file") {
  const std::string get = "int32_t tvmgen_default_get_c_metadata(TVMValue* a)";
  const std::string functions =
      "#include <crt/module.h>\nstatic TVMBackendPackedCFunc _tvm_func_array[] = {\n    "
      "(TVMBackendPackedCFunc)tvmgen_default_run,\n    (TVMBackendPackedCFunc)tvmgen_default_add,\n    "
      "(TVMBackendPackedCFunc)tvmgen_default___tvm_main__,\n    "
      "(TVMBackendPackedCFunc)tvmgen_default_get_c_metadata, /* last */\n};\n";
  const auto registry = [&](const std::string& count, bool packed) {
    const Archive archive =
        archive_of({{"b.c", main_function},
                    {"meta.c", "static const int kTvmgenMetadata[1] = { 0 };\n" + get + " { return 0; }"},
                    {"a.c", functions + "static const TVMFuncRegistry _tvm_func_registry = {\n    \"" + count +
                                "tvmgen_default_add\\000\",    _tvm_func_array,\n};\n" + run_function}});
    model::Description module = module_of(archive);
    module.packed_interface = packed;
    const ModuleFiles files = files_of_module(archive, module);
    CHECK(files.registry == "a.c");
    CHECK(files.metadata == Lines{"meta.c"});
    CHECK(registered_functions(archive.find("a.c")->bytes) == Lines{"tvmgen_default_run", "tvmgen_default_add",
                                                                    "tvmgen_default___tvm_main__",
                                                                    "tvmgen_default_get_c_metadata"});
    return planned_registry(archive, module, files, run_function);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string packed = registry("\\003\\000", true);
  CHECK(has(packed, "#include <crt/module.h>\n"));
  CHECK(has(packed, get + ";\n"));
  CHECK(has(packed,
            "    (TVMBackendPackedCFunc)tvmgen_default_run,\n    (TVMBackendPackedCFunc)tvmgen_default_run,\n    "
            "(TVMBackendPackedCFunc)tvmgen_default_get_c_metadata,\n};"));
  CHECK(has(packed,
            "    \"\\003\\000\"\n    \"tvmgen_default_run\\000\"\n    \"tvmgen_default___tvm_main__\\000\"\n    "
            "\"tvmgen_default_get_c_metadata\\000\",\n"));
  CHECK(!has(packed, "tvmgen_default_add"));
  // One byte in front of the names, whether it is printed as itself or not.
  for (const std::string count : {"\\003", "\\t", "#", "\\3\"\n    \""}) {
    CHECK(has(registry(count, true), "    \"\\003\"\n    \"tvmgen_default_run\\000\""));
  }
  for (const std::string count : {"\\t\\000", "#\\000", "\\3\"\n    \"\\000", "\\004\\001"}) {
    CHECK(has(registry(count, true), "    \"\\003\\000\"\n"));
  }
  // Without the packed interface, the entry cannot be called through it.
  CHECK(has(registry("\\003\\000", false), "    \"\\001\\000\"\n    \"tvmgen_default_get_c_metadata\\000\",\n"));
}

TEST_CASE("functions that planned C would not have are refused") {
  const Archive archive = archive_of({{"b.c", main_function}, {"a.c", run_function + "void start(void) { }\n"}});
  CHECK(test::error_of([&] { require_functions(archive, module_of(archive), {}); }) ==
        "m: a.c: defines 'start', which planned C would not have, expected TVM's functions and what they call");
  require_functions(archive, module_of(archive), {"start"});
  // Instructions that TVM's kernels for Cortex-M define, and a function that only has such a name.
  const auto with = [](const std::string& code) {
    return archive_of({{"b.c", main_function}, {"a.c", run_function + code}});
  };
  const Archive kernels = with("__attribute__((always_inline)) int __swap(int a) { return a; }\n");
  require_functions(kernels, module_of(kernels), {});
  const Archive wrapped = with("int __wrap_free(int a) { return a; }\n");
  const std::string ending = ", which planned C would not have, expected TVM's functions and what they call";
  CHECK(test::error_of([&] { require_functions(wrapped, module_of(wrapped), {}); }) ==
        "m: a.c: defines '__wrap_free'" + ending);
  const Archive plain = with("__attribute__((always_inline)) int swap(int a) { return a; }\n");
  CHECK(test::error_of([&] { require_functions(plain, module_of(plain), {}); }) == "m: a.c: defines 'swap'" + ending);
}

TEST_CASE("what a header no longer gives") {
  const std::string before =
      "#ifndef H\n#define H\n#define M_A_SIZE 4\n#define M_DATA \\\n  1, 2\nstruct m_inputs {\n  void* a;\n  void* "
      "b;\n};\n"
      "int32_t m_run(\n  struct m_inputs* inputs\n);\nstruct m_inputs m_map(void);\n";
  CHECK(missing_declarations(before, before).empty());
  CHECK(missing_declarations(
            before,
            "#define M_DATA 0\n#define M_A_SIZE 5\n#define NEW 1\nstruct m_inputs { void* a; const void* b; };"
            "struct m_inputs m_map(); int32_t m_run(struct m_inputs *inputs);")
            .empty());
  CHECK(missing_declarations(before, "struct m_inputs { void* b; void* a; };\nint32_t m_run(void);\n") ==
        Lines{"macro M_A_SIZE", "macro M_DATA", "struct m_inputs with members a, b",
              "function int32_t m_run( struct m_inputs* inputs )", "function struct m_inputs m_map(void)"});
  // What somebody added.
  const std::string added =
      "#ifndef H\n#define H\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n#define HAS_MODEL\nextern uint32_t  runs;\n"
      "typedef struct {\n  int a; } state_t;\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  CHECK(missing_declarations("#ifndef G\n# define G\n#  define MINE 3\n  #define OTHER\n#endif\n", "#define G\n") ==
        std::vector<std::string>{"macro MINE", "macro OTHER"});
  CHECK(missing_declarations(added, added).empty());
  CHECK(missing_declarations(added, "#define G\n") ==
        Lines{"macro HAS_MODEL", "extern uint32_t runs", "typedef struct { int a; } state_t"});
}

TEST_CASE("functions are alike whatever their layout") {
  const std::string one = "int32_t f(struct a* x, struct b* y) {\n}\n";
  CHECK(define_alike(one, "int32_t  f(\n  struct a * x,struct b *y )\n{ return 0; }", "f"));
  CHECK(!define_alike(one, "int32_t f(struct a* x, struct b* y, struct c* z) { }", "f"));
  CHECK(!define_alike(one, "int32_t f(struct a* x, struct b* y);", "f"));
}

}  // namespace
}  // namespace usmp::mlf::interface_test
