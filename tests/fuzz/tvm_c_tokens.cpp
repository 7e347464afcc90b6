// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The C of testdata's archives, changed token by token. The input: the archive, then five bytes a change.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "byte_source.hpp"
#include "c_source.hpp"
#include "fuzz.hpp"
#include "tir_support/c_tokens.hpp"
#include "usmp/mlf/archive.hpp"

using namespace usmp;

namespace {

using Tokens = std::vector<std::string>;

// What C has odd, or nowhere.
constexpr std::array<std::string_view, 64> odd = {"0",
                                                  "1",
                                                  "-1",
                                                  "2147483648",
                                                  "9223372036854775807LL",
                                                  "18446744073709551615ULL",
                                                  "99999999999999999999",
                                                  "0x1.8p+1f",
                                                  "1e999",
                                                  "0x",
                                                  "08",
                                                  "1.0f",
                                                  "1.0",
                                                  "+",
                                                  "-",
                                                  "*",
                                                  "/",
                                                  "%",
                                                  "<<",
                                                  ">>",
                                                  "&",
                                                  "|",
                                                  "^",
                                                  "~",
                                                  "!",
                                                  "&&",
                                                  "||",
                                                  "?",
                                                  ":",
                                                  "<",
                                                  ">",
                                                  "==",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ";",
                                                  ",",
                                                  "=",
                                                  "+=",
                                                  "++",
                                                  "/*",
                                                  "//",
                                                  "\"",
                                                  "'",
                                                  "\\\n",
                                                  "?\?=include",
                                                  "\n#if 1\n",
                                                  "\n#if 0\n",
                                                  "\n#else\n",
                                                  "\n#endif\n",
                                                  "\n#define p0 p1\n",
                                                  "\n#include \"/../x\"\n",
                                                  "if (p0 != 0) {",
                                                  "while (1) {",
                                                  "return 0;",
                                                  "int8_t*",
                                                  "(int8_t)",
                                                  "(float*)",
                                                  "kernel(p0, p1, 3)",
                                                  "sizeof",
                                                  "NULL"};

// A few values of a table are enough.
Tokens tokens_of(std::string_view text) {
  constexpr std::size_t most_values = 64;
  Tokens tokens;
  std::size_t values = 0;
  bool is_table = false;
  for (std::string& token : c_tokens(text)) {
    if (token == "{" && !tokens.empty() && tokens.back() == "=") {
      is_table = true;
      values = 0;
    }
    if (token == "}") is_table = false;
    if (is_table && ++values > most_values && tokens.back() == ",") continue;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

struct Seed {
  std::vector<Tokens> files;
};

const std::vector<Seed>& seeds() {
  static const std::vector<Seed> all = [] {
    std::vector<Seed> read;
    for (const char* name : {"cast_subtract", "repeated_op", "narrow", "lstm"}) {
      const mlf::Archive archive = mlf::read_archive(std::string(USMP_TESTDATA "/") + name + ".tar");
      Seed seed;
      for (const mlf::Member& member : archive.members) {
        if (member.name.starts_with("codegen/") && member.name.ends_with(".c")) {
          seed.files.push_back(tokens_of(member.bytes));
        }
      }
      fuzz::require(seed.files.size() > 1, "an archive without its C");
      read.push_back(std::move(seed));
    }
    return read;
  }();
  return all;
}

constexpr std::size_t most_tokens = 60'000;

void change(Tokens& tokens, unsigned kind, std::size_t at, std::size_t from) {
  if (tokens.empty()) return;
  const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at % tokens.size());
  const auto left = static_cast<std::size_t>(tokens.end() - place);
  switch (kind % 8) {
    case 0:
      tokens.erase(place);
      return;
    case 1:
      tokens.erase(place, place + static_cast<std::ptrdiff_t>(std::min(from % 64, left)));
      return;
    case 2:
      *place = tokens[from % tokens.size()];
      return;
    case 3:
      *place = odd[from % odd.size()];
      return;
    case 4:
      tokens.insert(place, std::string(odd[from % odd.size()]));
      return;
    case 5:
      std::swap(*place, tokens[from % tokens.size()]);
      return;
    case 6:  // again and again
      if (tokens.size() + from % 1024 < most_tokens) tokens.insert(place, from % 1024, std::string(*place));
      return;
    default: {  // some tokens of another place
      const std::size_t first = from % tokens.size();
      const std::size_t count = std::min<std::size_t>(1 + at % 48, tokens.size() - first);
      const Tokens copied(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                          tokens.begin() + static_cast<std::ptrdiff_t>(first + count));
      if (tokens.size() < most_tokens) tokens.insert(place, copied.begin(), copied.end());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteSource source(data, size);
  const Seed& seed = seeds()[source.byte() % seeds().size()];
  std::vector<Tokens> files = seed.files;
  while (!source.empty()) {
    const unsigned kind = source.byte();
    const std::size_t at = source.word();
    const std::size_t from = source.word();
    change(files[kind / 8 % files.size()], kind, at, from);
  }
  std::vector<std::string> texts;
  for (const Tokens& tokens : files) {
    std::string& text = texts.emplace_back();
    for (const std::string& token : tokens) text += token + " ";
  }
  std::vector<tvm_c::Source> sources;
  for (const std::string& text : texts) {
    sources.push_back({.name = "lib" + std::to_string(sources.size()) + ".c", .text = text});
  }
  fuzz::check_c(sources);
  return 0;
}
