// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers, bulk and tensor copies, proxy fences, wgmma with its layouts, setmaxnreg: each form,
// and each check with a planted bug. Kernels run early and late.
#include "emulator/Float.h"
#include "emulator/TensorMap.h"
#include "test/unit/emulator/Kernels.h"

#include <random>

namespace fovea::emulator::test {
namespace {

const std::string shared =
    ".extern .shared .align 1024 .b8 tile[];\n.shared .align 8 .b8 bars[64];\n";

LaunchOptions late() {
  LaunchOptions options;
  options.schedule = LaunchOptions::Schedule::Late;
  return options;
}
/// The fault of a kernel with 64 KiB of dynamic shared memory, of both schedules.
std::string both(const std::string &body, uint32_t threads = 32) {
  std::string early = faultOf(wrap(body, shared), threads, {}, 65536);
  std::string later = faultOf(wrap(body, shared), threads, late(), 65536);
  return early.empty() ? later : early;
}
std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// --- mbarrier
/// Warp 0 writes, warp 1 reads and hands back, three times.
const std::string handshake = R"(
  mov.u32 %r20, bars; add.u32 %r21, %r20, 8; shl.b32 %r2, %r0, 2; and.b32 %r2, %r2, 127; mov.u32 %r1, tile; add.u32 %r1, %r1, %r2;
  setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;
  mbarrier.init.shared.b64 [%r20], 32;
  mbarrier.init.shared::cta.b64 [%r21], 32;
READY:
  bar.sync 0;
  mov.u32 %r3, 0; mov.u32 %r10, 0;
  setp.ge.u32 %p2, %r0, 32; @%p2 bra CONSUME;
PRODUCE:
  and.b32 %r4, %r3, 1; xor.b32 %r5, %r4, 1;
W1: mbarrier.try_wait.parity.shared.b64 %p3, [%r21], %r5, 1000; @!%p3 bra W1;
  add.u32 %r6, %r0, %r3; st.shared.u32 [%r1], %r6;
  mbarrier.arrive.shared.b64 _, [%r20];
  add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 3; @%p4 bra PRODUCE;
  bra END;
CONSUME:
  and.b32 %r4, %r3, 1;
W2: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r20], %r4; @!%p3 bra W2;
  xor.b32 %r7, %r1, 4; ld.shared.u32 %r8, [%r7]; add.u32 %r10, %r10, %r8;
  mbarrier.arrive.release.cta.shared::cta.b64 %d9, [%r21], 1;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 3; @%p4 bra CONSUME;
END:
  st.global.u32 [%o], %r10;)";

TEST(Mbarrier, HandsOverBothWays) {
  for (auto options : {LaunchOptions(), late()}) {
    Outcome run = launch(wrap(handshake, shared), std::vector<Words>(64), 64, options, 1, 65536);
    for (uint32_t i = 32; i < 64; ++i)
      EXPECT_EQ(run.out[i][0], 3 * ((i - 32) ^ 1) + 3);
  }
}

TEST(Mbarrier, MisuseIsFound) {
  EXPECT_EQ(both(handshake, 64), "");
  // A wait dropped, on either side: a race. The first is only needed from the second round on.
  EXPECT_FAULT(both(replaced(handshake, "@!%p3 bra W2;", "")
                        .replace(handshake.find("mbarrier.try_wait.parity.acquire"), 0, "//"),
                    64),
               "reads");
  EXPECT_FAULT(
      both(replaced(handshake,
                    "W1: mbarrier.try_wait.parity.shared.b64 %p3, [%r21], %r5, 1000; @!%p3 bra W1;",
                    ""),
           64),
      "deadlock");
  EXPECT_FAULT(both(replaced(handshake, ".acquire.cta.shared::cta.b64 %p3",
                             ".relaxed.cta.shared::cta.b64 %p3"),
                    64),
               "race on shared address");
  // Too many arrivals, too few, the wrong parity.
  EXPECT_FAULT(both(replaced(handshake, "[%r20], 32", "[%r20], 16"), 64),
               "lacks 16 of 16 arrivals");
  std::string stuck = both(replaced(handshake, "[%r20], 32", "[%r20], 33"), 64);
  EXPECT_FAULT(stuck, "deadlock");
  EXPECT_FAULT(stuck, "lacks 1 of 33 arrivals and 0 bytes");
  EXPECT_FAULT(both(replaced(handshake, "[%r20], %r4;", "[%r20], %r5;"), 64), "");
  // No barrier between init and use; init twice; use as plain memory; none there.
  EXPECT_FAULT(both(replaced(handshake, "bar.sync 0;", ""), 64), "mbarrier");
  EXPECT_FAULT(both("mbarrier.init.shared.b64 [bars], 1;", 64),
               "where one is; expects mbarrier.inval before");
  std::string one =
      "setp.ne.u32 %p1, %r0, 0; @%p1 bra L; mbarrier.init.shared.b64 [bars], 1; L: bar.sync 0;\n";
  EXPECT_FAULT(both(one + "ld.shared.u32 %r1, [bars];"), "which holds an mbarrier");
  EXPECT_FAULT(both(one + "st.shared.u32 [bars+4], 0;"), "which holds an mbarrier");
  EXPECT_FAULT(both(one + "mbarrier.arrive.shared.b64 %d1, [bars+8];"), "got none");
  EXPECT_FAULT(both(one + "mbarrier.arrive.shared.b64 %d1, [bars+4];"), "expects a multiple of 8");
  EXPECT_FAULT(both(one + "mbarrier.arrive.shared.b64 %d1, [bars], 2;"),
               "which expects 1 of its 1 arrivals");
  EXPECT_FAULT(both("mbarrier.init.shared.b64 [bars], 0;"),
               "expects a number of arrivals from 1 to");
  EXPECT_EQ(both("setp.ne.u32 %p1, %r0, 0; @%p1 bra L; mbarrier.init.shared.b64 [bars], 1; "
                 "mbarrier.inval.shared.b64 [bars]; st.shared.u64 [bars], 5; L:"),
            "");
}

TEST(Mbarrier, StatesCountsAndDrops) {
  // By state, not parity; test_wait; arrive_drop lowers what later phases expect.
  Outcome run = launch(wrap(R"(
    setp.ne.u32 %p1, %r0, 0; @%p1 bra L; mbarrier.init.shared.b64 [bars], 3;
    mbarrier.arrive.shared.b64 %d1, [bars], 2;
    mbarrier.test_wait.shared.b64 %p2, [bars], %d1; selp.u32 %r1, 1, 0, %p2;
    mbarrier.arrive_drop.shared.b64 %d2, [bars];
    mbarrier.test_wait.shared.b64 %p2, [bars], %d1; selp.u32 %r2, 1, 0, %p2;
    mbarrier.arrive.shared.b64 %d3, [bars], 2;
    mbarrier.try_wait.shared.b64 %p2, [bars], %d3; selp.u32 %r3, 1, 0, %p2;
    mbarrier.arrive.expect_tx.shared.b64 %d4, [bars], 64; mbarrier.arrive.shared.b64 _, [bars];
    mbarrier.test_wait.shared.b64 %p2, [bars], %d4; selp.u32 %r4, 1, 0, %p2;
    mbarrier.complete_tx.relaxed.cta.shared.b64 [bars], 64;
    mbarrier.test_wait.shared.b64 %p2, [bars], %d4; @!%p2 trap;
    st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};
    L:)",
                            shared),
                       {Words{}}, 1, {}, 1, 1024);
  EXPECT_EQ(run.out[0], (Words{0, 1, 1, 0}));
}

TEST(Mbarrier, FollowsCpAsync) {
  std::string body = R"(
    setp.ne.u32 %p1, %r0, 0; @%p1 bra L; mbarrier.init.shared.b64 [bars], 32; L: bar.sync 0;
    mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; xor.b32 %r3, %r1, 16;
    cp.async.cg.shared.global [%r1], [%i], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bars];
    W: mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0; @!%p2 bra W;
    ld.shared.u32 %r4, [%r3]; st.global.u32 [%o], %r4;)";
  EXPECT_EQ(both(body), "");
  EXPECT_FAULT(
      both(replaced(body, "W: mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0; @!%p2 bra W;",
                    "")),
      "race on shared address");
}

// --- bulk copies
/// Thread 0 loads 256 bytes of the input, all read it, change it, and thread 0 stores it.
const std::string roundTrip = R"(
  mov.u32 %r1, tile; mov.u32 %r20, bars;
  setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;
  mbarrier.init.shared.b64 [%r20], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], 256, [%r20];
READY:
  bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0; @!%p2 bra WAIT;
  shl.b32 %r2, %r0, 3; add.u32 %r3, %r1, %r2;
  ld.shared.v2.u32 {%r4, %r5}, [%r3]; add.u32 %r4, %r4, 100; st.shared.v2.u32 [%r3], {%r4, %r5};
  fence.proxy.async.shared::cta;
  bar.sync 1, 32;
  @%p1 bra END;
  cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
END:)";

TEST(Bulk, LoadsAndStores) {
  std::vector<Words> in(32);
  for (uint32_t i = 0; i < 32; ++i)
    in[i] = {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3};
  for (auto options : {LaunchOptions(), late()}) {
    Outcome run = launch(wrap(roundTrip, shared), in, 32, options, 1, 1024);
    for (uint32_t i = 0; i < 16; ++i)
      EXPECT_EQ(run.out[i], (Words{4 * i + 100, 4 * i + 1, 4 * i + 102, 4 * i + 3}));
    EXPECT_EQ(run.counters.tmaLoadBytes, 256u);
    EXPECT_EQ(run.counters.tmaStoreBytes, 256u);
  }
}

TEST(Bulk, MisuseIsFound) {
  EXPECT_EQ(both(roundTrip), "");
  EXPECT_FAULT(
      both(replaced(roundTrip,
                    "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0; @!%p2 bra WAIT;",
                    "")),
      "by a bulk copy at line");
  EXPECT_FAULT(both(replaced(roundTrip, "fence.proxy.async.shared::cta;", "")),
               "through the asynchronous proxy after the write by thread");
  EXPECT_FAULT(both(replaced(roundTrip, "fence.proxy.async.shared::cta;", "")),
               "expects fence.proxy.async between them");
  EXPECT_FAULT(both(replaced(roundTrip, "bar.sync 1, 32;", "")), "race on shared address");
  EXPECT_FAULT(both(replaced(roundTrip, "fence.mbarrier_init.release.cluster;", "")),
               "expects fence.mbarrier_init or fence.proxy.async after it");
  EXPECT_FAULT(both(replaced(roundTrip, "cp.async.bulk.wait_group.read 0;", "")),
               "ends while a bulk copy out of shared memory is in flight");
  EXPECT_FAULT(both(replaced(roundTrip, "cp.async.bulk.wait_group.read 0;",
                             "st.shared.u32 [%r1], 1; cp.async.bulk.wait_group 0;")),
               "by a bulk copy of thread (0,0,0) at line");
  EXPECT_FAULT(both(replaced(roundTrip, "[%r20], 256;\n  cp", "[%r20], 272;\n  cp")),
               "lacks 0 of 1 arrivals and 16 bytes");
  EXPECT_FAULT(both(replaced(roundTrip, "[%in], 256, [%r20]", "[%in], 520, [%r20]")),
               "expects a size that is a multiple of 16, got 520");
  EXPECT_FAULT(both(replaced(roundTrip, "[%in], 256, [%r20]", "[%in+384], 256, [%r20]")),
               "past its end");
  EXPECT_FAULT(both(replaced(roundTrip, "[%r1], [%in], 256", "[%r1+8], [%in], 256")),
               "expects a multiple of 16");
}

/// Loads one box of a tensor of 16-bit numbers into shared memory and gives the bytes there.
std::vector<uint16_t> box(const TensorMap &wanted, const std::vector<uint16_t> &tensor,
                          std::vector<int> start, bool store, std::string *fault = nullptr) {
  TensorMap map = wanted;
  std::string rank = std::to_string(map.rank) + "d", coordinates;
  for (int x : start)
    coordinates += (coordinates.empty() ? "" : ", ") + std::to_string(x);
  uint64_t bytes = map.boxBytes();
  std::string body =
      R"(
    setp.ne.u32 %p1, %r0, 0; @%p1 bra END;
    mov.u32 %r1, tile; mov.u64 %d5, k_map; cvta.param.u64 %d6, %d5;
    mbarrier.init.shared.b64 [bars], 1; fence.proxy.async;
    mbarrier.arrive.expect_tx.shared.b64 _, [bars], )" +
      std::to_string(bytes) + R"(;
    cp.async.bulk.tensor.)" +
      rank + R"(.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%d6, {)" +
      coordinates + R"(}], [bars];
    W: mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0; @!%p2 bra W;
    )" +
      (store ? "ld.param.u64 %d7, [k_in]; cp.async.bulk.tensor." + rank +
                   ".global.shared::cta.tile.bulk_group [%d7, {" + coordinates +
                   "}], [%r1]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
             : std::string("mov.u32 %r2, 0; C: add.u32 %r3, %r1, %r2; ld.shared.u32 %r4, [%r3]; "
                           "cvt.u64.u32 %d8, %r2; add.s64 %d9, %out, %d8; st.global.u32 [%d9], "
                           "%r4; add.u32 %r2, %r2, 4; setp.lt.u32 %p3, %r2, ") +
                   std::to_string(bytes) + "; @%p3 bra C;") +
      "\nEND:";
  std::string ptx = replaced(wrap(body, shared), ".param .u64 k_in)",
                             ".param .u64 k_in, .param .align 64 .b8 k_map[128])");
  Device device;
  auto program = device.load(Module::parse(ptx, "box.ptx"));
  map.address = device.memory().allocate(tensor.size() * 2, "tensor");
  device.memory().write(map.address, tensor.data(), tensor.size() * 2);
  uint64_t outBytes = store ? tensor.size() * 2 : bytes,
           out = device.memory().allocate(outBytes, "out"),
           second = device.memory().allocate(128, "map");
  std::vector<uint8_t> zeros(outBytes);
  device.memory().write(out, zeros.data(), outBytes);
  TensorMap target = map;
  target.address = out;
  auto encoded = map.encode(), encodedOut = target.encode();
  device.memory().write(second, encodedOut.data(), 128);
  LaunchShape shape;
  shape.block[0] = 32;
  shape.dynamicShared = 65536;
  std::vector<uint16_t> result(outBytes / 2);
  try {
    for (auto options : {LaunchOptions(), late()})
      device.launch(*program, "k", shape,
                    Arguments().add(out).add(store ? second : map.address).add(encoded), options);
    device.memory().read(out, result.data(), outBytes);
  } catch (const Error &error) {
    if (!fault)
      throw;
    *fault = error.what();
  }
  return result;
}

TEST(Tensor, BoxesOfAllRanksAreFilledOutside) {
  const uint64_t sizes[5] = {24, 5, 4, 3, 2};
  for (uint32_t rank = 1; rank <= 5; ++rank) {
    TensorMap map;
    map.rank = rank;
    uint64_t count = 1;
    for (uint32_t axis = 0; axis < rank; ++axis) {
      map.sizes[axis] = sizes[axis];
      map.box[axis] = axis == 0 ? 16 : 2;
      count *= sizes[axis];
      if (axis + 1 < rank)
        map.strides[axis] = count * 2;
    }
    std::vector<uint16_t> tensor(count);
    for (uint64_t i = 0; i < count; ++i)
      tensor[i] = static_cast<uint16_t>(i + 1);
    std::vector<int> start = {16, -1, 3, 1, 1};
    start.resize(rank);
    std::vector<uint16_t> got = box(map, tensor, start, false),
                          stored = box(map, tensor, start, true);
    std::vector<uint16_t> back(count, 0);
    for (uint64_t i = 0; i < got.size(); ++i) {
      uint64_t rest = i, at = 0, stride = 1;
      bool inside = true;
      for (uint32_t axis = 0; axis < rank; ++axis) {
        int64_t x = start[axis] + static_cast<int64_t>(rest % map.box[axis]);
        rest /= map.box[axis];
        inside &= x >= 0 && x < static_cast<int64_t>(sizes[axis]);
        at += static_cast<uint64_t>(x) * stride;
        stride *= sizes[axis];
      }
      EXPECT_EQ(got[i], inside ? tensor[at] : 0) << rank << " " << i;
      if (inside)
        back[at] = tensor[at];
    }
    EXPECT_EQ(stored, back) << rank;
  }
}

TEST(Tensor, SwizzlesMoveChunksOfSixteenBytes) {
  for (auto [swizzle, span] : {std::pair{TensorMap::Swizzle::B32, 32u},
                               {TensorMap::Swizzle::B64, 64u},
                               {TensorMap::Swizzle::B128, 128u}}) {
    TensorMap map;
    map.rank = 2;
    map.sizes[0] = map.box[0] = span / 2;
    map.sizes[1] = map.box[1] = 32;
    map.strides[0] = span;
    map.swizzle = swizzle;
    std::vector<uint16_t> tensor(span / 2 * 32);
    for (size_t i = 0; i < tensor.size(); ++i)
      tensor[i] = static_cast<uint16_t>(i);
    std::vector<uint16_t> got = box(map, tensor, {0, 0}, false);
    // The manual's picture: chunk c of line l (128 bytes) goes to c xor (l mod 8, 4 or 2), as far
    // as the span reaches.
    for (uint32_t i = 0; i < tensor.size(); ++i) {
      uint32_t byte = 2 * i, line = byte / 128, chunk = byte / 16 % 8;
      uint32_t moved = line * 128 + ((chunk ^ (line % 8 & (span / 16 - 1))) * 16) + byte % 16;
      ASSERT_EQ(got[moved / 2], tensor[i]) << span << " " << i;
    }
    EXPECT_EQ(box(map, tensor, {0, 0}, true), tensor); // and back
  }
}

TEST(Tensor, MapsAreChecked) {
  TensorMap map;
  map.rank = 2;
  map.address = 1 << 20;
  map.sizes[0] = map.sizes[1] = 64;
  map.strides[0] = 128;
  map.box[0] = map.box[1] = 64;
  auto fault = [](const TensorMap &m) {
    try {
      m.encode();
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(fault(map), "");
  TensorMap bad = map;
  bad.rank = 6;
  EXPECT_FAULT(fault(bad), "expects a rank from 1 to 5, got 6");
  bad = map;
  bad.address += 8;
  EXPECT_FAULT(fault(bad), "an address that is a multiple of 16");
  bad = map;
  bad.box[1] = 257;
  EXPECT_FAULT(fault(bad), "a box of 1 to 256 elements, got 257 along axis 1");
  bad = map;
  bad.strides[0] = 100;
  EXPECT_FAULT(fault(bad), "multiples of 16, got 100");
  bad = map;
  bad.swizzle = TensorMap::Swizzle::B64;
  EXPECT_FAULT(fault(bad), "a swizzle of 64 bytes expects rows of a box of at most that, got 128");
  bad = map;
  bad.box[0] = 4;
  EXPECT_FAULT(fault(bad), "multiples of 16 bytes, got 8");
  std::string message;
  TensorMap deep = map;
  deep.rank = 1;
  deep.box[0] = 64;
  deep.box[1] = 1;
  std::vector<uint16_t> tensor(64 * 64);
  box(deep, tensor, {0, 0}, false, &message);
  EXPECT_FAULT(message, "expects 1 coordinates, got 2");
  box(map, tensor, {20, 0}, false, &message);
  EXPECT_FAULT(message, "expects a box that begins at a multiple of 16 bytes, got element 20 of 2");
  EXPECT_FAULT(both("mov.u32 %r1, tile; setp.ne.u32 %p1, %r0, 0; @%p1 bra L; "
                    "mbarrier.init.shared.b64 [bars], 1; fence.proxy.async; "
                    "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                    "[%r1], [%in, {0}], [bars]; L:"),
               "expects a tensor map");
}

// --- wgmma
struct ProductCase {
  const char *type; // of a and b
  unsigned n;
  uint32_t span; // of the swizzle
  bool aRegisters, transposeA, transposeB, half;
};
void PrintTo(const ProductCase &c, std::ostream *out) {
  *out << c.type << " n" << c.n << " span " << c.span << (c.aRegisters ? " registers" : "")
       << (c.transposeA ? " ta" : "") << (c.transposeB ? " tb" : "") << (c.half ? " half" : "");
}
class Wgmma : public testing::TestWithParam<ProductCase> {};

TEST_P(Wgmma, AgreesWithCanonicalLayouts) {
  const ProductCase c = GetParam();
  const std::string type = c.type;
  const unsigned bytes = type == "tf32"                    ? 4
                         : type == "f16" || type == "bf16" ? 2
                                                           : 1,
                 k = 32 / bytes;
  const bool integers = type == "s8";
  auto encode = [&](int x, uint8_t *to) {
    float value = static_cast<float>(x);
    uint16_t half = type == "f16" ? toF16(value) : toBf16(value);
    if (bytes == 4)
      std::memcpy(to, &value, 4);
    else if (bytes == 2)
      std::memcpy(to, &half, 2);
    else
      *to = type == "s8" ? static_cast<uint8_t>(x) : type == "e4m3" ? toE4M3(value) : toE5M2(value);
  };
  std::mt19937 random(11);
  std::vector<int> a(64 * k), b(c.n * k);
  for (auto *m : {&a, &b})
    for (int &x : *m)
      x = static_cast<int>(random() % 17) - 8;
  // Operands in shared memory, in CUTLASS's terms: units of 16 bytes; see Wgmma.cpp.
  std::vector<uint8_t> memory(65536, 0);
  auto swizzle = [&](uint32_t at) {
    return c.span ? at ^ ((at >> 7 & (c.span / 16 - 1)) << 4) : at;
  };
  auto place = [&](const std::vector<int> &m, unsigned rows, bool transposed,
                   uint32_t base) -> uint64_t {
    uint32_t lead, stride;
    if (!transposed) {
      lead = c.span ? 16 : 64 * 128; // between chunks along K, where nothing is swizzled
      stride = c.span ? 8 * c.span : 128;
    } else if (c.span) {
      lead = 2 * 8 * c.span; // between groups of span / 2 rows
      stride = 8 * c.span;   // between groups of eight K
    } else {
      lead = 8192;  // between groups of eight K
      stride = 128; // between groups of eight rows
    }
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t i = 0; i < k; ++i) {
        uint32_t at;
        if (!transposed)
          at = r / 8 * stride + r % 8 * (c.span ? c.span : 16) +
               (c.span ? i * bytes : i * bytes / 16 * lead + i * bytes % 16);
        else if (c.span)
          at = r / (c.span / 2) * lead + r % (c.span / 2) * 2 + i / 8 * stride + i % 8 * c.span;
        else
          at = r / 8 * stride + r % 8 * 2 + i / 8 * lead + i % 8 * 16;
        encode(m[r * k + i], memory.data() + swizzle(base + at));
      }
    constexpr uint64_t modes[] = {0, 3, 2, 1};
    uint64_t mode = c.span == 0 ? 0 : modes[c.span == 32 ? 1 : c.span == 64 ? 2 : 3];
    uint64_t address = base + 2048; // `tile` stands at 2048: after the system's bytes and bars
    return (address & 0x3ffff) >> 4 | uint64_t{lead >> 4} << 16 | uint64_t{stride >> 4} << 32 |
           mode << 62;
  };
  uint64_t aAt = place(a, 64, c.transposeA, 0), bAt = place(b, c.n, c.transposeB, 32768);

  unsigned registers = c.half ? c.n / 4 : c.n / 2;
  std::string d = "{", zero, store;
  for (unsigned i = 0; i < registers; ++i) {
    d += (i ? ", %a" : "%a") + std::to_string(i);
    zero += "mov.b32 %a" + std::to_string(i) + ", " +
            (integers ? "3"
             : c.half ? "0x42004200"
                      : "0f40400000") +
            ";\n"; // three
    store += "st.global.b32 [%s+" + std::to_string(4 * i) + "], %a" + std::to_string(i) + ";\n";
  }
  d += "}";
  std::string form = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.n) + "k" +
                     std::to_string(k) +
                     (integers ? ".s32."
                      : c.half ? ".f16."
                               : ".f32.") +
                     type + "." + type + " ";
  std::string issue =
      form + d + ", " + (c.aRegisters ? "{%r30, %r31, %r32, %r33}" : "%d20") + ", %d21, %p5";
  if (!integers)
    issue += ", 1, -1";
  if (bytes == 2)
    issue += std::string(c.aRegisters   ? ""
                         : c.transposeA ? ", 1"
                                        : ", 0") +
             (c.transposeB ? ", 1" : ", 0");
  std::string body = ".reg .b32 %a<" + std::to_string(registers + 1) + ">; .reg .b64 %s;\n" + R"(
    // The image of shared memory is the input; A's fragment of the thread lies behind it.
    mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; cvt.u64.u32 %d1, %r2; add.s64 %d1, %in, %d1; mov.u32 %r3, 0;
    COPY: ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d1]; st.shared.v4.b32 [%r1], {%r4, %r5, %r6, %r7};
    add.u32 %r1, %r1, 2048; add.s64 %d1, %d1, 2048; add.u32 %r3, %r3, 2048; setp.lt.u32 %p1, %r3, 65536; @%p1 bra COPY;
    fence.proxy.async.shared::cta; bar.sync 0;
    ld.global.v4.b32 {%r30, %r31, %r32, %r33}, [%d1];
    mov.b64 %d20, )" +
                     std::to_string(aAt) + "; mov.b64 %d21, " + std::to_string(bAt) + ";\n" + zero +
                     R"(
    setp.eq.u32 %p5, 0, 0;
    wgmma.fence.sync.aligned;
    )" + issue + R"(;
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    mul.wide.u32 %s, %r0, )" +
                     std::to_string(4 * registers) + "; add.s64 %s, %out, %s;\n" + store;
  // A's fragments, by the manual's figure for registers.
  std::vector<uint8_t> fragments(128 * 16, 0);
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t r = 0; r < 4; ++r)
      for (uint32_t e = 0; e < 4 / bytes; ++e) {
        uint32_t row = thread / 32 * 16 + thread % 32 / 4 + 8 * (r % 2),
                 column = r / 2 * (16 / bytes) + thread % 4 * (4 / bytes) + e;
        encode(a[row * k + column], fragments.data() + thread * 16 + r * 4 + e * bytes);
      }
  Device device;
  auto program = device.load(Module::parse(wrap(body, shared), "wgmma.ptx"));
  memory.insert(memory.end(), fragments.begin(), fragments.end());
  uint64_t in = device.memory().allocate(memory.size(), "in"),
           out = device.memory().allocate(512 * registers, "out");
  device.memory().write(in, memory.data(), memory.size());
  LaunchShape shape;
  shape.block[0] = 128;
  shape.dynamicShared = 65536;
  for (auto options : {LaunchOptions(), late()}) {
    LaunchResult result =
        device.launch(*program, "k", shape, Arguments().add(out).add(in), options);
    EXPECT_EQ(result.counters.tensorOperations, 2ull * 64 * c.n * k);
    std::vector<uint32_t> got(128 * registers);
    device.memory().read(out, got.data(), got.size() * 4);
    for (uint32_t row = 0; row < 64; ++row)
      for (uint32_t column = 0; column < c.n; ++column) {
        int dot = 0;
        for (uint32_t i = 0; i < k; ++i)
          dot += a[row * k + i] * b[column * k + i];
        uint32_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
        double value;
        if (c.half)
          value = fromF16(static_cast<uint16_t>(
              got[thread * registers + column / 8 * 2 + row % 16 / 8] >> (16 * (column % 2))));
        else {
          uint32_t bits = got[thread * registers + column / 8 * 4 + row % 16 / 8 * 2 + column % 2];
          value = integers ? static_cast<double>(static_cast<int32_t>(bits))
                           : static_cast<double>(bitsAs<float>(bits));
        }
        ASSERT_EQ(value, integers ? 3 + dot : 3 - dot) << row << " " << column;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Wgmma,
                         testing::Values(ProductCase{"bf16", 128, 128, false, false, false, false},
                                         ProductCase{"f16", 64, 64, false, false, false, false},
                                         ProductCase{"f16", 8, 32, false, false, false, false},
                                         ProductCase{"bf16", 24, 0, false, false, false, false},
                                         ProductCase{"bf16", 128, 128, true, false, true, false},
                                         ProductCase{"bf16", 64, 128, false, true, true, false},
                                         ProductCase{"f16", 64, 64, false, true, true, false},
                                         ProductCase{"f16", 32, 32, false, true, true, false},
                                         ProductCase{"f16", 64, 0, false, true, true, false},
                                         ProductCase{"f16", 64, 128, false, false, false, true},
                                         ProductCase{"tf32", 64, 128, false, false, false, false},
                                         ProductCase{"tf32", 32, 0, true, false, false, false},
                                         ProductCase{"e4m3", 64, 128, false, false, false, false},
                                         ProductCase{"e5m2", 64, 64, true, false, false, false},
                                         ProductCase{"s8", 64, 128, false, false, false, false},
                                         ProductCase{"s8", 32, 32, true, false, false, false}));

const std::string product = R"(
    .reg .b32 %a<4>;
    mov.u32 %r1, tile; shl.b32 %r2, %r0, 5; add.u32 %r1, %r1, %r2;
    st.shared.v4.b32 [%r1], {0, 0, 0, 0}; st.shared.v4.b32 [%r1+16], {0, 0, 0, 0};
    fence.proxy.async.shared::cta; bar.sync 0;
    mov.u32 %r3, tile; shr.u32 %r3, %r3, 4; cvt.u64.u32 %d1, %r3; or.b64 %d1, %d1, 0x0000000800400000;
    add.f32 %a0, 0f00000000, 0f3F800000; mov.b32 %a1, %a0; mov.b32 %a2, %a0; mov.b32 %a3, %a0;
    setp.eq.u32 %p5, 0, 0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%a0, %a1, %a2, %a3}, %d1, %d1, %p5, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    st.global.v4.b32 [%o], {%a0, %a1, %a2, %a3};)";

TEST(WgmmaChecks, MisuseIsFound) {
  EXPECT_EQ(both(product, 128), "");
  EXPECT_FAULT(both(replaced(product, "wgmma.wait_group.sync.aligned 0;", ""), 128),
               "reads a register while a wgmma that writes it is in flight");
  EXPECT_FAULT(both(replaced(product, "wgmma.wait_group.sync.aligned 0;",
                             "mov.b32 %a1, 0; wgmma.wait_group.sync.aligned 0;"),
                    128),
               "writes a register while a wgmma that writes it is in flight");
  EXPECT_FAULT(both(replaced(product, "wgmma.fence.sync.aligned;", ""), 128),
               "expects wgmma.fence between them");
  // A second product into registers that were read.
  const std::string again =
      "st.global.v4.b32 [%o], {%a0, %a1, %a2, %a3}; wgmma.fence.sync.aligned; "
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%a0, %a1, %a2, %a3}, %d1, %d1, %p5, "
      "1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
  const std::string twice =
      replaced(product, "st.global.v4.b32 [%o], {%a0, %a1, %a2, %a3};", again);
  EXPECT_EQ(both(twice, 128), "");
  EXPECT_FAULT(both(replaced(twice, "%a3}; wgmma.fence.sync.aligned;", "%a3};"), 128),
               "accumulates into registers that other instructions read");
  EXPECT_FAULT(both(replaced(product, "fence.proxy.async.shared::cta;", ""), 128),
               "multiplies shared address");
  EXPECT_FAULT(both(replaced(product, "bar.sync 0;", ""), 128),
               "multiplies it without being ordered");
  EXPECT_FAULT(both(replaced(product, "wgmma.commit_group.sync.aligned;",
                             "wgmma.commit_group.sync.aligned; st.shared.u32 [tile], 1;"),
                    128),
               "by wgmma of warp");
  EXPECT_FAULT(both(replaced(product, "0x0000000800400000", "0x0002000800400000"), 128),
               "base offset 0, got 1");
  EXPECT_FAULT(both(replaced(product, "0x0000000800400000", "0x4000000800400008"), 128),
               "in the first row of its pattern");
  EXPECT_FAULT(both(replaced(product, "0x0000000800400000", "0x00003fff00403fff"), 128),
               "expects them inside the block's");
  EXPECT_FAULT(both(replaced(product, "setp.eq.u32 %p5, 0, 0;", "setp.eq.u32 %p5, %r0, 0;"), 128),
               "expects one scale-d for all threads");
  EXPECT_FAULT(both(replaced(product, "setp.eq.u32 %p5, 0, 0;", "setp.lt.u32 %p5, %r0, 64;"), 128),
               "expects the four warps of a warpgroup to issue one product");
  EXPECT_FAULT(both(product, 64), "expects four whole warps");
  EXPECT_FAULT(faultOf(wrap("wgmma.fence.sync.aligned;", "", "sm_90"), 128),
               "expects a target of sm_90a for wgmma, got sm_90");
}

TEST(Registers, SetmaxnregWaitsForThePool) {
  // Three warpgroups of 168 registers: one gives, two take.
  std::string body = "setp.lt.u32 %p1, %r0, 128; @%p1 bra GIVE; setmaxnreg.inc.sync.aligned.u32 "
                     "240; bra END; GIVE: setmaxnreg.dec.sync.aligned.u32 24; END:";
  EXPECT_EQ(faultOf(wrap(body), 384), "");
  EXPECT_FAULT(
      faultOf(wrap(replaced(body, "dec.sync.aligned.u32 24", "dec.sync.aligned.u32 160")), 384),
      "waits for registers of setmaxnreg.inc");
  EXPECT_FAULT(faultOf(wrap("setmaxnreg.inc.sync.aligned.u32 250;")),
               "expects a multiple of 8 from 24 to 256, got 250");
}

TEST(Hopper, GridControlAndPrefetchDoNothing) {
  EXPECT_EQ(faultOf(wrap(
                "griddepcontrol.wait; griddepcontrol.launch_dependents; prefetch.global.L2 [%in]; "
                "nanosleep.u32 10; fence.acq_rel.gpu; fence.sc.cta; membar.gl; fence.proxy.alias; "
                "createpolicy.fractional.L2::evict_last.b64 %d1, 0f3F800000; "
                "ld.global.L2::cache_hint.u32 %r1, [%i], %d1; "
                "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;")),
            "");
}

} // namespace
} // namespace fovea::emulator::test
