// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// --proof: the bound of a pool as two files that other programs check (usmp/bounds/certificate.hpp).
#pragma once

#include <string>
#include <vector>

#include "usmp/bounds/bounds.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

// Before anything is computed: throws Error if a pool is named without a file, or if one of the two files cannot be
// written, would replace one of the inputs, or is the other `output`.
void check_proof_options(const ProofOptions& options, const std::vector<std::string>& inputs,
                         const std::optional<std::string>& output);

struct ProofFiles {
  std::string constraints_file;
  std::string constraints;
  std::string proof_file;
  std::string proof;
};

// The proof of the pool that is named, else of the first one that has a bound; `bounds` by PoolId. Nothing: no file was
// given. Throws Error of kind usage if there is no such pool, too many buffers, or no proof that can be written.
[[nodiscard]] std::optional<ProofFiles> proof_files(const Problem& problem,
                                                    const std::vector<bounds::PoolBound>& bounds,
                                                    const ProofOptions& options);

void write_proof(const std::optional<ProofFiles>& files);

}  // namespace usmp::driver
