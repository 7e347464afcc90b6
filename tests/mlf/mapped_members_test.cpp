// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Large C stays in its file.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "mlf/tar_builder.hpp"
#include "usmp/mlf/checkout.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/mlf/rename.hpp"

namespace usmp::mlf::mapped_members_test {
namespace {

using test::ScratchDirectory;
using test::write_file;

// Has more than the bytes from which on a file is mapped, nearly all of which are numbers. No line is like another.
std::string large_c() {
  std::string text = "// tvm target: c -keys=cpu\nstatic const int32_t weights[500000] = {\n";
  for (int i = 0; i < 500000; ++i) text += "    " + std::to_string(i) + ",\n";
  return text +
         "};\nint32_t tvmgen_m___tvm_main__(int8_t* a_buffer_var, int8_t* output_buffer_var) {\n  return 0;\n}\n";
}

const std::string name = "codegen/host/src/m_lib1.c";

void check_mapped(const Member& member, const std::string& content) {
  CHECK(member.file != nullptr);
  CHECK(member.bytes.empty());
  CHECK(member.text() == content);
  CHECK(member.code().size() < 1000);
  CHECK(member.code().find("tvmgen_m___tvm_main__(int8_t* a_buffer_var") != std::string_view::npos);
}

TEST_CASE("large C of a tar or a directory is the file's, with the code in memory") {
  const ScratchDirectory scratch;
  const std::string content = large_c();
  REQUIRE(content.size() > MappedFile::fewest_bytes);
  const std::string start = "metadata, of odd size";
  const std::vector<TarEntry> entries = {
      {"metadata.json", start, {}, 0644}, {name, content, {}, 0600}, {"z", "last", {}, 0644}};
  write_tar(scratch.path("a.tar"), entries);
  const Archive archive = read_archive(scratch.path("a.tar"));
  REQUIRE(archive.members.size() == 3);
  check_mapped(*archive.find(name), content);
  CHECK(archive.find(name)->mode == 0600);
  CHECK(archive.find("metadata.json")->bytes == start);
  CHECK(archive.find("z")->bytes == "last");
  // Written again.
  std::vector<TarEntry> again;
  for (const Member& member : archive.members) again.push_back({member.name, member.text(), {}, member.mode});
  write_tar(scratch.path("b.tar"), again);
  CHECK(test::read_file(scratch.path("a.tar")) == test::read_file(scratch.path("b.tar")));

  write_file(scratch.path("d/metadata.json"), start);
  write_file(scratch.path("d/" + name), content);
  check_mapped(*read_archive(scratch.path("d")).find(name), content);
  write_file(scratch.path("tree/model.c"), content);
  const Archive tree = read_checkout(scratch.path("tree"));
  REQUIRE(tree.members.size() == 1);
  check_mapped(tree.members[0], content);
}

TEST_CASE("what is compressed, small or no C is read") {
  const ScratchDirectory scratch;
  const std::string content = large_c();
  write_tar(scratch.path("a.tar.gz"), {{name, content, {}, 0644}});
  write_tar(scratch.path("a.tar"), {{"src/m.tir.json", content, {}, 0644}, {name, "int a;\n", {}, 0644}});
  for (const char* path : {"a.tar.gz", "a.tar"}) {
    for (const Member& member : read_archive(scratch.path(path)).members) {
      CHECK(member.file == nullptr);
      CHECK(member.text() == member.bytes);
      CHECK(member.code() == member.bytes);
      CHECK(member.bytes == (member.name == name && std::string(path) == "a.tar" ? "int a;\n" : content));
    }
  }
}

TEST_CASE("large C whose bytes do not stand in one piece is read") {
  const ScratchDirectory scratch;
  // A sparse file: a map stands behind the header.
  const std::string hole(std::size_t{5} << 20, '\0');
  const std::string map = test::padded("1\n" + std::to_string(hole.size()) + "\n4\n");
  write_file(scratch.path("a.tar"),
             test::pax({"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=a.c",
                        "GNU.sparse.realsize=" + std::to_string(hole.size() + 4)}) +
                 test::header({.name = "stored", .size = map.size() + 4, .type = '0', .link = ""}) + map +
                 test::padded("data") + test::end_marker() + hole);
  const Archive archive = read_archive(scratch.path("a.tar"));
  REQUIRE(archive.members.size() == 1);
  CHECK(archive.members[0].file == nullptr);
  CHECK(archive.members[0].bytes == hole + "data");
}

TEST_CASE("large C is renamed with its module") {
  const ScratchDirectory scratch;
  const std::string content = large_c();
  write_tar(scratch.path("a.tar"), {{name, content, {}, 0644}});
  Archive archive = read_archive(scratch.path("a.tar"));
  model::Description info;
  info.name = "m";
  info.c_members = {name};
  rename_module(archive, info, "other");
  const std::string_view text = archive.members[0].text();
  CHECK(text.find("tvmgen_other___tvm_main__(") != std::string_view::npos);
  CHECK(text.find("tvmgen_m_") == std::string_view::npos);
  CHECK(text.size() == content.size() + 4);
}

}  // namespace
}  // namespace usmp::mlf::mapped_members_test
