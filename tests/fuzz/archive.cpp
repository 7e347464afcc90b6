// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bytes of a tar, plain or compressed → archive → metadata.
#include "usmp/mlf/archive.hpp"

#include "fuzz.hpp"
#include "tar_checksums.hpp"
#include "usmp/mlf/metadata.hpp"

using namespace usmp;

namespace {

// Small, so that a few bytes that unpack to many are told from those that go on for ever.
constexpr mlf::Limits limits = {.member_bytes = 1 << 20, .total_bytes = 1 << 22, .members = 1000};

void check_names(const mlf::Archive& archive) {
  std::uint64_t total = 0;
  for (const mlf::Member& member : archive.members) {
    const std::string_view name = member.name;
    fuzz::require(!name.empty() && !name.starts_with('/') && !name.ends_with('/'), "a name that is not normalised");
    fuzz::require(("/" + member.name + "/").find("/../") == std::string::npos, "a name that leads out of the archive");
    fuzz::require(("/" + member.name + "/").find("//") == std::string::npos, "a name with an empty part");
    fuzz::require(archive.find(name) == &member, "a name that stands in the archive twice");
    fuzz::require(member.bytes.size() <= limits.member_bytes, "a member beyond its limit");
    total += member.bytes.size();
  }
  fuzz::require(total <= limits.total_bytes, "members beyond the limit of all");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts({ErrorKind::archive}, [&] {
    const mlf::Archive archive = mlf::read_archive_bytes(fuzz::text_of(data, size), "model.tar", limits);
    check_names(archive);
    const mlf::Metadata metadata = mlf::read_metadata(archive);
    fuzz::require(!metadata.modules.empty(), "an archive without modules");
  });
  return 0;
}

#ifdef USMP_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);

// Nearly every change of a header would stop at its checksum.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t capacity,
                                               unsigned seed) {
  constexpr unsigned kept_wrong = 16;
  size = LLVMFuzzerMutate(data, size, capacity);
  if (seed % kept_wrong != 0) fuzz::correct_checksums(data, size);
  return size;
}
#endif
