// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads record after record up to the first that is not complete.
#include "execute/results.hpp"

#include <utility>

namespace usmp::execute {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t left() const { return text_.size(); }

  std::string_view take(std::size_t count) {
    const std::string_view taken = text_.substr(0, count);
    text_.remove_prefix(count);
    return taken;
  }

  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    std::size_t shift = 0;
    for (const char byte : take(bytes)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }

 private:
  std::string_view text_;
};

constexpr std::size_t fault_bytes = 13;  // behind the letter
constexpr std::size_t access_bytes = 12;
constexpr std::size_t status_bytes = 4;

}  // namespace

Results parse_results(std::string_view text, const std::vector<Tensor>& outputs) {
  std::size_t round_bytes = status_bytes;
  for (const Tensor& output : outputs) round_bytes += static_cast<std::size_t>(output.size);
  Reader reader(text);
  Results results;
  Round round;
  while (reader.left() > 0) {
    const std::string_view letter = reader.take(1);
    if (letter == "F" && reader.left() >= fault_bytes) {
      Overwritten fault;
      fault.kind = static_cast<Overwritten::Kind>(reader.number(1));
      fault.region = static_cast<std::size_t>(reader.number(4));
      fault.offset = reader.number(8);
      round.overwritten.push_back(fault);
    } else if (letter == "R" && reader.left() >= round_bytes) {
      round.status = static_cast<std::int32_t>(reader.number(status_bytes));
      for (const Tensor& output : outputs) round.outputs.push_back(reader.take(static_cast<std::size_t>(output.size)));
      results.rounds.push_back(std::exchange(round, {}));
    } else {
      if (letter == "A" && reader.left() == access_bytes) {
        Outside& outside = results.outside.emplace();
        outside.access = static_cast<std::size_t>(reader.number(4));
        outside.index = static_cast<std::int64_t>(reader.number(8));
      }
      break;
    }
  }
  return results;
}

std::string overwritten_text(const Overwritten& fault, const std::vector<std::string>& regions) {
  const std::string region = fault.region < regions.size() ? regions[fault.region] : "a region";
  const std::string offset = std::to_string(fault.offset);
  switch (fault.kind) {
    case Overwritten::Kind::before:
      return offset + (fault.offset == 1 ? " byte" : " bytes") + " in front of " + region + " was written to";
    case Overwritten::Kind::behind:
      return "byte " + offset + " beyond the end of " + region + " was written to";
    case Overwritten::Kind::gap:
      return "byte " + offset + " of " + region + ", which belongs to no buffer, was written to";
    case Overwritten::Kind::contents:
      return "byte " + offset + " of " + region + ", which is read-only, was written to";
  }
  return "memory of " + region + " was written to";
}

}  // namespace usmp::execute
