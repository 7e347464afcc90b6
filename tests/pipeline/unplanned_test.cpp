// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Models of TensorFlow Lite as archives: the module that is read from one is the model's, variable by variable.
#include "usmp/pipeline/unplanned.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "usmp/mlf/metadata.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tir_json/reader.hpp"

namespace usmp::pipeline::unplanned_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> models() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(USMP_TESTDATA "/tflite")) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

SourceModule model_at(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return read_module("m", bytes);
}

std::map<std::string, std::string> texts_of(const SourceModule& source) {
  std::map<std::string, std::string> texts;
  for (const OutputFile& file : unplanned_archive(source)) {
    StringSink sink;
    file.write(sink);
    texts[file.path] = sink.text();
  }
  return texts;
}

// Names in the order of their numbers, and what the printer does not show.
std::string text_of(const tir::Module& module) {
  std::string text = tir::print(module);
  for (const tir::Var& var : module.vars) text += var.name + " " + tir::to_string(var.element) + "\n";
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr) text += allocate->was_on_stack ? "s" : "w";
    });
  }
  return text;
}

TEST_CASE("unplanned: the archive's TIR is the model") {
  for (const fs::path& path : models()) {
    CAPTURE(path.filename().string());
    const SourceModule source = model_at(path);
    std::map<std::string, std::string> texts = texts_of(source);
    CHECK(text_of(tir_json::read_module(texts["src/m.tir.json"])) == text_of(source.module));
    mlf::Archive archive{.path = "m.tar", .members = {}};
    for (const auto& [name, text] : texts) archive.members.push_back({name, text, 0644});
    const model::Description info = mlf::read_metadata(archive).modules.front();
    CHECK(info.states.size() == source.info.states.size());
    REQUIRE(info.inputs.size() == source.info.inputs.size());
    for (std::size_t i = 0; i < info.inputs.size(); ++i) CHECK(info.inputs[i].name == source.info.inputs[i].name);
  }
}

TEST_CASE("unplanned: C takes its tensors at run time, as TVM's does") {
  const SourceModule source = model_at(USMP_TESTDATA "/tflite/graph_int8_1035.tflite");
  const std::string code = texts_of(source)["codegen/host/src/m_lib1.c"];
  CHECK(code.find("Operators of module m, without a plan.") != std::string::npos);
  CHECK(code.find("void* const t1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)441, 0, 8);") != std::string::npos);
  // What has been taken stays taken after an error: else the text would grow with the square of the tensors.
  CHECK(code.find("(void)TVMBackendFreeWorkspace") == std::string::npos);
}

}  // namespace
}  // namespace usmp::pipeline::unplanned_test
