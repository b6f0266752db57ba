// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in panels: the encoding, and what it means for memory. Refuses anything but static
// matrices of numbers.
#include "abi/Panels.h"
#include "dialects/Fovea/Blocks.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::fovea;
using Layout = ::fovea::Panels;

LogicalResult PanelsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t width,
                                 int64_t interleave) {
  if (!Layout::isWidth(width)) // C1
    return emitError() << "expects panels of a width that is a multiple of 8 up to 1024, got "
                       << width;
  if (!Layout::isInterleave(interleave)) // C2
    return emitError() << "expects panels that interleave 1, 2, 4, 8 or 16 inputs, got "
                       << interleave;
  return success();
}

/// The units of a row that `interleave` counts: elements, or the bytes of those that share one.
static int64_t countUnits(int64_t columns, Type elementType) {
  if (getBlockFormat(elementType))
    return getStorageBytes(elementType, columns);
  return llvm::divideCeil(columns, getElementsPerByte(elementType));
}

static SmallVector<int64_t> getPanelShape(ArrayRef<int64_t> shape, Type elementType,
                                          const Layout &panels) {
  if (std::optional<BlockFormat> format = getBlockFormat(elementType))
    return {panels.count(shape[0]), BlockPanel(*format, shape[1]).bytes};
  SmallVector<int64_t> result{panels.count(shape[0]),
                              panels.units(countUnits(shape[1], elementType)), panels.width};
  if (panels.interleave != 1)
    result.push_back(panels.interleave);
  return result;
}

/// `shape` is one of memory.
static std::optional<int64_t> countBytes(ArrayRef<int64_t> shape, Type elementType) {
  std::optional<int64_t> bytes = getStorageBytes(getStorageType(elementType), 1);
  for (int64_t size : shape)
    bytes = bytes ? llvm::checkedMul(*bytes, size) : std::nullopt;
  return bytes;
}

LogicalResult PanelsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  std::optional<BlockFormat> blocks = getBlockFormat(elementType);
  if (shape.size() != 2 || ShapedType::isDynamicShape(shape) ||
      (!elementType.isIntOrFloat() && !blocks)) // C3
    return emitError() << "expects panels of a matrix of numbers of static shape, got "
                       << RankedTensorType::get(shape, elementType);
  if (blocks && (getWidth() != kStoredPanelWidth || getInterleave() != 4 ||
                 shape[1] % blocks->elements != 0)) // C3
    return emitError() << "expects panels of blocks to be " << kStoredPanelWidth
                       << " wide, to interleave 4 and to hold whole blocks, got "
                       << RankedTensorType::get(shape, elementType);
  SmallVector<int64_t> sizes = getPanelShape(shape, elementType, {getWidth(), getInterleave()});
  for (int64_t &size : sizes) // a size of zero does not hide the others
    size = std::max<int64_t>(size, 1);
  if (!countBytes(sizes, elementType)) // C4
    return emitError() << "expects panels of fewer than 2^63 bytes, got "
                       << RankedTensorType::get(shape, elementType);
  return success();
}

PanelsAttr mlir::fovea::getPanels(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<PanelsAttr>(tensor.getEncoding()) : PanelsAttr();
}

SmallVector<int64_t> mlir::fovea::getStorageShape(RankedTensorType type) {
  if (PanelsAttr panels = getPanels(type))
    return getPanelShape(type.getShape(), type.getElementType(),
                         {panels.getWidth(), panels.getInterleave()});
  SmallVector<int64_t> shape(type.getShape());
  if (!shape.empty() && !ShapedType::isDynamic(shape.back()))
    shape.back() = countUnits(shape.back(), type.getElementType());
  return shape;
}

int64_t mlir::fovea::getElementsPerByte(Type elementType) {
  return elementType.isInteger(4) ? 2 : 1;
}

bool mlir::fovea::sharesBytes(Type elementType) {
  return elementType.isInteger(4) || isa<BlocksType>(elementType);
}

Type mlir::fovea::getStorageType(Type elementType) {
  return sharesBytes(elementType) ? IntegerType::get(elementType.getContext(), 8) : elementType;
}

std::optional<int64_t> mlir::fovea::getStorageBytes(RankedTensorType type) {
  return countBytes(getStorageShape(type), type.getElementType());
}

MemRefType mlir::fovea::getBufferType(RankedTensorType type) {
  return MemRefType::get(getStorageShape(type), getStorageType(type.getElementType()));
}

WeightRole mlir::fovea::getWeightRole(OpOperand &use) {
  auto op = dyn_cast<WeightsOpInterface>(use.getOwner());
  return op ? op.getWeightRole(use) : WeightRole::None;
}

bool mlir::fovea::isWeight(OpOperand &use) {
  WeightRole role = getWeightRole(use);
  return role >= WeightRole::Parameter && role != WeightRole::GroupScales;
}

bool mlir::fovea::readsAnyLayout(OpOperand &use) { return getWeightRole(use) >= WeightRole::Table; }
