// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Blocks.h. Refuses nothing: the dialect's verifiers have seen that rows hold whole blocks, and
// the schedule has put them into panels.
#include "lowering/Kernels/Blocks.h"
#include "lowering/Tile/LoadPacked.h"

using namespace mlir;
using namespace mlir::fovea;

BlockWeight::BlockWeight(TileBuilder &b, Value weight)
    : b(b), k(b.k), type(cast<RankedTensorType>(weight.getType())), format(*getBlockFormat(type)),
      panel(format, type.getDimSize(1)), memory(k.buffer(weight)) {}

static Type scaleType(KernelBuilder &k, BlockScale scale) {
  switch (scale) {
  case BlockScale::F16:
    return k.getF16Type();
  case BlockScale::BF16:
    return k.getBF16Type();
  case BlockScale::F32:
    return k.getF32Type();
  case BlockScale::ByBlock:
    return k.getI8Type();
  }
  llvm_unreachable("all kinds of scales are above");
}

Value BlockWeight::part(int64_t place, int64_t units, Type element, bool ofWords) {
  return b.atTop([&]() -> Value {
    Value bytes =
        memref::CollapseShapeOp::create(k, memory, ArrayRef<ReassociationIndices>{{0, 1}});
    int64_t size = ofWords ? 1 : getStorageBytes(element, 1);
    int64_t total = cast<MemRefType>(bytes.getType()).getNumElements();
    Value elements = bytes;
    if (size != 1)
      elements = memref::ViewOp::create(k, MemRefType::get({total / size}, element), bytes,
                                        k.index(0), ValueRange());
    int64_t panels = llvm::divideCeil(type.getDimSize(0), kStoredPanelWidth);
    SmallVector<int64_t> sizes{panels, units, kStoredPanelWidth};
    SmallVector<int64_t> strides{panel.bytes / size, kStoredPanelWidth, 1};
    if (ofWords) {
      sizes.push_back(4);
      strides = {panel.bytes, 4 * kStoredPanelWidth, 4, 1};
    }
    auto stored = cast<MemRefType>(elements.getType()).getElementType();
    auto layout = StridedLayoutAttr::get(k.getContext(), place / size, strides);
    return memref::ReinterpretCastOp::create(k, MemRefType::get(sizes, stored, layout), elements,
                                             place / size, sizes, strides);
  });
}

//===-- Tiles --------------------------------------------------------------------------------===//

Value BlockWeight::loadPart(int64_t place, int64_t columns, Type element, TileColumns c) {
  bool ofCodes = place == panel.codes;
  int64_t units = ofCodes ? columns * format.codeBits / 32 : columns;
  Value matrix = part(place, units, element, ofCodes);
  Value view =
      tile::PackedOp::create(k, tile::ViewType::get(type.getDimSize(0), columns, element), matrix);
  return tile::LoadOp::create(k, b.tileType(c.width, columns, element), view, b.column(c),
                              k.index(0));
}

Value BlockWeight::loadFactors(int64_t place, int64_t ofBlocks, TileColumns c) {
  Value factors = loadPart(place, panel.groups, scaleType(k, format.scale), c);
  if (format.scale != BlockScale::ByBlock)
    return factors;
  Value scales = loadPart(ofBlocks, panel.blocks, k.getF16Type(), c);
  return tile::DequantizeOp::create(k, b.tileType(c.width, panel.groups, k.getF32Type()), factors,
                                    scales);
}

Value BlockWeight::loadRows(TileColumns c, Type number) {
  int64_t inputs = type.getDimSize(1);
  Value codes = loadPart(panel.codes, inputs, k.getIntegerType(format.codeBits), c), offsets;
  Value scales = loadFactors(panel.scales, panel.blockScales, c);
  if (format.hasOffsets)
    offsets = loadFactors(panel.offsets, panel.blockOffsets, c);
  DenseI8ArrayAttr table;
  if (!format.table.empty())
    table = k.getDenseI8ArrayAttr(format.table);
  return tile::DequantizeOp::create(k, b.tileType(c.width, inputs, number), codes, scales, offsets,
                                    k.getI64IntegerAttr(format.bias), table);
}

//===-- Numbers ------------------------------------------------------------------------------===//

static Value divide(KernelBuilder &k, Value index, int64_t by) {
  return arith::DivUIOp::create(k, index, k.index(by));
}

static Value remainder(KernelBuilder &k, Value index, int64_t by) {
  return arith::RemUIOp::create(k, index, k.index(by));
}

Value BlockWeight::factorAt(int64_t place, int64_t ofBlocks, Value row, Value column) {
  Value inPanel = remainder(k, row, kStoredPanelWidth), number = divide(k, row, kStoredPanelWidth);
  Type element = scaleType(k, format.scale), f32 = k.getF32Type();
  Value factor = k.load(part(place, panel.groups, element),
                        {number, divide(k, column, format.group), inPanel});
  if (format.scale != BlockScale::ByBlock)
    return k.convert(factor, f32);
  Value scale = k.load(part(ofBlocks, panel.blocks, k.getF16Type()),
                       {number, divide(k, column, format.elements), inPanel});
  return k.mul(arith::SIToFPOp::create(k, f32, factor), k.convert(scale, f32));
}

Value BlockWeight::codeAt(Value row, Value column) {
  Value codes =
      part(panel.codes, type.getDimSize(1) * format.codeBits / 32, k.getI8Type(), /*ofWords=*/true);
  Value number = divide(k, row, kStoredPanelWidth), inPanel = remainder(k, row, kStoredPanelWidth);
  Value code = loadPacked(k, {format.codeBits}, column, [&](Value word, Value byte) {
    return k.load(codes, {number, word, inPanel, byte});
  });
  if (!format.table.empty())
    code = lookUp(k, format.table, code);
  return arith::ExtSIOp::create(k, k.getI32Type(), code);
}

Value BlockWeight::gatherRows(Value numbers, TileColumns c) {
  auto i32 = b.tileType(b.tileRows, c.width, k.getI32Type());
  Value columns = tile::IotaOp::create(k, i32, b.column(c), 1);
  Value height = k.index(type.getDimSize(0)), last = k.index(type.getDimSize(1) - 1);
  Value rows = b.broadcast(b.numbersOfRows(numbers, 1), b.tileRows, c.width);
  return b.map(i32.withElementType(k.getF32Type()), {rows, columns}, [&](ValueRange e) {
    Value row = k.toIndex(e[0]);
    Value isThere = arith::CmpIOp::create(k, arith::CmpIPredicate::ult, row, height);
    row = k.select(isThere, row, k.index(0));
    Value column = arith::MinUIOp::create(k, k.toIndex(e[1]), last);
    Value code = codeAt(row, column);
    if (format.bias != 0)
      code = arith::AddIOp::create(k, code, k.integer(k.getI32Type(), format.bias));
    Value number = k.mul(arith::SIToFPOp::create(k, k.getF32Type(), code),
                         factorAt(panel.scales, panel.blockScales, row, column));
    if (format.hasOffsets)
      number = k.add(number, factorAt(panel.offsets, panel.blockOffsets, row, column));
    return number;
  });
}
