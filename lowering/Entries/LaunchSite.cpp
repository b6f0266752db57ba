// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LaunchSite.h. Of a kernel's code the host repeats what its grid's extents and its size checks
// are made of: index arithmetic on its operands.
#include "lowering/Entries/LaunchSite.h"
#include "abi/Abi.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/Entries/Entries.h"
#include "lowering/Tile/Emitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fovea;

int64_t mlir::fovea::getThreads(Operation *kernel) {
  auto threads = kernel->getAttrOfType<IntegerAttr>(FoveaDialect::kThreadsAttr);
  return threads ? threads.getInt() : kDefaultThreads;
}

int64_t mlir::fovea::getSharedBytes(Operation *kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(FoveaDialect::kSharedBytesAttr);
  return bytes ? bytes.getInt() : 0;
}

DictionaryAttr mlir::fovea::getLaunchShape(Operation *kernel) {
  NamedAttrList shape;
  for (StringRef name : {FoveaDialect::kThreadsAttr, FoveaDialect::kSharedBytesAttr,
                         FoveaDialect::kTensorMapsAttr, FoveaDialect::kPersistentAttr})
    if (Attribute value = kernel->getAttr(name))
      shape.set(name, value);
  return shape.getDictionary(kernel->getContext());
}

void mlir::fovea::setLaunchShape(Operation *kernel, DictionaryAttr shape) {
  for (NamedAttribute attribute : shape)
    kernel->setAttr(attribute.getName(), attribute.getValue());
}

mlir::fovea::BufferParameters::BufferParameters(MemRefType type) {
  SmallVector<int64_t> known;
  int64_t first = 0;
  if (failed(type.getStridesAndOffset(known, first)))
    return;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (type.isDynamicDim(axis))
      sizes.push_back(axis);
    if (ShapedType::isDynamic(known[axis]) && !type.getLayout().isIdentity())
      strides.push_back(axis);
  }
  offset = ShapedType::isDynamic(first);
}

//===-- What the host repeats ----------------------------------------------------------------===//

/// The op whose iterations are a kernel's blocks or threads; null if it has none.
static Operation *findGrid(func::FuncOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<tile::KernelOp, scf::ParallelOp>(op))
      return &op;
  return nullptr;
}

/// Of a kernel's values those that the host has.
static std::function<bool(Value)> isMapped(const IRMapping &mapping) {
  return [&](Value value) { return mapping.contains(value); };
}

/// The number of blocks, as an index. Fails if it depends on memory.
static FailureOr<Value> countBlocks(PointerBuilder &b, func::FuncOp kernel, IRMapping &mapping) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  Operation *grid = findGrid(kernel);
  if (!grid)
    return one; // a few stores
  Value total = one;
  auto multiply = [&](ValueRange extents) -> LogicalResult {
    for (Value extent : extents) {
      Value here = repeat(b, extent, mapping, isMapped(mapping));
      if (!here)
        return kernel.emitOpError("expects a grid that follows from sizes and planned numbers");
      total = arith::MulIOp::create(b, total, here);
    }
    return success();
  };
  if (auto tiles = dyn_cast<tile::KernelOp>(grid)) {
    if (failed(multiply(tiles.getExtents())))
      return failure();
    return total;
  }
  // Plain loops: an iteration for each thread.
  if (failed(multiply(cast<scf::ParallelOp>(grid).getUpperBound())))
    return failure();
  return Value(
      arith::CeilDivUIOp::create(b, total, arith::ConstantIndexOp::create(b, getThreads(kernel))));
}

/// Whether one of the kernel's size checks fails; null without checks. A check that asks memory is
/// the device's alone.
static Value findFault(PointerBuilder &b, func::FuncOp kernel, IRMapping &mapping) {
  Value any;
  for (auto fault : kernel.getBody().front().getOps<FaultOp>()) {
    Value condition = repeat(b, fault.getCondition(), mapping, isMapped(mapping));
    if (condition)
      any = any ? Value(arith::OrIOp::create(b, any, condition)) : condition;
  }
  return any;
}

//===-- Parameters ---------------------------------------------------------------------------===//

/// The words of one operand: see fovea-lower-device-kernels.
static void addWords(PointerBuilder &b, Value operand, SmallVectorImpl<Value> &words) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type) {
    words.push_back(operand);
    return;
  }
  BufferParameters parameters(type);
  words.push_back(memref::ExtractAlignedPointerAsIndexOp::create(b, operand));
  for (int64_t axis : parameters.sizes)
    words.push_back(memref::DimOp::create(b, operand, axis));
  if (!parameters.offset && parameters.strides.empty())
    return;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, operand);
  if (parameters.offset)
    words.push_back(metadata.getOffset());
  for (int64_t axis : parameters.strides)
    words.push_back(metadata.getStrides()[axis]);
}

static int64_t getMapElement(Type type) {
  return type.isF16() ? FOVEA_MAP_F16 : type.isBF16() ? FOVEA_MAP_BF16 : FOVEA_MAP_F32;
}

/// Fills in the tensor map at `out`. Axes count from the last one on; of an operand without
/// elements one is said to be there, for nothing else can be said, and no block copies any.
static void storeTensorMap(PointerBuilder &b, tile::TensorMapAttr map, ValueRange operands,
                           Value out) {
  auto store = [&](OpFoldResult value, size_t offset, int64_t i = 0) {
    Value wide;
    if (auto known = dyn_cast<Attribute>(value))
      wide = LLVM::ConstantOp::create(b, cast<IntegerAttr>(known));
    else
      wide = arith::IndexCastOp::create(b, b.getI64Type(), cast<Value>(value));
    LLVM::StoreOp::create(b, wide, b.element(out, b.getI8Type(), offset + 8 * i));
  };
  auto constant = [&](int64_t value) { return b.getI64IntegerAttr(value); };
  Value memory = operands[map.getOperand()];
  auto type = cast<MemRefType>(memory.getType());
  int64_t rank = type.getRank(), bytes = type.getElementTypeBitWidth() / 8;
  store(memref::ExtractAlignedPointerAsIndexOp::create(b, memory).getResult(),
        offsetof(fovea_tensor_map, address));
  store(constant(rank), offsetof(fovea_tensor_map, rank));
  store(constant(getMapElement(type.getElementType())), offsetof(fovea_tensor_map, element));
  store(constant(map.getSwizzle()), offsetof(fovea_tensor_map, swizzle));
  Value one = arith::ConstantIndexOp::create(b, 1),
        stride = arith::ConstantIndexOp::create(b, bytes);
  for (int64_t axis = rank - 1, i = 0; axis >= 0; --axis, ++i) {
    Value size = memref::DimOp::create(b, memory, axis), there = size;
    if (axis == map.getAxis() && map.getLength() >= 0)
      there = operands[map.getLength()];
    store(arith::MaxSIOp::create(b, there, one).getResult(), offsetof(fovea_tensor_map, sizes), i);
    if (i > 0)
      store(stride, offsetof(fovea_tensor_map, strides), i - 1);
    stride = arith::MulIOp::create(b, stride, size);
    int64_t box = i == 0 ? map.getColumns() : axis == map.getAxis() ? map.getRows() : 1;
    store(constant(box), offsetof(fovea_tensor_map, box), i);
  }
}

LogicalResult mlir::fovea::emitLaunchSite(PointerBuilder &b, const LaunchSite &site,
                                          ValueRange operands) {
  func::FuncOp kernel = site.kernel;
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip(kernel.getArguments(), operands))
    mapping.map(argument, operand);
  FailureOr<Value> blocks = countBlocks(b, kernel, mapping);
  if (failed(blocks))
    return failure();
  Value zero = LLVM::ConstantOp::create(b, b.getI64IntegerAttr(0));
  Value one = LLVM::ConstantOp::create(b, b.getI64IntegerAttr(1));
  Value code = LLVM::AddOp::create(b, site.step, one), fault = zero;
  Value count = arith::IndexCastOp::create(b, b.getI64Type(), *blocks);
  if (Value wrong = findFault(b, kernel, mapping)) {
    fault = arith::SelectOp::create(b, wrong, code, zero);
    count = arith::SelectOp::create(b, wrong, zero, count);
  }
  auto store = [&](Value value, size_t offset) {
    LLVM::StoreOp::create(b, value, b.element(site.out, b.getI8Type(), offset));
  };
  store(count, offsetof(fovea_launch, blocks));
  store(fault, offsetof(fovea_launch, fault));

  SmallVector<Value> words;
  for (Value operand : operands)
    addWords(b, operand, words);
  for (Value &word : words)
    word = arith::IndexCastOp::create(b, b.getI64Type(), word);
  if (site.mayFault) {
    Value place = b.frameField(site.frame, offsetof(fovea_frame, fault));
    words.push_back(LLVM::PtrToIntOp::create(b, b.getI64Type(), place));
    words.push_back(code);
  }
  if (words.size() > FOVEA_MAX_LAUNCH_WORDS)
    return kernel.emitOpError("expects at most ")
           << FOVEA_MAX_LAUNCH_WORDS << " words of parameters, got " << words.size();
  store(LLVM::ConstantOp::create(b, b.getI64IntegerAttr(words.size())),
        offsetof(fovea_launch, count));
  for (auto [i, word] : llvm::enumerate(words))
    store(word, offsetof(fovea_launch, words) + 8 * i);
  auto maps = kernel->getAttrOfType<ArrayAttr>(FoveaDialect::kTensorMapsAttr);
  int64_t mapCount = maps ? maps.size() : 0;
  store(LLVM::ConstantOp::create(b, b.getI64IntegerAttr(mapCount)),
        offsetof(fovea_launch, map_count));
  for (int64_t i = 0; i < mapCount; ++i)
    storeTensorMap(b, cast<tile::TensorMapAttr>(maps[i]), operands,
                   b.element(site.out, b.getI8Type(),
                             offsetof(fovea_launch, maps) + i * sizeof(fovea_tensor_map)));
  return success();
}
