// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Small text helpers: output sinks, identifiers, spelling suggestions. None depends on the locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp {

// Where generated text goes. Large outputs (constant data) are streamed, never held as one string.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void write(std::string_view text) = 0;
};

class StringSink final : public TextSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A file to be written: its path below the output directory ('/' separators, no ".."), and its writer. `write` may be
// called more than once and writes the same bytes each time.
struct OutputFile {
  std::string path;
  std::function<void(TextSink&)> write;
};

// `name` with every character outside [A-Za-z0-9_] replaced by '_', as TVM sanitises names; never empty, and
// never starting with a digit ('_' is put in front).
[[nodiscard]] std::string c_identifier(std::string_view name);

// "kws" of "kws.tar", "kws.tar.gz", "kws.tflite" and "kws".
[[nodiscard]] std::string without_archive_ending(const std::string& name);

// Whether archives with these file names are taken for one model, perhaps in two versions.
[[nodiscard]] bool is_same_model(const std::string& archive, const std::string& other);

// [A-Za-z0-9_].
[[nodiscard]] bool is_identifier_char(char c);

// Every identifier in a C text, those in comments, strings and conditional groups too. O(text).
void for_each_identifier(std::string_view text, const std::function<void(std::string_view)>& visit);

// 'text', for names from the input in messages; a long one is cut (cut_input).
[[nodiscard]] std::string in_quotes(std::string_view text);

// The same, cut if long, so that file content does not flood a message.
[[nodiscard]] std::string shown(std::string_view text);

// "a, b, c".
[[nodiscard]] std::string joined(std::span<const std::string> words, std::string_view separator = ", ");

// The first few of many, so that a message stays readable: "a, b, c, d, e, f and 3 more".
[[nodiscard]] std::string first_few(std::span<const std::string> words);

// The first `most` of the lines, and "and more" behind them if there are more.
[[nodiscard]] std::vector<std::string> first_lines(std::vector<std::string> lines, std::size_t most);

// The parts between the separators, including empty ones; one part if there is no separator.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

// Without the blanks in front and behind.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

// Up to the first line break, which is left out.
[[nodiscard]] std::string_view first_line(std::string_view text);

// "1 pair", "2 pairs"; `several` is an irregular plural.
[[nodiscard]] std::string counted(std::size_t count, std::string_view one, std::string_view several = {});

// The last part of a path, for reports.
[[nodiscard]] std::string file_name_of(const std::string& path);
// Behind the last slash or backslash, as of what a file of C includes.
[[nodiscard]] std::string_view leaf_of(std::string_view path);

// ASCII upper case.
[[nodiscard]] std::string upper_case(std::string_view text);

// The candidate nearest to `word` in edit distance (insertions, deletions, substitutions, neighbour swaps), if one is
// near enough to be a misspelling; otherwise the only one that starts with `word`, if `word` has at least three
// characters; otherwise empty. Ties go to the earlier candidate. O(|word| · total length of the candidates).
[[nodiscard]] std::string_view nearest_spelling(std::string_view word, std::span<const std::string> candidates);

// " (did you mean 'x'?)" for the nearest spelling, else " (did you mean one of x, y?)" for those that start with `word`
// of at least three characters, or the empty string.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// Shortest decimal text that reads back as the same double or float ("0.1", "1e+20"); nan and inf as such.
[[nodiscard]] std::string shortest_decimal(double value);
[[nodiscard]] std::string shortest_decimal(float value);

// Two digits after the point: "92.19".
[[nodiscard]] std::string two_decimals(double value);

// Three: "0.004".
[[nodiscard]] std::string three_decimals(double value);

// "92.19%"; `whole` is not 0.
[[nodiscard]] std::string percent(Bytes part, Bytes whole);

[[nodiscard]] bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings);

// The bytes [at, at + width) as a little-endian number; width is at most 8.
[[nodiscard]] std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t width);
// The other way: appends the lowest `width` bytes of the number, lowest first.
void append_little_endian(std::string& bytes, std::uint64_t bits, std::size_t width);

// "0x90000000": at least eight digits.
[[nodiscard]] std::string hex_text(Bytes number);

// "1 byte", "60416 bytes".
[[nodiscard]] std::string bytes_text(Bytes size);

}  // namespace usmp
