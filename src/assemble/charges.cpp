// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Charges cycles or ranks, scales them until their sum fits, and sorts candidates by cycles.
#include "assemble/charges.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace usmp::assemble {
namespace {

double per_access(const std::optional<std::int64_t>& own, const std::optional<std::int64_t>& other) {
  return static_cast<double>(own ? *own : other.value_or(0));
}

// Cycles per byte.
double per_byte(const std::optional<std::int64_t>& own, const std::optional<std::int64_t>& other) {
  const auto& bandwidth = own ? own : other;
  return bandwidth ? 1 / static_cast<double>(*bandwidth) : 0;
}

// Whether the speed of every pool is known that a buffer has to choose from.
bool knows_cycles(const Assembly& assembly) {
  bool is_any = false;
  for (const Buffer& buffer : assembly.problem.buffers) {
    if (buffer.candidates.size() < 2) continue;
    is_any = true;
    const bool all = std::all_of(buffer.candidates.begin(), buffer.candidates.end(),
                                 [&](PoolId pool) { return assembly.pools[pool.index()].speed.is_known(); });
    if (!all) return false;
  }
  return is_any;
}

// By candidate.
std::vector<double> charges_of(const Assembly& assembly, const Buffer& buffer, const liveness::Traffic& traffic,
                               std::optional<std::int64_t> clock) {
  std::vector<double> charges;
  for (std::size_t rank = 0; rank < buffer.candidates.size(); ++rank) {
    const config::Speed& speed = assembly.pools[buffer.candidates[rank].index()].speed;
    charges.push_back(assembly.charges_cycles ? cycles_of(traffic, speed, clock)
                                              : traffic.accesses() * static_cast<double>(rank));
  }
  return charges;
}

// Candidates and charges, the cheapest first; equally cheap ones stay in their order.
void sort_by_charge(Buffer& buffer) {
  std::vector<std::size_t> order(buffer.candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffer.charges[a] < buffer.charges[b]; });
  const Buffer before = buffer;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    buffer.candidates[rank] = before.candidates[order[rank]];
    buffer.charges[rank] = before.charges[order[rank]];
  }
}

}  // namespace

double cycles_of(const liveness::Traffic& traffic, const config::Speed& speed, std::optional<std::int64_t> clock_hz) {
  const double cycles = traffic.loads * per_access(speed.read_latency_cycles, speed.write_latency_cycles) +
                        traffic.stores * per_access(speed.write_latency_cycles, speed.read_latency_cycles) +
                        traffic.bytes_loaded * per_byte(speed.read_bytes_per_cycle, speed.write_bytes_per_cycle) +
                        traffic.bytes_stored * per_byte(speed.write_bytes_per_cycle, speed.read_bytes_per_cycle);
  if (!speed.clock_hz || !clock_hz) return cycles;
  return cycles * (static_cast<double>(*clock_hz) / static_cast<double>(*speed.clock_hz));
}

std::optional<std::int64_t> fastest_clock(const std::vector<config::PoolSpec>& pools) {
  std::optional<std::int64_t> fastest;
  for (const config::PoolSpec& pool : pools) fastest = std::max(fastest, pool.speed.clock_hz);
  return fastest;
}

void add_charges(Assembly& assembly, const std::vector<liveness::Traffic>& traffic) {
  Problem& problem = assembly.problem;
  problem.charged = true;
  assembly.charges_cycles = knows_cycles(assembly);
  const auto clock = fastest_clock(assembly.pools);
  std::vector<std::vector<double>> charges;
  double total = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    assembly.traffic.push_back(traffic[assembly.sites[i].index()]);
    charges.push_back(charges_of(assembly, problem.buffers[i], assembly.traffic.back(), clock));
    total += *std::max_element(charges.back().begin(), charges.back().end()) + 1;
  }
  constexpr Bytes half = Problem::max_total_bytes / 2;
  constexpr auto most = static_cast<double>(half);
  const double scale = total > most ? most / total : 1;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    Buffer& buffer = problem.buffers[i];
    for (const double charge : charges[i]) buffer.charges.push_back(static_cast<Bytes>(std::round(charge * scale)));
    if (assembly.charges_cycles) sort_by_charge(buffer);
  }
}

}  // namespace usmp::assemble
