// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Over the real archives that stand beside the project, if they are there.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "usmp/mlf/metadata.hpp"

namespace usmp::mlf::shared_archives_test {
namespace {

namespace fs = std::filesystem;
const fs::path archives = fs::path(USMP_SHARED) / "archives";

bool present() {
  if (fs::exists(archives)) return true;
  MESSAGE("no shared archives: skipped");
  return false;
}

Metadata read(const std::string& name) { return read_metadata(read_archive((archives / name).string())); }

std::string names(const std::vector<model::Tensor>& tensors) {
  std::string result;
  for (const model::Tensor& t : tensors) result += t.name + " ";
  return result;
}

TEST_CASE("every real archive is read") {
  if (!present()) return;
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(archives)) {
    if (entry.path().extension() != ".tar") continue;
    CAPTURE(entry.path().string());
    ++count;
    const Metadata metadata = read_metadata(read_archive(entry.path().string()));
    CHECK(metadata.version == 7);
    const std::string name = entry.path().filename().string();
    for (const model::Description& module : metadata.modules) {
      CHECK(module.tir_member.empty() == (entry.path().parent_path().filename() == "tvm_planned"));
      CHECK_FALSE(module.inputs.empty());
      CHECK_FALSE(module.outputs.empty());
      CHECK(module.workspace_bytes.has_value());
      CHECK(module.foreign_functions.empty() == (name != "mlperf_kws_cmsisnn.tar"));
      CHECK(module.packed_interface == (name == "resnet8_packed.tar" || name == "resnet8.packed.tar"));
    }
  }
  CHECK(count >= 26);
}

TEST_CASE("two modules in one archive") {
  if (!present()) return;
  const Metadata metadata = read("variants/two_models.tar");
  REQUIRE(metadata.modules.size() == 2);
  CHECK(metadata.modules[0].name == "ds_cnn");
  CHECK(metadata.modules[0].workspace_bytes == 257360);
  CHECK(metadata.modules[1].name == "resnet8");
  CHECK(metadata.modules[1].tir_member == "src/resnet8.tir.json");
  CHECK(metadata.modules[1].inputs[0].size == 3072);
}

TEST_CASE("CMSIS-NN: one library, twelve functions") {
  if (!present()) return;
  const model::Description module = read("variants/mlperf_kws_cmsisnn.tar").modules.at(0);
  CHECK(module.foreign_members == std::vector<std::string>{"codegen/host/src/default_lib2.c"});
  REQUIRE(module.foreign_functions.size() == 12);
  CHECK(module.foreign_functions[10].name == "tvmgen_default_cmsis_nn_main_10");
  CHECK(module.foreign_functions[10].prototype ==
        "int32_t tvmgen_default_cmsis_nn_main_10(int8_t* input_, int8_t* filter_, int32_t* bias_, int8_t* output_)");
  CHECK_FALSE(module.foreign_functions[10].allocates_workspace);
}

TEST_CASE("TVM 0.9 has names in the header only; a planned archive has more structs there") {
  if (!present()) return;
  const model::Description old = read("variants/tvm_0_9/lstm.tar").modules.at(0);
  CHECK(names(old.inputs) == "x_0 x_1 x_2 x_3 ");
  CHECK(names(old.outputs) == "output0 output1 ");
  CHECK_FALSE(old.outputs[0].size.has_value());
  const model::Description planned = read("variants/resnet8_pools_io.hill_climb.tvm_planned.tar").modules.at(0);
  CHECK(names(planned.inputs) == "input_1 ");
  CHECK(names(planned.outputs) == "output ");
  CHECK(planned.outputs[0].size == 10);
}

}  // namespace
}  // namespace usmp::mlf::shared_archives_test
