// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attentions of test/emulator as kernels for mutants: they have what Fovea's own kernels do not
// have yet, copies beside products, tensor cores, mbarriers and swizzles.
#include "test/mutation/Kernels.h"
#include "test/unit/emulator/Attention.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

namespace fovea::mutation {

namespace test = emulator::test;

static Argument bufferOf(const std::vector<uint16_t> &values) {
  Argument buffer;
  buffer.kind = Argument::Buffer;
  buffer.bytes.resize(values.size() * 2);
  std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
  return buffer;
}

static Call callOf(test::Attention a, double bound) {
  auto problem = std::make_shared<test::Problem>(test::problemOf(a));
  Call call;
  for (const auto *values : {&problem->q, &problem->k, &problem->v})
    call.arguments.push_back(bufferOf(*values));
  call.grid[1] = a.heads;
  if (a.hopper) {
    for (size_t i = 0; i < 3; ++i) {
      call.arguments[i].hidden = true;
      Argument map;
      map.kind = Argument::Map;
      map.buffer = i;
      map.sizes[0] = a.width;
      map.sizes[1] = a.heads * a.rows;
      map.box[0] = 64;
      map.box[1] = i == 0 ? 64 : 128;
      call.arguments.push_back(map);
    }
    call.grid[0] = a.rows / 128;
    call.threads = 384;
    call.sharedBytes = 32768 * 5;
  } else {
    call.grid[0] = a.rows / 64;
  }
  call.arguments.push_back(bufferOf(std::vector<uint16_t>(problem->q.size(), a.narrow(7))));
  call.check = [=, before = call.arguments](const Results &results) -> std::string {
    for (size_t i = 0; i < 3; ++i)
      if (results[i] != before[i].bytes)
        return "an operand changed";
    std::vector<uint16_t> out(problem->q.size());
    std::memcpy(out.data(), results[3].data(), results[3].size());
    double error = test::errorOf(a, *problem, out);
    return error <= bound ? "" : "off by " + std::to_string(error);
  };
  // Two steps of the type: one for the product's operand, one for the result.
  double step = a.brain ? 0x1p-7 : 0x1p-10;
  call.isNear = [=](const Results &results, const Results &right) {
    for (size_t i = 0; i + 1 < results[3].size(); i += 2) {
      uint16_t x, y;
      std::memcpy(&x, results[3].data() + i, 2);
      std::memcpy(&y, right[3].data() + i, 2);
      if (!(std::fabs(a.wide(x) - a.wide(y)) <= 2 * step * std::max(std::fabs(a.wide(y)), 0.125f)))
        return false;
    }
    return true;
  };
  return call;
}

std::vector<Kernel> makeAttentionKernels(const std::string &folder) {
  std::vector<Kernel> kernels;
  for (const auto &[attention, bound] :
       {std::pair(test::mmaBf16, 2e-2), {test::mmaF16, 2e-3}, {test::wgmmaBf16, 8e-3}}) {
    Kernel kernel;
    std::string file = attention.file;
    kernel.name = file.substr(0, file.find('.'));
    kernel.entry = "attention";
    std::ifstream in(folder + "/" + file);
    kernel.ptx.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    test::Attention small = attention;
    small.heads = 1;
    kernel.calls = {callOf(small, bound)};
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

} // namespace fovea::mutation
