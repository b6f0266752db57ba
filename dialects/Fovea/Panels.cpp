// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in panels: the encoding, what it means for memory, and the recipe that packs: a
// transposition of each panel. Refuses anything but static matrices of numbers.
#include "abi/Panels.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Fovea/Transpose.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;
using Layout = ::fovea::Panels;

static Layout layoutOf(PanelsAttr panels) { return {panels.getWidth(), panels.getInterleave()}; }

//===-- The encoding -------------------------------------------------------------------------===//

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
  return llvm::divideCeil(columns, getElementsPerByte(elementType));
}

static SmallVector<int64_t> getPanelShape(ArrayRef<int64_t> shape, Type elementType,
                                          const Layout &panels) {
  SmallVector<int64_t> result{panels.count(shape[0]),
                              panels.units(countUnits(shape[1], elementType)), panels.width};
  if (panels.interleave != 1)
    result.push_back(panels.interleave);
  return result;
}

/// `shape` is one of memory.
static std::optional<int64_t> countBytes(ArrayRef<int64_t> shape, Type elementType) {
  std::optional<int64_t> bytes = getStorageBytes(elementType, 1);
  for (int64_t size : shape)
    bytes = bytes ? llvm::checkedMul(*bytes, size) : std::nullopt;
  return bytes;
}

LogicalResult PanelsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 2 || ShapedType::isDynamicShape(shape) || !elementType.isIntOrFloat()) // C3
    return emitError() << "expects panels of a matrix of numbers of static shape, got "
                       << RankedTensorType::get(shape, elementType);
  SmallVector<int64_t> sizes = getPanelShape(shape, elementType, layoutOf(*this));
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
    return getPanelShape(type.getShape(), type.getElementType(), layoutOf(panels));
  SmallVector<int64_t> shape(type.getShape());
  if (!shape.empty() && !ShapedType::isDynamic(shape.back()))
    shape.back() = countUnits(shape.back(), type.getElementType());
  return shape;
}

int64_t mlir::fovea::getElementsPerByte(Type elementType) {
  return elementType.isInteger(4) ? 2 : 1;
}

Type mlir::fovea::getStorageType(Type elementType) {
  return elementType.isInteger(4) ? IntegerType::get(elementType.getContext(), 8) : elementType;
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
  return role != WeightRole::None && role != WeightRole::GroupScales;
}

bool mlir::fovea::readsAnyLayout(OpOperand &use) { return getWeightRole(use) >= WeightRole::Table; }

//===-- Packing ------------------------------------------------------------------------------===//

/// One panel of `rows` rows of `columns` elements of `size` bytes; the rest of it becomes zero.
static void packPanel(const char *in, int64_t rows, int64_t columns, int64_t size,
                      const Layout &panels, char *out) {
  int64_t width = panels.width, interleave = panels.interleave;
  int64_t units = columns / interleave, rest = columns % interleave, unit = interleave * size;
  if (rows < width)
    std::memset(out, 0, width * panels.depth(columns) * size);
  else if (rest != 0)
    std::memset(out + units * width * unit, 0, width * unit);
  int64_t stride = columns * size;
  transposeElements(in, stride, rows, units, unit, out, width * unit);
  for (int64_t n = 0; rest != 0 && n < rows; ++n)
    std::memcpy(out + (units * width + n) * unit, in + n * stride + units * unit, rest * size);
}

//===-- pack ---------------------------------------------------------------------------------===//

static RecipeAttrInterface recipe(Attribute attr) { return cast<RecipeAttrInterface>(attr); }

RankedTensorType PackAttr::getRecipeType() const {
  RankedTensorType type = recipe(getInput()).getRecipeType();
  return RankedTensorType::get(type.getShape(), type.getElementType(), getPanels());
}

SmallVector<Attribute> PackAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult PackAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  auto input = dyn_cast<RecipeAttrInterface>(getInput());
  if (!input)
    return emitError() << "expects a recipe, got " << getInput();
  if (failed(input.verifyRecipe(emitError)))
    return failure();
  RankedTensorType type = input.getRecipeType();
  if (mlir::fovea::getPanels(type)) // C3
    return emitError() << "expects panels as a recipe's last step, got " << input;
  // C1, C2
  return getPanels() ? getPanels().verifyEncoding(type.getShape(), type.getElementType(), emitError)
                     : success();
}

LogicalResult PackAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                     char *out) const {
  if (!getPanels())
    return recipe(getInput()).evaluateRows(source, first, count, out);
  const Layout panels = layoutOf(getPanels());
  RankedTensorType type = recipe(getInput()).getRecipeType();
  // Of i4, bytes are packed.
  int64_t rows = type.getDimSize(0), width = panels.width;
  int64_t columns = countUnits(type.getDimSize(1), type.getElementType());
  int64_t size = getStorageBytes(type.getElementType(), 1);
  int64_t begin = first * width, end = begin + std::min(count * width, rows - begin);
  // A stored tensor is packed in place of its copy.
  const char *in;
  std::vector<char> input;
  if (auto stored = dyn_cast<StoredAttr>(getInput())) {
    FailureOr<ArrayRef<char>> bytes = source.read(stored);
    if (failed(bytes))
      return failure();
    in = bytes->data() + begin * columns * size;
  } else {
    input.resize((end - begin) * columns * size);
    if (failed(recipe(getInput()).evaluateRows(source, begin, end - begin, input.data())))
      return failure();
    in = input.data();
  }
  int64_t panelBytes = width * panels.depth(columns) * size;
  for (int64_t row = begin; row < end; row += width, out += panelBytes)
    packPanel(in + (row - begin) * columns * size, std::min(width, end - row), columns, size,
              panels, out);
  return success();
}
