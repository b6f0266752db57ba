// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels' parameters, faults, plain loops, and functions of scalars within their bounds.
#include "test/threads/DeviceCode.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;

namespace {

Array makeFloats(const std::vector<double> &values) {
  return {"f32", {static_cast<int64_t>(values.size())}, values};
}

std::vector<float> toFloats(const std::vector<char> &bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// One iteration a thread, the last block partly; scratch is a thread's own.
TEST(Signature, PlainLoopsAreThreads) {
  auto code = DeviceCode::make(R"mlir(
func.func private @kernel(%x: memref<?x5xf32>, %n: index, %y: memref<?x5xf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %rows = memref.dim %x, %c0 : memref<?x5xf32>
  %s = memref.alloca() : memref<5xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %c5) step (%c1, %c1) {
    scf.for %k = %c0 to %c5 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x5xf32>
      memref.store %0, %s[%k] : memref<5xf32>
    }
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
      %at = arith.remui %k, %c5 : index
      %0 = memref.load %s[%at] : memref<5xf32>
      %1 = arith.addf %a, %0 : f32
      scf.yield %1 : f32
    }
    %2 = memref.load %s[%j] : memref<5xf32>
    %3 = arith.mulf %2, %sum : f32
    memref.store %3, %y[%i, %j] : memref<?x5xf32>
  }
  return
})mlir");
  ASSERT_TRUE(code);
  checkAssembles(*code);
  for (int64_t rows : {0, 1, 51, 52}) {
    Array x = makeNumbers("f32", {rows, 5}, 1), y = makeNumbers("f32", {rows, 5}, 2);
    TileCall call{{x, makeIndex(3), y}, {x, makeIndex(3), y}};
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < 5; ++c)
        call.after[2].at(r, c) = x.at(r, c) * (x.at(r, 0) + x.at(r, 1) + x.at(r, 2));
    if (rows)
      checkCall(*code, call, 1e-6, (rows * 5 + 127) / 128 + 1);
  }
}

/// The word is written, and the kernel goes on.
TEST(Signature, FaultsAreStored) {
  auto code = DeviceCode::make(R"mlir(
func.func private @kernel(%x: memref<?xi64>, %t: memref<4xf32>, %y: memref<?xf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xi64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %0 = memref.load %x[%i] : memref<?xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi uge, %1, %c4 : index
    fovea.fault %2
    %3 = arith.select %2, %c0, %1 : index
    %4 = memref.load %t[%3] : memref<4xf32>
    memref.store %4, %y[%i] : memref<?xf32>
  }
  return
})mlir");
  ASSERT_TRUE(code);
  checkAssembles(*code);
  Array table = makeFloats({10, 11, 12, 13}), y = makeFloats({0, 0, 0});
  for (int64_t wrong : {0, 1}) {
    Array x{"i64", {3}, {3, wrong ? -5.0 : 2.0, 1}};
    uint64_t fault = 99;
    auto results = code->run("kernel", {x, table, y}, 1, &fault);
    EXPECT_EQ(fault, wrong ? 7u : 0u);
    EXPECT_EQ(toFloats(results[2]), (std::vector<float>{13, wrong ? 10.f : 12.f, 11}));
  }
}

//===-- Functions ----------------------------------------------------------------------------===//

/// Within [low, high] the error is at most `absolute` and `relative` times the result; elsewhere
/// `elsewhere` says what is right.
struct Bound {
  const char *op;
  double (*reference)(double);
  double low, high, absolute, relative;
  bool (*elsewhere)(double x, double y);
};

constexpr double kNone = INFINITY;
bool never(double, double) { return false; }
bool bounded(double, double y) { return std::abs(y) <= 1; }

const Bound kBounds[] = {
    {"exp", std::exp, -87, 88.722835, kNone, 4e-7,
     [](double x, double y) {
       return x > 0 ? y == INFINITY : std::abs(y - std::exp(x)) < 1.2e-38;
     }},
    {"exp2", std::exp2, -126, 127.999995, kNone, 2.4e-7,
     [](double x, double y) { return x > 0 ? y == INFINITY : y == 0; }},
    {"expm1", std::expm1, -INFINITY, 88.722835, kNone, 4e-7,
     [](double, double y) { return y == INFINITY; }},
    {"log", std::log, 0, INFINITY, kNone, 2e-7, never},
    {"log1p", std::log1p, -1, INFINITY, kNone, 4e-7, never},
    {"tanh", std::tanh, -INFINITY, INFINITY, 3e-7, 1e-6, never},
    {"erf", std::erf, -INFINITY, INFINITY, 2e-7, 4e-7, never},
    {"sin", std::sin, -1e6, 1e6, 2e-7, kNone, bounded},
    {"cos", std::cos, -1e6, 1e6, 2e-7, kNone, bounded},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0, INFINITY, kNone, 1.2e-7, never},
    {"sqrt", std::sqrt, 0, INFINITY, kNone, 6.0e-8, never},
    {"roundeven", [](double x) { return std::nearbyint(x); }, -INFINITY, INFINITY, 0, 0, never},
    {"floor", std::floor, -INFINITY, INFINITY, 0, 0, never},
    {"ceil", std::ceil, -INFINITY, INFINITY, 0, 0, never},
    {"trunc", std::trunc, -INFINITY, INFINITY, 0, 0, never},
    {"absf", std::fabs, -INFINITY, INFINITY, 0, 0, never},
};

/// y[i] = op(x[i]) as a kernel of plain loops.
std::string writeKernel(const std::string &name, const std::string &body, const std::string &in,
                        const std::string &out) {
  return "func.func private @" + name + "(%x: memref<?x" + in + ">, %y: memref<?x" + out +
         ">, %part: index, %parts: index) {\n"
         "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
         "  %n = memref.dim %x, %c0 : memref<?x" +
         in +
         ">\n"
         "  scf.parallel (%i) = (%c0) to (%n) step (%c1) {\n"
         "    %v = memref.load %x[%i] : memref<?x" +
         in + ">\n    " + body + "\n    memref.store %r, %y[%i] : memref<?x" + out +
         ">\n  }\n  return\n}\n";
}

std::vector<double> makeArguments() {
  std::vector<double> x;
  auto add = [&](float value) { x.push_back(value); };
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 2039 * 131) {
    uint32_t word = bits;
    float value;
    std::memcpy(&value, &word, 4);
    add(value);
  }
  for (int i = -6000; i <= 6000; ++i) {
    add(i * 2.1e-2f);
    add(i * 7.3e-4f);
    add(i * float(M_PI_2));
  }
  for (float at : {-150.f,     -127.f, -126.5f,   -126.f,    127.f, 128.f,  129.f, -104.f,
                   -87.33655f, 88.f,   88.72283f, 88.72284f, 9.02f, -9.02f, 3.92f, 0.70710678f,
                   1e6f,       -1e6f,  0.f,       -0.f,      1.f,   -1.f,   0.5f,  1.5f,
                   2.5f,       -2.5f,  INFINITY,  -INFINITY, NAN})
    for (float value : {at, std::nextafter(at, -INFINITY), std::nextafter(at, INFINITY)})
      add(value);
  return x;
}

TEST(Functions, StayWithinTheirBounds) {
  std::string text;
  for (const Bound &bound : kBounds)
    text += writeKernel(bound.op, std::string("%r = math.") + bound.op + " %v : f32", "f32", "f32");
  auto code = DeviceCode::make(text);
  ASSERT_TRUE(code);
  checkAssembles(*code);
  Array x = makeFloats(makeArguments());
  for (const Bound &bound : kBounds) {
    std::vector<float> y = toFloats(code->run(bound.op, {x, x}, (x.values.size() + 127) / 128)[1]);
    double worst = 0;
    int wrong = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      double want = bound.reference(x.values[i]), got = y[i];
      bool right;
      if (std::isnan(want)) {
        right = std::isnan(got);
      } else if (x.values[i] < bound.low || x.values[i] > bound.high) {
        right = bound.elsewhere(x.values[i], got);
      } else if (std::isinf(want)) {
        right = got == want;
      } else {
        double error = std::abs(got - want), slack = 3e-45;
        right = error <= bound.absolute + slack &&
                (std::isinf(bound.relative) || error <= bound.relative * std::abs(want) + slack);
        if (std::abs(want) > 1.2e-38)
          worst = std::max(worst, std::isfinite(bound.absolute) ? error : error / std::abs(want));
      }
      if (!right && ++wrong <= 3)
        ADD_FAILURE() << bound.op << " of " << x.values[i] << " is " << got << ", expected "
                      << want;
    }
    EXPECT_EQ(wrong, 0);
    printf("%-10s %s error %.2e\n", bound.op,
           std::isfinite(bound.absolute) ? "absolute" : "relative", worst);
  }
}

TEST(Functions, PowersAndRounding) {
  auto code = DeviceCode::make(
      writeKernel("integers",
                  "%three = arith.constant 3 : i32\n    %r = math.ipowi %v, %three : i32", "i32",
                  "i32") +
      writeKernel("inverses", "%k = arith.constant -3 : i32\n    %r = math.fpowi %v, %k : f32, i32",
                  "f32", "f32") +
      writeKernel("wide", "%r = math.roundeven %v : f64", "f64", "f64") +
      writeKernel("narrow", "%r = math.exp %v : bf16", "bf16", "bf16"));
  ASSERT_TRUE(code);
  checkAssembles(*code);
  auto results =
      code->run("integers", {{"i32", {4}, {-2, 0, 3, 7}}, {"i32", {4}, {0, 0, 0, 0}}}, 1);
  std::vector<int32_t> cubes(4);
  std::memcpy(cubes.data(), results[1].data(), 16);
  EXPECT_EQ(cubes, (std::vector<int32_t>{-8, 0, 27, 343}));
  results = code->run("inverses", {makeFloats({2, -0.5}), makeFloats({0, 0})}, 1);
  EXPECT_EQ(toFloats(results[1]), (std::vector<float>{0.125, -8}));
  results = code->run("wide", {{"f64", {3}, {0.5, 1.5, -2.5}}, {"f64", {3}, {0, 0, 0}}}, 1);
  std::vector<double> rounded(3);
  std::memcpy(rounded.data(), results[1].data(), 24);
  EXPECT_EQ(rounded, (std::vector<double>{0, 2, -2}));
  results = code->run("narrow", {{"bf16", {2}, {0, 1}}, {"bf16", {2}, {0, 0}}}, 1);
  uint16_t bits[2];
  std::memcpy(bits, results[1].data(), 4);
  EXPECT_EQ(bits[0], 0x3f80);
  EXPECT_EQ(bits[1], 0x402e); // 2.71875
}

} // namespace
