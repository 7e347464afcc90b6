// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

namespace usmp::driver {
namespace {

constexpr std::size_t widest = 79;  // a line that the terminal wraps could not be rewritten
constexpr std::chrono::milliseconds patience(1000);
constexpr std::chrono::milliseconds pause(200);

// Hundredths of a percent, rounded up: a gap that is there is never shown as none.
std::string percent_of(Bytes part, Bytes whole) {
  const double exact = static_cast<double>(part) * 10000.0 / static_cast<double>(whole);
  const auto rounded = std::min(static_cast<std::int64_t>(std::min(exact, 1e9)) + 1, std::int64_t{1'000'000'000});
  const std::string digits = std::to_string(100 + rounded % 100).substr(1);
  return std::to_string(rounded / 100) + "." + digits + "%";
}

void cut(std::string& text) {
  if (text.size() > widest) text.resize(widest);
}

}  // namespace

ProgressLine::ProgressLine(std::ostream& terminal, Now now)
    : terminal_(terminal), now_(std::move(now)), next_(now_() + patience) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::show(const std::string& pool, const planners::Progress& progress) {
  show(progress_text(pool, progress));
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

std::string progress_text(const std::string& pool, const planners::Progress& progress) {
  std::string text = pool + ": ";
  if (progress.lower >= progress.upper) {
    text += std::to_string(progress.upper) + " bytes";
  } else {
    text += std::to_string(progress.lower) + " to " + std::to_string(progress.upper) + " bytes";
    if (progress.lower > 0) text += " (gap " + percent_of(progress.upper - progress.lower, progress.lower) + ")";
  }
  text += ", " + std::to_string(progress.nodes) + " steps";
  cut(text);
  return text;
}

}  // namespace usmp::driver
