// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names and writes the files of --proof.
#include "proof_files.hpp"

#include <algorithm>
#include <optional>

#include "output.hpp"
#include "output_path.hpp"
#include "usmp/bounds/certificate.hpp"
#include "usmp/planners/refute.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

constexpr std::string_view ending_of_proofs = ".pbp";

// "kws.pbp": "kws.opb".
std::string constraints_of(const std::string& file) {
  return file.substr(0, file.size() - ending_of_proofs.size()) + ".opb";
}

PoolId pool_of(const Problem& problem, const std::vector<bounds::PoolBound>& bounds, const ProofOptions& options) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    const std::string& name = problem.pools[i].name;
    if (options.pool ? name == *options.pool : bounds[i].bytes > 0) return PoolId(i);
    names.push_back(name);
  }
  if (!options.pool) throw Error(ErrorKind::usage, {}, "--proof: nothing is proved of any pool");
  throw Error(ErrorKind::usage, {},
              "--proof-pool: no pool " + in_quotes(*options.pool) + did_you_mean(*options.pool, names) +
                  "; there are: " + joined(names));
}

bounds::Certificate certificate_of(const Problem& problem, PoolId pool, const bounds::PoolBound& bound) {
  const std::string of_pool = "the bound of pool " + in_quotes(problem.pool(pool).name);
  if (bound.bytes <= 0) throw Error(ErrorKind::usage, {}, of_pool + " is 0: there is nothing to prove");
  if (auto made = bounds::certificate(problem, pool, bound.bytes)) return *std::move(made);
  const planners::RefuteResult result = planners::refute(problem, pool, bound.bytes - 1);
  if (result.refutation) return bounds::certificate(problem, pool, bound.bytes, *result.refutation);
  throw Error(ErrorKind::usage, {},
              of_pool + ", " + std::to_string(bound.bytes) + " bytes, has the reason '" + bound.reason + "'; " +
                  (result.fits ? "a proof is of the buffers that can be in no other pool, and these fit into less: "
                                 "expected a plan without the other pools"
                               : "a search of " + std::to_string(planners::most_refuting_nodes) +
                                     " nodes found no proof of at most " + std::to_string(bounds::most_proof_lines) +
                                     " lines"));
}

}  // namespace

void check_proof_options(const ProofOptions& options, const std::vector<std::string>& inputs,
                         const std::optional<std::string>& output) {
  if (!options.file) {
    if (options.pool) throw Error(ErrorKind::usage, {}, "--proof-pool needs --proof FILE");
    return;
  }
  if (!options.file->ends_with(ending_of_proofs) || options.file->size() == ending_of_proofs.size()) {
    throw Error(ErrorKind::usage, {},
                "--proof: found " + in_quotes(*options.file) +
                    ", expected a name that ends in .pbp; the constraints go beside it, into a file that ends in .opb");
  }
  const std::string constraints = constraints_of(*options.file);
  check_output_path("--proof", *options.file, inputs);
  check_output_path("--proof", constraints, inputs);
  if (!output) return;
  require_different_outputs("--proof", *options.file, "-o", *output);
  require_different_outputs("--proof", constraints, "-o", *output);
}

std::optional<ProofFiles> proof_files(const Problem& problem, const std::vector<bounds::PoolBound>& bounds,
                                      const ProofOptions& options) {
  if (!options.file) return std::nullopt;
  const PoolId pool = pool_of(problem, bounds, options);
  bounds::Certificate made = certificate_of(problem, pool, bounds[pool.index()]);
  return ProofFiles{.constraints_file = constraints_of(*options.file),
                    .constraints = std::move(made.constraints),
                    .proof_file = *options.file,
                    .proof = std::move(made.proof)};
}

void write_proof(const std::optional<ProofFiles>& files) {
  if (!files) return;
  write_file(files->constraints_file, files->constraints);
  write_file(files->proof_file, files->proof);
}

}  // namespace usmp::driver
