// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention grid: every pair of variants of every two clauses of `fovea.attention`, compiled,
// at lengths from 0 to 129, against the interpreter in f64. Each call runs whole and in three
// parts, over memory that holds other things before; both must agree to the bit, and nothing that
// was not written may be computed with.
#include "interpreter/Interpreter.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/AttentionCase.h"
#include "test/grid/NativeProgram.h"
#include "test/grid/NoWeights.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

MLIRContext &getContext() {
  static const std::unique_ptr<MLIRContext> context = makeContext();
  return *context;
}

void chooseTiles(GroupOp group, How how) {
  group.walk([&](AttentionOp op) {
    if (how == How::Default)
      return;
    auto axis = isByHeads(how) ? AttentionAxis::Heads : AttentionAxis::Queries;
    int64_t rows = isByHeads(how) ? 4 : 16;
    // Enough blocks of work for two to four parts wherever there are few queries.
    SmallVector<int64_t> split;
    if (isSplit(how))
      split = {kPartKeys, 64};
    group.setScheduleAttr(AttentionScheduleAttr::get(group.getContext(), rows, 32, axis, {4, rows},
                                                     {4, rows}, split, Type()));
  });
}

void run(const AttentionCase &attention, int number, How how, StringRef level = "") {
  SCOPED_TRACE(attention.describe());
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(attention.getText(), &getContext());
  ASSERT_TRUE(module) << attention.getText();
  std::string error;
  std::unique_ptr<NativeProgram> program =
      NativeProgram::compile(*module, error,
                             {.tiles = level.empty() ? TilesTo::Loops : TilesTo::Vectors,
                              .optimizes = number % 2 == 0, // it is not LLVM that is asked
                              .choose = [&](GroupOp group) { chooseTiles(group, how); },
                              .level = level});
  ASSERT_TRUE(program) << error << attention.getText();
  NoWeights weights;
  Interpreter interpreter(*module, weights);
  std::mt19937_64 random(number);
  How lengths = attention.isOfOneQuery() && how == How::Default ? How::Heads : how;
  for (auto [queries, keys] : makeLengths(number, lengths)) {
    int64_t batch = 1 + (queries + keys + number) % 2;
    SCOPED_TRACE("B" + std::to_string(batch) + " Sq" + std::to_string(queries) + " Sk" +
                 std::to_string(keys));
    std::vector<RuntimeValue> inputs = attention.makeInputs(batch, queries, keys, random);
    FailureOr<std::vector<RuntimeValue>> expected = interpreter.call("attend", inputs);
    ASSERT_TRUE(succeeded(expected));
    FailureOr<std::vector<RuntimeValue>> got = program->call("attend", inputs, 1, error);
    ASSERT_TRUE(succeeded(got)) << error;
    (void)metDenormals();
    FailureOr<std::vector<RuntimeValue>> inParts =
        program->call("attend", inputs, 3, error, Unwritten::Denormal);
    ASSERT_TRUE(succeeded(inParts)) << error;
    EXPECT_FALSE(metDenormals()) << "computes with what nobody has written";
    for (size_t i = 0; i < expected->size(); ++i) {
      const Tensor &result = *std::get<TensorRef>((*got)[i]);
      EXPECT_EQ(
          compareTensors(result, *std::get<TensorRef>((*expected)[i]), attention.getTolerance()),
          "")
          << "result " << i;
      const Tensor &other = *std::get<TensorRef>((*inParts)[i]);
      EXPECT_TRUE(haveEqualBits(result, other))
          << "result " << i << " depends on the number of parts, or on what nobody has written";
    }
    if (testing::Test::HasFailure()) {
      std::cerr << attention.getText();
      return;
    }
  }
}

/// Why AVX2 need not, or cannot, be asked beside the level that is tested; empty if it is.
std::string findWhyNotAvx2() {
  const Level *level = findProcessorLevel(getTestedLevel());
  if (!level || level->family != &kX86 || level->name == "sse")
    return "the processor that is tested has no AVX2";
  return level->name == "avx2" ? "AVX2 is the level that is tested" : "";
}

class AttentionGrid : public testing::TestWithParam<int> {};

TEST_P(AttentionGrid, agreesWithTheInterpreter) {
  run(AttentionCase(getAttentionCases()[GetParam()]), GetParam(), How::Default);
}

class AttentionGridTiles : public testing::TestWithParam<int> {};

TEST_P(AttentionGridTiles, byQueriesInLoops) {
  run(AttentionCase(getScheduledAttentionCases()[GetParam()]), GetParam(), How::Queries);
}

TEST_P(AttentionGridTiles, byQueriesInVectors) {
  run(AttentionCase(getScheduledAttentionCases()[GetParam()]), GetParam(), How::Queries,
      getTestedLevel());
}

TEST_P(AttentionGridTiles, byQueriesOnAvx2) {
  if (std::string why = findWhyNotAvx2(); !why.empty())
    GTEST_SKIP() << why;
  run(AttentionCase(getScheduledAttentionCases()[GetParam()]), GetParam(), How::Queries, "avx2");
}

TEST_P(AttentionGridTiles, byHeadsInLoops) {
  run(AttentionCase(getScheduledAttentionCases()[GetParam()], /*oneQuery=*/true), GetParam(),
      How::Heads);
}

TEST_P(AttentionGridTiles, byHeadsInVectors) {
  run(AttentionCase(getScheduledAttentionCases()[GetParam()], /*oneQuery=*/true), GetParam(),
      How::Heads, getTestedLevel());
}

TEST_P(AttentionGridTiles, byQueriesSplit) {
  StringRef tested = getTestedLevel();
  StringRef level = std::array<StringRef, 3>{
      "", tested, findWhyNotAvx2().empty() ? "avx2" : tested}[GetParam() % 3];
  run(AttentionCase(makeSplittable(getScheduledAttentionCases()[GetParam()])), GetParam(),
      How::SplitQueries, level);
}

TEST_P(AttentionGridTiles, byHeadsSplitInLoops) {
  run(AttentionCase(makeSplittable(getScheduledAttentionCases()[GetParam()]), /*oneQuery=*/true),
      GetParam(), How::SplitHeads);
}

TEST_P(AttentionGridTiles, byHeadsSplitInVectors) {
  run(AttentionCase(makeSplittable(getScheduledAttentionCases()[GetParam()]), /*oneQuery=*/true),
      GetParam(), How::SplitHeads, getTestedLevel());
}

TEST_P(AttentionGridTiles, byHeadsSplitOnAvx2) {
  if (std::string why = findWhyNotAvx2(); !why.empty())
    GTEST_SKIP() << why;
  run(AttentionCase(makeSplittable(getScheduledAttentionCases()[GetParam()]), /*oneQuery=*/true),
      GetParam(), How::SplitHeads, "avx2");
}

/// Of one query, by the level's own schedule.
class AttentionGridHeads : public testing::TestWithParam<int> {};

TEST_P(AttentionGridHeads, agreeWithTheInterpreter) {
  run(AttentionCase(getHeadCases()[GetParam()], /*oneQuery=*/true), GetParam(), How::Default,
      getTestedLevel());
}

TEST_P(AttentionGridHeads, agreeOnAvx2) {
  if (std::string why = findWhyNotAvx2(); !why.empty())
    GTEST_SKIP() << why;
  run(AttentionCase(getHeadCases()[GetParam()], /*oneQuery=*/true), GetParam(), How::Default,
      "avx2");
}

INSTANTIATE_TEST_SUITE_P(All, AttentionGridHeads,
                         testing::Range(0, static_cast<int>(getHeadCases().size())));

INSTANTIATE_TEST_SUITE_P(Pairwise, AttentionGrid,
                         testing::Range(0, static_cast<int>(getAttentionCases().size())));

INSTANTIATE_TEST_SUITE_P(Pairwise, AttentionGridTiles,
                         testing::Range(0, static_cast<int>(getScheduledAttentionCases().size())));

TEST(AttentionGridSize, isBounded) { EXPECT_LE(getAttentionCases().size(), 400u); }

} // namespace
