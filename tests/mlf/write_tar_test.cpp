// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Archives that are written, against GNU tar, Python and the reader; compressed ones cut, flipped, bombs.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>

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

// Does not compress.
std::string random_bytes(std::size_t count) {
  std::string bytes;
  for (std::uint32_t x = 1; bytes.size() < count;) bytes += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return bytes;
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
  for (const char* leaf : {"full", "full.tar.gz", "full.tar.xz", "full.tar.zst"}) {
    const std::string full = scratch.path(leaf);
    std::filesystem::create_symlink("/dev/full", full);
    for (const auto& some : {entries, sample_entries("")}) {  // little is written only at the end
      CHECK(error_of([&] { write_tar(full, some); }) ==
            "other kind: " + full + ": cannot be written: No space left on device");
    }
  }
  CHECK(error_of([&] { write_tar(scratch.path("no/such/a.tar.zst"), entries); }) ==
        "other kind: " + scratch.path("no/such/a.tar.zst") + ": cannot be written: No such file or directory");
  const std::string missing = scratch.path("missing");
  CHECK(error_of([&] {
          write_tar(scratch.path("a.tar"), {{"x", "", missing, 0644}});
        }) == "other kind: " + scratch.path("a.tar") + ": cannot be written: cannot read " + missing +
                  ": No such file or directory");
}

// The checks of the formats, which not every program that writes them puts in.
TEST_CASE("what is written compressed has a check of its contents") {
  const ScratchDirectory scratch;
  for (const char* leaf : {"a.tar.gz", "a.tgz", "a.tar.xz", "a.tar.zst"}) {
    CAPTURE(leaf);
    const std::string path = scratch.path(leaf);
    const std::string noise = random_bytes(300000);
    write_tar(path, {{"metadata.json", noise, "", 0644}});
    std::string bytes = test::read_file(path);
    const std::string whole = bytes;
    // A literal of what does not compress: only a check tells.
    for (std::size_t at = 1000; at < bytes.size() - 1000; at += 9973) {
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      CHECK(error_of([&] { (void)read_archive_bytes(bytes, leaf); }) != "no error");
      bytes[at] = whole[at];
    }
    REQUIRE(read_archive_bytes(bytes, leaf).members[0].bytes == noise);
  }
  // RFC 8878, 3.1.1.1.1: the frame has a checksum.
  const std::string zstd = test::read_file(scratch.path("a.tar.zst"));
  CHECK(zstd.starts_with("\x28\xB5\x2F\xFD"));
  CHECK((static_cast<unsigned char>(zstd[4]) & 4U) != 0);
}

TEST_CASE("a compressed archive cut off anywhere is refused") {
  const ScratchDirectory scratch;
  const std::string noise = random_bytes(30000);  // so that cuts fall into all members
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

TEST_CASE("a compressed archive that is nothing but a header is cut off at its beginning") {
  const std::string gzip = std::string("\x1F\x8B\x08\x08", 4) + std::string(6, '\0') + std::string(1 << 20, 'n');
  CHECK(error_of([&] { (void)read_archive_bytes(gzip, "a.tar"); }) ==
        "a.tar: truncated gzip input at byte 0, before any member");
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
    const std::string name = program.substr(0, program.find(' '));
    const std::string others_follow = "a.tar: other bytes follow the " + name + " data, from byte " +
                                      std::to_string(others_data.size()) +
                                      " on, expected the end of the file or more " + name + " data";
    for (const std::string more : {"x", "garbage", "\x28\xB5",
                                   "\xFD"
                                   "7z",
                                   "a long piece of garbage"}) {
      CHECK(read_error(others_data + more) == others_follow);
    }
    CHECK(read_error(others_data + std::string(4, '\0')) == (name == "xz" ? "no error" : others_follow));
    CHECK(read_error(others_data + std::string(3, '\0')) == others_follow);
    if (name == "xz") {
      const std::string cut = read_error(others_data + compressed(program, "").substr(0, 13));
      CHECK_MESSAGE(cut.starts_with("a.tar: truncated xz input"), cut);
    }
  }
}

// No bit of the file may change what is read: the checks of the formats see it, or it is one of a header that says
// nothing (a time, a name).
TEST_CASE("a flipped bit of a compressed archive is seen") {
  const std::string tar = test::read_file(USMP_TESTDATA "/cast_subtract.tar");
  const auto contents = [](const std::string& bytes) {
    std::string all;
    for (const Member& member : read_archive_bytes(bytes, "a.tar").members) all += member.name + '\n' + member.bytes;
    return all;
  };
  const std::string whole = contents(tar);
  for (const std::string program : {"gzip -n", "gzip -n -1", "xz", "xz -C crc32", "xz -C sha256", "zstd -q --check"}) {
    if (!shell_output("command -v " + program.substr(0, program.find(' ')) + " > /dev/null || echo none").empty()) {
      continue;
    }
    const std::string half = compressed(program, tar.substr(0, tar.size() / 2));
    const std::string packed = half + compressed(program, tar.substr(tar.size() / 2));
    REQUIRE(contents(packed) == whole);
    std::size_t accepted = 0;
    std::mt19937 random(48);
    for (int i = 0; i < 400; ++i) {
      // The ends of both parts, where the checks stand, more often than others.
      const std::size_t end = i % 4 == 0 ? half.size() : packed.size();
      const std::size_t begin = i % 2 == 0 ? end - std::min<std::size_t>(end, 24) : 0;
      const std::size_t at = begin + random() % (end - begin);
      std::string flipped = packed;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
      try {
        const std::string read = contents(flipped);
        CHECK_MESSAGE(read == whole, program << ": byte " << at);
        ++accepted;
      } catch (const Error&) {
      }
    }
    CHECK_MESSAGE(accepted < 40, program);
  }
}

TEST_CASE("what does not match the data is named") {
  const std::string tar = test::file("metadata.json", "{}") + test::end_marker();
  const auto flipped = [](std::string bytes, std::size_t from_end) {
    char& byte = bytes[bytes.size() - from_end];
    byte = static_cast<char>(byte ^ 1);
    return error_of([&] { (void)read_archive_bytes(bytes, "a.tar"); });
  };
  const std::string gzip = compressed("gzip -n", tar);
  CHECK(flipped(gzip, 8) == "a.tar: damaged: the gzip data do not have their CRC-32");
  CHECK(flipped(gzip, 1) == "a.tar: damaged: the gzip data do not have their length");
  CHECK(flipped(gzip + compressed("gzip -n", ""), 8) == "a.tar: damaged: the gzip data do not have their CRC-32");
  if (!shell_output("command -v zstd > /dev/null || echo none").empty()) return;
  CHECK(flipped(compressed("zstd -q --check", tar), 1) == "a.tar: damaged: the zstd data do not have their checksum");
  const std::string frame = compressed("zstd -q", tar + std::string(1 << 20, '\0'));
  // The window is in the header of the frame.
  std::string claims = "\x28\xB5\x2F\xFD";
  claims += '\0';
  claims += static_cast<char>((31 - 10) << 3);
  CHECK(error_of([&] { (void)read_archive_bytes(claims + frame.substr(6), "a.tar"); }) ==
        "a.tar: the zstd data need a window of more than 128 MiB to be unpacked, which is the limit");
}

TEST_CASE("what unpacks to much more than it is takes little memory") {
  const std::string front =
      test::header({.name = "src/blob.c", .size = std::uint64_t{400} << 20, .type = '0', .link = ""});
  for (const std::string program : {"gzip -n -1", "xz -0", "zstd -q -1"}) {
    const std::string name = program.substr(0, program.find(' '));
    if (!shell_output("command -v " + name + " > /dev/null || echo none").empty()) continue;
    const std::string bomb = compressed(program, front + std::string(std::size_t{200} << 20, ' '));
    CAPTURE(bomb.size());
    const std::string error = error_of([&] { (void)read_archive_bytes(bomb, "a.tar"); });
    CHECK_MESSAGE(error.starts_with("a.tar: the " + name + " data unpack to more than "), error);
  }
  // A sparse member is small as well.
  const std::string map = test::padded("1\n104857600\n4\n");
  const std::string sparse = test::pax({"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=holes",
                                        "GNU.sparse.realsize=104857604"}) +
                             test::header({.name = "stored", .size = map.size() + 4, .type = '0', .link = ""}) + map +
                             test::padded("data") + test::end_marker();
  CHECK(error_of([&] { (void)read_archive_bytes(sparse, "a.tar"); }) ==
        "a.tar: holes: sparse members have more than 67108864 bytes in holes, which is the limit");
  const std::string metadata =
      test::header({.name = "metadata.json", .size = std::uint64_t{1000} << 20, .type = '0', .link = ""});
  CHECK(error_of([&] { (void)read_archive_bytes(metadata, "a.tar"); }) ==
        "a.tar: metadata.json: has 1048576000 bytes, expected at most 16777216");
  const std::string blobs = test::file("a", "12345678") + test::file("b", "12345678") + test::end_marker();
  const auto with = [&](std::uint64_t bytes) {
    return error_of([&] { (void)read_archive_bytes(blobs, "a.tar", {.memory_bytes = bytes}); });
  };
  CHECK(with(16) == "no error");
  CHECK(with(15) ==
        "a.tar: b: has 8 bytes after 8 bytes of other members that have to be in memory, more than the "
        "limit of 15 bytes");
}

TEST_CASE("holes of several members count together") {
  const std::string map = test::padded("1\n1048576\n4\n");
  std::string tar;
  for (const std::string name : {"a", "b"}) {
    tar += test::pax(
               {"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + name, "GNU.sparse.realsize=1048580"}) +
           test::header({.name = "stored", .size = map.size() + 4, .type = '0', .link = ""}) + map +
           test::padded("data");
  }
  tar += test::end_marker();
  const auto with = [&](std::uint64_t bytes) {
    return error_of([&] { (void)read_archive_bytes(tar, "a.tar", {.hole_bytes = bytes}); });
  };
  CHECK(with(std::uint64_t{2} << 20) == "no error");
  CHECK(with((std::uint64_t{2} << 20) - 1) ==
        "a.tar: b: sparse members have more than 2097151 bytes in holes, which is the limit");
}

TEST_CASE("large C stays in its file, but what is no table has a limit") {
  const ScratchDirectory scratch;
  const std::string code(std::size_t{6} << 20, ' ');
  const std::string tar = test::file("a.c", code) + test::end_marker();
  test::write_file(scratch.path("a.tar"), tar);
  const auto with = [&](std::uint64_t bytes) {
    return error_of([&] { (void)read_archive(scratch.path("a.tar"), {.code_bytes = bytes}); });
  };
  CHECK(with(code.size()) == "no error");
  CHECK(with(code.size() - 1) == scratch.path("a.tar") + ": a.c: the large C files have more than " +
                                     std::to_string(code.size() - 1) +
                                     " bytes besides long lists of numbers, which is the limit");
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
