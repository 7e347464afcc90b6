// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Storage of the reference interpreter: every execution of an allocate gives bytes of its own. Each byte knows whether
// it was written, and whether it is part of a stored NaN, whose bits C leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "random_modules/values.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::random_modules {

enum class ByteState : std::uint8_t { unwritten, written, of_nan };

// One life of a buffer.
struct Instance {
  tir::VarId var;  // storage variable of the Allocate or AllocateConst, parameter of the entry
  bool is_constant = false;
  std::string bytes;
  std::vector<ByteState> states;
  std::optional<tir::Ring> ring = {};
  std::vector<std::int64_t> elements = {};  // with a ring: which one each place has got last
};

// An access of bytes of an instance, in order of execution.
struct Access {
  std::uint32_t instance = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint8_t alignment = 1;
  bool writes = false;
};

class Memory {
 public:
  explicit Memory(std::size_t patience = 1) : patience_(patience) {}

  std::uint32_t create(tir::VarId var, std::size_t bytes);
  // Whose accesses name elements of the tensor.
  std::uint32_t create(tir::VarId var, std::size_t bytes, const tir::Ring& ring, Bytes element_bytes);
  std::uint32_t create(tir::VarId var, const std::string& contents, bool is_constant);

  // Throw Undefined: out of bounds, not aligned, not written, another element of a ring is in the place of this one, a
  // NaN read as something else, a store to a constant.
  Scalar load(Scalar pointer, std::int64_t index, tir::DataType element);
  void store(Scalar pointer, std::int64_t index, tir::DataType element, Scalar value);
  void copy(Scalar to, Scalar from, std::int64_t bytes);  // memcpy
  void fill(Scalar to, std::uint8_t value, std::int64_t bytes);
  // The pointer moved by that many bytes, still inside its storage or right behind it.
  [[nodiscard]] Scalar moved(Scalar pointer, Wide bytes) const;

  [[nodiscard]] const std::vector<Instance>& instances() const { return instances_; }
  [[nodiscard]] const std::vector<Access>& accesses() const { return accesses_; }

 private:
  // The index of the element's place.
  std::int64_t placed(Scalar pointer, std::int64_t element, bool writes);
  std::size_t reach(Scalar pointer, Wide offset, Wide bytes, Wide alignment, bool writes);

  std::vector<Instance> instances_;
  std::vector<Access> accesses_;
  std::size_t patience_;
};

}  // namespace usmp::random_modules
