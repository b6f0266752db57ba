// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planted bugs: each must be found, with place, thread and, for races, the other side. Beside each
// stands the right kernel, which must pass.
#include "test/unit/emulator/Kernels.h"

namespace fovea::emulator::test {
namespace {

const std::string tile = ".shared .align 16 .b8 tile[1024];\n";

/// Writes one's own word of `tile` and reads the neighbour's, with `between` in between.
std::string neighbour(const std::string &between, int distance = 1) {
  return wrap("mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], "
              "5; bar.sync 0;\n"
              "st.shared.u32 [%r3], %r0;\n" +
                  between + "\nxor.b32 %r4, %r3, " + std::to_string(4 * distance) +
                  ";\nld.shared.u32 %r10, [%r4];\n"
                  "st.global.u32 [%o], %r10;",
              tile);
}

TEST(Checks, GlobalBoundsAndAlignment) {
  EXPECT_FAULT(faultOf(wrap("ld.global.u32 %r1, [%in+512];")),
               "test.ptx:17: k, block (0,0,0), thread (0,0,0): reads 4 bytes at global address 0x");
  EXPECT_FAULT(faultOf(wrap("ld.global.u32 %r1, [%in+512];")),
               "0 bytes past the end of 'in' (512 bytes)");
  EXPECT_FAULT(faultOf(wrap("ld.global.u32 %r1, [%in+-4];")), "4 bytes before 'in'");
  EXPECT_FAULT(faultOf(wrap("add.s64 %d1, %i, 8; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];")),
               "expects a multiple of 16");
  EXPECT_FAULT(
      faultOf(wrap("mul.wide.u32 %d1, %r0, 20; add.s64 %d1, %out, %d1; st.global.u32 [%d1], 1;")),
      "thread (26,0,0): writes 4 bytes");
  EXPECT_FAULT(faultOf(wrap("mov.u64 %d1, 0; ld.global.u32 %r1, [%d1];")), "near no allocation");
  EXPECT_FAULT(faultOf(wrap("ld.global.u32 %r1, [%o];")),
               "reads byte 0 of 'out' (512 bytes), which nobody has written");
  EXPECT_EQ(faultOf(wrap("st.global.u32 [%o], 1; ld.global.u32 %r1, [%o];")), "");
  LaunchOptions loose;
  loose.checkUnwritten = false;
  EXPECT_EQ(faultOf(wrap("ld.global.u32 %r1, [%o];"), 32, loose), "");
}

TEST(Checks, BlocksThatMeetInGlobalMemory) {
  auto faultOf = [](const std::string &body, bool late, unsigned threads = 1) -> std::string {
    LaunchOptions options;
    options.checkBlocks = true;
    options.threads = threads;
    options.schedule = late ? LaunchOptions::Schedule::Late : LaunchOptions::Schedule::Early;
    std::string at = "mov.u32 %r9, %ctaid.x; mul.wide.u32 %d3, %r9, 4; add.s64 %d4, %out, %d3;\n";
    try {
      launch(wrap("setp.ne.u32 %p1, %r0, 0; @%p1 ret;\n" + at + body), {Words{1, 2, 3, 4}}, 1,
             options, 3);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  for (bool late : {false, true})
    EXPECT_EQ(faultOf("st.global.u32 [%d4], %r9; ld.global.u32 %r2, [%d4];", late), "");
  // Equal values too: a block does the work of others.
  EXPECT_FAULT(faultOf("st.global.u32 [%out], 7;", false),
               "block (1,0,0), thread (0,0,0): writes byte 0 of 'out', which block (0,0,0) has "
               "written; expects blocks to leave each other's results alone");
  EXPECT_FAULT(faultOf("st.global.u32 [%out], 7;", true), "which block (2,0,0) has written");
  // A block reads what another writes: seen in the order in which it is written first.
  std::string reads = "setp.eq.u32 %p2, %r9, 2; @%p2 st.global.u32 [%in], 7;\n"
                      "setp.eq.u32 %p3, %r9, 0; @%p3 ld.global.u32 %r2, [%in];";
  EXPECT_EQ(faultOf(reads, false), "");
  EXPECT_FAULT(faultOf(reads, true), "block (0,0,0), thread (0,0,0): reads byte 0 of 'in'");
  EXPECT_EQ(faultOf("atom.global.add.u32 %r2, [%in], 1;", false), "");
  EXPECT_FAULT(faultOf("st.global.u32 [%d4], %r9;", false, 2), "expects one thread");
}

TEST(Checks, FreedAndReadOnlyMemory) {
  Device device;
  auto program = device.load(Module::parse(wrap("st.global.u32 [%o], 1;"), "x.ptx"));
  uint64_t out = device.memory().allocate(512, "results");
  const uint32_t constants[128] = {};
  uint64_t fixed =
      device.memory().map(static_cast<const void *>(constants), sizeof(constants), "weights");
  LaunchShape shape;
  auto message = [&](uint64_t address) {
    try {
      device.launch(*program, "k", shape, Arguments().add(address).add(address));
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(out), "");
  device.memory().free(out);
  EXPECT_FAULT(message(out), "freed: byte 0 of 'results'");
  EXPECT_FAULT(message(fixed), "'weights', which is read only");
  EXPECT_THROW(device.memory().free(out), Error);
  uint32_t word;
  EXPECT_THROW(device.memory().read(fixed + sizeof(constants) - 2, &word, 4), Error);
}

TEST(Checks, SharedBoundsAndUnwritten) {
  EXPECT_FAULT(faultOf(wrap("mov.u32 %r1, tile; ld.shared.u32 %r2, [%r1+1024];", tile)),
               "expects them inside the block's 1024 bytes");
  EXPECT_FAULT(faultOf(wrap("mov.u32 %r1, 0; ld.shared.u32 %r2, [%r1];", tile)),
               "at shared address 0x0");
  EXPECT_FAULT(faultOf(wrap("ld.shared.u32 %r2, [tile+2];", tile)), "expects a multiple of 4");
  EXPECT_FAULT(faultOf(wrap("ld.shared.u32 %r2, [tile+8];", tile)),
               "reads shared address 0x408, which nobody has written");
  EXPECT_FAULT(faultOf(wrap(".local .align 4 .b8 depot[8]; ld.local.u32 %r1, [depot];")),
               "local memory, which it has not written");
  EXPECT_FAULT(faultOf(wrap(".local .align 4 .b8 depot[8]; ld.local.u32 %r1, [depot+16];")),
               "inside the thread's 16 bytes");
}

TEST(Checks, SharedRaces) {
  EXPECT_EQ(faultOf(neighbour("bar.sync 0;", 32), 64), "");
  std::string race = faultOf(neighbour("", 32), 64);
  EXPECT_FAULT(race, "race on shared address");
  EXPECT_FAULT(race, " it without being ordered after the ");
  EXPECT_FAULT(race, "; expects a barrier between them");
  // Lanes of one warp need bar.warp.sync.
  EXPECT_FAULT(faultOf(neighbour("")), "expects bar.warp.sync between them");
  EXPECT_EQ(faultOf(neighbour("bar.warp.sync -1;")), "");
  // A read, then another's write: also a race.
  std::string body = "mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 "
                     "[%r3], %r0; bar.sync 0;\n"
                     "xor.b32 %r4, %r3, 128; ld.shared.u32 %r5, [%r4];\n";
  EXPECT_FAULT(
      faultOf(wrap(body + "setp.lt.u32 %p1, %r0, 32; @%p1 st.shared.u32 [%r3], 9;", tile), 64),
      "writes it without being ordered after the read by thread");
  EXPECT_EQ(faultOf(wrap(body + "bar.sync 0; st.shared.u32 [%r3], 9;", tile), 64), "");
  // Two different writes; equal ones agree.
  EXPECT_FAULT(faultOf(wrap("st.shared.u32 [tile], %r0;", tile)),
               "writes it without being ordered after the write by thread (0,0,0)");
  EXPECT_EQ(faultOf(wrap("st.shared.u32 [tile], 7;", tile), 64), "");
  // Bytes of one word that different threads write are no race.
  EXPECT_EQ(
      faultOf(wrap("mov.u32 %r1, tile; add.u32 %r1, %r1, %r0; st.shared.u8 [%r1], %r0;", tile), 64),
      "");
  // Without the check, nothing is said.
  LaunchOptions loose;
  loose.checkShared = false;
  EXPECT_EQ(faultOf(neighbour("", 32), 64, loose), "");
  // A named barrier orders only who takes part.
  EXPECT_EQ(faultOf(neighbour("bar.sync 3, 64;", 32), 64), "");
  EXPECT_FAULT(
      faultOf(neighbour("shr.u32 %r9, %r0, 6; add.u32 %r9, %r9, 1; bar.sync %r9, 64;", 64), 128),
      "race on shared address");
}

TEST(Checks, AlignedUnderDivergence) {
  std::string half = "setp.lt.u32 %p1, %r0, 16; @!%p1 bra OVER;\n";
  EXPECT_FAULT(faultOf(wrap(half + "bar.sync 0; OVER:")),
               "expects all threads of the warp (lanes 0xffffffff) to execute this together, got "
               "lanes 0xffff");
  EXPECT_FAULT(faultOf(wrap("setp.lt.u32 %p1, %r0, 16; @%p1 bar.sync 0;")), "are predicated off");
  EXPECT_FAULT(
      faultOf(wrap(half + "shfl.sync.idx.b32 %r1, %r0, 3, 31, -1; OVER: bar.warp.sync -1;")),
      "expects more threads of the warp to come here than lanes 0xffff");
  EXPECT_FAULT(faultOf(wrap(half + "shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff; OVER: ")),
               "takes the value of lane 20, which does not take part");
  EXPECT_FAULT(faultOf(wrap("shfl.sync.idx.b32 %r1, %r0, 3, 31, 0xffff;")),
               "expects the thread itself to be in its mask");
  EXPECT_EQ(faultOf(wrap(half + "shfl.sync.idx.b32 %r1, %r0, 3, 31, 0xffff; OVER: ")), "");
  // Threads that have ended are not waited for.
  EXPECT_EQ(faultOf(wrap("setp.lt.u32 %p1, %r0, 40; @%p1 ret; bar.sync 0;"), 64), "");
}

TEST(Checks, BarrierMisuseAndDeadlock) {
  EXPECT_FAULT(faultOf(wrap("bar.sync 16;")), "expects a barrier from 0 to 15, got 16");
  EXPECT_FAULT(faultOf(wrap("bar.sync 1, 40;")), "multiple of 32, got 40");
  EXPECT_FAULT(
      faultOf(
          wrap("shr.u32 %r1, %r0, 5; add.u32 %r1, %r1, 2; shl.b32 %r1, %r1, 5; bar.sync 1, %r1;"),
          64),
      "expects barrier 1 to be used with one number of threads");
  std::string stuck = faultOf(
      wrap("setp.lt.u32 %p1, %r0, 32; @%p1 bra A; bar.sync 1, 64; bra B; A: bar.sync 2, 64; B:"),
      64);
  EXPECT_FAULT(stuck, "deadlock");
  EXPECT_FAULT(
      stuck,
      "warp 0, lanes 0xffffffff, line 17: waits at barrier 2, where 32 of 64 threads have arrived");
  EXPECT_FAULT(stuck, "warp 1");
  LaunchOptions few;
  few.maxInstructions = 100000;
  EXPECT_FAULT(faultOf(wrap("L: bra L;"), 32, few), "expects to end within 100000 instructions");
  EXPECT_FAULT(faultOf(wrap("trap;")), "the kernel trapped");
}

TEST(Checks, HostileAddressesDoNotCrash) {
  for (const char *address : {"-1", "0x7f0000000400", "0x7f00ffffffff", "0x7f1000000000",
                              "0x8000000000000000", "0xffffffffffffffff"})
    for (const char *access : {"ld.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];", "st.u8 [%d1], %r1;",
                               "atom.add.u32 %r1, [%d1], 1;"})
      EXPECT_NE(faultOf(wrap(std::string("mov.u64 %d1, ") + address + "; " + access)), "")
          << address << access;
  for (const char *address : {"-1", "0x7ffffff0", "0x13f8", "0xfffffffc"})
    EXPECT_NE(faultOf(wrap(std::string("mov.u32 %r1, ") + address +
                               "; ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];",
                           tile)),
              "")
        << address;
}

} // namespace
} // namespace fovea::emulator::test
