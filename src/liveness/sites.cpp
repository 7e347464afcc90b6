// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks what is declared, and takes the larger of the executor's alignment and the element's own.
#include "liveness/sites.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace usmp::liveness {
namespace {

constexpr Bytes default_alignment = 16;  // TVM's default where the executor does not say
constexpr Bytes max_alignment = Bytes{1} << 20;

Bytes checked_alignment(const std::optional<Bytes>& alignment, const char* attribute) {
  if (!alignment) return default_alignment;
  if (*alignment < 1 || *alignment > max_alignment || !std::has_single_bit(static_cast<std::uint64_t>(*alignment))) {
    throw Error(ErrorKind::archive, {},
                std::string(attribute) + " is " + std::to_string(*alignment) + ", expected a power of two up to " +
                    std::to_string(max_alignment));
  }
  return *alignment;
}

Bytes checked_size(const tir::Function& function, const std::string& name, std::optional<Bytes> size) {
  if (!size || *size > max_site_bytes) {
    fail_too_large(function, "variable '" + name + "' needs more than " + std::to_string(max_site_bytes) + " bytes");
  }
  return *size;
}

Bytes param_size(const tir::Function& entry, const tir::Param& param) {
  if (!param.shape) fail_in(entry, "the shape of parameter '" + param.name + "' is not known at compile time");
  std::optional<Bytes> size = param.element.bytes();
  for (const std::int64_t extent : *param.shape) {
    if (extent < 0) fail_in(entry, "parameter '" + param.name + "' has the negative extent " + std::to_string(extent));
    if (size) size = checked_mul(*size, extent);
  }
  return checked_size(entry, param.name, size);
}

}  // namespace

void fail_too_large(const tir::Function& function, std::string message) {
  throw Error(ErrorKind::too_large, {.file = {}, .member = {}, .place = function.name}, std::move(message));
}

Alignments alignments_of(const tir::Module& module) {
  return {.workspace = checked_alignment(module.workspace_alignment, "workspace-byte-alignment"),
          .constant = checked_alignment(module.constant_alignment, "constant-byte-alignment")};
}

Bytes natural_alignment(Bytes element_bytes) {
  return static_cast<Bytes>(std::bit_ceil(static_cast<std::uint64_t>(std::max<Bytes>(1, element_bytes))));
}

std::optional<Bytes> size_of(const tir::Module& module, std::size_t function, const Declaration& declaration) {
  const tir::Function& owner = module.functions[function];
  const std::string& name = module.var(declaration.var()).name;
  if (declaration.constant != nullptr) {
    return checked_size(owner, name, static_cast<Bytes>(declaration.constant->data->bytes.size()));
  }
  const tir::AllocationSize size = tir::allocation_size(*declaration.allocate);
  if (size.why == tir::AllocationSize::Unknown::not_constant) return std::nullopt;
  if (size.why == tir::AllocationSize::Unknown::negative) {
    fail_in(owner, "variable '" + name + "' is allocated with a negative extent");
  }
  return checked_size(owner, name, size.bytes);
}

Site declared_site(const tir::Module& module, std::size_t function, const Declaration& declaration,
                   const Alignments& alignments) {
  const bool is_constant = declaration.constant != nullptr;
  const BufferKind workspace = function == module.entry ? BufferKind::tensor : BufferKind::scratch;
  const tir::DataType type = is_constant ? declaration.constant->type : declaration.allocate->type;
  const std::uint32_t row = is_constant ? declaration.constant->row_operator : declaration.allocate->row_operator;
  const Bytes alignment =
      is_constant ? alignments.constant : std::max<Bytes>(alignments.workspace, declaration.allocate->alignment);
  return {
      .var = declaration.var(),
      .name = module.var(declaration.var()).name,
      .function = function,
      .kind = is_constant ? BufferKind::constant : workspace,
      .size = 0,
      .alignment = std::max(alignment, natural_alignment(type.element_bytes())),
      .live = {},
      .targets = {},
      .candidate_pools = is_constant ? declaration.constant->candidate_pools : declaration.allocate->candidate_pools,
      .ring = is_constant ? std::nullopt : declaration.allocate->ring,
      .row_operator = row == 0 ? std::nullopt : std::optional<std::size_t>(row - 1)};
}

Site param_site(const tir::Module& module, std::size_t index, BufferKind kind, const Alignments& alignments) {
  const tir::Function& entry = module.functions[module.entry];
  const tir::Param& param = entry.params[index];
  return {.var = param.var,
          .name = param.name,
          .function = module.entry,
          .kind = kind,
          .size = param_size(entry, param),
          .alignment = std::max(alignments.workspace, natural_alignment(param.element.element_bytes())),
          .live = {},
          .targets = {},
          .candidate_pools = {}};
}

std::optional<RowsHeld> rows_held(const Site& site) {
  if (!site.ring) return std::nullopt;
  return RowsHeld{.rows = site.ring->rows,
                  .of = site.ring->extent,
                  .row_bytes = site.size / site.ring->rows,
                  .of_pixels = site.ring->of_pixels};
}

}  // namespace usmp::liveness
