// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "mlf/tar_builder.hpp"
#include "usmp/mlf/archive.hpp"

namespace usmp::mlf::write_tar_test {
namespace {

using test::error_of;
using test::ScratchDirectory;

std::string shell_output(const std::string& command) {
  std::string output;
  std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  pclose(pipe);
  return output;
}

std::vector<TarEntry> sample_entries(std::string_view content) {
  const auto entry = [&](const std::string& name, std::uint32_t mode) { return TarEntry{name, content, "", mode}; };
  return {entry("metadata.json", 0644),
          entry("codegen/host/src/default_lib0.c", 0644),
          entry("codegen/host/include/h.h", 0600),
          entry("src/" + std::string(150, 'a'), 0644),
          entry("src/" + std::string(120, 'b') + "/" + std::string(180, 'c'), 0755),
          entry("src/mod\xC3\xA8le.tir.json", 0644)};
}

TEST_CASE("what is written is read back, plain and compressed, by every name") {
  const ScratchDirectory scratch;
  const std::string content = std::string(100000, 'x') + '\0' + "end";
  const auto entries = sample_entries(content);
  for (const char* leaf : {"a.tar", "a.tar.gz", "a.tgz", "a.tar.xz", "a.tar.zst"}) {
    CAPTURE(leaf);
    const std::string path = scratch.path(leaf);
    write_tar(path, entries);
    const bool plain = std::string_view(leaf).ends_with(".tar");
    CHECK((test::read_file(path).size() > content.size() * entries.size()) == plain);
    const Archive archive = read_archive(path);
    REQUIRE(archive.members.size() == entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      CHECK(archive.members[i].name == entries[i].name);
      CHECK(archive.members[i].bytes == content);
      CHECK(archive.members[i].mode == entries[i].mode);
    }
  }
}

TEST_CASE("same entries, same bytes") {
  const ScratchDirectory scratch;
  for (const char* suffix : {".tar", ".tar.gz", ".tar.xz", ".tar.zst"}) {
    write_tar(scratch.path("a") + suffix, sample_entries("content"));
    write_tar(scratch.path("b") + suffix, sample_entries("content"));
    CHECK(test::read_file(scratch.path("a") + suffix) == test::read_file(scratch.path("b") + suffix));
  }
}

TEST_CASE("GNU tar and Python read what is written, directories stand before their files") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("a.tar");
  write_tar(path, sample_entries("content"));
  CHECK(shell_output("LC_ALL=C.UTF-8 tar --quoting-style=literal --show-transformed-names -tf " + path) ==
        "./metadata.json\n./codegen/\n./codegen/host/\n./codegen/host/src/\n./codegen/host/src/default_lib0.c\n"
        "./codegen/host/include/\n./codegen/host/include/h.h\n./src/\n./src/" +
            std::string(150, 'a') + "\n./src/" + std::string(120, 'b') + "/\n./src/" + std::string(120, 'b') + "/" +
            std::string(180, 'c') + "\n./src/mod\xC3\xA8le.tir.json\n");
  CHECK(shell_output("python3 -c \"import tarfile; t = tarfile.open('" + path +
                     "'); print(len(t.getmembers()), t.getnames()[-1].encode('utf-8', 'surrogateescape'), "
                     "{(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in t})\"") ==
        "12 b'./src/mod\\xc3\\xa8le.tir.json' {(0, 0, 0, '', '')}\n");
}

TEST_CASE("content can come from a file") {
  const ScratchDirectory scratch;
  const std::string content(300000, 'y');
  test::write_file(scratch.path("content"), content);
  write_tar(scratch.path("a.tar"), {{"src/x", "ignored", scratch.path("content"), 0644}});
  const Archive archive = read_archive(scratch.path("a.tar"));
  REQUIRE(archive.members.size() == 1);
  CHECK(archive.members[0].bytes == content);
}

TEST_CASE("what cannot be written is an error of kind output") {
  const ScratchDirectory scratch;
  const std::string content(1 << 20, 'x');
  const auto entries = sample_entries(content);
  CHECK(error_of([&] {
          write_tar(scratch.path("no/such/a.tar"), entries);
        }).starts_with("other kind: " + scratch.path("no/such/a.tar") + ": cannot be written: "));
  CHECK(error_of([&] { write_tar("/dev/full", entries); }).find("No space left on device") != std::string::npos);
  const std::string missing = scratch.path("missing");
  CHECK(error_of([&] {
          write_tar(scratch.path("a.tar"), {{"x", "", missing, 0644}});
        }) == "other kind: " + scratch.path("a.tar") + ": cannot be written: cannot read " + missing +
                  ": No such file or directory");
}

TEST_CASE("a compressed archive cut off anywhere is refused") {
  const ScratchDirectory scratch;
  std::string noise;  // does not compress, so that cuts fall into all members
  for (std::uint32_t i = 0, x = 1; i < 30000; ++i) noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (const char* leaf : {"a.tar.gz", "a.tar.xz", "a.tar.zst"}) {
    write_tar(scratch.path(leaf), {{"metadata.json", noise, "", 0644}, {"src/b", noise, "", 0644}});
    const std::string whole = test::read_file(scratch.path(leaf));
    REQUIRE(read_archive_bytes(whole, leaf).members.size() == 2);
    for (std::size_t cut = 0; cut < whole.size(); cut += cut + 600 < whole.size() ? std::size_t{500} : std::size_t{1}) {
      CAPTURE(leaf);
      CAPTURE(cut);
      CHECK(error_of([&] { (void)read_archive_bytes(std::string_view(whole).substr(0, cut), leaf); }) != "no error");
    }
  }
}

TEST_CASE("a compressed archive cut off behind its tar's end is refused, too") {
  const ScratchDirectory scratch;
  // The tar's end falls on the end of a 64 KiB chunk; what follows is padding that no tar reader needs.
  const std::size_t content = std::size_t{65536} - 3 * test::block;
  const std::string tar = test::file("metadata.json", std::string(content, 'x')) + test::end_marker();
  REQUIRE(tar.size() == 65536);
  test::write_file(scratch.path("a.tar"), tar + std::string(1 << 20, '\0'));
  REQUIRE(shell_output("gzip -n " + scratch.path("a.tar")).empty());
  const std::string whole = test::read_file(scratch.path("a.tar.gz"));
  REQUIRE(read_archive_bytes(whole, "a.tar.gz").members.size() == 1);
  CHECK(error_of([&] { (void)read_archive_bytes(std::string_view(whole).substr(0, whole.size() - 20), "a.tar.gz"); }) ==
        "a.tar.gz: truncated gzip input after the last member");
}

// The bytes as `program` compresses them.
std::string compressed(const std::string& program, const std::string& bytes) {
  const ScratchDirectory scratch;
  test::write_file(scratch.path("in"), bytes);
  REQUIRE(shell_output(program + " -c < " + scratch.path("in") + " > " + scratch.path("out")).empty());
  return test::read_file(scratch.path("out"));
}

TEST_CASE("one compression is taken off, however little is in the next one") {
  const std::string tar = test::file("metadata.json", "{}") + test::end_marker();
  const auto read_error = [](const std::string& bytes) {
    return error_of([&] { (void)read_archive_bytes(bytes, "a.tar"); });
  };
  const std::string more_than_once = "a.tar: compressed more than once: found ";
  for (const std::string program : {"gzip -n", "xz"}) {
    const std::string name = program.substr(0, program.find(' '));
    const std::string once = compressed(program, tar);
    CHECK(read_error(once) == "no error");
    CHECK(read_error(compressed(program, once)) == more_than_once + name + " inside, expected a tar");
    // Nothing at all comes out of these, however long it takes.
    std::string empty = compressed(program, "");
    while (empty.size() < 100000) empty += empty;
    CHECK(read_error(empty) == "a.tar: the file is empty, expected a tar archive");
    CHECK(read_error(compressed("gzip -n", compressed(program, empty))) ==
          more_than_once + name + " inside, expected a tar");
  }
  CHECK(read_error(compressed("gzip -n", compressed("xz", tar))) == more_than_once + "xz inside, expected a tar");
}

TEST_CASE("what stands behind the compressed tar is refused, but more of the same and zeros") {
  const ScratchDirectory scratch;
  const std::string front = test::file("metadata.json", std::string(300000, 'm'));
  const std::string back = test::file("src/b", "b") + test::end_marker();
  const auto read_error = [&](const std::string& bytes) {
    const std::string message = error_of([&] { (void)read_archive_bytes(bytes, "a.tar"); });
    test::write_file(scratch.path("a.tar"), bytes);
    const std::string of_file = error_of([&] { (void)read_archive(scratch.path("a.tar")); });
    CHECK((of_file == message || of_file == scratch.path("") + message));
    return message;
  };
  const std::string gzip = compressed("gzip -n", front) + compressed("gzip -n", back);
  CHECK(read_error(gzip) == "no error");
  CHECK(read_error(gzip + compressed("gzip -n", "")) == "no error");
  CHECK(read_error(gzip + std::string(1000000, '\0')) == "no error");
  const std::string others = "a.tar: other bytes follow the gzip data, from byte " + std::to_string(gzip.size()) +
                             " on, expected the end of the file or more gzip data";
  CHECK(read_error(gzip + "x") == others);
  CHECK(read_error(gzip + "\x1F\x8B") == others);
  CHECK(read_error(gzip + back) == others);
  CHECK(read_error(gzip + std::string(1000000, '\0') + "x") == others);
  for (const std::string program : {"xz", "zstd -q"}) {
    if (!shell_output("command -v " + program.substr(0, program.find(' ')) + " > /dev/null || echo none").empty()) {
      continue;
    }
    const std::string others_data = compressed(program, front) + compressed(program, back);
    CHECK(read_error(others_data) == "no error");
    // How much of the tar comes before the fault is libarchive's.
    const std::string message = read_error(others_data + "garbage");
    CHECK(message.find("followed by other bytes") != std::string::npos);
    CHECK(message.find(program.substr(0, program.find(' ')) + " data") != std::string::npos);
  }
}

TEST_CASE("padding behind the tar has a limit") {
  const ScratchDirectory scratch;
  const std::string tar = test::file("metadata.json", "{}") + test::end_marker();
  const auto padded_error = [&](std::size_t bytes) {
    test::write_file(scratch.path("a.tar"), tar);
    std::filesystem::resize_file(scratch.path("a.tar"), tar.size() + bytes);  // takes no space on the disk
    return error_of([&] { (void)read_archive(scratch.path("a.tar")); });
  };
  CHECK(padded_error(std::size_t{63} << 20) == "no error");
  CHECK(padded_error(std::size_t{65} << 20) ==
        scratch.path("a.tar") + ": more than 67108864 bytes follow the last member, which is the limit");
}

TEST_CASE("a decompression bomb ends at the limit") {
  const ScratchDirectory scratch;
  const std::string zeros(std::size_t{8} << 20, '\0');
  std::vector<TarEntry> entries;
  for (const char* name : {"f0", "f1", "f2", "f3"}) entries.push_back({name, zeros, "", 0644});
  write_tar(scratch.path("a.tar.gz"), entries);
  const Limits limits{.member_bytes = 9 << 20, .total_bytes = 20 << 20, .members = 100};
  CHECK(error_of([&] { (void)read_archive(scratch.path("a.tar.gz"), limits); }) ==
        scratch.path("a.tar.gz") +
            ": f2: claims 8388608 bytes after 16777216 bytes of other members, more than the limit of 20971520 bytes "
            "for an archive");
}

}  // namespace
}  // namespace usmp::mlf::write_tar_test
