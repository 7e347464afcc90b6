// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Builds tars block by block, right ones and wrong ones, and keeps files of tests apart.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/error.hpp"

namespace usmp::mlf::test {

inline constexpr std::size_t block = 512;

inline std::string padded(std::string_view bytes) {
  std::string result(bytes);
  result.resize((bytes.size() + block - 1) / block * block, '\0');
  return result;
}

struct Header {
  std::string name;
  std::uint64_t size = 0;
  char type = '0';
  std::string link;
};

// One ustar header block. Sizes of 8 GiB and more are written in base 256, as GNU tar does.
inline std::string header(const Header& h) {
  std::string bytes(block, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { bytes.replace(at, text.size(), text); };
  const auto put_octal = [&](std::size_t at, std::size_t digits, std::uint64_t value) {
    for (std::size_t i = 0; i < digits; ++i, value /= 8)
      bytes[at + digits - 1 - i] = static_cast<char>('0' + value % 8);
  };
  put(0, std::string_view(h.name).substr(0, 100));
  put_octal(100, 7, 0644);
  put_octal(108, 7, 0);
  put_octal(116, 7, 0);
  if (h.size < (std::uint64_t{1} << 33)) {
    put_octal(124, 11, h.size);
  } else {
    for (std::size_t i = 0; i < 8; ++i) bytes[135 - i] = static_cast<char>((h.size >> (8 * i)) & 0xFF);
    bytes[124] = static_cast<char>(0x80);
  }
  put_octal(136, 11, 0);
  bytes[156] = h.type;
  put(157, h.link);
  put(257, std::string_view("ustar\00000", 8));
  put(148, "        ");
  std::uint64_t sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  put_octal(148, 6, sum);
  bytes[154] = '\0';
  return bytes;
}

inline std::string file(const std::string& name, std::string_view content) {
  return header({.name = name, .size = content.size(), .type = '0', .link = ""}) + padded(content);
}

// A PAX header for the entry that follows it; `records` come without their lengths.
inline std::string pax(std::initializer_list<std::string> records) {
  std::string body;
  for (const std::string& record : records) {
    std::size_t length = record.size() + 3;  // two digits and a space, and the end of the line
    if (length + 1 >= 100) ++length;
    body += std::to_string(length + 1) + " " + record + "\n";
  }
  return header({.name = "PaxHeader", .size = body.size(), .type = 'x', .link = ""}) + padded(body);
}

inline std::string end_marker() { return std::string(2 * block, '\0'); }

// A directory of its own for a test, removed at its end.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "usmp_mlf_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  [[nodiscard]] std::string path(const std::string& leaf) const { return (path_ / leaf).string(); }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The whole text of the Error that `action` throws, or "no error".
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::archive ? "" : "other kind: ") + std::string(error.what());
  }
  return "no error";
}

}  // namespace usmp::mlf::test
