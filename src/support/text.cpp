// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Measures edit distances, formats numbers, and cuts and joins texts.
#include "usmp/support/text.hpp"
#include "usmp/support/message.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <filesystem>

#include "usmp/support/number_list.hpp"

namespace usmp {
namespace {

// Optimal string alignment distance (Damerau–Levenshtein without repeated edits).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

// Different ones, as views of the candidates.
std::vector<std::string_view> completions(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t shortest = 3;
  std::vector<std::string_view> longer;
  if (word.size() < shortest) return longer;
  for (const std::string& candidate : candidates) {
    if (candidate.starts_with(word) && std::ranges::find(longer, candidate) == longer.end())
      longer.push_back(candidate);
  }
  return longer;
}

template <class Float>
std::string to_shortest(Float value) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string decimals(double value, int precision) {
  std::array<char, 400> buffer{};  // the longest double in fixed notation has 309 digits in front of the point
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, precision);
  assert(result.ec == std::errc{});
  return {buffer.data(), result.ptr};
}

}  // namespace

std::string c_identifier(std::string_view name) {
  std::string result;
  result.reserve(name.size() + 1);
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) result += '_';
  for (const char c : name) result += is_identifier_char(c) ? c : '_';
  return result;
}

std::string without_archive_ending(const std::string& name) {
  for (const std::string_view ending : {".tar.gz", ".tar.xz", ".tar.zst", ".tgz", ".tar", ".c", ".tflite"}) {
    if (name.ends_with(ending) && name.size() > ending.size()) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

bool is_same_model(const std::string& archive, const std::string& other) {
  return without_archive_ending(archive) == without_archive_ending(other);
}

bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void for_each_identifier(std::string_view text, const std::function<void(std::string_view)>& visit) {
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t number = behind_number(text, i); number > i) {
      i = number;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_identifier_char(text[end])) ++end;
    if (end > i) visit(text.substr(i, end - i));
    const bool is_brace = end < text.size() && text[end] == '{';
    i = is_brace ? behind_numbers(text, end + 1) : std::max(end, i + 1);
  }
}

std::string in_quotes(std::string_view text) { return "'" + cut_input(text) + "'"; }

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return "'" + std::string(text) + "'";
  return "'" + std::string(text.substr(0, longest)) + "…'";
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += separator;
    text += words[i];
  }
  return text;
}

std::string first_few(std::span<const std::string> words) {
  constexpr std::size_t most = 6;
  if (words.size() <= most) return joined(words);
  return joined(words.first(most)) + " and " + std::to_string(words.size() - most) + " more";
}

std::vector<std::string> first_lines(std::vector<std::string> lines, std::size_t most) {
  if (lines.size() <= most) return lines;
  lines.resize(most);
  lines.emplace_back("and more");
  return lines;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  std::string text = std::to_string(count) + " ";
  text += count == 1 || several.empty() ? one : several;
  if (count != 1 && several.empty()) text += 's';
  return text;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string_view nearest_spelling(std::string_view word, std::span<const std::string> candidates) {
  const std::size_t allowed = std::max<std::size_t>(1, word.size() / 3);
  std::string_view best;
  std::size_t best_distance = allowed + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty()) return best;
  const std::vector<std::string_view> longer = completions(word, candidates);
  return longer.size() == 1 ? longer.front() : std::string_view();
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string_view nearest = nearest_spelling(word, candidates);
  if (nearest.empty()) {
    const std::vector<std::string_view> longer = completions(word, candidates);
    if (longer.empty()) return {};
    return " (did you mean one of " + first_few(std::vector<std::string>(longer.begin(), longer.end())) + "?)";
  }
  return " (did you mean '" + std::string(nearest) + "'?)";
}

std::string shortest_decimal(double value) { return to_shortest(value); }
std::string shortest_decimal(float value) { return to_shortest(value); }

std::string file_name_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  return name.filename().string();
}

std::string_view leaf_of(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

std::string two_decimals(double value) { return decimals(value, 2); }

std::string three_decimals(double value) { return decimals(value, 3); }

std::string percent(Bytes part, Bytes whole) {
  return two_decimals(static_cast<double>(part) * 100.0 / static_cast<double>(whole)) + "%";
}

std::string hex_text(Bytes number) {
  constexpr std::size_t digits = 8;
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), static_cast<std::uint64_t>(number), 16).ptr;
  const std::string shortest(text.data(), end);
  return "0x" + std::string(digits - std::min(digits, shortest.size()), '0') + shortest;
}

std::string bytes_text(Bytes size) { return std::to_string(size) + (size == 1 ? " byte" : " bytes"); }

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return text.ends_with(ending); });
}

namespace {

template <std::size_t width>
std::uint64_t little_endian(const char* bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < width; ++i) bits |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return bits;
}

}  // namespace

// Compilers make one load of a known width.
std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t width) {
  const std::string_view element = bytes.substr(at, width);
  switch (element.size() == width ? width : 0) {
    case 1:
      return little_endian<1>(element.data());
    case 2:
      return little_endian<2>(element.data());
    case 4:
      return little_endian<4>(element.data());
    case 8:
      return little_endian<8>(element.data());
    default:
      break;
  }
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < width; ++i) {
    bits |= std::uint64_t{static_cast<unsigned char>(element[i])} << (8 * i);
  }
  return bits;
}

void append_little_endian(std::string& bytes, std::uint64_t bits, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i)
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(bits >> (8 * i))));
}

}  // namespace usmp
