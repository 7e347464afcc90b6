// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The packed interface: operators take arrays of TVMValue, calls fill them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::packed_test {
namespace {

tir::Module read(const std::string& text) {
  const Source file{"lib2.c", text};
  return read_module("m", {&file, 1});
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

const std::string params =
    "(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, "
    "void* resource_handle) {\n";

std::string argument(const std::string& at, const std::string& name, const std::string& data) {
  return "  void* arg_" + name + " = (((TVMValue*)args)[" + at + "].v_handle);\n  int32_t arg_" + name +
         "_code = arg_type_ids[" + at + "];\n  void* " + data + " = (((DLTensor*)arg_" + name +
         ")[0].data);\n  void* arg_" + name + "_shape = (((DLTensor*)arg_" + name + ")[0].shape);\n  void* arg_" +
         name + "_strides = (((DLTensor*)arg_" + name + ")[0].strides);\n  int32_t dev_" + name +
         " = (((DLTensor*)arg_" + name + ")[0].device.device_id);\n  if (!(arg_" + name + "_strides == NULL)) {\n  }\n";
}

// The arguments are unpacked in another order than they have.
const std::string op = "TVM_DLL int32_t tvmgen_m_op" + params + argument("1", "q", "q") + argument("0", "p", "p") +
                       "  for (int32_t i = 0; i < 4; ++i) {\n    ((int8_t*)q)[i] = ((int16_t*)p)[i];\n  }\n"
                       "  return 0;\n}\n";

std::string tensor(const std::string& at, const std::string& data) {
  return "  ((int64_t*)stack_shape)[0] = (int64_t)4;\n  (((DLTensor*)stack_array)[" + at + "].data) = " + data +
         ";\n  (((DLTensor*)stack_array)[" + at + "].shape) = (&(((int64_t*)stack_shape)[0]));\n    uint64_t v_" + at +
         " = (uint64_t)0;\n  (((DLTensor*)stack_array)[" + at + "].strides) = (int64_t*)(*(void* *)(&(v_" + at +
         ")));\n  (((DLTensor*)stack_array)[" + at + "].dtype.code) = (uint8_t)0;\n  (((DLTensor*)stack_array)[" + at +
         "].device.device_type) = (DLDeviceType)1;\n";
}

std::string value(const std::string& at, const std::string& of) {
  return "  (((TVMValue*)stack_value)[" + at + "].v_handle) = (((DLTensor*)stack_array) + " + of +
         ");\n  ((int32_t*)stack_tcode)[" + at + "] = 7;\n";
}

const std::string stacks =
    "  TVMValue stack[1];\n  void* stack_tcode = stack;\n  TVMValue stack_1[2];\n  void* stack_value = stack_1;\n"
    "  TVMValue stack_2[12];\n  void* stack_array = stack_2;\n  TVMValue stack_3[4];\n  void* stack_shape = stack_3;\n";

const std::string direct =
    "  TVMValue ret_val;\n  int ret_type_code;\n"
    "  if (tvmgen_m_op( (TVMValue*) stack_value , (int*) stack_tcode, 2, &ret_val, &ret_type_code, NULL) != 0){\n"
    "    return -1;\n  }\n";

std::string entry(const std::string& body) {
  return "TVM_DLL int32_t tvmgen_m___tvm_main__" + params + stacks + argument("0", "in", "in_buffer_var") +
         argument("1", "out", "out_buffer_var") + body + "  return 0;\n}\n";
}

const std::string arrays =
    tensor("0", "in_buffer_var") + tensor("1", "out_buffer_var") + value("0", "0") + value("1", "1");

std::string printed(const std::string& text, const char* function) {
  const tir::Module module = read(text);
  return tir::print(module, module.functions[*module.find(function)]);
}

TEST_CASE("arguments have the order of their positions, whatever the order in which they are unpacked") {
  const std::string text = op + entry(arrays + direct);
  CHECK(printed(text, "tvmgen_m_op").find("tvmgen_m_op(p: int16*, q: int8*)") != std::string::npos);
  const tir::Module module = read(text);
  CHECK(module.functions[module.entry].params[1].name == "out");
  const std::string main = printed(text, "tvmgen_m___tvm_main__");
  CHECK(main.find("___tvm_main__(in_buffer_var: int16*, out_buffer_var: int8*)") != std::string::npos);
  CHECK(main.find("call_extern(\"tvmgen_m_op\", in_buffer_var, out_buffer_var)") != std::string::npos);
  CHECK(main.find("v_") == std::string::npos);        // the structs' zeros are gone
  CHECK(main.find("allocate") == std::string::npos);  // and so are the arrays
}

TEST_CASE("a call passes what its values point to, not what was stored first") {
  const std::string swapped =
      tensor("1", "in_buffer_var") + tensor("0", "out_buffer_var") + value("1", "0") + value("0", "1");
  CHECK(printed(op + entry(swapped + direct), "tvmgen_m___tvm_main__") ==
        printed(op + entry(arrays + direct), "tvmgen_m___tvm_main__"));
}

TEST_CASE("functions that are looked up by name, at run time") {
  const std::string looked_up =
      "  if (f_packed == NULL) {\n    if (TVMBackendGetFuncFromEnv(__tvm_module_ctx, \"tvmgen_m_op\", &f_packed) != 0) "
      "{\n"
      "      return -1;\n    }\n  }\n  TVMValue ret_val;\n  int ret_type_code;\n"
      "  if (TVMFuncCall(f_packed, (TVMValue*) stack_value, (int*) stack_tcode, 2, &ret_val, &ret_type_code) != 0) {\n"
      "    return -1;\n  }\n";
  CHECK(
      printed("static void* __tvm_module_ctx = NULL;\nstatic void* f_packed = NULL;\n" + op + entry(arrays + looked_up),
              "tvmgen_m___tvm_main__") == printed(op + entry(arrays + direct), "tvmgen_m___tvm_main__"));
}

TEST_CASE("a packed call passes what its function unpacks, whatever it counts") {
  std::string counted = direct;
  counted.replace(counted.find("stack_tcode, 2"), 14, "stack_tcode, 1");
  CHECK(printed(op + entry(arrays + counted), "tvmgen_m___tvm_main__") ==
        printed(op + entry(arrays + direct), "tvmgen_m___tvm_main__"));
}

TEST_CASE("as TVM 0.8 spells it, beside its registry of functions") {
  const auto unpack = [](const std::string& at) {
    return "  void* arg" + at + " = (((TVMValue*)args)[" + at + "].v_handle);\n  int32_t arg" + at +
           "_code = ((int32_t*)arg_type_ids)[(" + at + ")];\n  void* data" + at + " = (((DLTensor*)arg" + at +
           ")[0].data);\n";
  };
  const std::string old_params =
      "(void* args, void* arg_type_ids, int32_t num_args, void* out_ret_value, void* out_ret_tcode, "
      "void* resource_handle) {\n";
  const std::string text =
      "static TVMBackendPackedCFunc _tvm_func_array[] = {\n    (TVMBackendPackedCFunc)tvmgen_m_op,\n"
      "    (TVMBackendPackedCFunc)tvmgen_m_run_model,\n};\n"
      "static const TVMFuncRegistry _tvm_func_registry = {\n    \"\\2\\000\"\n    \"tvmgen_m_op\\0\",\n    "
      "_tvm_func_array,\n};\n"
      "static const TVMModule _tvm_system_lib = {\n    &_tvm_func_registry,\n};\n"
      "const TVMModule* TVMSystemLibEntryPoint(void) {\n    return &_tvm_system_lib;\n}\n"
      "TVM_DLL int32_t tvmgen_m_op" +
      old_params + unpack("0") + unpack("1") +
      "  for (int32_t i = 0; i < 4; ++i) {\n    ((int8_t*)data1)[(i)] = ((int16_t*)data0)[(i)];\n  }\n  return 0;\n}\n"
      "TVM_DLL int32_t tvmgen_m_run_model" +
      old_params + stacks + unpack("0") + unpack("1") + tensor("0", "data0") + tensor("1", "data1") + value("0", "0") +
      value("1", "1") + direct + "  return 0;\n}\n";
  CHECK(printed(text, "tvmgen_m_op").find("tvmgen_m_op(data0: int16*, data1: int8*)") != std::string::npos);
  CHECK(printed(text, "tvmgen_m_run_model").find("call_extern(\"tvmgen_m_op\", data0, data1)") != std::string::npos);
  CHECK(read(text).tvm_version == "0.8");
}

TEST_CASE("checks of what the caller passes say nothing of the program") {
  const std::string check =
      "  if (!(num_args == 2)) {\n    TVMAPISetLastError(\"num_args should be 2\");\n    return -1;\n  }\n";
  CHECK(printed(op + entry(check + arrays + direct), "tvmgen_m___tvm_main__") ==
        printed(op + entry(arrays + direct), "tvmgen_m___tvm_main__"));
}

TEST_CASE("buffers that TVM planned, with the packed interface") {
  const std::string planned =
      "static uint8_t global_workspace[64];\n" + op +
      entry(argument("2", "global_workspace_1_var", "global_workspace_1_var") +
            "  void* sid_1_let = (&(((uint8_t*)global_workspace_1_var)[16]));\n" + tensor("0", "in_buffer_var") +
            tensor("1", "sid_1_let") + value("0", "0") + value("1", "1") + direct + tensor("0", "sid_1_let") +
            tensor("1", "out_buffer_var") + direct);
  const std::string main = printed(planned, "tvmgen_m___tvm_main__");
  CHECK(main.find("___tvm_main__(in_buffer_var: int16*, out_buffer_var: int8*)") !=
        std::string::npos);  // the pool is no parameter
  CHECK(main.find("allocate sid_1: ") != std::string::npos);
  const Source file{"lib2.c", planned};
  const PlannedModule read = read_planned_module("m", {&file, 1});
  REQUIRE(read.pools.size() == 1);
  CHECK(read.pools[0].name == "global_workspace");
  CHECK(read.pools[0].size == 64);
  REQUIRE(read.places.size() == 1);
  CHECK(read.places[0].pool == "global_workspace");
  CHECK(read.places[0].offset == 16);
}

// What becomes of functions in front of the entry where planned C takes the place of the file.
std::string in_place(const std::string& added, std::vector<std::string>* forwarders = nullptr) {
  const std::string text = op + entry(arrays + direct) + added;
  const Source file{"lib2.c", text};
  try {
    const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept, {"lib2.c"});
    if (read.edited_run) return read.edited_run->what();
    for (const KeptFunction& function : read.forwarders) {
      if (forwarders != nullptr) forwarders->push_back(function.prototype);
    }
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_CASE("in place: functions that pass their packed arguments on to the entry are written anew") {
  const std::string head =
      "TVM_DLL int32_t __tvm_main__(void* args, int* arg_type_ids, int num_args, void* out_ret_value, int* "
      "out_ret_tcode, "
      "void* resource_handle) {\n";
  const std::string passed = "args, arg_type_ids, num_args, out_ret_value, out_ret_tcode, resource_handle";
  std::vector<std::string> forwarders;
  CHECK(in_place(head + "  return tvmgen_m___tvm_main__(" + passed + ");\n}\n", &forwarders) == "none");
  REQUIRE(forwarders.size() == 1);
  CHECK(forwarders[0] ==
        "int32_t __tvm_main__(void* args, int* arg_type_ids, int num_args, void* out_ret_value, int* out_ret_tcode, "
        "void* resource_handle)");
  const auto refused = [&](const std::string& body) {
    return in_place(head + body + "}\n").find("found 'tvmgen_m___tvm_main__' in code that somebody added") !=
           std::string::npos;
  };
  CHECK(refused("  runs++;\n  return tvmgen_m___tvm_main__(" + passed + ");\n"));
  CHECK(refused("  return -tvmgen_m___tvm_main__(" + passed + ");\n"));
  CHECK(
      refused("  return tvmgen_m___tvm_main__(args, arg_type_ids, num_args, out_ret_tcode, out_ret_value, "
              "resource_handle);\n"));
  CHECK(refused("  return tvmgen_m___tvm_main__(" + passed + ") + 1;\n"));
  CHECK(refused("#ifdef A\n  runs++;\n#endif\n  return tvmgen_m___tvm_main__(" + passed + ");\n"));
  forwarders.clear();
  CHECK(in_place(head + "  return log_main(" + passed + ");\n}\n", &forwarders) == "none");
  CHECK(forwarders.empty());
  CHECK(in_place("__attribute__((weak)) " + head + "  return tvmgen_m___tvm_main__(" + passed + ");\n}\n")
            .find("found 'tvmgen_m___tvm_main__' in code") != std::string::npos);
  // As TVM fills the arguments of its pools.
  const std::string run =
      "int32_t tvmgen_m_run(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* "
      "out_type_code, void* resource_handle) {\nTVMValue tensors[3];\n"
      "tensors[0] = ((TVMValue*)args)[0];\ntensors[1] = ((TVMValue*)args)[1];\n";
  const std::string pool =
      "DLTensor w_dltensor = {\n.data = &w\n};\nTVMValue w_tvm_value = {\n.v_handle = "
      "&w_dltensor\n};\ntensors[2] = w_tvm_value;\n";
  const std::string call =
      "return tvmgen_m___tvm_main__((void*)tensors, type_code, num_args, out_value, out_type_code, "
      "resource_handle);\n}\n";
  const std::string memory = "static uint8_t w[64];\n";
  CHECK(in_place(memory + run + pool + call) == "none");
  // TVM 0.8 passes the tensors' memory to an entry that is not packed.
  const auto plain = [](const std::string& first, const std::string& second) {
    const std::string data = "((DLTensor*)(((TVMValue*)args)[";
    const std::string text =
        "int32_t tvmgen_m_op(int16_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = "
        "((int8_t)p[i]);\n  }\n  return 0;\n}\n"
        "int32_t tvmgen_m_run_model(int16_t* x, int8_t* y) {\n  if (tvmgen_m_op(x, y) != 0 ) return -1;\n  return "
        "0;\n}\nint32_t tvmgen_m_run(void* args, void* type_code, int num_args, void* out_value, void* out_type_code, "
        "void* resource_handle) {\nreturn tvmgen_m_run_model(" +
        data + first + "].v_handle))[0].data," + data + second + "].v_handle))[0].data);\n}\n";
    const Source file{"lib.c", text};
    const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
    return read.edited_run ? std::string(read.edited_run->what()) : std::string();
  };
  CHECK(plain("0", "1").empty());
  CHECK(plain("1", "0").find("in 'tvmgen_m_run', which is written anew") != std::string::npos);
  for (const char* more : {"out_value[0] = tensors[0];\n", "args = 0;\n", "tensors[1] = tensors[0] = w_tvm_value;\n",
                           "tensors[0].v_int64 += 1;\n"}) {
    const std::string said = in_place(memory + run + pool + more + call);
    CHECK_MESSAGE(said.find("in 'tvmgen_m_run', which is written anew") != std::string::npos, more);
  }
  // Each element gets what the caller passes there, or a pool.
  const std::string begin = run.substr(0, run.find("tensors[0] ="));
  const std::string two = "tensors[0] = ((TVMValue*)args)[0];\ntensors[1] = ((TVMValue*)args)[1];\n";
  const std::string tensor = "DLTensor t = *(DLTensor*)tensors[0].v_handle;\n";
  for (const std::string& filling :
       {"tensors[0] = ((TVMValue*)args)[1];\ntensors[1] = ((TVMValue*)args)[0];\n" + pool,
        "tensors[0] = ((TVMValue*)args)[0];\ntensors[1] = ((TVMValue*)args)[0];\n" + pool,
        "tensors[0] = ((TVMValue*)args)[0];\n" + pool, two, two + pool + "tensors[1] = ((TVMValue*)args)[1];\n",
        two + pool + tensor + "t.byte_offset = 3;\ntensors[0].v_handle = &t;\n",
        two + pool + tensor + "t.data = *(void**)t.data;\ntensors[0].v_handle = &t;\n",
        two + pool + "((DLTensor*)tensors[0].v_handle)->byte_offset = 16;\n", two + pool + "num_args++;\n",
        two + "TVMValue w_tvm_value = {.v_handle = &w};\ntensors[2] = w_tvm_value;\n"}) {
    CAPTURE(filling);
    CHECK(in_place(memory + begin + filling + call).find("in 'tvmgen_m_run', which is written anew") !=
          std::string::npos);
  }
  const std::string head_of_run = begin.substr(0, begin.find("TVMValue tensors"));
  const auto passing = [&](const std::string& arguments) {
    return in_place(memory + head_of_run + "return tvmgen_m___tvm_main__(" + arguments + ");\n}\n");
  };
  CHECK(passing("(void*)args, type_code, num_args, out_value, out_type_code, resource_handle") == "none");
  for (const char* arguments : {"args, type_code, 2, out_value, out_type_code, resource_handle",
                                "args, type_code, num_args, out_type_code, out_value, resource_handle",
                                "out_value, type_code, num_args, out_value, out_type_code, resource_handle",
                                "args, type_code, num_args, out_value, out_type_code"}) {
    CHECK_MESSAGE(passing(arguments).find("which is written anew") != std::string::npos, arguments);
  }
  CHECK(in_place(memory + run + "if (w) { w[0] = 1; }\n" + call).find("found 'if' in 'tvmgen_m_run'") !=
        std::string::npos);
}

TEST_CASE("what is wrong with a packed call is told with its place") {
  const auto error = [](const std::string& body) { return error_of(op + entry(body)); };
  CHECK(error(tensor("0", "in_buffer_var") + value("0", "0") + direct).find("argument 1 of the packed call") !=
        std::string::npos);
  CHECK(error(tensor("0", "in_buffer_var") + value("0", "0") + value("1", "1") + direct)
            .find("expected a DLTensor whose data is stored in front of the call") != std::string::npos);
  CHECK(error("  if (TVMFuncCall(f_packed, 0, 0, 2, 0, 0) != 0) return -1;\n").find("'f_packed'") != std::string::npos);
  CHECK(error("  if (!(num_args == 2)) {\n    dev_in = 3;\n  }\n").find("a check of arguments that fails") !=
        std::string::npos);
  CHECK(error("  int32_t x[4];\n  x[0] = dev_in;\n").find("found a part of the packed interface, expected a number") !=
        std::string::npos);
  CHECK(error("  (((DLTensor*)stack_array)[9223372036854775807].data) = in_buffer_var;\n")
            .find("found an element of an argument of the packed interface") != std::string::npos);
  CHECK(error(arrays + "  (((DLTensor*)stack_array)[0].byte_offset) = (uint64_t)4;\n" + direct)
            .find("expected a tensor without an offset") != std::string::npos);
  CHECK(error("  if (arg_in == NULL) { }\n  for (int32_t i = 0; i < 2; ++i) {\n" + arrays + "  }\n" + direct)
            .find("outside of loops and branches") != std::string::npos);
  // What is stored over a handle, or in its place, is not what was there.
  CHECK(error(arrays + "  stack_1[0] = ((TVMValue*)args)[0];\n" + direct)
            .find("expected a handle that is stored in front of the call") != std::string::npos);
  CHECK(error(arrays + "  (((DLTensor*)stack_value)[0].data) = in_buffer_var;\n" + direct)
            .find("expected a handle that is stored in front of the call") != std::string::npos);
  const std::string only_second = "TVM_DLL int32_t tvmgen_m_op" + params + argument("1", "q", "q") + "  return 0;\n}\n";
  CHECK(error_of(only_second + entry(arrays + direct)).find("argument 0 is not unpacked") != std::string::npos);
}

}  // namespace
}  // namespace usmp::tvm_c::packed_test
