// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Prints the line, at most a few times a second, and clears it.
#include "progress.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

constexpr std::size_t widest = 79;  // a line that the terminal wraps could not be rewritten
constexpr std::chrono::milliseconds patience(1000);
constexpr std::chrono::milliseconds pause(200);

void cut(std::string& text) {
  if (text.size() > widest) text.resize(widest);
}

std::string steps_text(const planners::Progress& progress, const SearchOptions& limits) {
  std::string text = std::to_string(progress.nodes);
  if (limits.node_limit) text += " of " + std::to_string(*limits.node_limit);
  text += " steps";
  if (!limits.time_limit) return text + (limits.node_limit ? "" : ", limit about 10 s");
  return text + ", limit " + shortest_decimal(std::chrono::duration<double>(*limits.time_limit).count()) + " s";
}

}  // namespace

ProgressLine::ProgressLine(std::ostream& terminal, Now now)
    : terminal_(terminal), now_(std::move(now)), next_(now_() + patience) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::show(const std::string& pool, const planners::Progress& progress, const SearchOptions& limits) {
  show(progress_text(pool, progress, limits));
}

void ProgressLine::show(std::string text) {
  const Clock::time_point now = now_();
  if (now < next_) return;
  next_ = now + pause;
  cut(text);
  const std::size_t rest = width_ > text.size() ? width_ - text.size() : 0;
  terminal_ << '\r' << text << std::string(rest, ' ') << std::flush;
  width_ = std::max(width_, text.size());
}

void ProgressLine::erase() {
  if (width_ == 0) return;
  terminal_ << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

std::string progress_text(const std::string& pool, const planners::Progress& progress, const SearchOptions& limits) {
  const std::string used = pool + ": " + bytes_text(progress.upper) + ", ";
  const Bytes gap = progress.upper - progress.lower;
  const bool has_bound = progress.lower > 0 && gap > 0;
  const std::string shown = progress.lower > 0 ? percent(gap, progress.lower) : "";
  const std::string whole =
      gap <= 0 ? "proved minimal" : "gap of " + std::to_string(gap) + (has_bound ? " (" + shown + ")" : "");
  const std::string brief = has_bound ? "gap " + shown : whole;
  const std::string steps = ", " + std::to_string(progress.nodes) + " steps";
  const std::string steps_and_limit = ", " + steps_text(progress, limits);
  const std::string end = progress.has_plan ? "; Ctrl-C keeps this plan" : "; no plan yet";
  // The first that fits: what can be done is worth more than the limit, which the user has set or left alone.
  for (const std::string& text :
       {used + whole + steps_and_limit + end, used + brief + steps_and_limit + end, used + brief + steps + end}) {
    if (text.size() <= widest) return text;
  }
  std::string text = used + brief + steps;
  cut(text);
  return text;
}

}  // namespace usmp::driver
