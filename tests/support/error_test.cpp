// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace usmp::support::error_test {

TEST_CASE("what() puts the known parts of the place before the message") {
  const auto what = [](Location where) { return std::string(Error(ErrorKind::archive, where, "no such node").what()); };
  CHECK(what({}) == "no such node");
  CHECK(what({.file = "m.tar", .member = {}, .place = {}}) == "m.tar: no such node");
  CHECK(what({.file = {}, .member = "src/default.tir.json", .place = {}}) == "src/default.tir.json: no such node");
  CHECK(what({.file = "m.tar", .member = "src/d.tir.json", .place = "nodes[3]"}) ==
        "m.tar: src/d.tir.json: nodes[3]: no such node");
}

TEST_CASE("upper layers add the parts that are missing and leave the others") {
  const Error bare(ErrorKind::output, {.file = {}, .member = {}, .place = "line 3"}, "no space left");
  const Error placed = bare.with_member("metadata.json").with_file("m.tar");
  CHECK(std::string(placed.what()) == "m.tar: metadata.json: line 3: no space left");
  CHECK(placed.kind() == ErrorKind::output);
  CHECK(placed.message() == "no space left");
  CHECK((placed.where() == Location{"m.tar", "metadata.json", "line 3"}));
  const Error again = placed.with_file("other.tar").with_member("other");
  CHECK((again.where() == placed.where()));
  CHECK(std::string(bare.what()) == "line 3: no space left");
}

TEST_CASE("what input files say cannot break out of a message") {
  const Error error(ErrorKind::archive, {.file = "m\n::error::.tar", .member = "\x1b]0;x", .place = "\xff"},
                    "found 'a\nb'", {"first\nline", "second"});
  CHECK(std::string(error.what()) == "m\\n::error::.tar: \\x1b]0;x: \\xff: found 'a\\nb'\n  first\\nline\n  second");
  CHECK(error.message() == "found 'a\nb'");
  CHECK(std::string(error.with_file("other").what()) == error.what());
}

TEST_CASE("long input is cut in messages, with its length") {
  const std::string long_text(1000000, 'x');
  const std::string cut = std::string(200, 'x') + "\xE2\x80\xA6 (1000000 bytes)";
  CHECK(cut_input(long_text) == cut);
  CHECK(cut_input(std::string(200, 'x')) == std::string(200, 'x'));
  CHECK(cut_input(std::string(199, 'x') + "\xC3\xA8") == std::string(199, 'x') + "\xE2\x80\xA6 (201 bytes)");
  CHECK(in_quotes(long_text) == "'" + cut + "'");
  const Error quoted(ErrorKind::usage, {"f", long_text, {}}, "the module's name is '" + long_text + "': expected less");
  CHECK(std::string(quoted.what()) == "f: " + cut + ": the module's name is '" + cut + "': expected less");
  const Error unquoted(ErrorKind::usage, {}, "found " + long_text, {long_text});
  CHECK(std::string(unquoted.what()).size() < 9000);
}

}  // namespace usmp::support::error_test
