// Which heights a pool can have: sums of sizes, see bounds.hpp.
// Tests: tests/bounds/heights_test.cpp, against exhaustive search.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "usmp/bounds/bounds.hpp"

namespace usmp::bounds {
namespace {

constexpr std::size_t most_steps = 1'000'000;  // words of the bit set that may be touched
constexpr std::size_t most_units = 65'536;     // bits of it

// A set of small numbers.
class BitSet {
 public:
  explicit BitSet(std::size_t bits) : words_(bits / 64 + 1, 0) {}

  [[nodiscard]] std::size_t words() const { return words_.size(); }
  [[nodiscard]] bool has(std::size_t bit) const { return ((words_[bit / 64] >> (bit % 64)) & 1U) != 0; }
  void add(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }

  // Adds each number plus `shift`, once.
  void add_shifted(std::size_t shift) {
    const std::size_t whole = shift / 64;
    const std::size_t rest = shift % 64;
    for (std::size_t i = words_.size(); i-- > whole;) {
      std::uint64_t word = words_[i - whole] << rest;
      if (rest > 0 && i > whole) word |= words_[i - whole - 1] >> (64 - rest);
      words_[i] |= word;
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

Heights::Heights(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool) {
  Bytes unit = 0;
  Bytes alignment = 0;
  bool same_alignment = true;
  std::vector<Bytes> sizes;
  std::vector<Bytes> feet;  // offsets that piles stand on, and ends of pins
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    if (buffer.pinned) {
      feet.push_back(*buffer.pinned + buffer.size);
      unit = std::gcd(unit, feet.back());
    }
    if (buffer.size == 0) continue;
    const Bytes own = alignment_in(buffer, pool);
    unit = std::gcd(unit, std::gcd(own, buffer.size));
    same_alignment = same_alignment && (alignment == 0 || alignment == own);
    alignment = own;
    if (!buffer.pinned) sizes.push_back(buffer.size);
  }
  unit_ = std::max<Bytes>(unit, 1);
  if (sizes.empty() || !same_alignment) return;
  feet.push_back(pool.reserved);
  list_sums(sizes, std::move(feet), alignment);
}

void Heights::list_sums(const std::vector<Bytes>& sizes, std::vector<Bytes> feet, Bytes alignment) {
  Bytes top = *std::max_element(feet.begin(), feet.end()) + alignment;
  for (const Bytes size : sizes) top += align_up(size, alignment);
  const auto units = static_cast<std::size_t>(top / alignment) + 1;
  if (units > most_units || (units / 64 + 1) * sizes.size() > most_steps) return;
  BitSet sums(units);
  for (const Bytes foot : feet) sums.add(static_cast<std::size_t>(align_up(foot, alignment) / alignment));
  for (const Bytes size : sizes) sums.add_shifted(static_cast<std::size_t>(align_up(size, alignment) / alignment));
  std::vector<Bytes> last = sizes;  // what is topmost
  std::sort(last.begin(), last.end());
  last.erase(std::unique(last.begin(), last.end()), last.end());
  if (units * last.size() > most_steps) return;
  feet.pop_back();  // nothing ends where the pool begins
  heights_ = std::move(feet);
  const bool padded = std::any_of(sizes.begin(), sizes.end(), [&](Bytes size) { return size % alignment != 0; });
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (!sums.has(unit)) continue;
    if (!padded) {
      heights_.push_back(static_cast<Bytes>(unit) * alignment);
      continue;
    }
    // The topmost may be in the sum already: that lists too much, never too little.
    for (const Bytes size : last) heights_.push_back(static_cast<Bytes>(unit) * alignment + size);
  }
  heights_.push_back(0);
  std::sort(heights_.begin(), heights_.end());
  heights_.erase(std::unique(heights_.begin(), heights_.end()), heights_.end());
}

Bytes Heights::at_least(Bytes height) const {
  const auto found = std::lower_bound(heights_.begin(), heights_.end(), height);
  return found != heights_.end() ? *found : align_up(height, unit_);
}

Bytes Heights::at_most(Bytes height) const {
  if (height < 0) return 0;
  const auto above = std::upper_bound(heights_.begin(), heights_.end(), height);
  return above != heights_.begin() ? *(above - 1) : height - height % unit_;
}

}  // namespace usmp::bounds
