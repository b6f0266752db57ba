// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two fused attentions that MLIR's NVPTX back end emitted (test/emulator/*.ptx): one by mma.sync
// and cp.async, causal, 64 wide; one by wgmma and TMA with a producer warp, 128 wide. Both must
// agree with a reference in f64, early and late, and bugs planted in their text must be found.
#include "test/unit/emulator/Attention.h"
#include "emulator/TensorMap.h"
#include "test/unit/emulator/Kernels.h"

#include <fstream>

namespace fovea::emulator::test {
namespace {

std::string readFile(const std::string &name) {
  std::ifstream in(std::string(FOVEA_PTX_DIR) + "/" + name);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Result {
  std::vector<uint16_t> out;
  Counters counters;
  double seconds = 0;
};

Result run(const Attention &a, const Problem &p, const std::string &ptx,
           LaunchOptions options = {}) {
  Device device;
  auto program = device.load(Module::parse(ptx, a.file));
  uint64_t bytes = p.q.size() * 2, at[4];
  const char *names[] = {"q", "k", "v", "o"};
  for (int i = 0; i < 4; ++i)
    at[i] = device.memory().allocate(bytes, names[i]);
  device.memory().write(at[0], p.q.data(), bytes);
  device.memory().write(at[1], p.k.data(), bytes);
  device.memory().write(at[2], p.v.data(), bytes);
  Arguments arguments;
  LaunchShape shape;
  shape.grid[1] = a.heads;
  if (a.hopper) {
    for (int i = 0; i < 3; ++i) {
      TensorMap map;
      map.rank = 2;
      map.address = at[i];
      map.sizes[0] = a.width;
      map.sizes[1] = a.heads * a.rows;
      map.strides[0] = a.width * 2;
      map.box[0] = 64;
      map.box[1] = i == 0 ? 64 : 128;
      map.swizzle = TensorMap::Swizzle::B128;
      auto encoded = map.encode();
      uint64_t place = device.memory().allocate(128, "map");
      device.memory().write(place, encoded.data(), 128);
      arguments.add(place);
    }
    arguments.add(at[3]);
    shape.grid[0] = a.rows / 128;
    shape.block[0] = 384;
    shape.dynamicShared = 32768 * 5;
  } else {
    for (uint64_t address : at)
      arguments.add(address);
    shape.grid[0] = a.rows / 64;
    shape.block[0] = 128;
  }
  options.maxInstructions = 4000000;
  LaunchResult launched = device.launch(*program, "attention", shape, arguments, options);
  Result result;
  result.counters = launched.counters;
  result.seconds = launched.seconds;
  result.out.resize(p.q.size());
  device.memory().read(at[3], result.out.data(), bytes);
  return result;
}

double errorOf(const Attention &a, const Problem &p, const Result &r) {
  return errorOf(a, p, r.out);
}

LaunchOptions late() {
  LaunchOptions options;
  options.schedule = LaunchOptions::Schedule::Late;
  return options;
}

void agrees(const Attention &a, double bound) {
  Problem p = problemOf(a);
  std::string ptx = readFile(a.file);
  Result first = run(a, p, ptx), second = run(a, p, ptx, late());
  EXPECT_LE(errorOf(a, p, first), bound);
  EXPECT_EQ(first.out, second.out);
  LaunchOptions two;
  two.threads = 2;
  EXPECT_EQ(first.out, run(a, p, ptx, two).out);
}

TEST(Attention, MmaBf16AgreesWithReference) { agrees(mmaBf16, 2e-2); }
TEST(Attention, MmaF16AgreesWithReference) { agrees(mmaF16, 2e-3); }
TEST(Attention, WgmmaBf16AgreesWithReference) { agrees(wgmmaBf16, 8e-3); }

TEST(Attention, CountersTellWhatWasDone) {
  Problem p = problemOf(wgmmaBf16);
  Counters c = run(wgmmaBf16, p, readFile(wgmmaBf16.file)).counters;
  // Six blocks: both products over all keys, 2 flop a multiply-add.
  EXPECT_EQ(c.tensorOperations, 2ull * 2 * 2 * 384 * 384 * 128);
  // Each block loads its queries once and all keys and values.
  EXPECT_EQ(c.tmaLoadBytes, 6ull * (128 * 128 + 2 * 384 * 128) * 2);
  EXPECT_EQ(c.globalStoreBytes, 2ull * 384 * 128 * 2);
  EXPECT_EQ(c.bankConflicts(), 0u);
  Problem q = problemOf(mmaBf16);
  Counters m = run(mmaBf16, q, readFile(mmaBf16.file)).counters;
  EXPECT_GT(m.cpAsyncBytes, 0u);
  EXPECT_EQ(m.bankConflicts(), 0u);
  EXPECT_NE(m.json().find("\"cp_async_bytes\""), std::string::npos);
}

// --- planted bugs
std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines(1);
  for (char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

/// How a run of changed text ends: "" if nobody can tell it from the right one.
std::string verdict(const Attention &a, const Problem &p, const std::string &ptx, double bound) {
  try {
    Result early = run(a, p, ptx), later = run(a, p, ptx, late());
    if (!(errorOf(a, p, early) <= bound))
      return "wrong early";
    if (!(errorOf(a, p, later) <= bound))
      return "wrong late";
    return early.out == later.out ? "" : "early and late differ";
  } catch (const Error &error) {
    return error.what();
  }
}

struct Plant {
  const char *find, *replace; ///< in a line
};

/// Applies each plant to each line it fits, one at a time; all must be found but `harmless`.
void plant(Attention a, const std::vector<Plant> &plants, double bound,
           const std::vector<size_t> &harmless) {
  a.heads = 1;
  Problem p = problemOf(a);
  const std::vector<std::string> lines = linesOf(readFile(a.file));
  ASSERT_EQ(verdict(a, p, readFile(a.file), bound), "");
  unsigned found = 0, all = 0;
  for (const Plant &each : plants)
    for (size_t i = 0; i < lines.size(); ++i) {
      size_t at = lines[i].find(each.find);
      if (at == std::string::npos || lines[i].find("//") < at)
        continue;
      std::string text;
      for (size_t j = 0; j < lines.size(); ++j) {
        std::string line = lines[j];
        if (j == i)
          line.replace(at, std::strlen(each.find), each.replace);
        text += line + "\n";
      }
      ++all;
      std::string how = verdict(a, p, text, bound);
      bool expected = std::find(harmless.begin(), harmless.end(), i + 1) == harmless.end();
      if (!how.empty())
        ++found;
      EXPECT_EQ(!how.empty(), expected)
          << "line " << i + 1 << ": " << lines[i] << " -> " << each.replace << "\n"
          << how;
    }
  testing::Test::RecordProperty("planted", static_cast<int>(all));
  testing::Test::RecordProperty("found", static_cast<int>(found));
  EXPECT_GT(all, 20u);
}

TEST(Attention, BugsPlantedInMmaAreFound) {
  plant(mmaBf16,
        {{"bar.sync \t0;", ""},
         {"cp.async.commit_group;", ""},
         {"cp.async.wait_group \t0;", "cp.async.wait_group \t1;"},
         {"cp.async.wait_group \t0;", ""},
         {"], 16;", "+16], 16;"},
         {"x4.trans", "x4"},
         {"cp.async.cg.shared.global", "//"}},
        2e-2, {});
}

TEST(Attention, BugsPlantedInWgmmaAreFound) {
  plant(wgmmaBf16,
        {{"bar.sync \t0;", ""},
         {"fence.mbarrier_init.release.cluster;", ""},
         {"wgmma.fence.sync.aligned;", ""},
         {"wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"},
         {"wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"},
         {"wgmma.commit_group.sync.aligned;", ""},
         {"mbarrier.try_wait.parity.shared.b64 P1", "setp.eq.u32 P1, 0, 0; //"},
         {"mbarrier.arrive.shared.b64", "//"},
         {"cp.async.bulk.tensor.2d", "//"},
         {"mbarrier.init.shared.b64", "//"},
         {"32768;", "32752;"},
         {", 1, 1, 0, 0;", ", 1, 1, 0, 1;"},
         {"setmaxnreg.dec.sync.aligned.u32", "//"}},
        8e-3,
        // Harmless: the producer's first waits find all places of its ring empty, and with three
        // blocks of keys nobody waits for the second release of the first place; the fence before
        // the first chain of products covers the second's registers too.
        {731, 773, 1370, 1390, 1411, 1431});
}

} // namespace
} // namespace fovea::emulator::test
