// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: text, checks and the arithmetic of their digits.
#include "dialects/Tile/TileDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fovea::tile;

using Digit = LayoutAttr::Digit;

static SmallVector<int64_t> flatten(ArrayRef<Digit> digits) {
  SmallVector<int64_t> numbers;
  for (Digit digit : digits)
    numbers.append({digit.size, digit.by});
  return numbers;
}

LayoutAttr LayoutAttr::get(MLIRContext *context, ArrayRef<Digit> rows, ArrayRef<Digit> columns) {
  return get(context, ArrayRef<int64_t>(flatten(rows)), ArrayRef<int64_t>(flatten(columns)));
}

SmallVector<Digit> LayoutAttr::getDigits(int64_t axis) const {
  ArrayRef<int64_t> numbers = axis == 0 ? getRows() : getColumns();
  SmallVector<Digit> digits;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2)
    digits.push_back({numbers[i], numbers[i + 1]});
  return digits;
}

int64_t LayoutAttr::getExtent(int64_t axis) const {
  int64_t extent = 1;
  for (Digit digit : getDigits(axis))
    extent *= digit.size;
  return extent;
}

int64_t LayoutAttr::getRegisters(int64_t axis) const {
  int64_t count = 1;
  for (Digit digit : getDigits(axis))
    count *= digit.by ? 1 : digit.size;
  return count;
}

int64_t LayoutAttr::getThreads() const {
  int64_t greatest = 0;
  for (int64_t axis : {0, 1})
    for (Digit digit : getDigits(axis))
      greatest += (digit.size - 1) * digit.by;
  return greatest + 1;
}

LayoutAttr LayoutAttr::dropAxis(int64_t axis) const {
  return axis == 0 ? get(getContext(), ArrayRef<int64_t>(), getColumns())
                   : get(getContext(), getRows(), ArrayRef<int64_t>());
}

int64_t LayoutAttr::getPlace(int64_t axis, int64_t index) const {
  int64_t place = 0, stride = 1;
  for (Digit digit : getDigits(axis)) {
    if (!digit.by) {
      place += index % digit.size * stride;
      index /= digit.size;
    }
    stride *= digit.size;
  }
  return place;
}

/// Places of an axis, and the distance of threads: products and sums of them fit 64 bits.
static constexpr int64_t kMost = 1 << 20;

// (C1)
LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
  for (ArrayRef<int64_t> numbers : {rows, columns}) {
    if (numbers.size() % 2 != 0)
      return emitError() << "expects pairs of a size and what its threads are by";
    int64_t places = 1;
    for (size_t i = 0; i < numbers.size(); i += 2) {
      if (numbers[i] <= 0 || numbers[i + 1] < 0 || numbers[i + 1] > kMost)
        return emitError() << "expects digits of positive size by at most " << kMost << ", got "
                           << numbers[i] << " by " << numbers[i + 1];
      if (numbers[i] > kMost / places)
        return emitError() << "expects at most " << kMost << " places along an axis, got more";
      places *= numbers[i];
    }
  }
  return success();
}

static void printDigits(AsmPrinter &printer, ArrayRef<Digit> digits) {
  printer << "[";
  llvm::interleaveComma(digits, printer, [&](Digit digit) {
    printer << (digit.by ? "threads " : "registers ") << digit.size;
    if (digit.by)
      printer << " by " << digit.by;
  });
  printer << "]";
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<rows = ";
  printDigits(printer, getDigits(0));
  printer << ", columns = ";
  printDigits(printer, getDigits(1));
  printer << ">";
}

static ParseResult parseDigits(AsmParser &parser, SmallVectorImpl<Digit> &digits) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    Digit &digit = digits.emplace_back(Digit{0, 0});
    if (succeeded(parser.parseOptionalKeyword("registers")))
      return parser.parseInteger(digit.size);
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword("threads", " or 'registers'") || parser.parseInteger(digit.size) ||
        parser.parseKeyword("by") || parser.parseInteger(digit.by))
      return failure();
    if (digit.by <= 0)
      return parser.emitError(loc, "expects threads by a positive number, got ") << digit.by;
    return success();
  });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Digit> rows, columns;
  if (parser.parseLess() || parser.parseKeyword("rows") || parser.parseEqual() ||
      parseDigits(parser, rows) || parser.parseComma() || parser.parseKeyword("columns") ||
      parser.parseEqual() || parseDigits(parser, columns) || parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), ArrayRef<int64_t>(flatten(rows)),
                                       ArrayRef<int64_t>(flatten(columns)));
}
