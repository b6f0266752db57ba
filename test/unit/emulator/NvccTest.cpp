// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX of another compiler: Kernels.cu by nvcc, where there is one, against the same in C++.
#include "emulator/Float.h"
#include "test/unit/emulator/Kernels.h"

#include <cmath>
#include <cstdlib>
#include <random>

namespace fovea::emulator::test {
namespace {

class Nvcc : public testing::Test {
protected:
  static void SetUpTestSuite() {
#ifdef FOVEA_NVCC
    std::string command =
        "'" FOVEA_NVCC
        "' -ptx -arch=sm_90 -std=c++17 -allow-unsupported-compiler -ccbin '" FOVEA_HOST_COMPILER
        "' '" FOVEA_CUDA_SOURCE "' -o '" FOVEA_CUDA_PTX "' > '" FOVEA_CUDA_PTX ".log' 2>&1";
    if (std::system(command.c_str()) == 0)
      module = Module::load(FOVEA_CUDA_PTX);
    else
      problem = "nvcc fails, see " FOVEA_CUDA_PTX ".log";
#else
    problem = "no nvcc was found";
#endif
  }
  void SetUp() override {
    if (!module)
      GTEST_SKIP() << problem;
    program = device.load(module);
  }
  template <typename T> uint64_t put(const std::vector<T> &data, const char *name) {
    uint64_t at = device.memory().allocate(data.size() * sizeof(T), name);
    device.memory().write(at, data.data(), data.size() * sizeof(T));
    return at;
  }
  template <typename T> uint64_t room(size_t count) {
    return device.memory().allocate(count * sizeof(T), "out");
  }
  template <typename T> std::vector<T> get(uint64_t at, size_t count) {
    std::vector<T> data(count);
    device.memory().read(at, data.data(), count * sizeof(T));
    return data;
  }
  void launch(const char *name, uint64_t grid, uint32_t block, const Arguments &arguments) {
    LaunchShape shape;
    shape.grid[0] = grid;
    shape.block[0] = block;
    LaunchOptions options;
    options.threads = 2;
    device.launch(*program, name, shape, arguments, options);
  }
  static std::vector<float> numbers(size_t count) {
    std::mt19937 random(2);
    std::vector<float> data(count);
    for (float &x : data)
      x = static_cast<float>(random() % 2001) / 100 - 10;
    return data;
  }

  static std::shared_ptr<const Module> module;
  static std::string problem;
  Device device;
  std::shared_ptr<Program> program;
};
std::shared_ptr<const Module> Nvcc::module;
std::string Nvcc::problem;

TEST_F(Nvcc, Matmul) {
  const int n = 48;
  std::vector<float> a = numbers(n * n), b = numbers(n * n);
  uint64_t c = room<float>(n * n);
  LaunchShape shape;
  shape.grid[0] = shape.grid[1] = n / 16;
  shape.block[0] = shape.block[1] = 16;
  LaunchResult result = device.launch(*program, "matmul", shape,
                                      Arguments().add(c).add(put(a, "a")).add(put(b, "b")).add(n));
  std::vector<float> got = get<float>(c, n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum = std::fma(a[i * n + k], b[k * n + j], sum);
      ASSERT_EQ(got[i * n + j], sum);
    }
  EXPECT_EQ(result.counters.barriers, 9u * 3 * 2);
}

TEST_F(Nvcc, Softmax) {
  const int rows = 13, width = 100;
  std::vector<float> in = numbers(rows * width);
  uint64_t out = room<float>(rows * width);
  launch("softmax", 4, 128, Arguments().add(out).add(put(in, "in")).add(rows).add(width));
  std::vector<float> got = get<float>(out, rows * width);
  for (int r = 0; r < rows; ++r) {
    double sum = 0, most = -1e30;
    for (int i = 0; i < width; ++i)
      most = std::max(most, double{in[r * width + i]});
    for (int i = 0; i < width; ++i)
      sum += std::exp(in[r * width + i] - most);
    for (int i = 0; i < width; ++i)
      ASSERT_NEAR(got[r * width + i], std::exp(in[r * width + i] - most) / sum, 1e-6);
  }
}

TEST_F(Nvcc, Histogram) {
  std::mt19937 random(4);
  std::vector<unsigned> in(1000), expected(64), zeros(64);
  for (unsigned &x : in)
    ++expected[(x = static_cast<unsigned>(random())) % 64];
  uint64_t counts = put(zeros, "counts");
  launch("histogram", 3, 96, Arguments().add(counts).add(put(in, "in")).add(1000));
  EXPECT_EQ(get<unsigned>(counts, 64), expected);
}

TEST_F(Nvcc, Integers) {
  std::mt19937 random(6);
  std::vector<int> in(200);
  for (int &x : in)
    x = static_cast<int>(random());
  uint64_t out = room<int64_t>(200);
  launch("integers", 2, 128, Arguments().add(out).add(put(in, "in")).add(200));
  std::vector<int64_t> got = get<int64_t>(out, 200);
  for (int i = 0; i < 200; ++i) {
    int x = in[static_cast<size_t>(i)];
    int64_t wide = int64_t{x} * 1000003 + i;
    uint8_t table[8];
    for (int j = 0; j < 8; ++j)
      table[j] = static_cast<uint8_t>(x >> j);
    uint64_t result = static_cast<uint64_t>(wide / 7 + wide % 13 + (x / (i + 1)) +
                                            static_cast<unsigned>(x) % 10u);
    switch (x & 7) {
    case 0:
      result += 1;
      break;
    case 1:
      result *= 3;
      break;
    case 2:
      result ^= 0x55;
      break;
    case 3:
      result -= static_cast<uint64_t>(wide);
      break;
    case 4:
      result <<= 3;
      break;
    case 5:
      result = static_cast<uint64_t>(static_cast<int64_t>(result) >> 5);
      break;
    default:
      result += table[(x >> 3) & 7];
    }
    unsigned u = static_cast<unsigned>(x), reversed = 0;
    for (int j = 0; j < 32; ++j)
      reversed |= (u >> j & 1) << (31 - j);
    uint64_t both = u | static_cast<uint64_t>(static_cast<unsigned>(i)) << 32;
    unsigned permuted = 0;
    for (int j = 0; j < 4; ++j)
      permuted |= static_cast<unsigned>(both >> (8 * (0x5140 >> (4 * j) & 7)) & 255) << (8 * j);
    // As C++ adds: int, then unsigned.
    result += static_cast<unsigned>(__builtin_popcount(u) + (u ? __builtin_clz(u) : 32) +
                                    static_cast<int16_t>(x) + static_cast<int8_t>(x)) +
              reversed % 5 + permuted;
    for (int j = 0; j < (i & 15); ++j)
      result = result * 31 + static_cast<uint64_t>(j);
    ASSERT_EQ(got[static_cast<size_t>(i)], static_cast<int64_t>(result)) << i;
  }
}

TEST_F(Nvcc, HalvesAndDoubles) {
  std::vector<float> in = numbers(100);
  uint64_t out = room<float>(400);
  launch("halves", 1, 128, Arguments().add(out).add(put(in, "in")).add(100));
  std::vector<float> got = get<float>(out, 400);
  std::vector<double> wide(in.begin(), in.end());
  uint64_t outWide = room<double>(100);
  launch("doubles", 1, 128, Arguments().add(outWide).add(put(wide, "wide")).add(100));
  std::vector<double> gotWide = get<double>(outWide, 100);
  for (size_t i = 0; i < 100; ++i) {
    float h = fromF16(toF16(in[i])), b = fromBf16(toBf16(in[i]));
    EXPECT_EQ(got[4 * i], fromF16(toF16(h * h)));
    EXPECT_EQ(got[4 * i + 1], fromF16(toF16(h + 1)) + fromF16(toF16(h + 2)));
    EXPECT_EQ(got[4 * i + 2], b);
    EXPECT_NEAR(got[4 * i + 3], b * b + b, std::fabs(b * b + b) / 256 + 1e-6);
    double x = wide[i];
    EXPECT_NEAR(gotWide[i],
                std::sqrt(x * x + 1.0) / (x + 3.0) + std::floor(x) + static_cast<int>(x), 1e-12);
  }
}

TEST_F(Nvcc, Votes) {
  std::vector<int> in(32);
  for (int i = 0; i < 32; ++i)
    in[static_cast<size_t>(i)] = i * 7 % 11 - 3;
  uint64_t out = room<unsigned>(128);
  launch("vote", 1, 32, Arguments().add(out).add(put(in, "in")));
  std::vector<unsigned> got = get<unsigned>(out, 128);
  unsigned ballot = 0, sum = 0, above = 0, three = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (in[i] > 0) {
      ballot |= 1u << i;
      sum += static_cast<unsigned>(in[i]);
    }
  for (unsigned i = 0; i < 32; ++i) {
    int x = in[i] > 0 ? in[i] + static_cast<int>(sum) : in[i];
    above += x > 5;
    three |= x == 3;
  }
  for (unsigned i = 0; i < 32; ++i) {
    unsigned same = 0;
    for (unsigned j = 0; j < 32; ++j)
      same |= ((in[i] ^ in[j]) & 1 ? 0u : 1u) << j;
    EXPECT_EQ(got[4 * i], ballot);
    EXPECT_EQ(got[4 * i + 1], in[i] > 0 ? ballot : 0);
    EXPECT_EQ(got[4 * i + 3], above | three << 16 | same % 7 << 20);
  }
}

TEST_F(Nvcc, LastBlockReduces) {
  std::vector<float> in(5000);
  double expected = 0;
  for (size_t i = 0; i < in.size(); ++i)
    expected += in[i] = static_cast<float>(i % 17);
  uint64_t total = room<float>(1), parts = room<float>(9), from = put(in, "in");
  for (int round = 0; round < 2; ++round) {
    launch("reduce", 9, 128, Arguments().add(total).add(parts).add(from).add(5000));
    EXPECT_EQ(get<float>(total, 1)[0], static_cast<float>(expected));
  }
}

} // namespace
} // namespace fovea::emulator::test
