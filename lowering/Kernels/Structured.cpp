// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of structured linalg ops: any maps, any body, any number of results. Where each element
// of the results belongs to one step of the parallel loops, threads share these; other ops run in
// one part, in the order of their loops.
#include "lowering/Kernels/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fovea;

/// Elements of a result that stay in a core's first cache while a block of them is summed up.
static constexpr int64_t kBlock = 256;

namespace {

class StructuredBuilder {
public:
  StructuredBuilder(KernelBuilder &k, linalg::LinalgOp op)
      : k(k), op(op), reader(k, op), extents(reader.loopExtents(op)),
        inits(op.getDpsInits().begin(), op.getDpsInits().end()) {
    op.getParallelDims(parallel);
    op.getReductionDims(reductions);
  }
  LogicalResult build();

private:
  bool ownsResults();
  bool isOrdered();
  unsigned strideOf(unsigned loop);
  std::optional<unsigned> chooseLanes();
  AffineMap mapOf(unsigned result) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  }
  bool readsInit(unsigned result) {
    unsigned number = op.getDpsInitOperand(result)->getOperandNumber();
    // linalg.map may hide its results from the body.
    return number < op.getBlock()->getNumArguments() &&
           !op.getBlock()->getArgument(number).use_empty();
  }
  Value readInit(unsigned result, ValueRange loops);
  SmallVector<Value> emitStep(ValueRange loops, ValueRange carried, bool anyOrder);
  void nest(ArrayRef<unsigned> order, MutableArrayRef<Value> loops, function_ref<void()> body);
  SmallVector<Value> reduce(ArrayRef<unsigned> order, SmallVector<Value> &loops, ValueRange init,
                            bool anyOrder);
  std::optional<unsigned> findTurned();
  void buildElements();
  void buildReductions();
  void buildBlocks(unsigned lanes);
  void buildInOrder();

  KernelBuilder &k;
  linalg::LinalgOp op;
  ElementReader reader;
  SmallVector<Value> extents, inits;
  SmallVector<unsigned> parallel, reductions;
};

} // namespace

/// Whether the parallel loops, in some order, are the axes of every result.
bool StructuredBuilder::ownsResults() {
  for (unsigned result = 0; result < inits.size(); ++result) {
    AffineMap map = mapOf(result);
    if (!map.isProjectedPermutation() || map.getNumResults() != parallel.size())
      return false;
    for (unsigned loop : parallel)
      if (!map.isFunctionOfDim(loop))
        return false;
  }
  return true;
}

/// Whether the order of the reductions' steps may matter for more than rounding.
bool StructuredBuilder::isOrdered() {
  if (inits.size() != 1 || !readsInit(0))
    return true;
  BlockArgument carried = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  return !combiner || !carried.hasOneUse() || !llvm::is_contained(carried.getUsers(), combiner) ||
         !isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
              arith::MinNumFOp, arith::AddIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp,
              arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(combiner);
}

/// How badly memory is walked if `loop` is the innermost.
unsigned StructuredBuilder::strideOf(unsigned loop) {
  unsigned cost = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isFunctionOfDim(loop))
      continue;
    AffineExpr last = map.getResult(map.getNumResults() - 1);
    cost += last == getAffineDimExpr(loop, op.getContext()) ? 1 : 8;
  }
  return cost;
}

/// The parallel loop to have innermost, several elements of which are summed up side by side.
std::optional<unsigned> StructuredBuilder::chooseLanes() {
  if (parallel.empty())
    return std::nullopt;
  AffineMap map = mapOf(0);
  unsigned lanes = map.getDimPosition(map.getNumResults() - 1);
  if (strideOf(lanes) > strideOf(reductions.back()))
    return std::nullopt;
  return lanes;
}

/// What a result starts from.
Value StructuredBuilder::readInit(unsigned result, ValueRange loops) {
  return reader.read(inits[result], reader.apply(mapOf(result), loops));
}

/// The body at one step. Its sums may be contracted and, in `anyOrder`, reordered: kernels' parts
/// never share one.
SmallVector<Value> StructuredBuilder::emitStep(ValueRange loops, ValueRange carried,
                                               bool anyOrder) {
  SmallVector<Value> arguments = reader.readInputs(op, loops);
  llvm::append_range(arguments, carried);
  SmallVector<Value> yielded = reader.emitBody(op, arguments, loops);
  auto allow = [](Operation *op, arith::FastMathFlags flags) {
    auto math = dyn_cast_or_null<arith::ArithFastMathInterface>(op);
    if (math)
      op->setAttr(math.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(),
                                                flags | math.getFastMathFlagsAttr().getValue()));
  };
  for (Value value : yielded)
    if (auto sum = value.getDefiningOp<arith::AddFOp>();
        sum && !reductions.empty() &&
        llvm::is_contained(carried, sum.getLhs()) != llvm::is_contained(carried, sum.getRhs())) {
      auto flags = arith::FastMathFlags::contract;
      for (Value term : sum->getOperands())
        allow(term.getDefiningOp<arith::MulFOp>(), flags);
      if (anyOrder)
        flags = flags | arith::FastMathFlags::reassoc | arith::FastMathFlags::nsz;
      allow(sum, flags);
    }
  return yielded;
}

void StructuredBuilder::nest(ArrayRef<unsigned> order, MutableArrayRef<Value> loops,
                             function_ref<void()> body) {
  if (order.empty())
    return body();
  k.loop(k.index(0), extents[order.front()], [&](Value i) {
    loops[order.front()] = i;
    nest(order.drop_front(), loops, body);
  });
}

SmallVector<Value> StructuredBuilder::reduce(ArrayRef<unsigned> order, SmallVector<Value> &loops,
                                             ValueRange init, bool anyOrder) {
  if (order.empty())
    return emitStep(loops, init, anyOrder);
  return k.loopCarried(k.index(0), extents[order.front()], init, [&](Value i, ValueRange carried) {
    loops[order.front()] = i;
    return reduce(order.drop_front(), loops, carried, anyOrder);
  });
}

std::optional<unsigned> mlir::fovea::getLastLoop(AffineMap map, Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  for (int64_t axis = map.getNumResults(); type && axis-- > 0;) {
    if (type.getDimSize(axis) == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
    return dim ? std::optional(dim.getPosition()) : std::nullopt;
  }
  return std::nullopt;
}

/// The loop along which the only input lies in memory, if it is not the result's.
std::optional<unsigned> StructuredBuilder::findTurned() {
  if (op.getNumDpsInputs() != 1)
    return std::nullopt;
  OpOperand *input = op.getDpsInputOperand(0);
  std::optional<unsigned> loop = getLastLoop(op.getMatchingIndexingMap(input), input->get());
  return loop == getLastLoop(mapOf(0), op->getResult(0)) ? std::nullopt : loop;
}

/// No reductions: each step gives an element of each result. Where an input is turned, a line of
/// it at a time, so that lines of both sides stay in a cache until they are done.
void StructuredBuilder::buildElements() {
  constexpr int64_t kLine = 16;
  SmallVector<Value> sizes;
  SmallVector<unsigned> order; // that of the first result, for its sake
  for (AffineExpr expr : mapOf(0).getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  std::optional<unsigned> turned = findTurned();
  for (unsigned loop : order)
    sizes.push_back(loop == turned
                        ? arith::CeilDivUIOp::create(k, extents[loop], k.index(kLine)).getResult()
                        : extents[loop]);
  auto step = [&](SmallVector<Value> &loops) {
    SmallVector<Value> carried;
    for (unsigned result = 0; result < inits.size(); ++result)
      carried.push_back(readsInit(result) ? readInit(result, loops) : Value());
    for (auto [result, value] : llvm::enumerate(emitStep(loops, carried, false)))
      memref::StoreOp::create(k, value, k.outputs[result], reader.apply(mapOf(result), loops));
  };
  k.parallelNest(reader.guarded(sizes), [&](ValueRange at) {
    SmallVector<Value> loops(extents.size());
    for (auto [loop, index] : llvm::zip(order, at))
      loops[loop] = index;
    if (!turned)
      return step(loops);
    Value first = k.mul(loops[*turned], k.index(kLine));
    Value count = arith::MinUIOp::create(k, k.sub(extents[*turned], first), k.index(kLine));
    k.loop(k.index(0), count, [&](Value i) {
      loops[*turned] = k.add(first, i);
      step(loops);
    });
  });
}

/// Each element of the results in registers until it is done.
void StructuredBuilder::buildReductions() {
  SmallVector<Value> sizes =
      llvm::map_to_vector(parallel, [&](unsigned loop) { return extents[loop]; });
  SmallVector<unsigned> order = reductions;
  bool anyOrder = !isOrdered();
  if (anyOrder)
    llvm::sort(order, [&](unsigned l, unsigned r) {
      return std::pair(strideOf(r), l) < std::pair(strideOf(l), r);
    });
  k.parallelNest(reader.guarded(sizes), [&](ValueRange at) {
    SmallVector<Value> loops(extents.size()), init;
    for (auto [loop, index] : llvm::zip(parallel, at))
      loops[loop] = index;
    for (unsigned result = 0; result < inits.size(); ++result)
      init.push_back(readInit(result, loops));
    for (auto [result, value] : llvm::enumerate(reduce(order, loops, init, anyOrder)))
      memref::StoreOp::create(k, value, k.outputs[result], reader.apply(mapOf(result), loops));
  });
}

/// Blocks of results along `lanes`, a block in the first cache until it is done. What the block
/// reads again and again, as columns of a matrix, is read by consecutive steps.
void StructuredBuilder::buildBlocks(unsigned lanes) {
  SmallVector<Value> sums, sizes;
  for (Value output : k.outputs)
    sums.push_back(memref::AllocaOp::create(
        k, MemRefType::get({kBlock}, cast<MemRefType>(output.getType()).getElementType())));
  SmallVector<unsigned> order;
  for (unsigned loop : parallel)
    if (loop != lanes)
      order.push_back(loop);
  size_t place = order.empty() ? 0 : order.size() - 1;
  order.insert(order.begin() + place, lanes);
  for (unsigned loop : order)
    sizes.push_back(loop == lanes
                        ? arith::CeilDivUIOp::create(k, extents[loop], k.index(kBlock)).getResult()
                        : extents[loop]);
  k.parallelNest(reader.guarded(sizes), [&](ValueRange at) {
    SmallVector<Value> loops(extents.size());
    for (auto [loop, index] : llvm::zip(order, at))
      loops[loop] = index;
    Value first = k.mul(at[place], k.index(kBlock));
    Value count = arith::MinUIOp::create(k, k.sub(extents[lanes], first), k.index(kBlock));
    auto each = [&](function_ref<void(Value)> body) {
      k.loop(k.index(0), count, [&](Value lane) {
        loops[lanes] = k.add(first, lane);
        body(lane);
      });
    };
    each([&](Value lane) {
      for (unsigned result = 0; result < inits.size(); ++result)
        memref::StoreOp::create(k, readInit(result, loops), sums[result], lane);
    });
    nest(reductions, loops, [&] {
      each([&](Value lane) {
        SmallVector<Value> carried =
            llvm::map_to_vector(sums, [&](Value sum) { return k.load(sum, lane); });
        for (auto [sum, value] : llvm::zip(sums, emitStep(loops, carried, false)))
          memref::StoreOp::create(k, value, sum, lane);
      });
    });
    each([&](Value lane) {
      for (auto [result, sum] : llvm::enumerate(sums))
        memref::StoreOp::create(k, k.load(sum, lane), k.outputs[result],
                                reader.apply(mapOf(result), loops));
    });
  });
}

/// Loops that write to an element more than once, or to none: in one part, as they stand.
void StructuredBuilder::buildInOrder() {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, extents.size()));
  k.parallelNest(reader.guarded(ValueRange{k.index(1)}), [&](ValueRange) {
    for (unsigned result = 0; result < inits.size(); ++result) {
      Value init = inits[result], output = k.outputs[result];
      SmallVector<Value> sizes = k.sizes(output), at;
      std::function<void()> copy = [&] {
        if (at.size() == sizes.size()) {
          memref::StoreOp::create(k, reader.read(init, at), output, at);
          return;
        }
        k.loop(k.index(0), sizes[at.size()], [&](Value i) {
          at.push_back(i);
          copy();
          at.pop_back();
        });
      };
      copy();
    }
    SmallVector<Value> loops(extents.size());
    nest(order, loops, [&] {
      SmallVector<Value> carried;
      for (auto [result, output] : llvm::enumerate(k.outputs))
        carried.push_back(k.load(output, reader.apply(mapOf(result), loops)));
      for (auto [result, value] : llvm::enumerate(emitStep(loops, carried, false)))
        memref::StoreOp::create(k, value, k.outputs[result], reader.apply(mapOf(result), loops));
    });
  });
}

LogicalResult StructuredBuilder::build() {
  if (reader.failed())
    return failure();
  if (!ownsResults())
    buildInOrder();
  else if (reductions.empty())
    buildElements();
  else if (std::optional<unsigned> lanes = chooseLanes())
    buildBlocks(*lanes);
  else
    buildReductions();
  return reader.result();
}

LogicalResult mlir::fovea::buildStructured(KernelBuilder &k, Operation *op) {
  auto structured = cast<linalg::LinalgOp>(op);
  if (!structured.hasPureTensorSemantics() || op->getNumResults() == 0 ||
      op->getNumResults() != static_cast<unsigned>(structured.getNumDpsInits()))
    return op->emitOpError("expects tensors and a result for each init");
  return StructuredBuilder(k, structured).build();
}
