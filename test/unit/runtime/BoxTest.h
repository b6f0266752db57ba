// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel by hand that takes two boxes by tensor maps, for the devices that have TMA.
#ifndef FOVEA_TEST_UNIT_RUNTIME_BOXTEST_H
#define FOVEA_TEST_UNIT_RUNTIME_BOXTEST_H

#include "runtime/Device.h"
#include "runtime/status/Status.h"

#include <gtest/gtest.h>

namespace fovea::test {

/// Copies a box of `a` at (x, y) and one of `b` at (0, y), of `bytes` bytes each, to `out`.
constexpr const char *kBoxes = R"(
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry boxes(.param .u64 out, .param .u64 bytes, .param .u64 x, .param .u64 y,
                      .param .align 64 .b8 a[128], .param .align 64 .b8 b[128])
.reqntid 64
{
  .shared .align 8 .b8 bar[8];
  .reg .pred %p, %q, %s;
  .reg .b32 %r<12>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [bytes];
  ld.param.u64 %rd2, [x];
  ld.param.u64 %rd3, [y];
  cvt.u32.u64 %r1, %rd1;
  cvt.u32.u64 %r2, %rd2;
  cvt.u32.u64 %r3, %rd3;
  mov.u32 %r0, %tid.x;
  mov.u32 %r4, tiles;
  add.u32 %r5, %r4, 4096;
  setp.ne.u32 %p, %r0, 0;
  @%p bra ready;
  mbarrier.init.shared.b64 [bar], 1;
  fence.proxy.async;
  shl.b32 %r6, %r1, 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r6;
  mov.u64 %rd4, a;
  cvta.param.u64 %rd5, %rd4;
  mov.u64 %rd6, b;
  cvta.param.u64 %rd7, %rd6;
  mov.u32 %r7, 0;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
      [%r4], [%rd5, {%r2, %r3}], [bar];
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
      [%r5], [%rd7, {%r7, %r3}], [bar];
ready:
  bar.sync 0;
wait:
  mbarrier.try_wait.parity.shared.b64 %q, [bar], 0;
  @!%q bra wait;
  shl.b32 %r8, %r0, 2;
again:
  setp.ge.u32 %s, %r8, %r1;
  @%s bra done;
  add.u32 %r9, %r4, %r8;
  ld.shared.u32 %r10, [%r9];
  ld.shared.u32 %r11, [%r9+4096];
  cvt.u64.u32 %rd8, %r8;
  add.u64 %rd9, %rd0, %rd8;
  st.global.u32 [%rd9], %r10;
  add.u64 %rd10, %rd9, %rd1;
  st.global.u32 [%rd10], %r11;
  add.u32 %r8, %r8, 256;
  bra again;
done:
  ret;
}
)";

/// `boxes` on a device, with a matrix of 20 rows of twelve floats, 64 bytes apart; the element in
/// row i and column j is 100 i + j. A box is 16 rows of 64 bytes.
class Boxes {
public:
  static constexpr int64_t kBytes = 1024; ///< of a box
  static constexpr int64_t kRows = 20;
  explicit Boxes(Device &device) : device(device) {
    module = device.load({"by hand", "sm_90a", kBoxes, {}, {{"boxes", 64, 8192}}});
    std::vector<float> rows(kRows * 16, -1);
    for (size_t i = 0; i < kRows; ++i)
      for (size_t j = 0; j < 12; ++j)
        rows[16 * i + j] = static_cast<float>(100 * i + j);
    from = device.allocate(rows.size() * 4, "the matrix");
    to = device.allocate(2 * kBytes, "the boxes");
    device.copyIn(from, rows.data(), rows.size() * 4);
    a = map(FOVEA_MAP_F32, 0);
    b = map(FOVEA_MAP_F32, 0);
  }
  ~Boxes() {
    device.release(from);
    device.release(to);
  }
  Boxes(const Boxes &) = delete;

  /// Whatever the elements, of the same bytes.
  fovea_tensor_map map(int64_t element, int64_t swizzle) const {
    int64_t perFloat = element == FOVEA_MAP_F32 ? 1 : element == FOVEA_MAP_I8 ? 4 : 2;
    return {static_cast<int64_t>(from), 2,      element, {12 * perFloat, kRows}, {64},
            {16 * perFloat, 16},        swizzle};
  }
  void launch(int64_t x, int64_t y) {
    const int64_t words[] = {static_cast<int64_t>(to), kBytes, x, y};
    const fovea_tensor_map maps[] = {a, b};
    module->launch({0, 1, words, 4, maps, 2});
  }
  void record(DeviceGraph &graph, int64_t x, int64_t y) {
    const int64_t words[] = {static_cast<int64_t>(to), kBytes, x, y};
    const fovea_tensor_map maps[] = {a, b};
    graph.begin();
    graph.add({0, 1, words, 4, maps, 2});
  }
  /// Both boxes of the last launch.
  std::vector<float> taken() {
    std::vector<float> result(2 * kBytes / 4);
    device.copyOut(result.data(), to, result.size() * 4);
    device.synchronize();
    return result;
  }
  /// What TMA is to give: zero outside of the matrix.
  static std::vector<float> expected(int64_t x, int64_t y, int64_t secondX) {
    std::vector<float> result;
    for (int64_t first : {x, secondX})
      for (int64_t i = y; i < y + 16; ++i)
        for (int64_t j = first; j < first + 16; ++j)
          result.push_back(i >= 0 && i < kRows && j >= 0 && j < 12 ? static_cast<float>(100 * i + j)
                                                                   : 0);
    return result;
  }
  /// Of one launch; "" if it is done.
  std::string failure() {
    try {
      launch(0, 0);
    } catch (const Failure &failure) {
      return failure.message;
    }
    return "";
  }

  Device &device;
  std::unique_ptr<DeviceModule> module;
  uint64_t from = 0, to = 0;
  fovea_tensor_map a, b;
};

/// Boxes inside and outside, of every kind of element. They begin at multiples of 16 bytes, as all
/// must.
inline void takesBoxesByMaps(Device &device) {
  Boxes boxes(device);
  ASSERT_EQ(boxes.failure(), "");
  for (auto [x, y] : {std::pair{0, 0}, {4, 2}, {-4, 15}, {-20, -1}}) {
    boxes.launch(x, y);
    EXPECT_EQ(boxes.taken(), Boxes::expected(x, y, 0)) << x << " " << y;
  }
  // Another kind of element counts from another place: all begin at byte 16 here.
  for (auto [element, x] :
       {std::pair{FOVEA_MAP_F32, 4}, {FOVEA_MAP_F16, 8}, {FOVEA_MAP_BF16, 8}, {FOVEA_MAP_I8, 16}}) {
    boxes.a = boxes.map(element, 0);
    boxes.launch(x, 1);
    EXPECT_EQ(boxes.taken(), Boxes::expected(4, 1, 0)) << element;
  }
  // A swizzle moves pieces of 16 bytes by bits 7 and up of their place (PTX ISA, "Swizzling
  // Modes"), in rows that are at most as long.
  for (int64_t span : {128, 64, 32}) {
    boxes.a = boxes.map(FOVEA_MAP_F32, span);
    int64_t columns = boxes.a.box[0] = span == 32 ? 8 : 16, rows = boxes.a.box[1] = 256 / columns;
    boxes.launch(0, 1);
    std::vector<float> taken = boxes.taken();
    for (int64_t i = 0; i < rows * columns; ++i) {
      int64_t place = 4 * i ^ (((4 * i) >> 7) & (span / 16 - 1)) << 4;
      EXPECT_EQ(taken[static_cast<size_t>(place / 4)],
                i / columns < 19 && i % columns < 12
                    ? static_cast<float>(100 * (1 + i / columns) + i % columns)
                    : 0)
          << span << " " << i;
    }
  }
}

/// Boxes of a graph whose maps and numbers change.
inline void takesBoxesInGraphs(Device &device) {
  Boxes boxes(device);
  std::unique_ptr<DeviceGraph> graph = boxes.module->makeGraph();
  for (int64_t round = 0; round < 6; ++round) {
    // Numbers change, then a map alone, then nothing.
    int64_t y = std::min<int64_t>(round, 3);
    boxes.b = boxes.map(FOVEA_MAP_F32, 0);
    boxes.b.sizes[1] = round < 4 ? Boxes::kRows : 5;
    boxes.record(*graph, 4, y);
    graph->run();
    std::vector<float> expected = Boxes::expected(4, y, 0), taken = boxes.taken();
    if (round >= 4)
      std::fill(expected.begin() + 16 * 16 + 16 * 2, expected.end(), 0.0f);
    EXPECT_EQ(taken, expected) << round;
  }
  // A wrong map, and all is as before.
  boxes.b.strides[0] = 72;
  boxes.record(*graph, 4, 0);
  EXPECT_THROW(graph->run(), Failure);
  boxes.b = boxes.a;
  for (int64_t y : {1, 2, 3}) {
    boxes.record(*graph, 0, y);
    graph->run();
    EXPECT_EQ(boxes.taken(), Boxes::expected(0, y, 0));
  }
}

/// Each rule broken is told, and nothing is launched.
inline void refusesWrongMaps(Device &device) {
  Boxes boxes(device);
  const std::string where = device.name() + ": kernel 'boxes': tensor map 1 expects ";
  auto failure = [&](auto spoil) {
    boxes.b = boxes.map(FOVEA_MAP_F32, 64);
    spoil(boxes.b);
    return boxes.failure();
  };
  EXPECT_EQ(failure([](auto &) {}), "");
  EXPECT_EQ(failure([](auto &map) { map.rank = 6; }), where + "a rank from 1 to 5, got 6");
  EXPECT_EQ(failure([](auto &map) { map.element = 0; }), where + "elements of a known type, got 0");
  EXPECT_EQ(failure([](auto &map) { map.address += 8; }),
            where + "an address that is a multiple of 16, got " + std::to_string(boxes.b.address));
  EXPECT_EQ(failure([](auto &map) { map.swizzle = 16; }),
            where + "a swizzle of 0, 32, 64 or 128 bytes, got 16");
  EXPECT_EQ(failure([](auto &map) { map.sizes[1] = 0; }),
            where + "sizes from 1 to 2^32, got 0 along axis 1");
  EXPECT_EQ(failure([](auto &map) { map.box[1] = 257; }),
            where + "a box of 1 to 256 elements, got 257 along axis 1");
  EXPECT_EQ(failure([](auto &map) { map.strides[0] = 72; }),
            where + "strides below 2^40 that are multiples of 16, got 72 along axis 1");
  EXPECT_EQ(failure([](auto &map) { map.box[0] = 6; }),
            where + "rows of a box that are multiples of 16 bytes, got 24");
  EXPECT_EQ(failure([](auto &map) { map.box[0] = 20; }),
            where + "rows of a box of at most the swizzle's 64 bytes, got 80");
}

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_RUNTIME_BOXTEST_H
