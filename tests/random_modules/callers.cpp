// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes C that reads inputs, fills workspace with garbage, calls the entry and writes outputs.
#include "random_modules/callers.hpp"

#include <vector>

#include "usmp/support/text.hpp"

namespace usmp::random_modules {
namespace {

constexpr const char* prelude = R"(#define _POSIX_C_SOURCE 200112L
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int code, int bits);
int TVMBackendFreeWorkspace(int device_type, int device_id, void* pointer);

static void harness_garbage(void* to, size_t bytes) {
  static unsigned state = 1;
  size_t i;
  for (i = 0; i < bytes; ++i) {
    state = state * 1103515245U + 12345U;
    ((unsigned char*)to)[i] = (unsigned char)(state >> 16);
  }
}
/* Exactly as large and as aligned as asked for. */
static void* harness_block(size_t bytes, size_t alignment) {
  void* block = NULL;
  if (posix_memalign(&block, alignment < 16 ? 16 : alignment, bytes > 0 ? bytes : 1) != 0 || block == NULL) exit(9);
  harness_garbage(block, bytes);
  return block;
}
void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int code, int bits) {
  (void)device_type, (void)device_id, (void)code, (void)bits;
  return harness_block((size_t)nbytes, 64);
}
int TVMBackendFreeWorkspace(int device_type, int device_id, void* pointer) {
  (void)device_type, (void)device_id;
  free(pointer);
  return 0;
}
/* TVM's TVMValue, DLPack's DLTensor, as their ABI has them. */
union harness_value {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
};
struct harness_tensor {
  void* data;
  struct {
    int32_t device_type;
    int32_t device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

void harness_tensor_of(struct harness_tensor* tensor, void* memory, int code, int bits, int64_t* shape, int offset);
void harness_tensor_of(struct harness_tensor* tensor, void* memory, int code, int bits, int64_t* shape, int offset) {
  memset(tensor, 0, sizeof *tensor);
  tensor->data = memory;
  tensor->device.device_type = 1;
  tensor->ndim = 1;
  tensor->dtype.code = (uint8_t)code;
  tensor->dtype.bits = (uint8_t)bits;
  tensor->dtype.lanes = 1;
  tensor->shape = shape;
  tensor->byte_offset = (uint64_t)offset;
}
static void harness_read(void* to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes) exit(8);
}
static void harness_write(const void* from, size_t bytes) {
  if (fwrite(from, 1, bytes, stdout) != bytes) exit(7);
}
)";

// Codes of TVM's runtime.
constexpr int opaque_handle = 3;
constexpr int tensor_handle = 7;

class CallerText {
 public:
  CallerText(const TestModule& test, const Emitted& emitted)
      : test_(test), emitted_(emitted), entry_(test.module.functions[test.module.entry]) {}

  std::string text() && {
    if (takes_structs()) {
      declarations_ = "  struct " + symbol_ + "_inputs inputs;\n  struct " + symbol_ + "_outputs outputs;\n";
      if (has_pools()) declarations_ += "  struct " + symbol_ + "_workspace_pools pools;\n";
    }
    for (const ExternalPool& pool : emitted_.external_pools) add_pool(pool);
    if (emitted_.workspace_io) {
      const std::string argument = has_pools() ? "(&pools);\n" : "();\n";
      body_ += "  inputs = " + symbol_ + "_map_inputs" + argument;
      body_ += "  outputs = " + symbol_ + "_map_outputs" + argument;
    } else {
      for (const std::size_t param : test_.inputs) add_tensor("inputs.", param);
      for (const std::size_t param : test_.outputs) add_tensor("outputs.", param);
    }
    if (test_.packed) add_packed_arguments();
    transfer("read", "inputs.", test_.inputs);
    body_ += "  status = " + symbol_ + "_run(" + arguments() + ");\n  harness_write(&status, sizeof status);\n";
    transfer("write", "outputs.", test_.outputs);
    return "static void " + std::string(module_name) + "_check(void) {\n" + declarations_ + "  int32_t status;\n" +
           body_ + end_ + "  fflush(stdout);\n}\n";
  }

 private:
  [[nodiscard]] bool has_pools() const { return !emitted_.external_pools.empty(); }
  [[nodiscard]] bool takes_structs() const { return !test_.packed || emitted_.workspace_io; }
  [[nodiscard]] std::string name(std::size_t param) const { return entry_.params[param].name; }
  [[nodiscard]] std::string size(std::size_t param) const {
    return std::to_string((*entry_.params[param].shape)[0] * entry_.params[param].element.element_bytes());
  }
  // Where the application has the tensor: a member of a struct, or a variable.
  [[nodiscard]] std::string place(const std::string& members, std::size_t param) const {
    return takes_structs() ? members + name(param) : name(param) + "_data";
  }

  void add_tensor(const std::string& members, std::size_t param) {
    const std::string to = place(members, param);
    if (!takes_structs()) {
      // A tensor need not begin where its memory does.
      const std::string offset = std::to_string(param % 3 * 16);
      const std::string tensor = name(param);
      const tir::DataType type = entry_.params[param].element;
      declarations_ += "  void* " + tensor + "_block;\n  void* " + to + ";\n  int64_t " + tensor +
                       "_shape = " + std::to_string((*entry_.params[param].shape)[0]) + ";\n  struct harness_tensor " +
                       tensor + ";\n";
      body_ += "  " + tensor + "_block = harness_block(" + size(param) + " + " + offset + ", 1);\n";
      body_ += "  " + to + " = (unsigned char*)" + tensor + "_block + " + offset + ";\n";
      body_ += "  harness_tensor_of(&" + tensor + ", " + tensor + "_block, " + std::to_string(dlpack_code(type)) +
               ", " + std::to_string(type.bits) + ", &" + tensor + "_shape, " + offset + ");\n";
      end_ += "  free(" + tensor + "_block);\n";
      packed_.push_back({"&" + tensor, tensor_handle});
      return;
    }
    body_ += "  " + to + " = harness_block(" + size(param) + ", 1);\n";
    end_ += "  free(" + to + ");\n";
  }

  static int dlpack_code(tir::DataType type) {
    switch (type.code) {
      case tir::TypeCode::int_:
        return 0;
      case tir::TypeCode::float_:
        return 2;
      case tir::TypeCode::bfloat:
        return 4;
      default:
        return 1;
    }
  }

  void add_pool(const ExternalPool& pool) {
    const std::string macro = "TVMGEN_" + upper_case(module_name) + "_" + upper_case(pool.name) +
                              (pool.is_constant ? "_CONSTANT_POOL" : "_WORKSPACE_POOL");
    const std::string var = pool.name + "_pool";
    declarations_ += "  void* " + var + ";\n";
    if (pool.is_constant) declarations_ += "  static const uint8_t contents[] = {" + macro + "_DATA};\n";
    body_ += "  " + var + " = harness_block(" + macro + "_SIZE, " + macro + "_ALIGNMENT);\n";
    if (pool.is_constant) body_ += "  memcpy(" + var + ", contents, " + macro + "_SIZE);\n";
    if (takes_structs()) body_ += "  pools." + pool.name + " = " + var + ";\n";
    end_ += "  free(" + var + ");\n";
    packed_pools_.push_back({var, opaque_handle});
  }

  void add_packed_arguments() {
    packed_.insert(packed_.end(), packed_pools_.begin(), packed_pools_.end());
    const std::string count = std::to_string(packed_.size() + 1);  // C knows no empty arrays
    declarations_ += "  union harness_value values[" + count + "];\n  int codes[" + count + "];\n";
    for (std::size_t i = 0; i < packed_.size(); ++i) {
      const std::string at = "[" + std::to_string(i) + "]";
      body_ += "  values" + at + ".v_handle = " + packed_[i].value + ";\n  codes" + at + " = " +
               std::to_string(packed_[i].code) + ";\n";
    }
  }

  [[nodiscard]] std::string arguments() const {
    if (test_.packed) return "values, codes, " + std::to_string(packed_.size()) + ", NULL, NULL, NULL";
    const std::string io = emitted_.workspace_io ? "" : "&inputs, &outputs";
    return io + (has_pools() && !io.empty() ? ", " : "") + (has_pools() ? "&pools" : "");
  }

  void transfer(const std::string& how, const std::string& members, const std::vector<std::size_t>& params) {
    for (const std::size_t param : params) {
      body_ += "  harness_" + how + "(" + place(members, param) + ", " + size(param) + ");\n";
    }
  }

  struct PackedValue {
    std::string value;
    int code = 0;
  };

  const std::string symbol_ = std::string("tvmgen_") + module_name;
  const TestModule& test_;
  const Emitted& emitted_;
  const tir::Function& entry_;
  std::vector<PackedValue> packed_;
  std::vector<PackedValue> packed_pools_;
  std::string declarations_;
  std::string body_;
  std::string end_;
};

}  // namespace

std::string callers_prelude() { return prelude; }

std::string caller_text(const TestModule& test, const Emitted& emitted) { return CallerText(test, emitted).text(); }

}  // namespace usmp::random_modules
