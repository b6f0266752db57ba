// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention grid of test/grid on GPUs: each case becomes an artifact, as `fovea compile --gpu`
// makes it, and runs on the emulator with every check on, its asynchronous work early and late
// (or on the device that FOVEA_TEST_DEVICE names),
// against the interpreter in f64. Cases that no tile program computes run as plain loops.
#include "interpreter/Interpreter.h"
#include "lowering/CodeGen/MemoryFile.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "test/grid/AttentionCase.h"
#include "test/grid/NoWeights.h"
#include "test/threads/DeviceCode.h"
#include "tools/compile/CompileModule.h"
#include "tools/verify/RuntimeBackend.h"
#include <gtest/gtest.h>
#include <iostream>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

/// Targets that code is made for.
const char *const kChips[] = {"sm_80", "sm_90a"};

/// Chooses the group's schedule for `chip`, and checks what kind of code the target would choose.
void choose(GroupOp group, int number, How how, StringRef chip) {
  for (auto op : group.getBody().front().getOps<AttentionOp>()) {
    FailureOr<TargetAttr> target = getLevelTarget(chip, group.getLoc());
    ASSERT_TRUE(succeeded(target));
    FailureOr<Attribute> chosen = chooseSchedule(group, *target);
    ASSERT_TRUE(succeeded(chosen));
    Attribute many = *chosen;
    while (auto byRows = dyn_cast<ByRowsScheduleAttr>(many))
      many = byRows.getMany();
    auto tiles = dyn_cast<AttentionScheduleAttr>(many);
    ASSERT_TRUE(tiles);
    if (how == How::Default)
      continue;
    ASSERT_EQ(tiles.getAxis() == AttentionAxis::Heads, isByHeads(how)) << op;
    // Instructions for matrices take 16 rows, or 64; fewer are multiplied element by element.
    int64_t rows = chip == "sm_80" ? (number & 2 ? 8 : 16) : (number & 2 ? 16 : 64);
    SmallVector<int64_t> split;
    if (isSplit(how))
      split = {kPartKeys, 64};
    group.setScheduleAttr(AttentionScheduleAttr::get(group.getContext(), rows, 32, tiles.getAxis(),
                                                     tiles.getScores(), tiles.getValues(), split,
                                                     tiles.getOperands()));
  }
}

/// Writes an artifact with the attention's code for the processor and for `chip`. False after a
/// failure of the test.
bool compile(const AttentionCase &attention, ModuleOp original, int number, How how, StringRef chip,
             const std::string &path) {
  OwningOpRef<ModuleOp> module = original.clone();
  PassManager passes(module->getContext());
  buildGraphPipeline(passes);
  buildFusedPipeline(passes);
  if (failed(passes.run(*module)))
    return false;
  module->walk([&](GroupOp group) { choose(group, number, how, chip); });
  if (testing::Test::HasFailure())
    return false;
  ::fovea::compile::Options options;
  options.model = "attention.mlir";
  options.fromStage = "fused";
  options.target = "x86-64";                 // its code is quickest to make, and does not run
  options.optimization = number % 8 ? 0 : 2; // the assembler takes half of the time
  options.gpu = chip.str();
  options.output = path;
  options.threads = 1;
  ::fovea::compile::Log log;
  log.message = [](::fovea::compile::Log::Severity, const std::string &text) {
    ADD_FAILURE() << text;
  };
  if (compileModule(*module, options, log) == ::fovea::compile::Outcome::Done)
    return true;
  ADD_FAILURE() << "expects code";
  return false;
}

/// The case that `chip` runs: code for sm_90a differs in products of 16 bits alone.
Choice getCase(ArrayRef<Choice> cases, int number, StringRef chip) {
  return chip == "sm_80" ? cases[number] : makeHalves(cases[number]);
}

/// Two of the lengths that the processor's grid has for the case, each as often as the others.
std::vector<std::pair<int64_t, int64_t>> drawLengths(int number, How how) {
  std::vector<std::pair<int64_t, int64_t>> all = makeLengths(number, how);
  return {all[number % all.size()], all[(number + 2) % all.size()]};
}

/// Weights of bf16 are off by a share of their terms, which are of the size of one: an output that
/// is less than this is as wrong as one of this size.
constexpr double kTerms = 0.05;

void run(const AttentionCase &attention, int number, How how, StringRef chip,
         ArrayRef<std::pair<int64_t, int64_t>> lengths) {
  if (!::fovea::test::runsOn(chip.str()))
    GTEST_SKIP() << "the device runs no code for " << chip.str();
  SCOPED_TRACE(attention.describe());
  MLIRContext &context = getTestContext();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(attention.getText(), &context);
  ASSERT_TRUE(module) << attention.getText();
  MemoryFile file;
  const std::string &artifact = file.getPath();
  ASSERT_TRUE(compile(attention, *module, number, how, chip, artifact)) << attention.getText();
  // A device does asynchronous work when it likes: twice must be the same there too.
  std::string device = ::fovea::test::deviceName();
  bool emulated = ::fovea::test::onEmulator();
  auto early =
      verify::RuntimeBackend::open(&context, artifact, 1, emulated ? "emulator:early" : device);
  auto late =
      verify::RuntimeBackend::open(&context, artifact, 1, emulated ? "emulator:late" : device);
  ASSERT_TRUE(succeeded(early) && succeeded(late));
  NoWeights weights;
  Interpreter interpreter(*module, weights);
  std::mt19937_64 random(number);
  for (auto [queries, keys] : lengths) {
    int64_t batch = 1 + (queries + keys + number) % 2;
    SCOPED_TRACE("B" + std::to_string(batch) + " Sq" + std::to_string(queries) + " Sk" +
                 std::to_string(keys));
    std::vector<RuntimeValue> inputs = attention.makeInputs(batch, queries, keys, random);
    FailureOr<std::vector<RuntimeValue>> expected = interpreter.call("attend", inputs);
    ASSERT_TRUE(succeeded(expected));
    std::vector<TensorRef> tensors;
    for (const RuntimeValue &input : inputs)
      tensors.push_back(std::get<TensorRef>(input));
    FailureOr<std::vector<TensorRef>> got = (*early)->run("attend", tensors);
    FailureOr<std::vector<TensorRef>> again = (*late)->run("attend", tensors);
    if (failed(got) || failed(again)) {
      ADD_FAILURE() << "expects results";
      std::cerr << attention.getText();
      return;
    }
    for (size_t i = 0; i < expected->size(); ++i) {
      const Tensor &result = *(*got)[i], &other = *(*again)[i];
      double least = attention.isOfHalves() && i == 0 ? kTerms : 0;
      EXPECT_EQ(compareTensors(result, *std::get<TensorRef>((*expected)[i]),
                               attention.getTolerance(), least),
                "")
          << "result " << i;
      EXPECT_TRUE(haveEqualBits(result, other))
          << "result " << i << " depends on when asynchronous work is done";
    }
    if (testing::Test::HasFailure()) {
      std::cerr << attention.getText();
      return;
    }
  }
}

using Parameter = std::tuple<const char *, int>;

/// "sm_80_17".
std::string getName(const testing::TestParamInfo<Parameter> &info) {
  auto [chip, number] = info.param;
  return std::string(chip) + "_" + std::to_string(number);
}

class AttentionOnDevice : public testing::TestWithParam<Parameter> {};

TEST_P(AttentionOnDevice, byTheTargetsSchedule) {
  auto [chip, number] = GetParam();
  run(AttentionCase(getCase(getAttentionCases(), number, chip)), number, How::Default, chip,
      drawLengths(number, How::Default));
}

class TiledAttentionOnDevice : public testing::TestWithParam<Parameter> {};

TEST_P(TiledAttentionOnDevice, oneQueryByTheTargetsSchedule) {
  auto [chip, number] = GetParam();
  // One part of keys, and two.
  run(AttentionCase(getCase(getScheduledAttentionCases(), number, chip), /*oneQuery=*/true), number,
      How::Default, chip, {{1, number % 130}, {1, 512 + 3 * number % 130}});
}

/// Each case by small tiles of one axis, whole or in parts; by those of the other axis, in parts or
/// whole.
TEST_P(TiledAttentionOnDevice, byQueries) {
  auto [chip, number] = GetParam();
  How how = number % 2 ? How::SplitQueries : How::Queries;
  Choice choice = getCase(getScheduledAttentionCases(), number, chip);
  run(AttentionCase(isSplit(how) ? makeSplittable(choice) : choice), number, how, chip,
      drawLengths(number, how));
}

TEST_P(TiledAttentionOnDevice, byHeads) {
  auto [chip, number] = GetParam();
  How how = number % 2 ? How::Heads : How::SplitHeads;
  Choice choice = getCase(getScheduledAttentionCases(), number, chip);
  run(AttentionCase(isSplit(how) ? makeSplittable(choice) : choice, /*oneQuery=*/true), number, how,
      chip, drawLengths(number, how));
}

auto getParameters(int cases) {
  return testing::Combine(testing::ValuesIn(kChips), testing::Range(0, cases));
}

INSTANTIATE_TEST_SUITE_P(Pairwise, AttentionOnDevice, getParameters(getAttentionCases().size()),
                         getName);
INSTANTIATE_TEST_SUITE_P(Pairwise, TiledAttentionOnDevice,
                         getParameters(getScheduledAttentionCases().size()), getName);

} // namespace
