// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Extracted archives against their tars, and directories that are refused.
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "mlf/tar_builder.hpp"
#include "usmp/mlf/archive.hpp"

namespace usmp::mlf::directory_test {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::ScratchDirectory;
using test::write_file;

std::string read_error(const std::string& path, const Limits& limits = {}) {
  return error_of([&] { (void)read_archive(path, limits); });
}

TEST_CASE("an extracted archive is read sorted by name, links inside it followed") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("model");
  write_file(root + "/src/default.tir.json", "{}");
  write_file(root + "/metadata.json", std::string(200000, 'm'));
  write_file(root + "/codegen/host/src/default_lib0.c", "int x;");
  fs::create_symlink("default.tir.json", root + "/src/link.json");
  fs::create_directory_symlink("src", root + "/more");
  const Archive archive = read_archive(root);
  CHECK(archive.is_directory);
  CHECK(archive.path == root);
  std::string names;
  for (const Member& member : archive.members) names += member.name + " ";
  CHECK(names ==
        "codegen/host/src/default_lib0.c metadata.json more/default.tir.json more/link.json src/default.tir.json "
        "src/link.json ");
  CHECK(archive.members[1].bytes == std::string(200000, 'm'));
  CHECK(archive.members[5].bytes == "{}");
}

TEST_CASE("a directory and its tar hold the same members") {
  const ScratchDirectory scratch;
  const Archive tar = read_archive(USMP_TESTDATA "/cast_subtract.tar");
  for (const Member& member : tar.members) write_file(scratch.path("d/" + member.name), member.bytes);
  const Archive directory = read_archive(scratch.path("d"));
  REQUIRE(directory.members.size() == tar.members.size());
  for (const Member& member : directory.members) {
    REQUIRE(tar.find(member.name) != nullptr);
    CHECK(tar.find(member.name)->bytes == member.bytes);
  }
}

TEST_CASE("a directory that leads elsewhere, or holds what is no file, is refused by name") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("model");
  CHECK(read_error(root) == "other kind: " + root + ": no such file or directory");
  fs::create_directory(root);
  CHECK(read_error(root) ==
        root + ": metadata.json: not in this directory, expected an extracted Model Library Format archive");
  write_file(root + "/metadata.json", "{}");
  write_file(scratch.path("model2/secret"), "x");

  fs::create_symlink("../model2/secret", root + "/out");
  CHECK(read_error(root) == root + ": out: a symbolic link that leads out of the archive");
  fs::remove(root + "/out");
  fs::create_symlink("nowhere", root + "/broken");
  CHECK(read_error(root) == root + ": broken: a symbolic link that cannot be followed: No such file or directory");
  fs::remove(root + "/broken");
  fs::create_directory_symlink(".", root + "/loop");
  CHECK(read_error(root).find("a symbolic link that cannot be followed: Too many levels of symbolic links") !=
        std::string::npos);
  fs::remove(root + "/loop");
  std::string deep = root + "/deep";
  for (int i = 0; i < 64; ++i) deep += "/d";
  fs::create_directories(deep);
  CHECK(read_error(root).ends_with("more than 64 directories deep: is there a loop of symbolic links?"));
  fs::remove_all(root + "/deep");
  REQUIRE(mkfifo((root + "/pipe").c_str(), 0600) == 0);
  CHECK(read_error(root) == root + ": pipe: a device, pipe or socket, expected a regular file or a directory");
  fs::remove(root + "/pipe");
  CHECK(read_error(root) == "no error");
}

TEST_CASE("what cannot be looked at is not said to be missing") {
  const ScratchDirectory scratch;
  const std::string root = scratch.path("model");
  fs::create_directory(root);
  fs::create_symlink("metadata.json", root + "/metadata.json");
  CHECK(read_error(root) == root + ": metadata.json: cannot be read: Too many levels of symbolic links");
  fs::remove(root + "/metadata.json");
  write_file(root + "/metadata.json", "{}");
  if (geteuid() == 0) return;  // who may look everywhere
  fs::permissions(root, fs::perms::owner_read);
  CHECK(read_error(root) == root + ": metadata.json: cannot be read: Permission denied");
  fs::permissions(root, fs::perms::owner_exec);
  CHECK(read_error(root) == root + ": cannot be read: Permission denied");
  fs::permissions(root, fs::perms::owner_all);
}

TEST_CASE("limits hold for directories") {
  const ScratchDirectory scratch;
  write_file(scratch.path("d/metadata.json"), "{}");
  write_file(scratch.path("d/src/x"), "");
  fs::resize_file(scratch.path("d/src/x"), std::uintmax_t{10} << 30);  // takes no space on the disk
  CHECK(read_error(scratch.path("d")) ==
        scratch.path("d") + ": src/x: claims 10737418240 bytes, more than the limit of 2147483648 bytes for a member");
}

}  // namespace
}  // namespace usmp::mlf::directory_test
