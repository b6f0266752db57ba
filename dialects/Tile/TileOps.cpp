// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and checks of the `tile` ops; the numbers are those of TileOps.td.
#include "dialects/ElementTypes.h"
#include "dialects/Tile/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea::tile;

//===-- Text ---------------------------------------------------------------------------------===//

/// `(0, 1)`
static ParseResult parseNumbers(OpAsmParser &parser, DenseI64ArrayAttr &result) {
  SmallVector<int64_t> numbers;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&] { return parser.parseInteger(numbers.emplace_back()); }))
    return failure();
  result = DenseI64ArrayAttr::get(parser.getContext(), numbers);
  return success();
}

static ParseResult parseAxes(OpAsmParser &parser, DenseI64ArrayAttr &axes) {
  return parseNumbers(parser, axes);
}
static void printAxes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr axes) {
  printer << "(";
  llvm::interleaveComma(axes.asArrayRef(), printer);
  printer << ")";
}

static ParseResult parseBlock(OpAsmParser &parser, DenseI64ArrayAttr &block) {
  return parseNumbers(parser, block);
}
static void printBlock(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr block) {
  printAxes(printer, op, block);
}

/// acc has the result's type.
static ParseResult parseResultAndAcc(OpAsmParser &parser, Type &result,
                                     const std::optional<OpAsmParser::UnresolvedOperand> &acc,
                                     Type &accType) {
  if (parser.parseType(result))
    return failure();
  if (acc)
    accType = result;
  return success();
}
static void printResultAndAcc(OpAsmPrinter &printer, Operation *, Type result, Value, Type) {
  printer << result;
}

/// The value has the tile's element type.
static ParseResult parseElementOf(OpAsmParser &parser, Type &value, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto type = dyn_cast<TileType>(result);
  if (!type)
    return parser.emitError(loc, "expects a tile, got ") << result;
  value = type.getElementType();
  return success();
}
static void printElementOf(OpAsmPrinter &printer, Operation *, Type, Type result) {
  printer << result;
}

/// The element has the tile's element type.
static ParseResult parseTileOfElement(OpAsmParser &parser, Type &tile, Type &element) {
  return parseElementOf(parser, element, tile);
}
static void printTileOfElement(OpAsmPrinter &printer, Operation *, Type tile, Type) {
  printer << tile;
}

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.cpp.inc"

//===-- kernel -------------------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, ValueRange extents,
                     function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  state.addOperands(extents);
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(extents.size(), builder.getIndexType());
  Block *block =
      builder.createBlock(region, {}, types, SmallVector<Location>(extents.size(), state.location));
  body(builder, state.location, block->getArguments());
  ensureTerminator(*region, builder, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> extents;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseKeyword("grid") ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) || parser.parseEqual() ||
      parser.parseOperandList(extents, OpAsmParser::Delimiter::Paren) ||
      parser.resolveOperands(extents, index, result.operands))
    return failure();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = index;
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " grid(";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument argument) { printer.printOperand(argument); });
  printer << ") = (";
  printer.printOperands(getExtents());
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
}

LogicalResult KernelOp::verifyRegions() {
  // (C1)
  if (getExtents().empty())
    return emitOpError("expects a grid of at least one extent");
  if (getBody().getNumArguments() != getExtents().size() ||
      !llvm::all_of(getBody().getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("expects one index argument for each of ")
           << getExtents().size() << " extents, got " << getBody().getNumArguments()
           << " arguments";
  // (C2)
  if (auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator()))
    if (!yield.getValues().empty())
      return emitOpError("expects to end with no value, got ") << yield.getValues().size();
  return success();
}

static constexpr llvm::StringLiteral kRoles[] = {"producer", "consumer"};

ParseResult WarpSpecializeOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  for (StringRef role : kRoles) {
    SmallVector<OpAsmParser::Argument> arguments;
    int64_t registers;
    if (parser.parseKeyword(role) ||
        parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) ||
        parser.parseKeyword("registers") || parser.parseLParen() ||
        parser.parseInteger(registers) || parser.parseRParen())
      return failure();
    for (OpAsmParser::Argument &argument : arguments)
      argument.type = index;
    result.addAttribute((role + "_registers").str(),
                        parser.getBuilder().getI64IntegerAttr(registers));
    if (parser.parseRegion(*result.addRegion(), arguments))
      return failure();
  }
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void WarpSpecializeOp::print(OpAsmPrinter &printer) {
  int64_t registers[] = {static_cast<int64_t>(getProducerRegisters()),
                         static_cast<int64_t>(getConsumerRegisters())};
  for (auto [role, region, count] : llvm::zip(kRoles, (*this)->getRegions(), registers)) {
    printer << ' ' << role << '(';
    llvm::interleaveComma(region.getArguments(), printer,
                          [&](BlockArgument argument) { printer.printOperand(argument); });
    printer << ") registers(" << count << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getProducerRegistersAttrName(), getConsumerRegistersAttrName()});
}

// (C2)
LogicalResult WarpSpecializeOp::verify() {
  for (int64_t count :
       {static_cast<int64_t>(getProducerRegisters()), static_cast<int64_t>(getConsumerRegisters())})
    if (count < 24 || count > 240 || count % 8 != 0)
      return emitOpError("expects a number of registers that is a multiple of 8 from 24 to 240, "
                         "got ")
             << count;
  return success();
}

// (C1)
LogicalResult WarpSpecializeOp::verifyRegions() {
  for (Region &region : (*this)->getRegions()) {
    if (region.getNumArguments() != getProducer().getNumArguments() ||
        !llvm::all_of(region.getArgumentTypes(), llvm::IsaPred<IndexType>))
      return emitOpError("expects the same index arguments in both regions");
    auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
    if (!yield || yield->getOperandTypes() != TypeRange(region.getArgumentTypes()))
      return emitOpError("expects each region to yield as many rounds as it begins with, ")
             << region.getNumArguments();
  }
  return success();
}

//===-- Memory -------------------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  MemRefType memory = cast<MemRefType>(getMemory().getType());
  ArrayRef<int64_t> axes = getAxes();
  // (C1)
  if (axes.empty() || axes.size() > 2)
    return emitOpError("expects one or two axes, got ") << axes.size();
  for (int64_t axis : axes)
    if (axis < 0 || axis >= memory.getRank())
      return emitOpError("expects axes of a buffer of rank ")
             << memory.getRank() << ", got " << axis;
  if (axes.size() == 2 && axes[0] == axes[1])
    return emitOpError("expects two different axes, got ") << axes[0] << " twice";
  if (static_cast<int64_t>(getAt().size() + axes.size()) != memory.getRank())
    return emitOpError("expects an index for each axis that is not a view's, ")
           << memory.getRank() - static_cast<int64_t>(axes.size()) << ", got " << getAt().size();
  // (C3)
  if (getLength() && axes.size() != 2)
    return emitOpError("expects two axes with a length, got one");
  // (C2)
  ViewType view = getView().getType();
  // (C4)
  if (fovea::getUnits(view.getElementType()))
    return emitOpError("expects elements that lie one by one, which ")
           << view.getElementType() << " does in no buffer but a packed one";
  int64_t rows = axes.size() == 1 ? 1 : memory.getDimSize(axes.front());
  if (getLength())
    rows = ShapedType::kDynamic;
  int64_t columns = memory.getDimSize(axes.back());
  auto expected = ViewType::get(rows, columns, memory.getElementType());
  if (view != expected)
    return emitOpError("expects a view of type ") << expected << ", got " << view;
  return success();
}

int64_t PackedOp::getInterleave() {
  if (std::optional<fovea::PackedIntegers> packed =
          fovea::getUnits(getView().getType().getElementType()))
    return packed->unit();
  MemRefType type = getMemory().getType();
  return (type.getRank() == 4 ? type.getDimSize(3) : 1) * (isOfNibbles() ? 2 : 1);
}

LogicalResult PackedOp::verify() {
  MemRefType memory = getMemory().getType();
  ViewType view = getView().getType();
  // (C1)
  int64_t rank = memory.getRank();
  if (!memory.hasStaticShape() || (rank != 3 && rank != 4) || memory.getDimSize(2) == 0 ||
      (rank == 4 && !llvm::is_contained({2, 4, 8, 16}, memory.getDimSize(3))))
    return emitOpError("expects a static buffer [panels, k, outputs] or [panels, k, outputs, 2, 4, "
                       "8 or 16], got ")
           << memory;
  // (C4)
  std::optional<fovea::PackedIntegers> units = fovea::getUnits(view.getElementType());
  if (units && (rank != 4 || memory.getDimSize(3) != 4))
    return emitOpError("expects a buffer [panels, words, outputs, 4] for ")
           << view << ", got " << memory;
  // (C2)
  int64_t panels = llvm::divideCeil(std::max<int64_t>(view.getRows(), 0), memory.getDimSize(2));
  int64_t depth = llvm::divideCeil(std::max<int64_t>(view.getColumns(), 0), getInterleave()) *
                  (units ? units->words() : 1);
  if (view.getRows() < 0 || view.getColumns() < 0 || panels != memory.getDimSize(0) ||
      depth != memory.getDimSize(1))
    return emitOpError("expects a view whose sizes fill ") << memory << ", got " << view;
  // (C3)
  bool isOfBytes = isOfNibbles() || units;
  Type element = isOfBytes ? IntegerType::get(getContext(), 8) : view.getElementType();
  if (element != memory.getElementType())
    return emitOpError("expects a buffer of ") << element << " for " << view << ", got " << memory;
  return success();
}

static LogicalResult verifyElements(Operation *op, Type a, Type b) {
  if (a == b)
    return success();
  return op->emitOpError("expects equal element types, got ") << a << " and " << b;
}

LogicalResult LoadOp::verify() {
  // (C2)
  if (fovea::getUnits(getTile().getType().getElementType()) &&
      !llvm::all_of(getTile().getUsers(), llvm::IsaPred<DequantizeOp>))
    return emitOpError("expects ") << getTile().getType() << " to be read by tile.dequantize alone";
  // (C1)
  return verifyElements(*this, getView().getType().getElementType(),
                        getTile().getType().getElementType());
}

LogicalResult GatherOp::verify() {
  // (C2)
  TileType rows = getRows().getType();
  if (!isa<IntegerType>(rows.getElementType()) || rows.getColumns() != 1 ||
      rows.getRows() != getTile().getType().getRows())
    return emitOpError("expects a column of ")
           << getTile().getType().getRows() << " integers, got " << rows;
  // (C1)
  Type element = getView().getType().getElementType();
  if (element.isInteger(4) || fovea::getUnits(element))
    return emitOpError("expects elements of whole bytes, got ") << getView().getType();
  return verifyElements(*this, getView().getType().getElementType(),
                        getTile().getType().getElementType());
}

LogicalResult StoreOp::verify() {
  // (C2)
  if (getView().getDefiningOp<PackedOp>())
    return emitOpError("expects memory that is not a packed weight");
  // (C1)
  return verifyElements(*this, getTile().getType().getElementType(),
                        getView().getType().getElementType());
}

//===-- dequantize ---------------------------------------------------------------------------===//

static bool isQuantized(Type type) {
  return type.isSignlessInteger(4) || type.isSignlessInteger(8) || fovea::getUnits(type);
}
static bool isScale(Type type) { return fovea::isComputedInF32(type); }

LoadOp DequantizeOp::getLoad() { return getInput().getDefiningOp<LoadOp>(); }

LoadOp DequantizeOp::getScalesLoad() {
  return getScales() ? getScales().getDefiningOp<LoadOp>() : LoadOp();
}

int64_t DequantizeOp::getMostBits() {
  std::optional<ArrayRef<int8_t>> table = getTable();
  if (!table)
    return getInput().getType().getElementType().getIntOrFloatBitWidth();
  unsigned bits = 1;
  for (int8_t entry : *table)
    bits = std::max(bits, APInt(8, static_cast<uint8_t>(entry)).getSignificantBits());
  return bits;
}

LogicalResult DequantizeOp::verify() {
  TileType input = getInput().getType(), result = getResult().getType();
  // (C1)
  if (!isQuantized(input.getElementType()) || !fovea::isComputedInF32(result.getElementType()) ||
      input.withElementType(result.getElementType()) != result)
    return emitOpError("expects a tile of i2, i4, i5, i6 or i8 and a result like it of f16, bf16 "
                       "or f32, got ")
           << input << " and " << result;
  // (C5)
  if (fovea::getUnits(input.getElementType()) && !getLoad())
    return emitOpError("expects integers that tile.load gives, got other ones of ")
           << input.getElementType();
  // (C3)
  if (getBias() != 0 && !getOffsets())
    return emitOpError("expects offsets beside a bias, got a bias of ") << getBias();
  // (C4)
  constexpr size_t kEntries = 16;
  if (std::optional<ArrayRef<int8_t>> table = getTable();
      table && (table->size() != kEntries || !input.getElementType().isInteger(4)))
    return emitOpError("expects a table of 16 integers for a tile of i4, got ")
           << table->size() << " for " << input;
  // (C2), (C3)
  if (!getScales())
    return getOffsets() ? emitOpError("expects scales beside offsets") : success();
  TileType scales = getScales().getType();
  if (!isScale(scales.getElementType()) || scales.getRows() != input.getRows() ||
      input.getColumns() % scales.getColumns() != 0)
    return emitOpError("expects scales of f16, bf16 or f32 for ")
           << input.getRows() << " rows, whose number of columns divides " << input.getColumns()
           << ", got " << scales;
  // (C3)
  if (getOffsets() && (getOffsets().getType().withElementType(scales.getElementType()) != scales ||
                       !isScale(getOffsets().getType().getElementType())))
    return emitOpError("expects offsets of f16, bf16 or f32 like the scales ")
           << scales << ", got " << getOffsets().getType();
  return success();
}

//===-- dot ----------------------------------------------------------------------------------===//

/// An atom's operands and sums.
static LogicalResult verifyAtom(Operation *op, Atom atom, Type a, Type b, Type sum) {
  bool halves = a == b && fovea::isHalf(a);
  bool narrow =
      isa<FloatType>(a) && a.getIntOrFloatBitWidth() <= 32 && b.getIntOrFloatBitWidth() <= 32;
  if (sum.isF32() && (atom == Atom::M16N8K8 ? narrow : halves))
    return success();
  return op->emitOpError("expects what ")
         << stringifyAtom(atom) << " takes, "
         << (atom == Atom::M16N8K8 ? "at most f32 and sums of f32"
                                   : "f16 or bf16 twice and sums of f32")
         << ", got " << a << ", " << b << " and " << sum;
}

LogicalResult DotOp::verify() {
  TileType a = getA().getType(), b = getB().getType(), result = getResult().getType();
  // (C1)
  int64_t depth = getTransposeB() ? b.getColumns() : b.getRows();
  int64_t columns = getTransposeB() ? b.getRows() : b.getColumns();
  if (a.getColumns() != depth)
    return emitOpError("expects a and b to agree in depth, got ")
           << a.getColumns() << " and " << depth;
  if (a.getRows() != result.getRows() || columns != result.getColumns())
    return emitOpError("expects a result of ") << a.getRows() << "x" << columns << ", got "
                                               << result.getRows() << "x" << result.getColumns();
  // (C2)
  Type sum = result.getElementType();
  if (!sum.isF32() && !sum.isF64())
    return emitOpError("expects a result of f32 or f64, got ") << sum;
  auto isNarrow = [&](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= sum.getIntOrFloatBitWidth();
  };
  bool isQuantized = a.getElementType().isInteger(8);
  for (Type type : {a.getElementType(), b.getElementType()})
    if (!isNarrow(type) &&
        !(isQuantized && type == a.getElementType() && isNarrow(b.getElementType())))
      return emitOpError("expects operands of floating-point elements no wider than ")
             << sum << ", got " << type;
  // (C3)
  if (getAcc() && getAcc().getType() != result)
    return emitOpError("expects an accumulator of type ")
           << result << ", got " << getAcc().getType();
  // (C4)
  if (std::optional<ArrayRef<int64_t>> block = getBlock())
    if (block->size() != 2 || llvm::any_of(*block, [](int64_t n) { return n <= 0; }))
      return emitOpError("expects a block of two positive sizes");
  // (C6)
  if (TileType sums = getSums() ? getSums().getType() : TileType();
      sums && (!isQuantized || !sums.getElementType().isF32() || sums.getRows() != a.getRows() ||
               a.getColumns() % sums.getColumns() != 0))
    return emitOpError("expects sums of f32 beside a tile of i8 of as many rows, whose number of "
                       "columns divides its, got ")
           << sums << " and " << a;
  // (C5)
  return getAtom() ? verifyAtom(*this, *getAtom(), a.getElementType(), b.getElementType(), sum)
                   : success();
}

//===-- map ----------------------------------------------------------------------------------===//

void MapOp::build(OpBuilder &builder, OperationState &state, Type result, ValueRange inputs,
                  function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  state.addOperands(inputs);
  state.addTypes(result);
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types = llvm::map_to_vector(
      inputs, [&](Value input) { return cast<TileType>(input.getType()).getElementType(); });
  Block *block =
      builder.createBlock(region, {}, types, SmallVector<Location>(types.size(), state.location));
  Value element = body(builder, state.location, block->getArguments());
  YieldOp::create(builder, state.location, element);
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  auto parseOne = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(inputs.emplace_back()))
      return failure();
    return success();
  };
  FunctionType types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne) ||
      parser.parseColonType(types) ||
      parser.resolveOperands(inputs, types.getInputs(), loc, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, types.getInputs())) {
    auto tile = dyn_cast<TileType>(type);
    if (!tile)
      return parser.emitError(loc, "expects tiles, got ") << type;
    argument.type = tile.getElementType();
  }
  result.addTypes(types.getResults());
  if (parser.parseRegion(*result.addRegion(), arguments) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ") : ";
  printer.printFunctionalType(*this);
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
}

LogicalResult MapOp::verify() {
  // (C1)
  TileType result = getResult().getType();
  for (Value input : getInputs()) {
    auto type = cast<TileType>(input.getType());
    if (type.withElementType(result.getElementType()) != result)
      return emitOpError("expects operands of the result's shape, lanes and layout, ")
             << result << ", got " << type;
  }
  return success();
}

LogicalResult MapOp::verifyRegions() {
  // (C2)
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("expects one argument for each operand, got ") << block.getNumArguments();
  for (auto [argument, input] : llvm::zip(block.getArguments(), getInputs()))
    if (argument.getType() != cast<TileType>(input.getType()).getElementType())
      return emitOpError("expects an argument of ")
             << cast<TileType>(input.getType()).getElementType() << ", got " << argument.getType();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != 1 ||
      yield.getValues().front().getType() != getResult().getType().getElementType())
    return emitOpError("expects to yield one ") << getResult().getType().getElementType();
  // (C3)
  for (Operation &op : block.without_terminator())
    if (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))
      return op.emitOpError("has effects, and stands in a tile.map");
  return success();
}

//===-- Elements -----------------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  TileType input = getInput().getType(), result = getResult().getType();
  int64_t axis = getAxis();
  // (C1)
  if (axis != 0 && axis != 1)
    return emitOpError("expects axis 0 or 1, got ") << axis;
  LayoutAttr layout = input.getLayout();
  auto expected = TileType::get(axis == 0 ? 1 : input.getRows(), axis == 1 ? 1 : input.getColumns(),
                                input.getElementType(), input.getLanes(),
                                layout ? layout.dropAxis(axis) : layout);
  if (result != expected)
    return emitOpError("expects a result of type ") << expected << ", got " << result;
  // (C2)
  if (!input.getElementType().isF32() && !input.getElementType().isF64())
    return emitOpError("expects elements of f32 or f64, got ") << input.getElementType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  // (C1)
  TileType input = getInput().getType(), result = getResult().getType();
  for (int64_t axis : {0, 1})
    if (input.getSize(axis) != 1 && input.getSize(axis) != result.getSize(axis))
      return emitOpError("expects a size of 1 or ")
             << result.getSize(axis) << " along axis " << axis << ", got " << input.getSize(axis);
  if (input.getLanes() != result.getLanes())
    return emitOpError("expects equal lanes, got ")
           << input.getLanes() << " and " << result.getLanes();
  LayoutAttr layout = result.getLayout();
  for (int64_t axis : {0, 1})
    if (layout && input.getSize(axis) == 1)
      layout = layout.dropAxis(axis);
  if (input.getLayout() != layout)
    return emitOpError("expects an input with the layout of the result's other axes, ")
           << result << ", got " << input;
  return verifyElements(*this, input.getElementType(), result.getElementType());
}

// (C1)
LogicalResult SplatOp::verify() {
  return verifyElements(*this, getValue().getType(), getResult().getType().getElementType());
}

// (C1)
LogicalResult ExtractOp::verify() {
  TileType tile = getTile().getType();
  if (tile.getRows() != 1 || tile.getColumns() != 1)
    return emitOpError("expects a tile of one element, got ") << tile;
  return verifyElements(*this, tile.getElementType(), getElement().getType());
}

LogicalResult IotaOp::verify() {
  // (C2)
  if (getAxis() > 1)
    return emitOpError("expects axis 0 or 1, got ") << static_cast<int64_t>(getAxis());
  // (C1)
  if (!getResult().getType().getElementType().isInteger(32))
    return emitOpError("expects elements of i32, got ") << getResult().getType().getElementType();
  return success();
}

LogicalResult CastOp::verify() {
  TileType input = getInput().getType(), result = getResult().getType();
  // (C1)
  if (input.getRows() != result.getRows() || input.getColumns() != result.getColumns())
    return emitOpError("expects equal shapes, got ") << input << " and " << result;
  // (C2)
  if (input.getElementType() != result.getElementType() &&
      !(isa<FloatType>(input.getElementType()) && isa<FloatType>(result.getElementType())))
    return emitOpError("expects floating-point element types, got ")
           << input.getElementType() << " and " << result.getElementType();
  return success();
}

//===-- Shared memory ------------------------------------------------------------------------===//

// (C1), (C2)
LogicalResult SharedOp::verify() {
  if (std::optional<int64_t> at = getAt(); at && (*at < 0 || *at % 16 != 0))
    return emitOpError("expects a place that is a multiple of 16 bytes, got ") << *at;
  SharedType type = getMemory().getType();
  if (int64_t alignment = type.getAlignment();
      type.getSwizzle() && getAt() && static_cast<int64_t>(*getAt()) % alignment != 0)
    return emitOpError("expects a place that is a multiple of ")
           << alignment << " bytes for " << type << ", got " << *getAt();
  if (std::optional<int64_t> stages = getStages(); stages && (*stages <= 0 || *stages > 1024))
    return emitOpError("expects from 1 to 1024 stages, got ") << *stages;
  int64_t stages = getStages().value_or(0);
  if (std::optional<int64_t> kept = getKept(); kept && (*kept <= 0 || *kept >= stages))
    return emitOpError("expects to keep at least one slot and fewer than all, got ")
           << *kept << " of " << stages;
  if (getGuarded() && (!getStages() || getKept())) // (C3)
    return emitOpError("expects a guarded ring to have stages, and none that are kept");
  return success();
}

int64_t SharedOp::getSlotBytes() {
  SharedType type = getMemory().getType();
  return llvm::alignTo(type.getBytes(), type.getAlignment());
}

int64_t SharedOp::getGuards() { return getStages().value_or(0) * getSlotBytes(); }

int64_t SharedOp::getBytes() {
  if (std::optional<int64_t> stages = getStages())
    return *stages * (getSlotBytes() + (getGuarded() ? kGuardBytes : 0));
  return getMemory().getType().getBytes();
}

// (C1), (C2)
LogicalResult StageOp::verify() {
  auto ring = getRing().getDefiningOp<SharedOp>();
  if (!ring || !ring.getStages() || ring.getGuarded())
    return emitOpError("expects a slot of a tile.shared with stages that is not guarded");
  int64_t stages = *ring.getStages();
  if (std::optional<int64_t> index = getConstantIntValue(getIndex());
      index && (*index < 0 || *index >= stages))
    return emitOpError("expects a slot below ") << stages << ", got " << *index;
  return success();
}

// (C1)
static LogicalResult verifyGuarded(Operation *op, Value memory) {
  auto ring = memory.getDefiningOp<SharedOp>();
  if (!ring || !ring.getGuarded())
    return op->emitOpError("expects a tile.shared that is guarded");
  return success();
}
LogicalResult ProducerAcquireOp::verify() { return verifyGuarded(*this, getRing()); }
LogicalResult ProducerCommitOp::verify() { return verifyGuarded(*this, getRing()); }
LogicalResult ConsumerWaitOp::verify() { return verifyGuarded(*this, getRing()); }
LogicalResult ConsumerReleaseOp::verify() { return verifyGuarded(*this, getRing()); }

// (C1)
LogicalResult AsyncWaitOp::verify() {
  if (int64_t pending = getPending(); pending < 0)
    return emitOpError("expects a number of groups, got ") << pending;
  return success();
}

LogicalResult CopyOp::verify() {
  SharedType type = getMemory().getType();
  bool isBulk = getAsync() && getMemory().getDefiningOp<ProducerAcquireOp>() && type.getSwizzle() &&
                type.getFastAxis() == 1;
  if (getMap() && (!isBulk || converts())) // (C2)
    return emitOpError("expects a copy by a tensor map to be async, into a slot of a guarded ring "
                       "with a swizzle along its columns");
  // (C3)
  ViewType view = getView().getType();
  if (getScales()) {
    ViewType scales = getScales().getType();
    bool fits = scales.getRows() == view.getRows() && scales.getColumns() > 0 &&
                view.getColumns() > 0 && view.getColumns() % scales.getColumns() == 0;
    if (!converts() || !isScale(scales.getElementType()) || !fits)
      return emitOpError("expects scales of f16, bf16 or f32 for integers, with as many rows and a "
                         "number of columns that divides theirs, got ")
             << scales << " for " << view;
  }
  // (C1)
  if (isQuantized(view.getElementType()) && !fovea::getUnits(view.getElementType()) &&
      fovea::isComputedInF32(type.getElementType()))
    return success();
  return verifyElements(*this, view.getElementType(), type.getElementType());
}

static LogicalResult verifyAlike(Operation *op, TileType tile, SharedType memory) {
  if (tile.getRows() != memory.getRows() || tile.getColumns() != memory.getColumns())
    return op->emitOpError("expects equal shapes, got ") << tile << " and " << memory;
  return verifyElements(op, tile.getElementType(), memory.getElementType());
}

// (C1)
LogicalResult LocalStoreOp::verify() {
  return verifyAlike(*this, getTile().getType(), getMemory().getType());
}

// (C1)
LogicalResult LocalLoadOp::verify() {
  return verifyAlike(*this, getTile().getType(), getMemory().getType());
}

/// Rows, columns and element type of a tile or of shared memory.
static std::tuple<int64_t, int64_t, Type> getMatrix(Type type) {
  if (auto tile = dyn_cast<TileType>(type))
    return {tile.getRows(), tile.getColumns(), tile.getElementType()};
  auto memory = cast<SharedType>(type);
  return {memory.getRows(), memory.getColumns(), memory.getElementType()};
}

/// A load, or what loaded integers and scales alone stand for.
static bool isReadWhereItLies(Value operand) {
  auto dequantize = operand.getDefiningOp<DequantizeOp>();
  if (!dequantize)
    return operand.getDefiningOp<LoadOp>() != nullptr;
  if (dequantize.getTable() || dequantize.getOffsets() ||
      fovea::getUnits(dequantize.getInput().getType().getElementType()))
    return false;
  return llvm::all_of(dequantize->getOperands(),
                      [](Value input) { return input.getDefiningOp<LoadOp>() != nullptr; });
}

// (C1)
static LogicalResult verifySizes(MmaOp op) {
  TileType result = op.getResult().getType();
  auto [rows, depth, aElement] = getMatrix(op.getA().getType());
  auto [bRows, bColumns, bElement] = getMatrix(op.getB().getType());
  if (int64_t found = op.getTransposeB() ? bColumns : bRows; found != depth)
    return op.emitOpError("expects a and b to agree in depth, got ") << depth << " and " << found;
  if (int64_t columns = op.getTransposeB() ? bRows : bColumns;
      rows != result.getRows() || columns != result.getColumns())
    return op.emitOpError("expects a result of ")
           << rows << "x" << columns << ", got " << result.getRows() << "x" << result.getColumns();
  return success();
}

// (C2)
static LogicalResult verifyElements(MmaOp op, Type sum, ArrayRef<Type> operands) {
  if (!sum.isF32() && !sum.isF64())
    return op.emitOpError("expects a result of f32 or f64, got ") << sum;
  for (Type type : operands)
    if (!isa<FloatType>(type) || type.getIntOrFloatBitWidth() > sum.getIntOrFloatBitWidth())
      return op.emitOpError("expects operands of floating-point elements no wider than ")
             << sum << ", got " << type;
  return success();
}

// (C5)
static LogicalResult verifyWarpgroups(MmaOp op, bool byWarpgroups, int64_t rows, int64_t depth) {
  for (Type type : {op.getA().getType(), op.getB().getType()})
    if (auto shared = dyn_cast<SharedType>(type);
        shared && (shared.getSwizzle() != 0) != byWarpgroups)
      return op.emitOpError("expects shared memory with a swizzle for m64k16 and only for it, got ")
             << type;
  int64_t columns = op.getResult().getType().getColumns();
  if (byWarpgroups && !fitsWarpgroups(rows, columns, depth))
    return op.emitOpError(
               "expects whole 64 rows, eights of up to 256 columns and a depth of whole 16 "
               "for m64k16, got ")
           << rows << ", " << columns << " and " << depth;
  return success();
}

/// Whether a product that is only begun has one op that waits for it, in its block.
static bool isSettledOnce(MmaOp op) {
  if (!op.getResult().hasOneUse())
    return false;
  Operation *user = *op.getResult().user_begin();
  return isa<MmaWaitOp>(user) && user->getBlock() == op->getBlock();
}

LogicalResult MmaOp::verify() {
  auto [rows, depth, aElement] = getMatrix(getA().getType());
  Type bElement = std::get<2>(getMatrix(getB().getType()));
  Type sum = getResult().getType().getElementType();
  if (failed(verifySizes(*this)) || failed(verifyElements(*this, sum, {aElement, bElement})))
    return failure();
  // (C3)
  for (Value operand : {getA(), getB()})
    if (auto tile = dyn_cast<TileType>(operand.getType());
        tile && !isReadWhereItLies(operand) && !(getAtom() && operand == getA()))
      return emitOpError("expects shared memory or a load, got ") << tile;
  // (C4)
  if (getAtom() && failed(verifyAtom(*this, *getAtom(), aElement, bElement, sum)))
    return failure();
  bool byWarpgroups = getAtom() == Atom::M64K16;
  if (failed(verifyWarpgroups(*this, byWarpgroups, rows, depth)))
    return failure();
  // (C6)
  if (getAsync() && !byWarpgroups)
    return emitOpError("expects m64k16 for a product that is only begun");
  if (getScratch() && getAtom()) // (C7)
    return emitOpError("expects no scratch beside an atom, whose threads have no copies");
  if (getAsync() && !isSettledOnce(*this))
    return emitOpError("expects to be begun for one tile.mma_wait in its block");
  return success();
}

LogicalResult MmaWaitOp::verify() {
  // (C1)
  auto product = getProduct().getDefiningOp<MmaOp>();
  if (!product || !product.getAsync())
    return emitOpError("expects a product by tile.mma async");
  int64_t behind = 0, pending = getPending();
  for (Operation *op = product->getNextNode(); op != *this; op = op->getNextNode())
    if (auto other = dyn_cast<MmaOp>(op))
      behind += other.getAsync();
  if (pending < 0 || behind < pending)
    return emitOpError("expects to wait for its product, behind which ")
           << behind << " were begun, got pending(" << pending << ")";
  // (C2)
  for (Value value : getAfter())
    if (auto tile = cast<TileType>(value.getType()); !tile.getElementType().isF32())
      return emitOpError("expects to come after tiles of f32, got ") << tile;
  return success();
}
