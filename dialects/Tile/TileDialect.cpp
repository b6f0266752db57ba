// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration and types of the `tile` dialect.
#include "dialects/Tile/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea::tile;

#include "dialects/Tile/TileDialect.cpp.inc"
#include "dialects/Tile/TileEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/TileOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/TileTypes.cpp.inc"
      >();
}

static bool isElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() || type.isInteger(1) ||
         type.isInteger(32) || type.isInteger(64);
}

TileType TileType::withElementType(Type type) const {
  return get(getRows(), getColumns(), type, getLanes());
}

// (C1)..(C3)
LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t columns, Type elementType, int64_t lanes) {
  if (rows <= 0 || columns <= 0)
    return emitError() << "expects positive sizes, got " << rows << " and " << columns;
  if (!isElement(elementType))
    return emitError() << "expects elements of f16, bf16, f32, f64, i1, i32 or i64, got "
                       << elementType;
  if (lanes != 0 && lanes != 1)
    return emitError() << "expects lanes along axis 0 or 1, got " << lanes;
  return success();
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElementType();
  if (getLanes() != 1)
    printer << ", lanes " << getLanes();
  printer << ">";
}

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  int64_t lanes = 1;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("lanes") || parser.parseInteger(lanes)))
    return {};
  if (parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc, "expects two sizes, got ") << shape.size();
    return {};
  }
  return parser.getChecked<TileType>(loc, parser.getContext(), shape[0], shape[1], element, lanes);
}

// (C1), (C2)
LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t columns, Type elementType) {
  for (int64_t size : {rows, columns})
    if (size < 0 && !ShapedType::isDynamic(size))
      return emitError() << "expects sizes that are not negative, got " << size;
  if (!isElement(elementType))
    return emitError() << "expects elements of f16, bf16, f32, f64, i1, i32 or i64, got "
                       << elementType;
  return success();
}

void ViewType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList({getRows(), getColumns()});
  printer << "x" << getElementType() << ">";
}

Type ViewType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc, "expects two sizes, got ") << shape.size();
    return {};
  }
  return parser.getChecked<ViewType>(loc, parser.getContext(), shape[0], shape[1], element);
}
