// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// parse_pools on files that are wrong: one message, with line and column.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "config/keys.hpp"
#include "files.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/support/error.hpp"

namespace usmp::config::bad_pools_test {

using usmp::Error;
using usmp::ErrorKind;
using usmp::config::parse_pools;

namespace {

std::string message_of(const std::string& text) {
  try {
    static_cast<void>(parse_pools(text));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(error.where().file.empty());
    CHECK(error.where().member.empty());
    return error.what();
  }
  return "accepted";
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("every file in testdata/pools/bad gives the message in its first line") {
  constexpr std::string_view prefix = "# expect: ";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(USMP_TESTDATA "/pools/bad")) {
    CAPTURE(entry.path());
    const std::string text = read_file(entry.path());
    REQUIRE(text.starts_with(prefix));
    CHECK(message_of(text) == text.substr(prefix.size(), text.find('\n') - prefix.size()));
    ++count;
  }
  CHECK(count >= 80);
}

TEST_CASE("files of no or only blank lines") {
  const std::string message =
      "line 1, column 1: the file names no pools: expected workspace_pools (usmp-plan init MODEL.tar prints a starter "
      "file)";
  for (const std::string text : {"", "\n", "  \n\n", "---\n", "---\n...\n", "# only a comment", "\xef\xbb\xbf", "~"}) {
    CAPTURE(text);
    CHECK(message_of(text) == message);
  }
}

TEST_CASE("a byte order mark counts for no column") {
  CHECK(message_of("\xef\xbb\xbf[]") ==
        "line 1, column 1: the file contains a list: expected the keys workspace_pools, parameter_pools, algorithm, "
        "objective, workspace_io, budgets, io_region, stack_region, pinned, concurrent");
}

TEST_CASE("a file over the limit is refused before it is read") {
  const std::string pools = "workspace_pools: [{name: sram}]\n";
  const std::size_t limit = 1048576;
  CHECK(message_of(pools + std::string(limit - pools.size(), '\n')) == "accepted");
  CHECK(message_of(pools + std::string(limit - pools.size() + 1, '\n')) ==
        "the file has 1048577 bytes: expected a pools file of at most 1048576");
}

TEST_CASE("limits on pools and names") {
  for (const std::string list : {"workspace_pools", "parameter_pools"}) {
    std::string text = (list == "parameter_pools" ? "workspace_pools:\n  - name: sram\n" : "") + list + ":\n";
    for (int i = 0; i < 64; ++i) text += "  - name: p" + std::to_string(i) + "\n";
    CHECK(message_of(text) == "accepted");
    CHECK(message_of(text + "  - name: q\n").ends_with("more than 64 pools in " + list));
  }
  const std::string name(100, 'n');
  CHECK(message_of("workspace_pools:\n  - name: " + name) == "accepted");
  CHECK(message_of("workspace_pools:\n  - name: n" + name).ends_with("expected a name of at most 100 characters"));
}

TEST_CASE("no keyword of C or C++ is a pool name, and only those are refused") {
  for (const std::string word : {"int", "class", "_Bool", "restrict", "co_await", "xor_eq", "while", "true"}) {
    CHECK(message_of("workspace_pools:\n  - name: " + word) ==
          "line 2, column 11: name is '" + word + "': expected a name that is not a keyword of C or C++");
  }
  for (const std::string word : {"Int", "class_", "main", "yes", "on", "_", "a1"}) {
    CHECK(message_of("workspace_pools:\n  - name: " + word) == "accepted");
  }
}

TEST_CASE("every misspelling of a key by one letter is recognised") {
  for (const std::string& key : usmp::config::pool_keys()) {
    std::string misspelt = key;
    std::swap(misspelt[2], misspelt[3]);
    CHECK(message_of("workspace_pools:\n  - name: a\n    " + misspelt + ": 1") ==
          "line 3, column 5: unknown key '" + misspelt + "' in a workspace pool (did you mean '" + key + "'?)");
  }
  for (const std::string& key : usmp::config::file_keys()) {
    const std::string misspelt = key + "x";
    CHECK(message_of("workspace_pools:\n  - name: a\n" + misspelt + ": 1") ==
          "line 3, column 1: unknown key '" + misspelt + "' in the pools file (did you mean '" + key + "'?)");
  }
}

TEST_CASE("long and multi-line values are cut in messages, between characters") {
  CHECK(message_of("workspace_pools: \"" + repeated("ä", 40) + "\"") ==
        "line 1, column 18: workspace_pools is the text '" + repeated("ä", 30) +
            "…': expected a list of pools, each starting with '- name: '");
  CHECK(message_of("workspace_pools: \"x" + repeated("ä", 40) + "\"") ==
        "line 1, column 18: workspace_pools is the text 'x" + repeated("ä", 29) +
            "…': expected a list of pools, each starting with '- name: '");
  CHECK(message_of("workspace_pools: \"a\\nb\\e[1m\"") ==
        "line 1, column 18: workspace_pools is the text 'a b [1m': expected a list of pools, each starting with '- "
        "name: '");
}

TEST_CASE("every cut of a good file gives a message or a configuration, never another exception") {
  const std::string text = read_file(USMP_TESTDATA "/pools/dtcm_sram.yaml");
  std::size_t refused = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    std::string message;
    CHECK_NOTHROW(message = message_of(text.substr(0, length)));
    if (message != "accepted") ++refused;
  }
  CHECK(refused > 100);
}

TEST_CASE("every changed byte of a good file gives a message or a configuration, never another exception") {
  const std::string text = read_file(USMP_TESTDATA "/pools/dtcm_sram.yaml");
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'\0', '\t', '\n', '\r', '"', '\'', '[', '{',  '}', ']', ':',    '-',    '*',
                         '&',  '!',  '%',  '|',  '>', '?',  '@', '\\', '#', ',', '\x80', '\xff', 'x'}) {
      std::string changed = text;
      changed[at] = c;
      CAPTURE(changed);
      CHECK_NOTHROW(static_cast<void>(message_of(changed)));
    }
  }
}

TEST_CASE("a mebibyte of anything is answered quickly") {
  const std::size_t limit = 1000000;
  const std::string bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
  std::vector<std::string> texts = {bomb};
  for (const std::string unit :
       {"[",  "{", "- ", "? ", "a: ", "[\n", "- - ", "x",   "\"",   "'",    "!a ", "&a ", "*a ",
        "| ", ",", ":",  "#",  "%",   "\n",  "a:\n", "-\n", "{a: ", "[a, ", "\\",  "<<: "}) {
    texts.push_back(repeated(unit, limit / unit.size()));
  }
  std::string staircase;
  for (std::size_t depth = 0; depth < 1000; ++depth) staircase += std::string(depth, ' ') + "a:\n";
  texts.push_back(staircase);
  for (const std::string& text : texts) {
    CAPTURE(text.substr(0, 20));
    const auto start = std::chrono::steady_clock::now();
    CHECK(message_of(text) != "accepted");
    // Linear time takes well under a second; anything else would take minutes.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  }
}

}  // namespace usmp::config::bad_pools_test
