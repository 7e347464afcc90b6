// SPDX-License-Identifier: Apache-2.0
// TIR JSON → module → text, and when its buffers are live.
#include <map>

#include "fuzz.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir_json/reader.hpp"

using namespace usmp;

namespace {

void check_analysis(const tir::Module& module, const liveness::Options& options) {
  const liveness::Analysis analysis = liveness::analyse(module, options);
  fuzz::require(analysis.horizon >= 1, "no tick");
  for (const liveness::Site& site : analysis.sites) {
    fuzz::require(site.size >= 0 && site.size <= liveness::max_site_bytes, "a size out of range");
    Tick last = -1;
    for (const LiveRange& range : site.live) {
      fuzz::require(last < range.begin && range.begin < range.end, "live ranges out of order");
      last = range.end;
    }
    fuzz::require(last <= analysis.horizon, "live behind the end");
  }
  std::map<tir::VarId, Bytes> sizes;
  for (const liveness::Site& site : analysis.sites) sizes[site.var] = site.size;
  for (const liveness::StorageDistance& distance : liveness::find_distances(module, options)) {
    fuzz::require(distance.below != distance.above && sizes.contains(distance.above), "a distance to nothing");
    fuzz::require(distance.bytes >= 0 && distance.bytes < sizes[distance.below], "a distance out of range");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts({ErrorKind::archive}, [&] {
    const tir::Module module = tir_json::read_module(fuzz::text_of(data, size));
    fuzz::require(module.entry < module.functions.size(), "a module without an entry");
    const std::string text = tir::print(module);
    fuzz::require(text == tir::print(module), "a module is printed in two ways");
    check_analysis(module, {});
    check_analysis(module, {.workspace_io = true, .inputs = {}, .outputs = {}});
  });
  return 0;
}
