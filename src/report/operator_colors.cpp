// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Colours of memory maps: kinds of operators get hues, operators shades of them.
#include "report/operator_colors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

namespace usmp::report {
namespace {

using Maker = OperatorColors::Maker;

struct Rgb {
  std::int32_t red = 0;
  std::int32_t green = 0;
  std::int32_t blue = 0;
};

constexpr std::array<Rgb, hue_count> hues = {{{0x8e, 0xca, 0xe6},
                                              {0xff, 0xc1, 0x45},
                                              {0x90, 0xbe, 0x6d},
                                              {0xf2, 0x84, 0x82},
                                              {0xb8, 0xa1, 0xe3},
                                              {0xf7, 0xa0, 0x72},
                                              {0x76, 0xc7, 0xb7},
                                              {0xe2, 0xc0, 0x44},
                                              {0xd9, 0xa5, 0xc9},
                                              {0xa3, 0xb1, 0x8a},
                                              {0x9f, 0xb4, 0xd8},
                                              {0xc9, 0xb8, 0xa6}}};
// What is mixed into a hue, in percent: white above 0, black below.
constexpr std::array<std::int32_t, shade_count> mixed = {0, 45, -16, 22};

std::int32_t shaded(std::int32_t part, std::int32_t percent) {
  constexpr std::int32_t white = 255;
  constexpr std::int32_t all = 100;
  return percent >= 0 ? part + (white - part) * percent / all : part + part * percent / all;
}

// An operator, and from when to when its buffers are live.
struct Lifetime {
  Tick begin = -1;
  Tick end = -1;
  std::size_t number = 0;  // of the operator
  Bytes bytes = 0;         // of its buffers
  std::string kind = {};
  Maker maker = {};

  [[nodiscard]] std::tuple<Tick, std::size_t> order() const { return {begin, number}; }
};

// The operator's name without the number of its call; of plans that know no kinds, without the compiler's numbers.
std::string kind_of(const plan_file::PlanDocument& document, const Maker& maker) {
  std::string name = compare::operator_name(document, maker.first, maker.second);
  name.erase(0, std::min(name.find(' '), name.size() - 1) + 1);
  if (name.empty()) return "unknown";
  if (compare::knows_kinds(document)) return name;
  const std::size_t digits = name.find_last_not_of("0123456789");
  const bool is_numbered = digits != std::string::npos && digits > 0 && digits + 1 < name.size() && name[digits] == '_';
  return is_numbered ? name.substr(0, digits) : name;
}

std::vector<Lifetime> lifetimes(const plan_file::PlanDocument& document, const compare::PlanFigures& figures) {
  std::map<Maker, Lifetime> makers;
  for (std::size_t i = 0; i < document.buffers.size(); ++i) {
    const plan_file::PlanDocument::Buffer& buffer = document.buffers[i];
    if (!figures.operators[i]) continue;
    Lifetime& lifetime = makers[{*figures.operators[i], buffer.row_operator}];
    lifetime.bytes += buffer.size;
    if (buffer.kind == BufferKind::constant || buffer.live->empty()) continue;
    const Tick begin = buffer.live->front().begin;
    lifetime.begin = lifetime.begin < 0 ? begin : std::min(lifetime.begin, begin);
    lifetime.end = std::max(lifetime.end, buffer.live->back().end);
  }
  std::vector<Lifetime> all;
  for (auto& [maker, lifetime] : makers) {
    lifetime.number = all.size();
    lifetime.maker = maker;
    lifetime.kind = kind_of(document, maker);
    all.push_back(lifetime);
  }
  return all;
}

// The hue of each kind, and what the hues stand for.
std::map<std::string, std::size_t> hues_of(const std::vector<Lifetime>& all, std::vector<OperatorColors::Kind>& kinds) {
  struct Sum {
    Bytes bytes = 0;
    std::size_t operators = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Lifetime& one : all) {
    sums[one.kind].bytes += one.bytes;
    ++sums[one.kind].operators;
  }
  std::vector<std::tuple<Bytes, std::string, std::size_t>> ordered;
  ordered.reserve(sums.size());
  for (const auto& [kind, sum] : sums) ordered.emplace_back(-sum.bytes, kind, sum.operators);
  std::ranges::sort(ordered);
  std::map<std::string, std::size_t> hue_of;
  for (const auto& [bytes, kind, operators] : ordered) {
    const bool is_other = ordered.size() > hue_count && kinds.size() >= hue_count - 1;
    if (!is_other || kinds.size() < hue_count) kinds.push_back({is_other ? "other kinds" : kind, 0});
    kinds.back().operators += operators;
    hue_of[kind] = kinds.size() - 1;
  }
  return hue_of;
}

}  // namespace

std::string color_text(std::size_t hue, std::size_t shade) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::int32_t base = 16;
  std::string text = "#";
  const Rgb& color = hues.at(hue);
  for (const std::int32_t part : {color.red, color.green, color.blue}) {
    const std::int32_t value = shaded(part, mixed.at(shade));
    text += digits[static_cast<std::size_t>(value / base)];
    text += digits[static_cast<std::size_t>(value % base)];
  }
  return text;
}

OperatorColors operator_colors(const plan_file::PlanDocument& document, const compare::PlanFigures& figures) {
  std::vector<Lifetime> by_time = lifetimes(document, figures);
  OperatorColors colors;
  const std::map<std::string, std::size_t> hue_of = hues_of(by_time, colors.kinds);
  std::ranges::sort(by_time, {}, &Lifetime::order);
  struct Shades {
    std::array<Tick, shade_count> taken_until = {-1, -1, -1, -1};
    std::size_t next = 0;
  };
  std::vector<Shades> shades(colors.kinds.size());
  for (const Lifetime& lifetime : by_time) {
    const std::size_t hue = hue_of.at(lifetime.kind);
    std::array<Tick, shade_count>& taken_until = shades[hue].taken_until;
    const std::size_t first = shades[hue].next++ % shade_count;
    std::size_t best = first;
    for (std::size_t turn = 1; lifetime.end >= 0 && turn < shade_count && taken_until.at(best) >= lifetime.begin;
         ++turn) {
      const std::size_t other = (first + turn) % shade_count;
      if (taken_until.at(other) < taken_until.at(best)) best = other;
    }
    taken_until.at(best) = std::max(taken_until.at(best), lifetime.end);
    colors.of[lifetime.maker] = {hue, best};
  }
  return colors;
}

}  // namespace usmp::report
