// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Source trees of many layouts: which files are the model's, and what is told where there is none.
#include "usmp/mlf/checkout.hpp"

#include <unistd.h>

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "mlf/tar_builder.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf::checkout_test {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::ScratchDirectory;
using test::write_file;

std::string operators(const std::string& module) {
  return "// tvm target: c -keys=cpu\n#include <math.h>\nTVM_DLL int32_t tvmgen_" + module +
         "___tvm_main__(int8_t* a_buffer_var, int8_t* output_buffer_var) {\n  return 0;\n}\n";
}

std::string entry(const std::string& module) {
  return "TVM_DLL int32_t tvmgen_" + module + "___tvm_main__(void* a,void* output0);\nint32_t tvmgen_" + module +
         "_run(struct tvmgen_" + module + "_inputs* inputs,struct tvmgen_" + module +
         "_outputs* outputs) {return tvmgen_" + module + "___tvm_main__(inputs->a,outputs->output);\n}\n";
}

std::string header(const std::string& module, const std::string& macro) {
  return "#define TVMGEN_" + macro + "_A_SIZE 12\nstruct tvmgen_" + module +
         "_inputs {\n  void* a;\n};\nstruct tvmgen_" + module + "_outputs {\n  void* output;\n};\n#define TVMGEN_" +
         macro + "_WORKSPACE_SIZE 640\n";
}

std::string names_of(const Archive& archive) {
  std::string names;
  for (const Member& member : archive.members) names += member.found_as + " ";
  return names;
}

std::string read_error(const std::string& path) {
  return error_of([&] { (void)read_checkout(path); });
}

TEST_CASE("a model is found in whatever layout, from any of its directories") {
  struct Layout {
    std::string sources, headers, directory;
  };
  for (const auto& [sources, headers, directory] :
       {Layout{"codegen/host/src/", "codegen/host/include/", "codegen/host"},
        {"codegen/src/", "codegen/inc/", "codegen"},
        {"host/src/", "host/include/", "host"},
        {"codegen/kws/src/", "codegen/kws/include/", "codegen/kws"},
        {"ml/", "ml/", "ml"},
        {"Core/Src/", "Core/Inc/", "Core"}}) {
    CAPTURE(sources);
    const ScratchDirectory scratch;
    const std::string root = scratch.path("project");
    write_file(root + "/" + sources + "zero.c", operators("kws"));
    write_file(root + "/" + sources + "one.c", entry("kws"));
    write_file(root + "/" + headers + "tvmgen_kws.h", header("kws", "KWS"));
    write_file(root + "/" + sources + "firmware.c", "int main(void) { return tvmgen_kws_run(0, 0); }");
    write_file(root + "/app/main.c", "int main(void) { return tvmgen_kws_run(0, 0); }");
    for (const std::string& path : {root, root + "/" + directory, root + "/" + sources}) {
      const Archive archive = read_checkout(path);
      CHECK(archive.is_checkout);
      CHECK(archive.members.size() == 3);
      CHECK(archive.find("codegen/host/src/zero.c") != nullptr);
      CHECK(archive.find("codegen/host/src/one.c") != nullptr);
      CHECK(archive.find("codegen/host/include/tvmgen_kws.h") != nullptr);
      const Metadata metadata = read_metadata(archive);
      REQUIRE(metadata.modules.size() == 1);
      const model::Description& module = metadata.modules[0];
      CHECK(module.name == "kws");
      CHECK(module.c_members.size() == 3);
      CHECK(module.foreign_members.empty());
      CHECK(module.workspace_bytes == 640);
      REQUIRE(module.inputs.size() == 1);
      CHECK(module.inputs[0].name == "a");
      CHECK(module.inputs[0].size == 12);
      CHECK(module.outputs[0].name == "output");
    }
  }
}

TEST_CASE("a C file may be a whole model, and stand beside another") {
  const ScratchDirectory scratch;
  write_file(scratch.path("ml/kws.c"), entry("kws") + operators("kws"));
  write_file(scratch.path("ml/mnist.c"), entry("mnist") + operators("mnist"));
  write_file(scratch.path("ml/tvmgen_mnist.h"), header("mnist", "MNIST"));
  const Archive both = read_checkout(scratch.path("ml"));
  const Metadata metadata = read_metadata(both);
  REQUIRE(metadata.modules.size() == 2);
  CHECK(metadata.modules[0].name == "kws");
  CHECK(metadata.modules[0].c_members == std::vector<std::string>{"codegen/host/src/kws.c"});
  CHECK(metadata.modules[0].inputs.empty());
  CHECK(metadata.modules[1].inputs.size() == 1);
  const Archive one = read_checkout(scratch.path("ml/mnist.c"));
  CHECK(names_of(one) == "mnist.c tvmgen_mnist.h ");
  CHECK(read_metadata(one).modules.size() == 1);
}

TEST_CASE("a file belongs to the module whose functions it defines, also if one name begins another") {
  const ScratchDirectory scratch;
  write_file(scratch.path("ml/a.c"), entry("m") + operators("m"));
  write_file(scratch.path("ml/b.c"), entry("m_2") + operators("m_2"));
  write_file(scratch.path("ml/weights.c"),
             "static const int8_t __attribute__((section(\".rodata.tvm\"))) weights[1] = {1};\n");
  const Metadata metadata = read_metadata(read_checkout(scratch.path("ml")));
  REQUIRE(metadata.modules.size() == 2);
  const std::string source = "codegen/host/src/";
  CHECK(metadata.modules[0].c_members == std::vector<std::string>{source + "a.c", source + "weights.c"});
  CHECK(metadata.modules[1].c_members == std::vector<std::string>{source + "b.c", source + "weights.c"});
}

TEST_CASE("functions of another code generator stay, by the target that their file names") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("m/src/");
  write_file(root + "a.c", "/* kept from the vendor */\n" + operators("m"));
  write_file(root + "b.c", entry("m"));
  write_file(root + "c.c",
             "// tvm target: cmsis-nn \n#include \"c.h\"\nTVM_DLL int32_t tvmgen_m_cmsis_nn_main_0(int8_t* x) { }\n");
  write_file(root + "c.h", "int unrelated;");
  const Metadata metadata = read_metadata(read_checkout(scratch.path("m")));
  const model::Description& module = metadata.modules.at(0);
  CHECK(module.c_members == std::vector<std::string>{"codegen/host/src/a.c", "codegen/host/src/b.c"});
  REQUIRE(module.foreign_functions.size() == 1);
  CHECK(module.foreign_functions[0].name == "tvmgen_m_cmsis_nn_main_0");
  CHECK(module.foreign_members == std::vector<std::string>{"codegen/host/include/c.h", "codegen/host/src/c.c"});
}

TEST_CASE("functions of another code generator may be called after the module default") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("m/src/");
  write_file(root + "a.c", operators("m") + entry("m"));
  const auto with = [&](const std::string& target, const std::string& function) {
    write_file(root + "b.c", "// tvm target: " + target + "\nTVM_DLL int32_t " + function + "(int8_t* x) { }\n");
    return read_metadata(read_checkout(scratch.path("m"))).modules.at(0);
  };
  const model::Description module = with("cmsis-nn ", "tvmgen_default_cmsis_nn_main_0");
  CHECK(module.c_members == std::vector<std::string>{"codegen/host/src/a.c"});
  REQUIRE(module.foreign_functions.size() == 1);
  CHECK(module.foreign_functions[0].name == "tvmgen_default_cmsis_nn_main_0");
  CHECK(with("cmsis-nn ", "tvmgen_other_cmsis_nn_main_0").foreign_functions.empty());
  CHECK(with("c ", "tvmgen_default_op").foreign_functions.empty());
}

TEST_CASE("metadata.json is read where it is that of the model") {
  const ScratchDirectory scratch;
  write_file(scratch.path("m/codegen/src/a.c"), operators("default") + entry("default"));
  write_file(
      scratch.path("m/metadata.json"),
      R"({"version": 7, "modules": {"default": {"executors": ["aot"], "style": "full-model", "memory": {"functions": )"
      R"({"main": [{"workspace_size_bytes": 77}]}}}}})");
  CHECK(read_metadata(read_checkout(scratch.path("m"))).modules.at(0).workspace_bytes == 77);
  write_file(scratch.path("m/metadata.json"), R"({"memory": "of another program"})");
  CHECK(read_metadata(read_checkout(scratch.path("m"))).modules.at(0).name == "default");
}

TEST_CASE("several models are listed with what to type, unless one is in the directory itself") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("p");
  write_file(root + "/a/codegen/host/src/default_lib1.c", operators("default"));
  write_file(root + "/b/default_lib1.c", operators("default"));
  CHECK(read_error(root) == "other kind: " + root +
                                ": holds models in 2 directories, expected one; type one of:\n  usmp-plan " + root +
                                "/a/codegen/host  (default)\n  usmp-plan " + root + "/b  (default)");
  CHECK(names_of(read_checkout(root + "/b")) == "default_lib1.c ");
  write_file(root + "/b/sub/default_lib1.c", operators("default"));
  CHECK(names_of(read_checkout(root + "/b")) == "default_lib1.c ");
  write_file(root + "/b/copy.c", operators("default"));
  CHECK(read_error(root + "/b") == "other kind: " + root +
                                       "/b: two files define the same module; type one of:\n  usmp-plan " + root +
                                       "/b/copy.c\n  usmp-plan " + root + "/b/default_lib1.c");
  CHECK(names_of(read_checkout(root + "/b/copy.c")) == "copy.c ");
}

TEST_CASE("the mark in front of UTF-8 is no text of the file") {
  const Member marked{.name = "a.c", .bytes = "\xEF\xBB\xBF#define A 1\n"};
  CHECK(marked.text() == "#define A 1\n");
  CHECK(marked.code() == marked.text());
  CHECK(Member{.name = "a.c", .bytes = "\xEF\xBB"}.text().size() == 2);
}

TEST_CASE("where there is no model, it is told what there is") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("p");
  write_file(root + "/main.c", "int main(void) { return 0; }");
  CHECK(read_error(root).find("found no C that TVM wrote") != std::string::npos);
  write_file(root + "/.git/lib1.c", operators("default"));
  CHECK(read_error(root).find("found no C that TVM wrote") != std::string::npos);
  for (const std::string name : {"model.h", "model.inc"}) {
    write_file(root + "/" + name, operators("default"));
    CHECK(read_error(root) == root + ": found the model in " + root + "/" + name +
                                  ", expected it in C files: rename the file to .c, and compile it instead of "
                                  "including it");
    std::filesystem::remove(root + "/" + name);
  }
  write_file(root + "/models/b.tar.gz", "");
  write_file(root + "/models/a.tar", "");
  CHECK(read_error(root) == "other kind: " + root +
                                ": found no C that TVM wrote, but 2 models; type one of:\n  usmp-plan " + root +
                                "/models/a.tar\n  usmp-plan " + root + "/models/b.tar.gz");
  std::filesystem::remove_all(root + "/models");
  write_file(root + "/lib/model.o",
             "\x7F"
             "ELF");
  CHECK(read_error(root) == root + ": found objects (" + root +
                                "/lib/model.o) but no C from TVM: machine code cannot be planned again; compile with "
                                "--target=c");
  write_file(root + "/graph.json", "{}");
  CHECK(read_error(root).find("found a graph (" + root + "/graph.json)") != std::string::npos);
  write_file(root + "/lib1.c", "// tvm target: c\nTVM_DLL int32_t tvmgen_default_fused_add(void* args) { }\n");
  CHECK(read_error(root) ==
        root + ": found operators of TVM (" + root + "/lib1.c) and a graph (" + root +
            "/graph.json) but no entry function tvmgen_M___tvm_main__: the graph executor plans memory "
            "at run time; compile with --executor=aot");
  write_file(root + "/lib0.c",
             "// tvm target: c\nint32_t tvmgen_default___tvm_main__(void* x);\n"
             "int32_t tvmgen_default_run(void* x) { return tvmgen_default___tvm_main__(x); }\n");
  CHECK(read_error(root + "/lib0.c") ==
        root + "/lib0.c: found tvmgen_M_run (" + root +
            "/lib0.c) but not tvmgen_M___tvm_main__, which it calls: expected the directory with all of TVM's C");
}

TEST_CASE("C that usmp-plan wrote is the model where nothing of TVM's is") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("tree");
  const std::string note = "/* Written by usmp-plan; do not edit. */\n";
  write_file(root + "/planned/default_lib1.c", note + operators("default"));
  CHECK(read_checkout(root).members.front().found_as == "default_lib1.c");
  write_file(root + "/stock/model.c", operators("default"));
  CHECK(read_checkout(root).members.front().found_as == "model.c");
}

TEST_CASE("a C file of nothing but constants that the model declares is the model's") {
  const auto files = [](const std::string& declaration, const std::string& weights) {
    const ScratchDirectory scratch;
    const std::string root = scratch.path("project");
    write_file(root + "/model.c", "#include \"weights.h\"\n" + declaration + operators("default"));
    write_file(root + "/weights.c", weights);
    write_file(root + "/weights.h", "extern const int8_t in_header[2];\n");
    std::string names;
    for (const Member& member : read_checkout(root).members) {
      if (member.name.ends_with(".c")) names += member.found_as + " ";
    }
    return names;
  };
  const std::string declaration = "extern \"C\" {\nextern const int8_t w[2];\n}\n";
  const std::string definition = "#include <stdint.h>\nconst int8_t w[2] __attribute__((aligned(16))) = {1, 2};\n";
  CHECK(files(declaration, definition) == "model.c weights.c ");
  CHECK(files("", "const int8_t in_header[2] = {1, 2};\n") == "model.c weights.c ");
  CHECK(files("", definition) == "model.c ");
  CHECK(files("int8_t w[2];\n", definition) == "model.c ");
  CHECK(files(declaration, definition + "int main(void) { return w[0]; }\n") == "model.c ");
  CHECK(files(declaration, "extern const int8_t w[2];\n") == "model.c ");
  CHECK(files(declaration, "const int8_t v[2] = {1, 2};\n") == "model.c ");
}

TEST_CASE("headers of the tree that the model includes come along, as no part of it") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("project");
  write_file(root + "/ml/model.c", "#include <model/sizes.h>\n#include <stdint.h>\n" + operators("default"));
  write_file(root + "/inc/model/sizes.h", "#include \"more.h\"\n");
  write_file(root + "/other/more.h", "#define N 3\n");
  write_file(root + "/libc/stdint.h", "#define int8_t signed char\n");
  write_file(root + "/inc/unused.h", "#define N 4\n");
  std::string names;
  for (const Member& member : read_checkout(root).members) {
    if (member.name.starts_with("headers/")) names += member.found_as + " ";
  }
  CHECK(names == "../inc/model/sizes.h ../other/more.h ");
}

TEST_CASE("of headers with one name that beside the C files is the model's") {
  const std::string old = header("kws", "OLD");
  for (const char* copy : {"backup", "zcopy"}) {
    CAPTURE(std::string(copy));
    const ScratchDirectory tree;
    write_file(tree.path("ml/kws.c"), entry("kws") + operators("kws"));
    write_file(tree.path("ml/tvmgen_kws.h"), header("kws", "KWS"));
    write_file(tree.path("ml/" + std::string(copy) + "/tvmgen_kws.h"), old);
    CHECK(names_of(read_checkout(tree.path("ml"))) == "kws.c tvmgen_kws.h ");
  }
  const ScratchDirectory tree;
  const std::string root = tree.path("ml");
  write_file(tree.path("ml/src/kws.c"), entry("kws") + operators("kws"));
  write_file(tree.path("ml/tvmgen_kws.h"), old);
  write_file(tree.path("ml/inc/tvmgen_kws.h"), old);
  CHECK(names_of(read_checkout(root)) == "src/kws.c inc/tvmgen_kws.h ");
  write_file(tree.path("ml/inc/tvmgen_kws.h"), header("kws", "KWS"));
  CHECK(
      read_error(root).ends_with("found headers 'inc/tvmgen_kws.h' and 'tvmgen_kws.h', which differ, expected one of "
                                 "the name, or one beside the C "
                                 "files"));
}

TEST_CASE("headers beside another model's C are that model's") {
  const ScratchDirectory tree;
  write_file(tree.path("kws.c"), entry("kws") + operators("kws"));
  for (const std::string& other : std::vector<std::string>{"a", "b"}) {
    write_file(tree.path(other + "/kws.c"), operators("kws"));
    write_file(tree.path(other + "/tvmgen_kws.h"), header("kws", upper_case(other)));
  }
  CHECK(names_of(read_checkout(tree.path("kws.c"))) == "kws.c ");
  CHECK(names_of(read_checkout(tree.path(""))) == "kws.c ");
  write_file(tree.path("include/tvmgen_kws.h"), header("kws", "KWS"));
  write_file(tree.path("include/other.c"), "int other;\n");
  CHECK(names_of(read_checkout(tree.path("kws.c"))) == "kws.c include/tvmgen_kws.h ");
}

TEST_CASE("messages name files from the tree's root on, wherever it is") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("project");
  write_file(root + "/ml/model.c", operators("default"));
  const auto with = [&](const Limits& limits) { return error_of([&] { (void)read_checkout(root, limits); }); };
  CHECK(with({.members = 1}) == root + ": ml/model.c: the archive has more than 1 members, the limit");
  CHECK(with({.member_bytes = 9}).starts_with(root + ": ml/model.c: claims "));
  if (geteuid() == 0) return;  // who may look everywhere
  for (const std::string name : {"", "/ml"}) {
    fs::permissions(root + name, fs::perms::none);
    const std::string place = name.empty() ? root : root + ": ml";
    CHECK(read_error(root) == place + ": cannot be read: Permission denied");
    fs::permissions(root + name, fs::perms::owner_all);
  }
}

TEST_CASE("names that other C of the tree mentions are found") {
  const ScratchDirectory scratch;
  const std::string tree = scratch.path("tree");
  write_file(tree + "/model/lib0.c", entry("kws"));
  write_file(tree + "/model/lib1.c", operators("kws"));
  write_file(tree + "/app/main.c",
             "// tvmgen_kws_a\nint main(void) { return tvmgen_kws_b(0) + \"tvmgen_kws_c\"[0]; }\n");
  write_file(tree + "/model/more.c", "#define D tvmgen_kws_d\n");
  const Archive archive = read_checkout(tree);
  std::set<std::string> own;
  for (const Member& member : archive.members) own.insert(member.name);
  const MentionedNames found = mentioned_elsewhere(
      archive, own, {"tvmgen_kws_a", "tvmgen_kws_b", "tvmgen_kws_c", "tvmgen_kws_d", "tvmgen_kws___tvm_main__"});
  CHECK(found == MentionedNames{{"tvmgen_kws_b", "../app/main.c"}, {"tvmgen_kws_d", "more.c"}});
  CHECK(mentioned_elsewhere(archive, {}, {"tvmgen_kws___tvm_main__"}).size() == 1);
}

TEST_CASE("an extracted archive is none of these") {
  const ScratchDirectory scratch;
  write_file(scratch.path("a/metadata.json"), "{}");
  CHECK(!is_extracted_archive(scratch.path("a")));
  write_file(scratch.path("a/src/default.tir.json"), "{}");
  CHECK(is_extracted_archive(scratch.path("a")));
  write_file(scratch.path("b/codegen/host/src/default_lib1.c"), "");
  CHECK(!is_extracted_archive(scratch.path("b")));
  write_file(scratch.path("b/metadata.json"), "{}");
  CHECK(is_extracted_archive(scratch.path("b")));
  // With the metadata of another model it is a source tree.
  write_file(scratch.path("b/codegen/host/src/default_lib1.c"), operators("my_model"));
  write_file(scratch.path("b/metadata.json"), R"({"modules": {"other": {"memory": {}}}})");
  CHECK(!is_extracted_archive(scratch.path("b")));
  write_file(scratch.path("b/metadata.json"), R"({"modules": {"my-model": {"memory": {}}}})");
  CHECK(is_extracted_archive(scratch.path("b")));
}

}  // namespace
}  // namespace usmp::mlf::checkout_test
