// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea.attention` and what stands in score regions: syntax of the score clause, verifiers, result
// sizes.
#include "dialects/ElementTypes.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- The regions' clauses -----------------------------------------------------------------===//

bool ElementRegion::isWhole(unsigned operand) const {
  return getMap(operand).getNumResults() == 0 &&
         cast<RankedTensorType>(operands[operand].getType()).getRank() != 0;
}

/// score(%a : type by (b, h, i, j) -> (h, i), ...) { region }, all of it optional; `keyword` for
/// score.
static ParseResult parseElementRegion(OpAsmParser &parser, StringRef keyword,
                                      SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                      SmallVectorImpl<Type> &types, ArrayAttr &maps,
                                      Region &region) {
  SmallVector<AffineMap> parsedMaps;
  if (succeeded(parser.parseOptionalKeyword(keyword))) {
    auto parseOperand = [&]() -> ParseResult {
      AffineMap map;
      if (parser.parseOperand(operands.emplace_back()) ||
          parser.parseColonType(types.emplace_back()) || parser.parseKeyword("by") ||
          parser.parseAffineMap(map))
        return failure();
      parsedMaps.push_back(map);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen, parseOperand) ||
        parser.parseRegion(region))
      return failure();
  }
  maps = parser.getBuilder().getAffineMapArrayAttr(parsedMaps);
  return success();
}

static void printElementRegion(OpAsmPrinter &printer, StringRef keyword, const ElementRegion &of) {
  printer << ' ' << keyword;
  if (!of.operands.empty()) {
    printer << '(';
    llvm::interleaveComma(llvm::zip(of.operands, of.maps), printer, [&](auto item) {
      auto [operand, map] = item;
      printer << operand << " : " << operand.getType() << " by "
              << cast<AffineMapAttr>(map).getValue();
    });
    printer << ')';
  }
  printer << ' ';
  printer.printRegion(of.region, /*printEntryBlockArgs=*/true);
}

using UnresolvedOperands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

static ParseResult parseRegions(OpAsmParser &parser, UnresolvedOperands &scoreOperands,
                                SmallVectorImpl<Type> &scoreTypes, ArrayAttr &scoreMaps,
                                Region &score, UnresolvedOperands &probabilityOperands,
                                SmallVectorImpl<Type> &probabilityTypes, ArrayAttr &probabilityMaps,
                                Region &probability) {
  return failure(parseElementRegion(parser, "score", scoreOperands, scoreTypes, scoreMaps, score) ||
                 parseElementRegion(parser, "probability", probabilityOperands, probabilityTypes,
                                    probabilityMaps, probability));
}

static void printRegions(OpAsmPrinter &printer, AttentionOp op, OperandRange, TypeRange, ArrayAttr,
                         Region &, OperandRange, TypeRange, ArrayAttr, Region &) {
  if (op.hasScore())
    printElementRegion(printer, "score", op.getScoreRegion());
  if (op.hasProbability())
    printElementRegion(printer, "probability", op.getProbabilityRegion());
}

//===-- Attention ----------------------------------------------------------------------------===//

FloatType AttentionOp::getAccumulationType() {
  return fovea::getAccumulationType(getQuery().getType());
}

static int64_t headsOf(Type type) {
  if (auto cache = dyn_cast<CacheType>(type))
    return cache.getHeads();
  return cast<RankedTensorType>(type).getDimSize(2);
}

static int64_t sizeOf(Type type) {
  if (auto cache = dyn_cast<CacheType>(type))
    return cache.getSize();
  return cast<RankedTensorType>(type).getDimSize(3);
}

int64_t AttentionOp::getQueryHeads() { return headsOf(getQuery().getType()); }
int64_t AttentionOp::getKeyHeads() { return headsOf(getKey().getType()); }
int64_t AttentionOp::getHeadSize() { return sizeOf(getQuery().getType()); }
int64_t AttentionOp::getValueSize() { return sizeOf(getValue().getType()); }
bool AttentionOp::hasCache() { return isa<CacheType>(getKey().getType()); }

/// Both products, of keys and values that are there or in caches of bf16 or integers. Not of scores
/// that are sums, and not where others read what is between.
bool AttentionOp::roundOperands(llvm::function_ref<Value(Value)> round) {
  RankedTensorType type = getOutput().getType();
  auto canRound = [](Value value) {
    auto cache = dyn_cast<CacheType>(value.getType());
    Type element = cache ? cache.getElementType() : getElementTypeOrSelf(value);
    return cache ? element.isBF16() || element.isInteger(8) : element.isF32();
  };
  if (!type.getElementType().isF32() || !canRound(getKey()) || !canRound(getValue()) ||
      getAdditive() || getLse() || getWeights())
    return false;
  for (OpOperand *operand : {&getQueryMutable(), &getKeyMutable(), &getValueMutable()})
    if (!isa<CacheType>(operand->get().getType()))
      operand->set(round(operand->get()));
  getOutput().setType(type.clone(BFloat16Type::get(getContext())));
  return true;
}

ElementRegion AttentionOp::getScoreRegion() {
  return {getScore(), getScoreOperands(), getScoreMaps()};
}
ElementRegion AttentionOp::getProbabilityRegion() {
  return {getProbability(), getProbabilityOperands(), getProbabilityMaps()};
}

static LogicalResult verifyPositions(AttentionOp op, Value positions, StringRef name, int64_t batch,
                                     int64_t length) {
  if (!positions)
    return success();
  auto type = cast<RankedTensorType>(positions.getType());
  if (type.getDimSize(0) != 1 && !agree(type.getDimSize(0), batch))
    return op.emitOpError("expects ")
           << name << " for a batch of 1 or " << batch << ", got " << type.getDimSize(0);
  if (!agree(type.getDimSize(1), length))
    return op.emitOpError("expects ")
           << name << " of length " << length << ", got " << type.getDimSize(1);
  return success();
}

/// Checks a region's operands and their maps.
static LogicalResult verifyOperands(AttentionOp op, const ElementRegion &of, StringRef name,
                                    ArrayRef<int64_t> sizes) {
  if (!of && !of.operands.empty()) // C8
    return op.emitOpError("expects a ") << name << " region for its " << of.operands.size() << " "
                                        << name << " operands, got none";
  if (of.maps.size() != of.operands.size()) // C8
    return op.emitOpError("expects one indexing map for each ")
           << name << " operand, got " << of.maps.size() << " for " << of.operands.size();
  for (auto [i, operand] : llvm::enumerate(of.operands)) {
    auto type = cast<RankedTensorType>(operand.getType());
    AffineMap map = of.getMap(i);
    if (map.getNumDims() != 4 || map.getNumSymbols() != 0 || !map.isProjectedPermutation() ||
        (map.getNumResults() != 0 && map.getNumResults() != type.getRank())) // C8
      return op.emitOpError("expects the map of ")
             << name << " operand " << i << " to take (b, h, i, j) to " << type.getRank()
             << " distinct dimensions or to none, got " << AffineMapAttr::get(map);
    for (auto [axis, dimension] : llvm::enumerate(map.getResults())) {
      int64_t wanted = sizes[cast<AffineDimExpr>(dimension).getPosition()];
      if (!agree(type.getDimSize(axis), wanted)) // C8
        return op.emitOpError("expects axis ") << axis << " of " << name << " operand " << i
                                               << " to have size " << wanted << ", got " << type;
    }
  }
  return success();
}

/// Tensors or caches, of static heads and sizes.
static LogicalResult verifyKinds(AttentionOp op) {
  Type key = op.getKey().getType(), value = op.getValue().getType();
  if (isa<RankedTensorType>(key) != isa<RankedTensorType>(value))
    return op.emitOpError("expects key and value both tensors or both caches, got ") // C1
           << key << " and " << value;
  if (!isa<RankedTensorType>(key)) {
    CacheKind keyKind = cast<CacheType>(key).getKind();
    CacheKind valueKind = cast<CacheType>(value).getKind();
    if (keyKind != CacheKind::Key || valueKind != CacheKind::Value) // C1
      return op.emitOpError("expects a key cache and a value cache, got ")
             << stringifyCacheKind(keyKind) << " and " << stringifyCacheKind(valueKind);
  }
  for (auto [operand, name] : {std::pair<Value, StringRef>(op.getQuery(), "query"),
                               {op.getKey(), "key"},
                               {op.getValue(), "value"}})
    if (headsOf(operand.getType()) <= 0 || sizeOf(operand.getType()) <= 0) // C1
      return op.emitOpError("expects positive static heads and head size of the ")
             << name << ", got " << operand.getType();
  return success();
}

static LogicalResult verifyHeads(AttentionOp op) {
  if (op.getQueryHeads() % op.getKeyHeads() != 0) // C2
    return op.emitOpError(
               "expects the number of query heads to be a multiple of the key heads, got ")
           << op.getQueryHeads() << " and " << op.getKeyHeads();
  if (headsOf(op.getValue().getType()) != op.getKeyHeads()) // C2
    return op.emitOpError("expects as many value heads as key heads, got ")
           << headsOf(op.getValue().getType()) << " and " << op.getKeyHeads();
  if (sizeOf(op.getKey().getType()) != op.getHeadSize()) // C3
    return op.emitOpError("expects query and key head sizes to agree, got ")
           << op.getHeadSize() << " and " << sizeOf(op.getKey().getType());
  return success();
}

/// The batch and the lengths of keys and values that are tensors.
static LogicalResult verifyLengths(AttentionOp op) {
  auto key = dyn_cast<RankedTensorType>(op.getKey().getType());
  auto value = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (!key)
    return success();
  if (!agree(key.getDimSize(1), value.getDimSize(1))) // C4
    return op.emitOpError("expects key and value lengths to agree, got ")
           << key.getDimSize(1) << " and " << value.getDimSize(1);
  int64_t batch = op.getQuery().getType().getDimSize(0);
  if (!agree(batch, key.getDimSize(0)) || !agree(batch, value.getDimSize(0)) ||
      !agree(key.getDimSize(0), value.getDimSize(0))) // C4
    return op.emitOpError("expects one batch size, got ")
           << batch << ", " << key.getDimSize(0) << " and " << value.getDimSize(0);
  return success();
}

/// Whether a type has these elements and sizes; those of axes `known` must be static, others agree.
static bool isLike(RankedTensorType type, ArrayRef<int64_t> sizes, ArrayRef<unsigned> known,
                   Type element) {
  return type.getElementType() == element && agree(type.getShape(), sizes) &&
         llvm::none_of(known, [&](unsigned axis) { return type.isDynamicDim(axis); });
}

static LogicalResult verifyScales(AttentionOp op) {
  if (bool(op.getKeyScales()) != bool(op.getValueScales())) // C13
    return op.emitOpError("expects scales of both keys and values, or of neither");
  for (auto [operand, scales, name] : {std::tuple(op.getKey(), op.getKeyScales(), "key"),
                                       std::tuple(op.getValue(), op.getValueScales(), "value")}) {
    auto cache = dyn_cast<CacheType>(operand.getType());
    bool isOfIntegers = cache && cache.getElementType().isInteger(8);
    if (isOfIntegers != bool(scales)) // C13
      return op.emitOpError("expects scales of caches of i8 and of no others, got a ")
             << name << " of " << operand.getType()
             << (scales ? " with scales" : " without scales");
    if (scales && scales.getType() != CacheAppendOp::getScalesType(cache)) // C13
      return op.emitOpError("expects ")
             << name << " scales of type " << CacheAppendOp::getScalesType(cache) << ", got "
             << scales.getType();
  }
  return success();
}

static LogicalResult verifyFurtherOperands(AttentionOp op) {
  if (failed(verifyScales(op)))
    return failure();
  if (op.getSinks() &&
      cast<RankedTensorType>(op.getSinks().getType()).getDimSize(0) != op.getQueryHeads()) // C9
    return op.emitOpError("expects one sink for each of ")
           << op.getQueryHeads() << " heads, got " << op.getSinks().getType();
  if (op.getAdditive() &&
      cast<RankedTensorType>(op.getAdditive().getType()).getDimSize(0) != op.getHeadSize()) // C10
    return op.emitOpError("expects additive weights for head size ")
           << op.getHeadSize() << ", got " << op.getAdditive().getType();
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyKinds(*this)) || failed(verifyHeads(*this)) || failed(verifyLengths(*this)))
    return failure();
  auto query = getQuery().getType();
  auto key = dyn_cast<RankedTensorType>(getKey().getType());
  int64_t batch = query.getDimSize(0), queryLength = query.getDimSize(1);
  int64_t keyLength = key ? key.getDimSize(1) : ShapedType::kDynamic;
  auto expectLike = [&](Type type, StringRef what, ArrayRef<int64_t> sizes,
                        ArrayRef<unsigned> known, Type element) -> LogicalResult {
    if (isLike(cast<RankedTensorType>(type), sizes, known, element))
      return success();
    return emitOpError("expects ")
           << what << " like " << RankedTensorType::get(sizes, element) << ", got " << type;
  };
  if (failed(expectLike(getOutput().getType(), "a result",
                        {batch, queryLength, getQueryHeads(), getValueSize()}, {2, 3},
                        query.getElementType()))) // C5
    return failure();
  if (failed(verifyPositions(*this, getQueryPositions(), "query positions", batch, queryLength)) ||
      failed(verifyPositions(*this, getKeyPositions(), "key positions", batch, keyLength))) // C6
    return failure();
  SmallVector<int64_t> sizes{batch, getQueryHeads(), queryLength, keyLength};
  if (failed(verifyOperands(*this, getScoreRegion(), "score", sizes)) ||
      failed(verifyOperands(*this, getProbabilityRegion(), "probability", sizes)) ||
      failed(verifyFurtherOperands(*this)))
    return failure();
  if (getLse() && failed(expectLike(getLse().getType(), "lse", ArrayRef(sizes).drop_back(), {1},
                                    getAccumulationType()))) // C11
    return failure();
  if (getWeights() && failed(expectLike(getWeights().getType(), "weights", sizes, {1},
                                        query.getElementType()))) // C11
    return failure();
  if (getMask())
    return verifyMask(*this, getMask(), sizes); // C12
  return success();
}

void AttentionOp::requireSizes(function_ref<void(SizeRule)> require) {
  Value query = getQuery(), key = getKey(), value = getValue();
  require({key, 0, query, 0}); // C4
  require({value, 0, query, 0});
  require({value, 1, key, 1});
  for (Value scales : {getKeyScales(), getValueScales()})
    if (scales) { // C13
      require({scales, 0, query, 0});
      require({scales, 1, key, 1});
    }
  for (auto [positions, of] :
       {std::pair<Value, Value>(getQueryPositions(), query), {getKeyPositions(), key}})
    if (positions) { // C6
      require({positions, 0, query, 0, /*orOne=*/isOneForAll(positions)});
      require({positions, 1, of, 1});
    }
  // Of (b, h, i, j).
  const std::pair<Value, int64_t> sizes[] = {{query, 0}, {query, 2}, {query, 1}, {key, 1}};
  for (const ElementRegion &of : {getScoreRegion(), getProbabilityRegion()})
    for (auto [i, operand] : llvm::enumerate(of.operands))
      for (auto [axis, dimension] : llvm::enumerate(of.getMap(i).getResults())) {
        auto [tensor, tensorAxis] = sizes[cast<AffineDimExpr>(dimension).getPosition()];
        require({operand, int64_t(axis), tensor, tensorAxis}); // C8
      }
  if (getMask())
    requireMaskSizes(getMask(), sizes, require); // C12
}

/// Checks a region's arguments, what it yields, and its ops.
static LogicalResult verifyRegion(AttentionOp op, const ElementRegion &of, StringRef name) {
  if (!of)
    return success();
  MLIRContext *context = op.getContext();
  Type index = IndexType::get(context), i32 = IntegerType::get(context, 32);
  SmallVector<Type> expected{op.getAccumulationType()};
  for (auto [i, operand] : llvm::enumerate(of.operands))
    expected.push_back(of.isWhole(i) ? operand.getType() : getElementTypeOrSelf(operand));
  expected.append({index, index, i32, i32});
  Block &block = of.getBlock();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(expected)) // C7
    return op.emitOpError("expects ")
           << name << " arguments of types " << expected << ", got " << block.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getNumOperands() != 1 ||
      yield.getOperand(0).getType() != op.getAccumulationType()) // C7
    return op.emitOpError("expects the ")
           << name << " region to yield one " << op.getAccumulationType();
  WalkResult pure = block.walk([&](Operation *inner) {
    if (isPure(inner))
      return WalkResult::advance();
    op.emitOpError("expects pure ops in the ")
        << name << " region, got '" << inner->getName() << "'"; // C7
    return WalkResult::interrupt();
  });
  return failure(pure.wasInterrupted());
}

LogicalResult AttentionOp::verifyRegions() {
  return failure(failed(verifyRegion(*this, getScoreRegion(), "score")) ||
                 failed(verifyRegion(*this, getProbabilityRegion(), "probability")));
}

LogicalResult AttentionOp::reifyResultShapes(OpBuilder &builder,
                                             ReifiedRankedShapedTypeDims &shapes) {
  Location loc = getLoc();
  OpFoldResult batch = getSize(builder, loc, getQuery(), 0);
  OpFoldResult length = getSize(builder, loc, getQuery(), 1);
  OpFoldResult heads = builder.getIndexAttr(getQueryHeads());
  shapes.push_back({batch, length, heads, builder.getIndexAttr(getValueSize())});
  if (getLse())
    shapes.push_back({batch, heads, length});
  if (getWeights()) {
    OpFoldResult keys =
        hasCache() ? OpFoldResult(CacheLengthOp::create(builder, loc, getKey()).getResult())
                   : getSize(builder, loc, getKey(), 1);
    shapes.push_back({batch, heads, length, keys});
  }
  return success();
}

//===-- Interfaces ---------------------------------------------------------------------------===//

Value AttentionOp::getAxesOperand() { return getQuery(); }

SmallVector<ElementRegion> AttentionOp::getElementRegions() {
  return {getScoreRegion(), getProbabilityRegion()};
}

/// What a score reads may be anything.
IntegerRole AttentionOp::getIntegerRole(OpOperand &use) {
  bool isPosition = use.get() == getQueryPositions() || use.get() == getKeyPositions();
  return {isPosition ? IntegerRole::Position : IntegerRole::Any};
}

/// All keys; a program of its own, if any.
TileNeeds AttentionOp::getTileNeeds() { return {TileNeeds::Sequence, 2}; }

bool AttentionOp::visitTileOperands(TileVisitor &) { return false; }

//===-- Rewrites -----------------------------------------------------------------------------===//

namespace {
/// A mask that allows everything is no mask.
struct DropTrueMask : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    auto conjunction = op.getMask() ? op.getMask().getDefiningOp<MaskAndOp>() : MaskAndOp();
    if (!conjunction || !conjunction.getMasks().empty())
      return rewriter.notifyMatchFailure(op, "the mask says something");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

/// Masks that the attention's sizes make simpler, also inside and/or/not.
struct SimplifyMaskOfAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getMask())
      return rewriter.notifyMatchFailure(op, "has no mask");
    MaskPairs pairs;
    pairs.areIndices = !op.getQueryPositions() && !op.getKeyPositions();
    auto key = dyn_cast<RankedTensorType>(op.getKey().getType());
    if (key && !key.isDynamicDim(1) && !op.getKeyPositions())
      pairs.keys = key.getDimSize(1);
    FailureOr<Value> simpler = simplifyMask(rewriter, op.getMask(), pairs);
    if (failed(simpler))
      return rewriter.notifyMatchFailure(op, "no mask gets simpler");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().assign(*simpler); });
    return success();
  }
};

/// Keys and values that are all of two caches' are the caches.
struct TakeCaches : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    auto keys = op.getKey().getDefiningOp<CacheReadOp>();
    auto values = op.getValue().getDefiningOp<CacheReadOp>();
    if (!keys || !values)
      return rewriter.notifyMatchFailure(op, "keys and values are not read from caches");
    if (keys.getCache().getType().getKind() != CacheKind::Key ||
        values.getCache().getType().getKind() != CacheKind::Value)
      return rewriter.notifyMatchFailure(op, "they are caches of other kinds");
    rewriter.modifyOpInPlace(op, [&] {
      op.getKeyMutable().assign(keys.getCache());
      op.getValueMutable().assign(values.getCache());
    });
    return success();
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropTrueMask, SimplifyMaskOfAttention, TakeCaches>(context);
}

//===-- Scores -------------------------------------------------------------------------------===//

LogicalResult AlibiSlopesOp::verify() {
  if (getSlopes().getType().isDynamicDim(0)) // C1
    return emitOpError("expects a static number of heads");
  return success();
}

LogicalResult RelativeBiasOp::verify() {
  auto table = getTable().getType();
  int64_t buckets = getBuckets(), maxDistance = getMaxDistance();
  if (!agree(table.getDimSize(0), buckets)) // C1
    return emitOpError("expects a table of ") << buckets << " rows, got " << table;
  int64_t oneSided = getBidirectional() ? buckets / 2 : buckets;
  if (oneSided < 2 || (getBidirectional() && buckets % 2 != 0)) // C2
    return emitOpError("expects at least ")
           << (getBidirectional() ? "4 buckets, an even number" : "2 buckets") << ", got "
           << buckets;
  if (maxDistance <= oneSided / 2) // C2
    return emitOpError("expects max_distance above ") << oneSided / 2 << ", got " << maxDistance;
  return success();
}

//===-- Scales of caches of integers ---------------------------------------------------------===//

static ParseResult parseScales(OpAsmParser &parser,
                               std::optional<OpAsmParser::UnresolvedOperand> &scales, Type &type,
                               Type &grown) {
  if (failed(parser.parseOptionalKeyword("scales")))
    return success();
  if (parser.parseLParen() || parser.parseOperand(scales.emplace()) ||
      parser.parseColonType(type) || parser.parseRParen())
    return failure();
  grown = type;
  return success();
}

static void printScales(OpAsmPrinter &printer, CacheAppendOp, Value scales, Type type, Type) {
  if (scales)
    printer << " scales(" << scales << " : " << type << ')';
}

#define GET_OP_CLASSES
#include "dialects/Fovea/FoveaOps.cpp.inc"
