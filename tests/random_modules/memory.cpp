// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks every access for alignment, bounds and bytes never written, and records it.
#include "random_modules/memory.hpp"

#include <algorithm>
#include <cmath>

namespace usmp::random_modules {
namespace {

constexpr std::size_t most_accesses = 400'000;

}  // namespace

std::uint32_t Memory::create(tir::VarId var, std::size_t bytes) {
  Instance instance;
  instance.var = var;
  instance.bytes.assign(bytes, '\0');
  instance.states.assign(bytes, ByteState::unwritten);
  instances_.push_back(std::move(instance));
  return static_cast<std::uint32_t>(instances_.size() - 1);
}

std::uint32_t Memory::create(tir::VarId var, std::size_t bytes, const tir::Ring& ring, Bytes element_bytes) {
  const std::uint32_t id = create(var, bytes);
  instances_[id].ring = ring;
  instances_[id].elements.assign(bytes / static_cast<std::size_t>(element_bytes), -1);
  return id;
}

std::uint32_t Memory::create(tir::VarId var, const std::string& contents, bool is_constant) {
  const std::uint32_t id = create(var, contents.size());
  instances_[id].is_constant = is_constant;
  instances_[id].bytes = contents;
  std::fill(instances_[id].states.begin(), instances_[id].states.end(), ByteState::written);
  return id;
}

std::int64_t Memory::placed(Scalar pointer, std::int64_t element, bool writes) {
  if (pointer.instance == no_instance || !instances_[pointer.instance].ring) return element;
  Instance& instance = instances_[pointer.instance];
  const tir::Ring& ring = *instance.ring;
  const auto count = static_cast<std::int64_t>(instance.elements.size());
  if (pointer.integer != 0 || element < 0 || element >= count / ring.rows * ring.extent) {
    throw Undefined("access out of the rows of a tensor");
  }
  const std::int64_t place = ring.place(element);
  std::int64_t& kept = instance.elements[static_cast<std::size_t>(place)];
  if (writes) kept = element;
  if (kept != element) {
    throw Undefined("element " + std::to_string(element) + " is read where element " + std::to_string(kept) +
                    " was stored last");
  }
  return place;
}

std::size_t Memory::reach(Scalar pointer, Wide offset, Wide bytes, Wide alignment, bool writes) {
  if (pointer.instance == no_instance) throw Undefined("access through NULL");
  const Instance& instance = instances_[pointer.instance];
  const Wide begin = pointer.integer + offset;
  if (begin < 0 || bytes < 0 || begin + bytes > static_cast<Wide>(instance.bytes.size())) {
    throw Undefined("access out of bounds");
  }
  if (begin % alignment != 0) throw Undefined("misaligned access");
  if (writes && instance.is_constant) throw Undefined("store to a constant");
  if (accesses_.size() >= most_accesses * patience_) throw Undefined("too many accesses");
  accesses_.push_back({.instance = pointer.instance,
                       .offset = static_cast<std::uint32_t>(begin),
                       .bytes = static_cast<std::uint32_t>(bytes),
                       .alignment = static_cast<std::uint8_t>(alignment),
                       .writes = writes});
  return static_cast<std::size_t>(begin);
}

Scalar Memory::load(Scalar pointer, std::int64_t index, tir::DataType element) {
  const Wide size = element.element_bytes();
  const std::size_t begin = reach(pointer, Wide{placed(pointer, index, false)} * size, size, size, false);
  const Instance& instance = instances_[pointer.instance];
  std::uint64_t bits = 0;
  bool nan = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    const ByteState state = instance.states[begin + i];
    if (state == ByteState::unwritten) throw Undefined("read of bytes that were not written");
    nan = nan || state == ByteState::of_nan;
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(instance.bytes[begin + i])) << (8 * i);
  }
  const Scalar value = scalar_of(bits, element);
  if (nan && !(element.is_float() && std::isnan(value.real))) throw Undefined("bits of a NaN are looked at");
  return value;
}

void Memory::store(Scalar pointer, std::int64_t index, tir::DataType element, Scalar value) {
  const Wide size = element.element_bytes();
  const std::size_t begin = reach(pointer, Wide{placed(pointer, index, true)} * size, size, size, true);
  Instance& instance = instances_[pointer.instance];
  const std::uint64_t bits = bits_of(value, element);
  const bool nan = element.is_float() && std::isnan(value.real);
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    instance.bytes[begin + i] = static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
    instance.states[begin + i] = nan ? ByteState::of_nan : ByteState::written;
  }
}

void Memory::copy(Scalar to, Scalar from, std::int64_t bytes) {
  const std::size_t source = reach(from, 0, bytes, 1, false);
  const std::size_t target = reach(to, 0, bytes, 1, true);
  const auto count = static_cast<std::size_t>(bytes);
  if (from.instance == to.instance && std::max(source, target) < std::min(source, target) + count) {
    throw Undefined("memcpy between overlapping bytes");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ByteState state = instances_[from.instance].states[source + i];
    if (state == ByteState::unwritten) throw Undefined("read of bytes that were not written");
    instances_[to.instance].bytes[target + i] = instances_[from.instance].bytes[source + i];
    instances_[to.instance].states[target + i] = state;
  }
}

void Memory::fill(Scalar to, std::uint8_t value, std::int64_t bytes) {
  const std::size_t target = reach(to, 0, bytes, 1, true);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); ++i) {
    instances_[to.instance].bytes[target + i] = static_cast<char>(value);
    instances_[to.instance].states[target + i] = ByteState::written;
  }
}

Scalar Memory::moved(Scalar pointer, Wide bytes) const {
  if (pointer.instance == no_instance) throw Undefined("arithmetic on NULL");
  const Wide offset = pointer.integer + bytes;
  if (offset < 0 || offset > static_cast<Wide>(instances_[pointer.instance].bytes.size())) {
    throw Undefined("pointer out of bounds");
  }
  pointer.integer = static_cast<std::int64_t>(offset);
  return pointer;
}

}  // namespace usmp::random_modules
