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

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.cpp.inc"

namespace {
/// Names layouts at a module's top, so that types stay short.
struct LayoutNames : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attribute))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/TileOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/TileAttrs.cpp.inc"
      >();
  addInterfaces<LayoutNames>();
}

static bool isElement(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return true;
  return type.isSignlessInteger() &&
         llvm::is_contained({1, 2, 4, 5, 6, 8, 32, 64}, type.getIntOrFloatBitWidth());
}

TileType TileType::withElementType(Type type) const {
  return get(getRows(), getColumns(), type, getLanes(), getLayout());
}

TileType TileType::withLayout(LayoutAttr layout) const {
  return get(getRows(), getColumns(), getElementType(), /*lanes=*/1, layout);
}

/// Beyond what any processor has, and so small that bytes and places can be counted in 64 bits.
static constexpr int64_t kMostTileSize = 1 << 28, kMostSharedSize = 1 << 24;

static bool areSizes(int64_t rows, int64_t columns, int64_t most) {
  return std::min(rows, columns) > 0 && std::max(rows, columns) <= most;
}

// (C1)..(C4)
LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t columns, Type elementType, int64_t lanes,
                               LayoutAttr layout) {
  if (!areSizes(rows, columns, kMostTileSize))
    return emitError() << "expects sizes from 1 to " << kMostTileSize << ", got " << rows << " and "
                       << columns;
  if (!isElement(elementType))
    return emitError()
           << "expects elements of f16, bf16, f32, f64, i1, i2, i4, i5, i6, i8, i32 or i64, got "
           << elementType;
  if (lanes != 0 && lanes != 1)
    return emitError() << "expects lanes along axis 0 or 1, got " << lanes;
  for (int64_t axis : {0, 1})
    if (int64_t size = axis == 0 ? rows : columns; layout && layout.getExtent(axis) < size)
      return emitError() << "expects a layout of at least " << size << " places along axis " << axis
                         << ", got " << layout.getExtent(axis);
  return success();
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElementType();
  if (getLanes() != 1)
    printer << ", lanes " << getLanes();
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  int64_t lanes = 1;
  LayoutAttr layout;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("lanes"))) {
    if (parser.parseInteger(lanes))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if ((more && parser.parseAttribute(layout)) || parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc, "expects two sizes, got ") << shape.size();
    return {};
  }
  return parser.getChecked<TileType>(loc, parser.getContext(), shape[0], shape[1], element, lanes,
                                     layout);
}

// (C1), (C2)
LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t columns, Type elementType) {
  for (int64_t size : {rows, columns})
    if (size < 0 && !ShapedType::isDynamic(size))
      return emitError() << "expects sizes that are not negative, got " << size;
  if (!isElement(elementType))
    return emitError()
           << "expects elements of f16, bf16, f32, f64, i1, i2, i4, i5, i6, i8, i32 or i64, got "
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

/// Rows after which a swizzle repeats.
static constexpr int64_t kSwizzleRows = 8;

SharedType SharedType::getSwizzled(int64_t rows, int64_t columns, Type elementType,
                                   int64_t fastAxis) {
  int64_t width = elementType.getIntOrFloatBitWidth() / 8;
  int64_t bytes = (fastAxis == 0 ? rows : columns) * width;
  int64_t swizzle = bytes > 64 ? 128 : bytes > 32 ? 64 : 32, panel = swizzle / width;
  return get(elementType.getContext(), rows, columns, elementType, fastAxis == 0 ? 1 : panel,
             fastAxis == 0 ? panel : 1, swizzle);
}

int64_t SharedType::getPanelStride() const {
  return llvm::alignTo(getSize(1 - getFastAxis()), kSwizzleRows) * getPanel();
}

int64_t SharedType::getAlignment() const {
  return getSwizzle() ? kSwizzleRows * getSwizzle() : 128;
}

int64_t SharedType::getBytes() const {
  if (getSwizzle())
    return llvm::divideCeil(getSize(getFastAxis()), getPanel()) * getPanelStride() *
           getElementBytes();
  int64_t last = (getRows() - 1) * getRowStride() + (getColumns() - 1) * getColumnStride();
  return (last + 1) * getElementBytes();
}

// (C1)..(C4)
LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                                 int64_t columns, Type elementType, int64_t rowStride,
                                 int64_t columnStride, int64_t swizzle) {
  if (!areSizes(rows, columns, kMostSharedSize))
    return emitError() << "expects sizes from 1 to " << kMostSharedSize << ", got " << rows
                       << " and " << columns;
  if (!isElement(elementType) || elementType.getIntOrFloatBitWidth() < 16)
    return emitError() << "expects elements of f16, bf16, f32, f64, i32 or i64, got "
                       << elementType;
  if (swizzle) {
    if (!llvm::is_contained({32, 64, 128}, swizzle))
      return emitError() << "expects a swizzle of 32, 64 or 128 bytes, got " << swizzle;
    int64_t panel = swizzle * 8 / elementType.getIntOrFloatBitWidth();
    if (std::min(rowStride, columnStride) != 1 || std::max(rowStride, columnStride) != panel)
      return emitError() << "expects strides [" << panel << ", 1] or [1, " << panel
                         << "] with a swizzle of " << swizzle << " bytes, got [" << rowStride
                         << ", " << columnStride << "]";
    return success();
  }
  if (std::max(rowStride, columnStride) > kMostSharedSize)
    return emitError() << "expects strides of at most " << kMostSharedSize << ", got [" << rowStride
                       << ", " << columnStride << "]";
  bool byRows = columnStride > 0 && rowStride >= (columns - 1) * columnStride + 1;
  bool byColumns = rowStride > 0 && columnStride >= (rows - 1) * rowStride + 1;
  if (!byRows && !byColumns)
    return emitError() << "expects strides that keep elements apart, got [" << rowStride << ", "
                       << columnStride << "]";
  return success();
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElementType();
  if (getRowStride() != (getSwizzle() ? getPanel() : getColumns()) || getColumnStride() != 1)
    printer << ", strides [" << getRowStride() << ", " << getColumnStride() << "]";
  if (getSwizzle())
    printer << ", swizzle " << getSwizzle();
  printer << ">";
}

Type SharedType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, strides;
  int64_t swizzle = 0;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("strides"))) {
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       [&] { return parser.parseInteger(strides.emplace_back()); }))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && (parser.parseKeyword("swizzle", " or strides") || parser.parseInteger(swizzle)))
    return {};
  if (parser.parseGreater())
    return {};
  if (shape.size() != 2 || (!strides.empty() && strides.size() != 2)) {
    parser.emitError(loc, "expects two sizes and two strides, got ")
        << shape.size() << " and " << strides.size();
    return {};
  }
  if (strides.empty()) {
    bool known = llvm::is_contained({32, 64, 128}, swizzle) && element.isIntOrFloat() &&
                 element.getIntOrFloatBitWidth() >= 8;
    strides = {known ? swizzle * 8 / element.getIntOrFloatBitWidth() : shape[1], 1};
  }
  return parser.getChecked<SharedType>(loc, parser.getContext(), shape[0], shape[1], element,
                                       strides[0], strides[1], swizzle);
}
