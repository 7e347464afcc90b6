// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tars made by hand and cut off, odd names, claims beyond limits, bits flipped.
#include "usmp/mlf/archive.hpp"

#include <doctest/doctest.h>
#include <clocale>
#include <random>
#include <set>

#include "mlf/tar_builder.hpp"

namespace usmp::mlf::archive_test {
namespace {

using test::block;
using test::end_marker;
using test::error_of;
using test::file;
using test::header;
using test::Header;
using test::padded;
using test::pax;

std::string read_error(const std::string& bytes, const Limits& limits = {}) {
  return error_of([&] { (void)read_archive_bytes(bytes, "a.tar", limits); });
}

std::string gnu_long_name(const std::string& name) {
  return header({.name = "././@LongLink", .size = name.size() + 1, .type = 'L', .link = ""}) +
         test::padded(name + '\0');
}

TEST_CASE("a plain ustar is read in its order, with modes, without './' and without directories") {
  const std::string tar = header({.name = "./", .size = 0, .type = '5', .link = ""}) +
                          header({.name = "./src/", .size = 0, .type = '5', .link = ""}) + file("./src/b", "two") +
                          file("a//./c", "") + file("metadata.json", std::string(1000, 'x')) + end_marker();
  const Archive archive = read_archive_bytes(tar, "a.tar");
  REQUIRE(archive.members.size() == 3);
  CHECK(archive.path == "a.tar");
  CHECK_FALSE(archive.is_directory);
  CHECK(archive.members[0].name == "src/b");
  CHECK(archive.members[0].bytes == "two");
  CHECK(archive.members[0].mode == 0644);
  CHECK(archive.members[1].name == "a/c");
  CHECK(archive.members[1].bytes.empty());
  CHECK(archive.members[2].bytes == std::string(1000, 'x'));
  CHECK(archive.find("a/c") == &archive.members[1]);
  CHECK(archive.find("./a/c") == nullptr);
}

TEST_CASE("PAX and GNU names, however long, and PAX times") {
  const std::string name120 = "codegen/" + std::string(112, 'n');
  const std::string name400 = "codegen/" + std::string(200, 'd') + "/" + std::string(191, 'e');
  const std::string long_record = "path=" + name120;
  std::string pax_body = std::to_string(long_record.size() + 5) + " " + long_record + "\n";
  const std::string tar = header({.name = "P", .size = pax_body.size(), .type = 'x', .link = ""}) +
                          test::padded(pax_body) + file("short", "1") + gnu_long_name(name400) + file("cut", "2") +
                          pax({"mtime=1700000000.5"}) + file("timed", "3") + end_marker();
  const Archive archive = read_archive_bytes(tar, "a.tar");
  REQUIRE(archive.members.size() == 3);
  CHECK(archive.members[0].name == name120);
  CHECK(archive.members[1].name == name400);
  CHECK(archive.members[2].name == "timed");
}

TEST_CASE("names that are not ASCII stay the bytes they are, whatever the locale") {
  const std::string utf8 = "src/mod\xC3\xA8le";
  const std::string latin1 = "src/mod\xE8le";
  const std::string decomposed = "src/mode\xCC\x80le";  // what a UTF-8 locale would make one character of
  const std::string tar = file(utf8, "1") + file(latin1, "2") + pax({"path=" + decomposed}) + file("x", "3") +
                          pax({"uname=J\xC3\xBCrgen"}) + file("y", "4") + end_marker();
  for (const char* locale : {"C", "C.UTF-8", "de_DE.ISO-8859-1"}) {
    std::setlocale(LC_ALL, locale);  // where it is not installed, the one before stays
    const Archive archive = read_archive_bytes(tar, "a.tar");
    std::setlocale(LC_ALL, "C");
    REQUIRE(archive.members.size() == 4);
    CHECK(archive.members[0].name == utf8);
    CHECK(archive.members[1].name == latin1);
    CHECK(archive.members[2].name == decomposed);
    CHECK(archive.members[3].name == "y");
  }
}

TEST_CASE("names that could lead somewhere else are refused") {
  CHECK(read_error(file("/etc/passwd", "") + end_marker()) ==
        "a.tar: /etc/passwd: the member's name is absolute, expected one relative to the archive");
  CHECK(read_error(file("src/../../x", "") + end_marker()) ==
        "a.tar: src/../../x: the member's name leads out of the archive with '..'");
  CHECK(read_error(file(".", "") + file("a", "") + end_marker()) == "a.tar: a member has an empty name");
  CHECK(read_error(file("./a", "1") + file("a", "2") + end_marker()) ==
        "a.tar: a: the archive contains the member twice");
  for (const std::string name : {"a\nb", "a\x1b[2J", "a\x7f", "..\\b"}) {
    CHECK(read_error(file(name, "") + end_marker())
              .ends_with("the member's name contains a control character or a backslash"));
  }
}

TEST_CASE("members lie at most 64 directories deep") {
  // The header has room for a hundred bytes of a name.
  const auto long_file = [](const std::string& name) {
    const Header announced{.name = "././@LongLink", .size = name.size() + 1, .type = 'L', .link = ""};
    return header(announced) + padded(name + std::string(1, '\0')) + file(name, "");
  };
  std::string name;
  for (int i = 0; i < 64; ++i) name += "d/";
  CHECK(read_error(long_file(name + "x") + end_marker()) == "no error");
  CHECK(read_error(long_file(name + "d/x") + end_marker()).ends_with("/d/x: is more than 64 directories deep"));
}

TEST_CASE("a file that is a directory too is refused, in either order") {
  const std::string refused = "a.tar: a/b: is a file, but other members are inside it";
  CHECK(read_error(file("a/b", "") + file("a/b!", "") + file("a/b/c", "") + end_marker()) == refused);
  CHECK(read_error(file("a/b/c", "") + file("a/b", "") + end_marker()) == refused);
}

TEST_CASE("which of several names is a file and a directory") {
  CHECK(file_as_directory({}).empty());
  CHECK(file_as_directory({"a", "ab", "a!b/c", "b/a"}).empty());
  CHECK(file_as_directory({"a/b/c", "a.b", "a", "a-b"}) == "a");
  CHECK(file_as_directory({"x/y/z/w", "x/y"}) == "x/y");
  CHECK(file_as_directory({"\xff/b", "\xff"}) == "\xff");
}

TEST_CASE("links and devices are refused by name") {
  const auto special = [](char type) {
    return header({.name = "./lib.c", .size = 0, .type = type, .link = "other"}) + end_marker();
  };
  CHECK(read_error(special('1')) == "a.tar: lib.c: the member is a hard link, expected a regular file or a directory");
  CHECK(read_error(special('2')) ==
        "a.tar: lib.c: the member is a symbolic link, expected a regular file or a directory");
  for (const char type : {'3', '4', '6'}) {
    CHECK(read_error(special(type)) ==
          "a.tar: lib.c: the member is a device, pipe or socket, expected a regular file or a directory");
  }
}

TEST_CASE("limits are checked against the claim, before memory is taken") {
  const std::uint64_t claim = std::uint64_t{10} << 30;
  CHECK(read_error(header({.name = "./src/default.tir.json", .size = claim, .type = '0', .link = ""}) + "{") ==
        "a.tar: src/default.tir.json: claims 10737418240 bytes, more than the limit of 2147483648 bytes for a member");
  const std::string tar = file("a", "12345678") + file("b", "12345678") + end_marker();
  CHECK(read_error(tar, {.member_bytes = 8, .total_bytes = 16, .members = 2}) == "no error");
  CHECK(read_error(tar, {.member_bytes = 7, .total_bytes = 16, .members = 2}) ==
        "a.tar: a: claims 8 bytes, more than the limit of 7 bytes for a member");
  CHECK(read_error(tar, {.member_bytes = 8, .total_bytes = 15, .members = 2}) ==
        "a.tar: b: claims 8 bytes after 8 bytes of other members, more than the limit of 15 bytes for an archive");
  CHECK(read_error(tar, {.member_bytes = 8, .total_bytes = 16, .members = 1}) ==
        "a.tar: b: the archive has more than 1 members, the limit");
}

TEST_CASE("a name has a limit") {
  const std::string tar = file("directory/a", "1") + end_marker();
  CHECK(read_error(tar, {.name_bytes = 11}) == "no error");
  CHECK(read_error(tar, {.name_bytes = 10}) ==
        "a.tar: directory/a: the member's name has 11 bytes, more than the limit of 10");
}

TEST_CASE("a claim that the file does not back costs an error and nothing else") {
  const std::string tar = header({.name = "big", .size = std::uint64_t{500} << 20, .type = '0', .link = ""}) + "{";
  CHECK(read_error(tar) == "a.tar: big: truncated tar archive inside this member");
}

TEST_CASE("a sparse member is filled up, and counts in full") {
  // 1.0 sparse format: the map stands in front of the data.
  const std::string map = test::padded("1\n1048576\n4\n");
  const std::string tar =
      pax({"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=holes", "GNU.sparse.realsize=1048580"}) +
      header({.name = "stored", .size = map.size() + 4, .type = '0', .link = ""}) + map + test::padded("data") +
      end_marker();
  const Archive archive = read_archive_bytes(tar, "a.tar");
  REQUIRE(archive.members.size() == 1);
  CHECK(archive.members[0].name == "holes");
  CHECK(archive.members[0].bytes == std::string(1048576, '\0') + "data");
  CHECK(read_error(tar, {.member_bytes = 1000, .total_bytes = 1000, .members = 9}) ==
        "a.tar: holes: claims 1048580 bytes, more than the limit of 1000 bytes for a member");
}

TEST_CASE("what is not a tar is said not to be one") {
  const std::string not_tar = "a.tar: not a tar archive (plain, or compressed by gzip, xz or zstd)";
  CHECK(read_error("") == "a.tar: the file is empty, expected a tar archive");
  CHECK(read_error("hello") == not_tar);
  CHECK(read_error(std::string(5000, 'x')) == not_tar);
  CHECK(read_error(std::string("PK\3\4") + std::string(600, 'z')) == not_tar);
  CHECK(read_error(end_marker()) == "a.tar: the archive contains no files");
  CHECK(error_of([] { (void)read_archive("no/such.tar"); }) == "other kind: no/such.tar: no such file or directory");
}

// Where the bytes after the last member start.
std::size_t end_of_members(const std::string& tar) {
  std::size_t end = tar.size();
  while (tar[end - 1] == '\0') --end;
  return (end + block - 1) / block * block;
}

TEST_CASE("a real archive cut off anywhere is refused, naming where") {
  const std::string tar = test::read_file(USMP_TESTDATA "/cast_subtract.tar");
  const Archive whole = read_archive_bytes(tar, "a.tar");
  REQUIRE(whole.members.size() == 7);
  const std::size_t needed = end_of_members(tar) + block;
  REQUIRE(needed < tar.size());
  for (std::size_t cut = 0; cut < tar.size(); cut += block) {
    for (const std::size_t length : {cut, cut + 1, cut + 300}) {
      const std::string message = read_error(tar.substr(0, length));
      CAPTURE(length);
      if (length >= needed) {
        CHECK(message == "no error");
      } else if (length < block) {
        CHECK((message.find("empty") != std::string::npos || message.find("not a tar") != std::string::npos));
      } else {
        CHECK(message.find("runcated") != std::string::npos);
        const bool says_where = message.find("member") != std::string::npos;
        CHECK(says_where);
      }
    }
  }
  CHECK(read_error(tar.substr(0, end_of_members(tar))) ==
        "a.tar: truncated: the archive ends at byte " + std::to_string(end_of_members(tar)) +
            ", after member 'src/default.tir.json', without the block of zeros that ends a tar");
}

TEST_CASE("a tar that ends behind a PAX header or a long name is truncated, too") {
  const std::string whole = file("a", "1");
  CHECK(read_error(whole + pax({"path=b"})).find("truncated") != std::string::npos);
  // The last block of this name holds nothing but its final zero byte.
  CHECK(read_error(whole + gnu_long_name(std::string(block, 'n'))).find("truncated") != std::string::npos);
  CHECK(read_error(whole + std::string(block, '\0')) == "no error");
}

TEST_CASE("flipped header bytes never crash") {
  const std::string tar = test::read_file(USMP_TESTDATA "/cast_subtract.tar");
  std::vector<std::size_t> headers;
  for (std::size_t at = 0; at + block <= tar.size(); at += block) {
    if (tar.compare(at + 257, 5, "ustar") == 0) headers.push_back(at);
  }
  REQUIRE(headers.size() > 7);
  std::mt19937 random(20240607);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bad = tar;
    const std::size_t at = headers[random() % headers.size()] + random() % block;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (random() % 8)));
    if (read_error(bad) != "no error") ++refused;
  }
  CHECK(refused > 1500);  // headers have a checksum, PAX headers' bodies have none
}

}  // namespace
}  // namespace usmp::mlf::archive_test
