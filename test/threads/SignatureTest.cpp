// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels' parameters, faults, plain loops, and functions of scalars within their bounds.
#include "test/threads/DeviceCode.h"
#include <cmath>
#include <cstring>
#include <functional>
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
    text += writeElementwise(bound.op, std::string("%r = math.") + bound.op + " %v : f32", "f32",
                             "f32");
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
      writeElementwise("integers",
                       "%three = arith.constant 3 : i32\n    %r = math.ipowi %v, %three : i32",
                       "i32", "i32") +
      writeElementwise("inverses",
                       "%k = arith.constant -3 : i32\n    %r = math.fpowi %v, %k : f32, i32", "f32",
                       "f32") +
      writeElementwise("wide", "%r = math.roundeven %v : f64", "f64", "f64") +
      writeElementwise("narrow", "%r = math.exp %v : bf16", "bf16", "bf16"));
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

/// "-0.5" -> "_m05".
std::string suffix(const std::string &number) {
  std::string name = "_";
  for (char c : number)
    if (c != '.')
      name += c == '-' ? 'm' : c;
  return name;
}

struct WideBound {
  const char *op, *type;
  double (*reference)(double);
  double relative, absolute;
};

const WideBound kWideBounds[] = {
    {"exp", "f64", std::exp, 1e-15, 5e-324}, {"exp2", "f64", std::exp2, 1e-15, 1e-323},
    {"log", "f64", std::log, 1e-15, 0},      {"log2", "f64", std::log2, 1e-15, 0},
    {"log10", "f64", std::log10, 1e-15, 0},  {"sin", "f64", std::sin, 0, 4e-16},
    {"cos", "f64", std::cos, 0, 4e-16},      {"tanh", "f64", std::tanh, 2e-13, 0},
    {"log2", "f32", std::log2, 6.1e-8, 0},   {"log10", "f32", std::log10, 6.1e-8, 0},
    {"tan", "f32", std::tan, 6.1e-8, 1e-45},
};

/// By series: f64, and f32 by way of it.
TEST(Functions, WideStayWithinTheirBounds) {
  std::string text;
  for (const WideBound &bound : kWideBounds) {
    std::string type = bound.type;
    text += writeElementwise(bound.op + ("_" + type),
                             std::string("%r = math.") + bound.op + " %v : " + type, type, type);
  }
  for (std::string type : {"f32", "f64"})
    for (const char *exponent : {"3.0", "-0.5", "2.5", "0.0"})
      text += writeElementwise("pow_" + type + suffix(exponent),
                               "%k = arith.constant " + std::string(exponent) + " : " + type +
                                   "\n %r = math.powf %v, %k : " + type,
                               type, type);
  auto code = DeviceCode::make(text);
  ASSERT_TRUE(code);
  checkAssembles(*code);
  std::vector<double> numbers;
  for (int i = -4000; i <= 4000; ++i) {
    numbers.push_back(i * 0.013);
    numbers.push_back(i * 1.7e-5);
    numbers.push_back(i * M_PI_2);
    numbers.push_back(std::pow(2.0, i * 0.02));
  }
  for (double special : {0.0, -0.0, 1.0, -1.0, 2.0, 8.0, 710.0, -745.2, 100.0})
    numbers.push_back(special);
  auto check = [&](const std::string &name, const std::string &type,
                   const std::function<double(double)> &reference, double relative,
                   double absolute) {
    Array x{type, {static_cast<int64_t>(numbers.size())}, numbers};
    for (double &value : x.values)
      value = type == "f32" ? double(float(value)) : value;
    std::vector<char> bytes = code->run(name, {x, x}, (numbers.size() + 127) / 128)[1];
    int wrong = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      double want = reference(x.values[i]), got;
      bool isAngle = name[0] == 's' || name[0] == 'c' || name[0] == 't';
      if (isAngle && std::abs(x.values[i]) > 1e6)
        continue;
      if (type == "f32") {
        float narrow;
        std::memcpy(&narrow, bytes.data() + 4 * i, 4);
        got = narrow;
        want = std::abs(want) > 3.4028236e38 ? std::copysign(INFINITY, want) : want;
        if (std::abs(want) < 1.2e-38)
          continue;
      } else {
        std::memcpy(&got, bytes.data() + 8 * i, 8);
      }
      bool right = std::isnan(want) ? std::isnan(got)
                   : std::isinf(want)
                       ? got == want
                       : std::abs(got - want) <= absolute + relative * std::abs(want);
      if (!right && ++wrong <= 3)
        ADD_FAILURE() << name << " of " << x.values[i] << " is " << got << ", expected " << want;
    }
    EXPECT_EQ(wrong, 0);
  };
  for (const WideBound &bound : kWideBounds)
    check(bound.op + ("_" + std::string(bound.type)), bound.type, bound.reference, bound.relative,
          bound.absolute);
  for (std::string type : {"f32", "f64"}) {
    double bound = type == "f32" ? 6.1e-8 : 5e-13;
    check("pow_" + type + "_30", type, [](double x) { return std::pow(x, 3.0); }, bound, 5e-323);
    check("pow_" + type + "_m05", type, [](double x) { return std::pow(x, -0.5); }, bound, 0);
    check("pow_" + type + "_25", type, [](double x) { return std::pow(x, 2.5); }, bound, 5e-323);
    check("pow_" + type + "_00", type, [](double x) { return std::pow(x, 0.0); }, bound, 0);
  }
}

//===-- Arithmetic ---------------------------------------------------------------------------===//

/// One op on each of a few numbers, against C++.
struct Arithmetic {
  const char *name, *body, *in, *out;
  double (*reference)(double);
};

const Arithmetic kArithmetic[] = {
    {"maximumf", "%k = arith.constant 1.5 : f32\n %r = arith.maximumf %v, %k : f32", "f32", "f32",
     [](double x) { return std::isnan(x) ? x : std::fmax(x, 1.5); }},
    {"minimumf", "%k = arith.constant 1.5 : f32\n %r = arith.minimumf %v, %k : f32", "f32", "f32",
     [](double x) { return std::isnan(x) ? x : std::fmin(x, 1.5); }},
    {"maxnumf", "%k = arith.constant 1.5 : f32\n %r = arith.maxnumf %v, %k : f32", "f32", "f32",
     [](double x) { return std::fmax(x, 1.5); }},
    {"remf", "%k = arith.constant 0.75 : f32\n %r = arith.remf %v, %k : f32", "f32", "f32",
     [](double x) { return std::fmod(x, 0.75); }},
    {"divf", "%k = arith.constant 3.0 : f32\n %r = arith.divf %k, %v : f32", "f32", "f32",
     [](double x) { return x == 0 ? 3 / x : double(float(3.0f / float(x))); }},
    {"divf64", "%k = arith.constant 3.0 : f64\n %r = arith.divf %k, %v : f64", "f64", "f64",
     [](double x) { return 3 / x; }},
    {"sqrt64", "%a = math.absf %v : f64\n %r = math.sqrt %a : f64", "f64", "f64",
     [](double x) { return std::sqrt(std::abs(x)); }},
    {"fptosi",
     "%k = arith.constant 4.0 : f32\n %a = arith.minnumf %v, %k : f32\n"
     " %r = arith.fptosi %a : f32 to i32",
     "f32", "i32", [](double x) { return std::trunc(std::fmin(x, 4)); }},
    {"sitofp", "%a = arith.trunci %v : i32 to i16\n %r = arith.sitofp %a : i16 to f32", "i32",
     "f32", [](double x) { return x; }},
    {"uitofp64",
     "%a = arith.andi %v, %v : i64\n %b = math.absi %a : i64\n"
     " %r = arith.uitofp %b : i64 to f64",
     "i64", "f64", [](double x) { return std::abs(x); }},
    {"divsi", "%k = arith.constant 3 : i32\n %r = arith.divsi %v, %k : i32", "i32", "i32",
     [](double x) { return std::trunc(x / 3); }},
    {"floordivsi", "%k = arith.constant 3 : i64\n %r = arith.floordivsi %v, %k : i64", "i64", "i64",
     [](double x) { return std::floor(x / 3); }},
    {"ceildivsi", "%k = arith.constant 3 : i64\n %r = arith.ceildivsi %v, %k : i64", "i64", "i64",
     [](double x) { return std::ceil(x / 3); }},
    {"dynamic_division", "%k = arith.index_cast %n : index to i64\n %r = arith.remsi %v, %k : i64",
     "i64", "i64", [](double x) { return std::fmod(x, 10); }},
    {"shifts",
     "%k = arith.constant 2 : i32\n %a = arith.shli %v, %k : i32\n"
     " %b = arith.shrsi %v, %k : i32\n %r = arith.addi %a, %b : i32",
     "i32", "i32", [](double x) { return x * 4 + std::floor(x / 4); }},
    {"bits",
     "%a = math.ctpop %v : i32\n %b = math.ctlz %v : i32\n %c = math.cttz %v : i32\n"
     " %d = arith.addi %a, %b : i32\n %r = arith.addi %d, %c : i32",
     "i32", "i32",
     [](double x) {
       auto word = static_cast<uint32_t>(static_cast<int32_t>(x));
       return word ? double(__builtin_popcount(word) + __builtin_clz(word) + __builtin_ctz(word))
                   : 64;
     }},
    {"f16",
     "%a = arith.addf %v, %v : f16\n %b = arith.mulf %a, %v : f16\n"
     " %r = arith.subf %b, %v : f16",
     "f16", "f16", [](double x) { return 2 * x * x - x; }},
    {"bf16",
     "%a = arith.addf %v, %v : bf16\n %b = arith.mulf %a, %v : bf16\n"
     " %r = arith.negf %b : bf16",
     "bf16", "bf16", [](double x) { return -2 * x * x; }},
    {"bf16_order",
     "%a = arith.negf %v : bf16\n %c = arith.cmpf olt, %v, %a : bf16\n"
     " %r = arith.select %c, %v, %a : bf16",
     "bf16", "bf16", [](double x) { return x < -x ? x : -x; }},
    {"truths", "%k = arith.constant 0.0 : f32\n %r = arith.cmpf ugt, %v, %k : f32", "f32", "i1",
     [](double x) { return !(x <= 0) ? -1.0 : 0.0; }},
    {"tests",
     "%a = math.isnan %v : f32\n %b = math.isfinite %v : f32\n %c = math.isinf %v : f32\n"
     " %d = arith.extui %a : i1 to i32\n %e = arith.extui %b : i1 to i32\n"
     " %f = arith.extui %c : i1 to i32\n %g = arith.addi %d, %e : i32\n"
     " %r = arith.subi %g, %f : i32",
     "f32", "i32", [](double x) { return std::isinf(x) ? -1.0 : 1.0; }},
    {"narrowed", "%r = arith.truncf %v : f64 to f32", "f64", "f32", [](double x) { return x; }},
};

TEST(Functions, ArithmeticIsKnown) {
  std::string text;
  for (const Arithmetic &one : kArithmetic)
    text += writeElementwise(one.name, one.body, one.in, one.out);
  auto code = DeviceCode::make(text);
  ASSERT_TRUE(code);
  checkAssembles(*code);
  for (const Arithmetic &one : kArithmetic) {
    SCOPED_TRACE(one.name);
    bool real = one.in[0] != 'i';
    std::vector<double> values = real ? std::vector<double>{0, 1, -1, 2.5, -2.5, 3.75, -0.125, 11}
                                      : std::vector<double>{0, 1, -1, 2, 7, -8, 100, -29, 12, -12};
    if (std::string(one.in) == "f32" && std::string(one.name) != "fptosi")
      values.insert(values.end(), {INFINITY, NAN});
    Array x{one.in, {static_cast<int64_t>(values.size())}, values}, y = x;
    y.type = one.out;
    for (double &value : y.values)
      value = one.reference(value);
    Array before = y;
    for (double &value : before.values)
      value = 0;
    checkKernel(*code, one.name, {{x, before}, {x, y}}, 0, 1);
  }
}

} // namespace
