// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of vectors as fovea-expand-math writes them, compiled for each level this machine or an
// emulator runs, against the C library in f64; and every elementwise op of the `math` dialect on
// vectors against the same op on scalars.
#include "lowering/Math/Passes.h"
#include "lowering/Pipelines.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/NativeCode.h"
#include "test/grid/RemoteProcess.h"
#include "llvm/TargetParser/Host.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Functions on two buffers.
class Code {
public:
  /// Compiles them for a processor and a level of fovea-expand-math.
  bool compile(const std::string &text, StringRef cpu, StringRef level) {
    auto context = makeContext();
    auto module = parseSourceString<ModuleOp>(text, context.get());
    PassManager passes(context.get());
    passes.addNestedPass<func::FuncOp>(createExpandMathPass({level.str()}));
    buildLLVMPipeline(passes);
    std::string error;
    if (module && succeeded(passes.run(*module)))
      code = NativeCode::make(*module, cpu, error);
    if (!code) {
      ADD_FAILURE() << cpu.str() << ": " << error;
      return false;
    }
    return true;
  }
  /// Calls a function on `count` elements.
  template <typename In, typename Out>
  void call(const std::string &name, const In *x, Out *y, int64_t count) const {
    GuardedMemory from(count * sizeof(In), code->isRemote()),
        to(count * sizeof(Out), code->isRemote());
    std::memcpy(from.data(), x, count * sizeof(In));
    auto n = static_cast<uintptr_t>(count), in = reinterpret_cast<uintptr_t>(from.data()),
         out = reinterpret_cast<uintptr_t>(to.data());
    std::string error;
    ASSERT_TRUE(code->call(name, {in, in, 0, n, 1, out, out, 0, n, 1}, Unwritten::NaN, error))
        << name << ": " << error;
    EXPECT_TRUE(from.isIntact() && to.isIntact()) << name << " wrote outside of a buffer";
    std::memcpy(y, to.data(), count * sizeof(Out));
  }

private:
  std::unique_ptr<NativeCode> code;
};

/// y[i] = body of x[i], `lanes` at once; the body reads %v and gives %r.
std::string writeLoop(const std::string &name, const std::string &body, int64_t lanes,
                      const std::string &in, const std::string &out) {
  auto vector = [&](const std::string &type) {
    return "vector<" + std::to_string(lanes) + "x" + type + ">";
  };
  std::string load = lanes ? "vector.load %x[%i] : memref<?x" + in + ">, " + vector(in)
                           : "memref.load %x[%i] : memref<?x" + in + ">";
  std::string store = lanes ? "vector.store %r, %y[%i] : memref<?x" + out + ">, " + vector(out)
                            : "memref.store %r, %y[%i] : memref<?x" + out + ">";
  return "func.func @" + name + "(%x: memref<?x" + in + ">, %y: memref<?x" + out + ">) {\n" +
         "  %c0 = arith.constant 0 : index\n  %step = arith.constant " +
         std::to_string(lanes ? lanes : 1) + " : index\n" +
         "  %n = memref.dim %x, %c0 : memref<?x" + in + ">\n" +
         "  scf.for %i = %c0 to %n step %step {\n    %v = " + load + "\n    " + body + "\n    " +
         store + "\n  }\n  return\n}\n";
}

//===-- Errors of the expansions -------------------------------------------------------------===//

constexpr double kNone = INFINITY;

/// Within [low, high] the error is at most `absolute` and `relative` times the result; at other
/// numbers `elsewhere` says what is right. The absolute bound on `sse` may be larger.
struct Bound {
  const char *op;
  double (*reference)(double);
  double low, high, absolute, relative;
  bool (*elsewhere)(double x, double y);
  double absoluteUnfused = absolute;
};

bool never(double, double) { return false; }
bool bounded(double, double y) { return std::abs(y) <= 1; }

const Bound kBounds[] = {
    {"exp", std::exp, -87, 88.722835, kNone, 2e-7,
     [](double x, double y) {
       return x > 0 ? y == INFINITY : x < -104 ? y == 0 : std::abs(y - std::exp(x)) < 6e-39;
     }},
    {"exp2", std::exp2, -126, 127.999995, kNone, 1.1e-7,
     [](double x, double y) {
       return x > 0 ? y == INFINITY : x < -150 ? y == 0 : std::abs(y - std::exp2(x)) < 6e-39;
     }},
    {"expm1", std::expm1, -INFINITY, 88.722835, kNone, 4e-7,
     [](double x, double y) { return y == INFINITY; }},
    {"log", std::log, 0, INFINITY, kNone, 2e-7, never},
    {"log1p", std::log1p, -1, INFINITY, kNone, 4e-7, never},
    {"tanh", std::tanh, -INFINITY, INFINITY, 3e-7, 1e-6, never, 4e-7},
    {"erf", std::erf, -INFINITY, INFINITY, 2e-7, 4e-7, never, 2.5e-7},
    {"sin", std::sin, -1e6, 1e6, 2e-7, kNone, bounded},
    {"cos", std::cos, -1e6, 1e6, 2e-7, kNone, bounded},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0, INFINITY, kNone, 1.2e-7, never},
};

/// Numbers of every size and sign, all special ones, and a dense row where functions are not flat.
std::vector<float> makeArguments() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 2039) {
    uint32_t word = bits;
    x.emplace_back();
    std::memcpy(&x.back(), &word, 4);
  }
  for (int i = -1000000; i <= 1000000; ++i) {
    x.push_back(i * 1.3e-4f);
    x.push_back(i * 5e-6f);
  }
  for (int i = -100000; i <= 100000; ++i)
    x.push_back(i * float(M_PI_2)); // next to the zeros of sine and cosine
  uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x800000,
                        0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                        0x7f800001, 0x7fc00001, 0xffffffff, 0x7fffffff, 0x3f800000, 0xbf800000};
  for (uint32_t word : special) {
    x.emplace_back();
    std::memcpy(&x.back(), &word, 4);
  }
  for (float at : {-150.f, -127.f, -126.5f, -126.f, 127.f, 128.f, 129.f, -104.f, -87.33655f, 88.f,
                   88.72283f, 88.72284f, 9.02f, -9.02f, 3.92f, 0.70710678f, 1e6f, -1e6f})
    for (float value : {at, std::nextafter(at, -INFINITY), std::nextafter(at, INFINITY)})
      x.push_back(value);
  x.resize((x.size() + 95) / 96 * 96, 0.5f); // whole vectors of each length
  return x;
}

void check(const Bound &bound, const Code &code, const std::string &name, bool fused,
           const std::vector<float> &x, const std::vector<double> &expected) {
  std::vector<float> y(x.size());
  code.call(name, x.data(), y.data(), x.size());
  double worst = 0, worstRelative = 0;
  float at = 0;
  int wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double want = expected[i], got = y[i];
    bool right;
    if (std::isnan(want)) {
      right = std::isnan(got);
    } else if (x[i] < bound.low || x[i] > bound.high) {
      right = bound.elsewhere(x[i], got);
    } else if (std::isinf(want)) {
      right = got == want;
    } else {
      double error = std::abs(got - want), slack = 3e-45; // two of the least numbers
      double absolute = fused ? bound.absolute : bound.absoluteUnfused;
      right = error <= absolute + slack &&
              (std::isinf(bound.relative) || error <= bound.relative * std::abs(want) + slack);
      if (error > worst) {
        worst = error;
        if (std::isfinite(bound.absolute))
          at = x[i];
      }
      if (std::abs(want) > 1.2e-38 && error / std::abs(want) > worstRelative) {
        worstRelative = error / std::abs(want);
        if (!std::isfinite(bound.absolute))
          at = x[i];
      }
    }
    if (!right && ++wrong <= 3)
      ADD_FAILURE() << name << " of " << std::hexfloat << x[i] << std::defaultfloat << " (" << x[i]
                    << ") is " << got << ", expected " << want;
  }
  EXPECT_EQ(wrong, 0);
  printf("%-12s error %.2e, relative %.2e, at %g\n", name.c_str(), worst, worstRelative, at);
}

struct Level {
  const char *name, *cpu;
  std::vector<const char *> features;
  bool fused = true, isEmulated = false;

  bool runs(const llvm::StringMap<bool> &host) const {
    if (isEmulated)
      return RemoteProcess::get() != nullptr;
    return llvm::all_of(features, [&](const char *name) { return host.lookup(name); });
  }
};

TEST(MathTest, ExpansionsStayWithinTheirBounds) {
  const Level levels[] = {{"sse", "x86-64", {}, /*fused=*/false},
                          {"avx2", "x86-64-v3", {"avx2", "fma"}},
                          {"avx512", "x86-64-v4", {"avx512f", "avx512dq", "avx512vl", "avx512bw"}},
                          {"aarch64", "aarch64", {}, /*fused=*/true, /*isEmulated=*/true}};
  const int64_t lengths[] = {16, 12, 8, 4, 32};
  std::vector<float> x = makeArguments();
  std::vector<std::vector<double>> expected;
  for (const Bound &bound : kBounds) {
    expected.emplace_back();
    for (float value : x)
      expected.back().push_back(bound.reference(value));
  }
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const Level &level : levels) {
    if (!level.runs(features)) {
      printf("this machine cannot run %s\n", level.name);
      continue;
    }
    std::string text;
    for (const Bound &bound : kBounds)
      for (int64_t lanes : lengths)
        text += writeLoop(std::string(bound.op) + "_" + std::to_string(lanes),
                          std::string("%r = math.") + bound.op + " %v : vector<" +
                              std::to_string(lanes) + "xf32>",
                          lanes, "f32", "f32");
    Code code;
    ASSERT_TRUE(code.compile(text, level.cpu, level.name));
    printf("%s\n", level.name);
    std::vector<float> few(x.end() - 960, x.end()); // all the special ones
    for (const auto &[index, bound] : llvm::enumerate(kBounds)) {
      check(bound, code, std::string(bound.op) + "_16", level.fused, x, expected[index]);
      // Other lengths do the same arithmetic in other registers.
      std::vector<float> y(few.size()), z(few.size());
      code.call(std::string(bound.op) + "_16", few.data(), y.data(), few.size());
      for (int64_t lanes : {12, 8, 4, 32}) {
        std::string name = std::string(bound.op) + "_" + std::to_string(lanes);
        code.call(name, few.data(), z.data(), few.size());
        for (size_t i = 0; i < few.size(); ++i)
          if (!(std::isnan(y[i]) && std::isnan(z[i])) && few[i] > -87)
            EXPECT_LE(std::abs(y[i] == z[i] ? 0 : double(y[i]) - z[i]), 3e-7 * std::abs(y[i]))
                << level.name << " " << name << " of " << few[i];
      }
    }
  }
}

//===-- All elementwise ops ------------------------------------------------------------------===//

/// Text of an op on %v, which holds a vector or a scalar of `type`.
struct AnyOp {
  const char *name, *arguments, *in, *out;
};

const AnyOp kAll[] = {
    {"absf", "%v", "f32", "f32"},      {"acosh", "%v", "f32", "f32"},
    {"asin", "%v", "f32", "f32"},      {"asinh", "%v", "f32", "f32"},
    {"atan", "%v", "f32", "f32"},      {"atanh", "%v", "f32", "f32"},
    {"cbrt", "%v", "f32", "f32"},      {"ceil", "%v", "f32", "f32"},
    {"cos", "%v", "f32", "f32"},       {"acos", "%v", "f32", "f32"},
    {"cosh", "%v", "f32", "f32"},      {"sin", "%v", "f32", "f32"},
    {"sinh", "%v", "f32", "f32"},      {"erf", "%v", "f32", "f32"},
    {"erfc", "%v", "f32", "f32"},      {"exp", "%v", "f32", "f32"},
    {"exp2", "%v", "f32", "f32"},      {"expm1", "%v", "f32", "f32"},
    {"floor", "%v", "f32", "f32"},     {"log", "%v", "f32", "f32"},
    {"log10", "%v", "f32", "f32"},     {"log1p", "%v", "f32", "f32"},
    {"log2", "%v", "f32", "f32"},      {"rsqrt", "%v", "f32", "f32"},
    {"sqrt", "%v", "f32", "f32"},      {"tan", "%v", "f32", "f32"},
    {"tanh", "%v", "f32", "f32"},      {"roundeven", "%v", "f32", "f32"},
    {"round", "%v", "f32", "f32"},     {"trunc", "%v", "f32", "f32"},
    {"atan2", "%v, %v", "f32", "f32"}, {"copysign", "%v, %v", "f32", "f32"},
    {"powf", "%v, %v", "f32", "f32"},  {"fma", "%v, %v, %v", "f32", "f32"},
    {"isfinite", "%v", "f32", "i1"},   {"isinf", "%v", "f32", "i1"},
    {"isnan", "%v", "f32", "i1"},      {"isnormal", "%v", "f32", "i1"},
    {"absi", "%v", "i32", "i32"},      {"ctlz", "%v", "i32", "i32"},
    {"cttz", "%v", "i32", "i32"},      {"ctpop", "%v", "i32", "i32"},
    {"ipowi", "%v, %v", "i32", "i32"},
};

std::string writeAny(const AnyOp &op, const std::string &in, int64_t lanes, const char *suffix) {
  auto shaped = [&](const std::string &type) {
    return lanes ? "vector<" + std::to_string(lanes) + "x" + type + ">" : type;
  };
  bool truth = op.out == std::string("i1");
  std::string body = std::string(truth ? "%t" : "%r") + " = math." + op.name + " " + op.arguments +
                     " : " + shaped(in);
  if (truth)
    body += "\n    %r = arith.extui %t : " + shaped("i1") + " to " + shaped("i32");
  return writeLoop(std::string(op.name) + suffix, body, lanes, in, truth ? "i32" : in);
}

/// The results of both forms in f64 or integers.
template <typename In, typename Out>
void compareForms(const Code &code, const std::string &name, const std::vector<In> &x) {
  std::vector<Out> vector(x.size()), scalar(x.size());
  code.call(name + "_vector", x.data(), vector.data(), x.size());
  code.call(name + "_scalar", x.data(), scalar.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double got = vector[i], want = scalar[i];
    if (std::isnan(want))
      EXPECT_TRUE(std::isnan(got)) << name << " of " << x[i];
    else
      EXPECT_LE(got == want ? 0 : std::abs(got - want), 1e-6 * std::abs(want))
          << name << " of " << x[i];
  }
}

TEST(MathTest, VectorsOfEveryOpCompile) {
  std::string text;
  for (const AnyOp &op : kAll) {
    text += writeAny(op, op.in, 16, "_vector") + writeAny(op, op.in, 0, "_scalar");
    if (op.in == std::string("f32") && op.out == op.in) {
      text += writeAny(op, "f64", 8, "_f64_vector") + writeAny(op, "f64", 0, "_f64_scalar");
      text += writeAny(op, "f32", 3, "_odd_vector") + writeAny(op, "f32", 0, "_odd_scalar");
    }
  }
  struct Form {
    const char *name, *body;
  };
  for (Form form : {Form{"clampf", "%r = math.clampf %v to [%w, %v] : T"},
                    Form{"sincos", "%s, %c = math.sincos %v : T\n    %r = arith.divf %s, %c : T"},
                    Form{"fpowi", "%r = math.fpowi %v, %k : T, K"}})
    for (bool vector : {true, false}) {
      std::string shape = vector ? "vector<16xf32>" : "f32",
                  ints = vector ? "vector<16xi32>" : "i32";
      std::string body = "%w = arith.addf %v, %v : T\n    %k = arith.fptosi %w : T to K\n    ";
      for (char c : std::string(form.body))
        body += c;
      for (size_t at; (at = body.find(" T")) != std::string::npos;)
        body.replace(at + 1, 1, shape);
      for (size_t at; (at = body.find(" K")) != std::string::npos;)
        body.replace(at + 1, 1, ints);
      text += writeLoop(std::string(form.name) + (vector ? "_vector" : "_scalar"), body,
                        vector ? 16 : 0, "f32", "f32");
    }
  Code code;
  ASSERT_TRUE(code.compile(text, "host", ""));
  std::vector<float> x;
  std::vector<double> wide;
  std::vector<int32_t> whole;
  for (int i = 0; i < 48; ++i) {
    x.push_back((i - 20) * 0.083f);
    wide.push_back((i - 20) * 0.083);
    whole.push_back(i - 20);
  }
  for (const AnyOp &op : kAll) {
    if (op.in == std::string("i32")) {
      compareForms<int32_t, int32_t>(code, op.name, whole);
    } else if (op.out == std::string("i1")) {
      std::vector<float> special = x;
      special[0] = INFINITY, special[1] = -INFINITY, special[2] = NAN, special[3] = 1e-40f;
      compareForms<float, int32_t>(code, op.name, special);
    } else {
      compareForms<float, float>(code, op.name, x);
      compareForms<float, float>(code, std::string(op.name) + "_odd", x);
      compareForms<double, double>(code, std::string(op.name) + "_f64", wide);
    }
  }
  for (const char *name : {"clampf", "sincos", "fpowi"})
    compareForms<float, float>(code, name, x);
}

} // namespace
