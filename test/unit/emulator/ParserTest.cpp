// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing: what a module says of itself, scopes, and messages for wrong text.
#include "test/unit/emulator/Kernels.h"

namespace fovea::emulator::test {
namespace {

std::string parseFault(const std::string &text) {
  try {
    Device device;
    auto program = device.load(Module::parse(text, "bad.ptx"));
    for (const std::string &name : program->module().entryNames())
      device.kernel(*program, name);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Parser, TellsWhatAModuleHolds) {
  auto module = Module::parse(R"(
.version 8.6
.target sm_90a, debug
.address_size 64
/* a comment
   over lines */
.extern .shared .align 1024 .b8 dynamic[];
.global .align 4 .u32 table[4] = {1, 0x2, 0b11, -1};
.visible .entry first(
  .param .u64 .ptr .global .align 16 first_0,
  .param .u32 first_1,
  .param .align 64 .b8 first_2[128]
)
.maxntid 384, 1, 1
.minnctapersm 1
{
  .shared .align 8 .b8 bars[72];
  .shared .align 16 .b8 tile[100];
  .loc 1 2 3
  ret;
}
.entry second() .reqntid 32 { ret; }
.file 1 "x.cu"
.section .debug_str { .b8 1,2 }
)",
                              "two.ptx");
  EXPECT_EQ(module->entryNames(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(module->target(), "sm_90a");
  EXPECT_EQ(module->architecture(), 90u);
  EXPECT_EQ(module->versionMajor(), 8u);
  EXPECT_EQ(module->versionMinor(), 6u);
  const Function &first = module->entry("first");
  ASSERT_EQ(first.parameters.size(), 3u);
  EXPECT_EQ(first.parameters[1].offset, 8u);
  EXPECT_EQ(first.parameters[2].offset, 64u);
  EXPECT_EQ(first.parameterBytes, 192u);
  EXPECT_EQ(first.maxThreads[0], 384u);
  EXPECT_EQ(first.sharedBytes(), 180u);
  EXPECT_EQ(module->entry("second").requiredThreads[0], 32u);
  EXPECT_EQ(module->variables()[1].initial.size(), 16u);
  EXPECT_THROW(module->entry("third"), Error);
}

TEST(Parser, KeepsTheValuesThatAreGiven) {
  auto module = Module::parse(header() + R"(
.global .b32 few[1000000] = {5, 6};
.global .b8 none[] = {};
.global .b128 wide[3] = {1, -2, -0};
.shared .b32 shared[1000000000] = {7};
)",
                              "values.ptx");
  auto bytes = [&](size_t i) { return module->variables()[i].initial; };
  EXPECT_EQ(bytes(0), (std::vector<uint8_t>{5, 0, 0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(module->variables()[0].size, 4000000u);
  EXPECT_TRUE(bytes(1).empty());
  EXPECT_FALSE(module->variables()[1].external);
  std::vector<uint8_t> wide(48, 0);
  wide[0] = 1;
  std::fill_n(&wide[16], 16, 0xff);
  wide[16] = 0xfe;
  EXPECT_EQ(bytes(2), wide);
  EXPECT_EQ(bytes(3).size(), 4u);
}

TEST(Parser, ScopesHideNamesAndRepeatLabels) {
  // The same label and register in two braces, as inline assembly makes them.
  std::string body = "  mov.u32 %r10, 0;\n";
  for (int i = 0; i < 2; ++i)
    body += R"(  {
    .reg .pred q;
    .reg .b32 n;
    mov.u32 n, 3;
    AGAIN:
    add.u32 %r10, %r10, 1;
    sub.u32 n, n, 1;
    setp.ne.u32 q, n, 0;
    @q bra.uni AGAIN;
  })";
  body += "\n  st.global.u32 [%o], %r10;";
  EXPECT_EQ(launch(wrap(body), {Words{}}, 1).out[0][0], 6u);
}

TEST(Parser, NamesPlaceFoundAndExpected) {
  EXPECT_FAULT(parseFault(".version 8.0\n.target sm_80\n.bogus\n"),
               "bad.ptx:3: expects a directive, got '.bogus'");
  EXPECT_FAULT(parseFault(".version 8.0\n"), "expects a .target");
  EXPECT_FAULT(parseFault(".version 8.0\n.target gfx900\n"),
               "expects a target such as sm_90a, got 'gfx900'");
  EXPECT_FAULT(parseFault(header() + ".entry k() {\n ret\n}"),
               "bad.ptx:6: expects an operand, got '}'");
  EXPECT_FAULT(parseFault(header() + ".entry k() {\n ret;\n"),
               "expects '}' at the end of a function, got the end of the file");
  EXPECT_FAULT(parseFault(header() + ".entry k() { /* open"),
               "bad.ptx:4: expects the comment that starts here to end");
  EXPECT_FAULT(parseFault(header() + ".entry k() {\n .reg .b32 %r<2>;\n .reg .b32 %r1;\n}"),
               "bad.ptx:6: expects each register once in its braces, got '%r1' again");
  EXPECT_FAULT(parseFault(header() + ".entry k() {\n A: A: ret;\n}"), "expects each label once");
  EXPECT_FAULT(parseFault(header() + ".entry k() {\n .reg .b32 %r<99999999>;\n}"),
               "expects at most");
  EXPECT_FAULT(parseFault(header() + ".shared .b8 x[99999999999999];"),
               "expects an array of at most");
  EXPECT_FAULT(parseFault(header() + ".global .u32 x[1073741824] = {1};"),
               "bytes of .global and .const, got 4294967296 up to x");
  EXPECT_FAULT(parseFault(header() + ".global .b8 x[40000000];\n.const .b8 y[40000000];"),
               "bytes of .global and .const, got 80000000 up to y");
  EXPECT_FAULT(parseFault(header() + ".global .u32 x = 99999999999999999999999;"),
               "expects a number of at most 64 bits");
  EXPECT_FAULT(parseFault(header() + ".global .f32 x = 0f12;"), "expects 8 digits");
  EXPECT_FAULT(parseFault(std::string(".version 8.0\n.target sm_80\n\x01")),
               "character with code 1");
  EXPECT_FAULT(parseFault(".version 8.0\n.target sm_80\n.address_size 32"),
               "expects .address_size 64, got 32");
}

TEST(Decoder, RefusesWhatItDoesNotKnow) {
  auto fault = [](const std::string &body) { return parseFault(wrap(body)); };
  EXPECT_FAULT(fault("frobnicate.u32 %r1, %r2;"),
               "bad.ptx:17: instruction 'frobnicate.u32' is not supported");
  EXPECT_FAULT(fault("frobnicate.u32 %r1, %r2;"), "frobnicate.u32 %r1, %r2");
  EXPECT_FAULT(fault("add.strange.u32 %r1, %r2, %r3;"),
               "modifier '.strange' of add is not supported");
  EXPECT_FAULT(fault("add.u32 %r1, %r2;"), "expects add to have 3 operands, got 2");
  EXPECT_FAULT(fault("add.u32 %r1, %d2, %r3;"),
               "expects a register of 32 bits for .u32, got %d2 of 64");
  EXPECT_FAULT(fault("add.u32 %x1, %r2, %r3;"), "expects a register to write to, got '%x1'");
  EXPECT_FAULT(fault("add.u32 %r1, %x2, %r3;"), "'%x2', which is not declared");
  EXPECT_FAULT(fault("add.f32 %r1, %r2, 3;"), "expects a float for .f32, got an integer");
  EXPECT_FAULT(fault("bra NOWHERE;"), "expects a label in these or outer braces, got 'NOWHERE'");
  EXPECT_FAULT(fault("@%r1 bra X; X:"), "expects a predicate register, got '%r1'");
  EXPECT_FAULT(fault("ld.shared.u32 %r1, [k_in];"),
               "expects a variable of .shared, got 'k_in' of .param");
  EXPECT_FAULT(fault("ld.global.v4.b32 {%r1, %r2}, [%i];"), "expects 4 elements, got 2");
  EXPECT_FAULT(fault("cvt.s32.f32 %r1, %r2;"), "expects cvt from a float to an integer to round");
  EXPECT_FAULT(fault("call foo;"), "calls are not supported");
  EXPECT_FAULT(parseFault(wrap("setmaxnreg.inc.sync.aligned.u32 240;", "", "sm_80")),
               "expects a target of sm_90 or newer for setmaxnreg, got sm_80");
}

TEST(Launch, ChecksShapeAndArguments) {
  Device device;
  auto program = device.load(Module::parse(wrap(""), "x.ptx"));
  LaunchShape shape;
  auto message = [&](const Arguments &arguments) {
    try {
      device.launch(*program, "k", shape, arguments);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_FAULT(message(Arguments()), "expects 2 arguments, got 0");
  EXPECT_FAULT(message(Arguments().add(1).add(uint64_t{2})),
               "expects 8 bytes for argument 0 (k_out), got 4");
  shape.block[0] = 2000;
  EXPECT_FAULT(message(Arguments()), "expects a block of 1 to 1024 threads along axis 0, got 2000");
  shape.block[0] = 32;
  shape.dynamicShared = 1 << 20;
  EXPECT_FAULT(message(Arguments()), "bytes of shared memory");
}

} // namespace
} // namespace fovea::emulator::test
