// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A processor that does not exist, with vectors of two: a table of sizes and one atom are all that
// it takes to compute attention, linears, norms and activations on it.
#include "dialects/Tile/TileDialect.h"
#include "interpreter/Interpreter.h"
#include "lowering/CPU/TileLowering.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/NativeProgram.h"
#include "test/grid/NoWeights.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

constexpr Level kToy = {/*name=*/"toy",
                        /*processor=*/"",
                        /*lanes=*/2,
                        /*registers=*/8,
                        /*features=*/{},
                        /*manyRows=*/{{6, 16}, 12, {3, 2}},
                        /*pairRows=*/1,
                        /*oneRow=*/{{1, 16}, 1, {1, 4}},
                        /*oneRowNarrow=*/{{1, 16}, 1, {1, 4}},
                        /*wide=*/1024,
                        /*manyQueries=*/{4, 6, {3, 4}, {2, 4}},
                        /*few=*/3,
                        /*fewQueries=*/{2, 6, {3, 2}, {2, 2}},
                        /*oneQuery=*/{4, 6, {2, 2}, {2, 4}},
                        /*split=*/{12, 8},
                        /*rows=*/3,
                        /*elements=*/10,
                        /*panels=*/{16, 1, 1, 2, 1}};

/// A product and a sum, one k at a time.
class ToyAtom : public DotAtom {
public:
  bool supports(const DotBlock &block) const override {
    return block.sum.isF32() && block.lane.type.isF32() && block.broadcast.type.isF32();
  }
  SmallVector<Value> emit(Emitter &b, const DotBlock &block,
                          SmallVector<Value> acc) const override {
    ++blocks;
    return b.loop(b.index(0), block.depth, 1, acc, [&](Value k, ValueRange carried) {
      SmallVector<Value> sums(carried);
      for (int64_t v = 0; v < block.vectors(); ++v) {
        Value at = b.add(block.lane.vectors[v], b.mul(k, block.lane.stride));
        Value y = b.load(block.sum, block.lane.memory, at, block.lanes);
        for (int64_t r = 0; r < block.rows(); ++r) {
          Value place = b.add(block.broadcast.rows[r], b.mul(k, block.broadcast.stride));
          Value x = memref::LoadOp::create(b, block.broadcast.memory, place);
          Value &sum = sums[r * block.vectors() + v];
          sum = b.mulAdd(b.splat(x, block.lanes), y, sum);
        }
      }
      return sums;
    });
  }
  mutable int blocks = 0;
};

constexpr const char *kText = R"(
func.func @run(%x: tensor<?x?x24xf32> {fovea.name = "x"}, %w: tensor<24x24xf32> {fovea.name = "w"},
               %bias: tensor<24xf32> {fovea.name = "bias"}) -> (tensor<?x?x24xf32> {fovea.name = "y"})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x24xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x24xf32>
  %n = fovea.layer_norm %x eps(1.0e-5) : tensor<?x?x24xf32>
  %l = fovea.linear %n, %w bias(%bias : tensor<24xf32>) : tensor<?x?x24xf32>, tensor<24x24xf32> -> tensor<?x?x24xf32>
  %g = fovea.activation gelu %l : tensor<?x?x24xf32>
  %h = tensor.expand_shape %g [[0], [1], [2, 3]] output_shape [%b, %s, 3, 8] : tensor<?x?x24xf32> into tensor<?x?x3x8xf32>
  %m = fovea.mask_causal
  %a = fovea.attention %h, %h, %h mask(%m) scale(0.35) : tensor<?x?x3x8xf32>, tensor<?x?x3x8xf32>, tensor<?x?x3x8xf32> -> tensor<?x?x3x8xf32>
  %y = tensor.collapse_shape %a [[0], [1], [2, 3]] : tensor<?x?x3x8xf32> into tensor<?x?x24xf32>
  return %y : tensor<?x?x24xf32>
})";

TEST(ToyTarget, needsAnAtomAndATableOnly) {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kText, context.get());
  ASSERT_TRUE(module);
  ToyAtom atom;
  const DotAtom *atoms[] = {&atom};
  int kernels = 0;
  std::string error;
  std::unique_ptr<NativeProgram> program =
      NativeProgram::compile(*module, error,
                             {.choose =
                                  [&](GroupOp group) {
                                    if (isCovered(group))
                                      group.setScheduleAttr(chooseTiles(group, kToy));
                                  },
                              .lower = [&](func::FuncOp function) -> LogicalResult {
                                if (function.getOps<tile::KernelOp>().empty())
                                  return success();
                                ++kernels;
                                return TileLowering(function, kToy.lanes, atoms).run();
                              }});
  ASSERT_TRUE(program) << error;
  EXPECT_GE(kernels, 3);
  EXPECT_GE(atom.blocks, 3); // one product of the linear, two of attention

  NoWeights weights;
  Interpreter interpreter(*module, weights);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t length : {0, 1, 2, 3, 5, 13}) {
    auto make = [&](std::vector<int64_t> shape) {
      auto tensor = std::make_shared<Tensor>();
      tensor->shape.assign(shape.begin(), shape.end());
      int64_t count = 1;
      for (int64_t size : shape)
        count *= size;
      for (int64_t i = 0; i < count; ++i)
        tensor->reals.push_back(static_cast<float>(uniform(random)));
      return RuntimeValue(TensorRef(tensor));
    };
    std::vector<RuntimeValue> inputs{make({2, length, 24}), make({24, 24}), make({24})};
    FailureOr<std::vector<RuntimeValue>> expected = interpreter.call("run", inputs);
    FailureOr<std::vector<RuntimeValue>> got = program->call("run", inputs, 2, error);
    ASSERT_TRUE(succeeded(expected));
    ASSERT_TRUE(succeeded(got)) << error;
    const Tensor &x = *std::get<TensorRef>((*got)[0]), &y = *std::get<TensorRef>((*expected)[0]);
    ASSERT_EQ(x.shape, y.shape);
    for (size_t i = 0; i < y.reals.size(); ++i)
      ASSERT_NEAR(x.reals[i], y.reals[i], 2e-5) << "length " << length << ", element " << i;
  }
}

} // namespace
