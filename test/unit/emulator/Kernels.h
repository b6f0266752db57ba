// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short PTX for tests: `lanes` wraps a few instructions into a kernel of which each thread has 16
// bytes of input in %r1..%r4 (%d1, %d2 as pairs) and gives 16 bytes of output.
#ifndef FOVEA_TEST_UNIT_EMULATOR_KERNELS_H
#define FOVEA_TEST_UNIT_EMULATOR_KERNELS_H

#include "emulator/Launch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace fovea::emulator::test {

using Words = std::array<uint32_t, 4>;

inline std::string header(const char *target = "sm_90a") {
  return std::string(".version 8.6\n.target ") + target + "\n.address_size 64\n";
}

/// An entry `k(out, in)`; `%o` and `%i` hold the addresses of the thread's 16 bytes.
inline std::string wrap(const std::string &body, const std::string &globals = "",
                        const char *target = "sm_90a") {
  return header(target) + globals + R"(
.visible .entry k(.param .u64 k_out, .param .u64 k_in)
{
  .reg .pred %p<16>;
  .reg .b16 %h<32>;
  .reg .b32 %r<128>;
  .reg .b64 %d<64>, %o, %i, %out, %in;
  ld.param.u64 %out, [k_out];
  ld.param.u64 %in, [k_in];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d0, %r0, 16;
  add.s64 %o, %out, %d0;
  add.s64 %i, %in, %d0;
)" + body +
         "\n  ret;\n}\n";
}

struct Outcome {
  std::vector<Words> out;
  Counters counters;
};

inline Outcome launch(const std::string &ptx, const std::vector<Words> &in, uint32_t threads,
                      LaunchOptions options = {}, uint64_t grid = 1, uint64_t shared = 0) {
  Device device;
  auto program = device.load(Module::parse(ptx, "test.ptx"));
  uint64_t inBytes = in.size() * sizeof(Words), outBytes = threads * grid * sizeof(Words);
  uint64_t inAt = device.memory().allocate(inBytes, "in");
  uint64_t outAt = device.memory().allocate(outBytes, "out");
  device.memory().write(inAt, in.data(), inBytes);
  LaunchShape shape;
  shape.grid[0] = grid;
  shape.block[0] = threads;
  shape.dynamicShared = shared;
  LaunchResult result =
      device.launch(*program, "k", shape, Arguments().add(outAt).add(inAt), options);
  Outcome run;
  run.out.resize(threads * grid);
  device.memory().read(outAt, run.out.data(), outBytes, true);
  run.counters = result.counters;
  return run;
}

/// Runs instructions between loading %r1..%r4 and storing %r10 (32 bits), or %d10 if `wide`.
inline std::vector<uint64_t> lanes(const std::string &body, const std::vector<Words> &in,
                                   bool wide) {
  std::string whole = "  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%i];\n"
                      "  mov.b64 %d1, {%r1, %r2};\n  mov.b64 %d2, {%r3, %r4};\n" +
                      body +
                      (wide ? "\n  st.global.b64 [%o], %d10;" : "\n  st.global.b32 [%o], %r10;");
  Outcome run = launch(wrap(whole), in, static_cast<uint32_t>(in.size()));
  std::vector<uint64_t> out;
  for (const Words &words : run.out) {
    uint64_t value = 0;
    std::memcpy(&value, words.data(), wide ? 8 : 4);
    out.push_back(value);
  }
  return out;
}

/// What the kernel's fault says; empty if it makes none.
inline std::string faultOf(const std::string &ptx, uint32_t threads = 32,
                           LaunchOptions options = {}, uint64_t shared = 0) {
  try {
    launch(ptx, std::vector<Words>(threads, Words{1, 2, 3, 4}), threads, options, 1, shared);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

#define EXPECT_FAULT(ptx, part)                                                                    \
  {                                                                                                \
    std::string message_ = ptx;                                                                    \
    EXPECT_NE(message_.find(part), std::string::npos) << "got: " << message_;                      \
  }

} // namespace fovea::emulator::test

#endif // FOVEA_TEST_UNIT_EMULATOR_KERNELS_H
