// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Texts of errors: their places, escapes, and lengths that are cut.
#include "usmp/support/error.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

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
}

TEST_CASE("a message has a bounded length, whatever input says") {
  const std::string word(1000000, 'x');
  std::string quotes;
  std::string lines;
  while (quotes.size() < 1000000) quotes += "it's 'a' \"b\" '";
  while (lines.size() < 1000000) lines += "a\n\x1b\xff\xC3\xA8";
  for (const std::string& text : {word, quotes, lines, "'" + word, "a'" + word + "'"}) {
    const Error error(ErrorKind::archive, {text, text, text}, "found " + text + ", expected less", {text, text});
    const std::string what = error.what();
    CHECK(what.size() < 3 * most_in_line);
    const std::string first = what.substr(0, what.find('\n'));
    CHECK(first.size() <= most_in_line);
    CHECK(first.size() > most_in_line / 2);
    CHECK(first.starts_with(printable(text.substr(0, 20))));
    CHECK(first.ends_with(", expected less"));
    CHECK(what.substr(first.size()).starts_with("\n  " + printable(text.substr(0, 20))));
    CHECK(std::count(what.begin(), what.end(), '\n') == 2);
  }
}

TEST_CASE("the lines of a text stay lines, each of a bounded length") {
  const std::string word(1000000, 'x');
  std::ostringstream said;
  tell(said, Severity::warning, "a" + word + "\nb" + word + "\nc");
  tell(said, Error(ErrorKind::usage, {}, "no plan"));
  std::istringstream lines(said.str());
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  REQUIRE(found.size() == 4);
  CHECK(found[0].starts_with("usmp-plan: warning: axxx"));
  CHECK(found[0].size() <= most_in_line + 20);
  CHECK(found[1].starts_with("bxxx"));
  CHECK(found[1].size() <= most_in_more_lines);
  CHECK(found[2] == "c");
  CHECK(found[3] == "usmp-plan: error: no plan");
}

TEST_CASE("a line of a message that is made once more stays as it is") {
  const std::string word(1000000, 'x');
  for (const std::string& text : {"module " + in_quotes(word) + ": " + in_quotes(word) + word.substr(0, 600),
                                  "'" + word + "' and '" + word + "'", word, std::string(700, '\n')}) {
    const std::string once = message_line(text);
    CHECK(message_line(once) == once);
  }
  CHECK(message_line(in_quotes(word) + word.substr(0, 600)).find("(1000000 bytes)") != std::string::npos);
  // Between characters, not within one.
  std::string letters;
  while (letters.size() < 5000) letters += "\xC3\xA8";
  for (const std::string& text : {letters, 'x' + letters, letters + 'x', 'x' + letters + 'x'}) {
    const std::string line = message_line(text);
    CHECK(line.size() <= most_in_line);
    CHECK(printable(line) == line);
  }
  CHECK(message_line(message_line(letters)) == message_line(letters));
}

}  // namespace usmp::support::error_test
