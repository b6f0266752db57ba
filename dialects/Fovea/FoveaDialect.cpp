// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, types and the checks of the dialect's discardable attributes
// (`fovea.entry`, `fovea.kind`, `fovea.name`, `fovea.dims`, `fovea.role`, `fovea.max_positions`,
// `fovea.signature`, `fovea.target`).
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Fovea/Blocks.h"

#include "dialects/Fovea/Ports.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

#include "dialects/Fovea/FoveaDialect.cpp.inc"
#include "dialects/Fovea/FoveaEnums.cpp.inc"
#include "dialects/Fovea/MaskInterface.cpp.inc"
#include "dialects/Fovea/OperandInterfaces.cpp.inc"
#include "dialects/Fovea/RecipeInterface.cpp.inc"
#include "dialects/Fovea/SizeInterface.cpp.inc"
#include "dialects/Fovea/TileableInterface.cpp.inc"
#include "dialects/Fovea/WeightsInterface.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Fovea/FoveaTypes.cpp.inc"

//===-- What may stand at the end of #fovea.attention_tiles -----------------------------------===//

static ParseResult parseAttentionOptions(AsmParser &parser, SmallVector<int64_t> &split,
                                         Type &operands) {
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&name, {"split", "operands"})))
      return parser.emitError(loc, "expects split or operands");
    if (parser.parseEqual())
      return failure();
    if (name == "operands" ? parser.parseType(operands)
                           : parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
                               return parser.parseInteger(split.emplace_back());
                             }))
      return failure();
  }
  return success();
}

static void printAttentionOptions(AsmPrinter &printer, ArrayRef<int64_t> split, Type operands) {
  if (!split.empty()) {
    printer << ", split = [";
    llvm::interleaveComma(split, printer);
    printer << "]";
  }
  if (operands)
    printer << ", operands = " << operands;
}

#define GET_ATTRDEF_CLASSES
#include "dialects/Fovea/FoveaAttrs.cpp.inc"

namespace {
/// Every op may be inlined: layer functions are flattened into entries.
struct FoveaInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void FoveaDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Fovea/FoveaOps.cpp.inc"
      >();
  registerTypes();
  registerAttributes();
  addInterfaces<FoveaInlinerInterface>();
  attachTileableModels(*getContext());
}

void FoveaDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Fovea/FoveaTypes.cpp.inc"
      >();
}

void FoveaDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Fovea/FoveaAttrs.cpp.inc"
      >();
}

Operation *FoveaDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===-- Discardable attributes ---------------------------------------------------------------===//

namespace {
/// What one of the dialect's attributes on an op may be.
struct AttributeRule {
  enum class Holder { Module, Function, Kernel };

  StringLiteral name;
  Holder holder;
  bool (*accepts)(Attribute);
  const char *what; ///< `expects '<name>' to be <what>`
};
} // namespace

template <typename AttrT> static bool isA(Attribute attr) { return isa<AttrT>(attr); }

static bool isStrings(Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  return list && llvm::all_of(list, llvm::IsaPred<StringAttr>);
}

static bool isScoreFunction(Attribute attr) {
  auto name = dyn_cast<StringAttr>(attr);
  return name && llvm::is_contained({"softmax", "sigmoid", "none"}, name.getValue());
}

static bool isSides(Attribute attr) {
  auto sides = dyn_cast_or_null<DenseI32ArrayAttr>(attr);
  return sides && sides.size() == 2 && sides[0] > 0 && sides[1] > 0;
}

/// As kImagesAttr says.
static bool isImages(Attribute attr) {
  auto images = dyn_cast<DictionaryAttr>(attr);
  if (!images)
    return false;
  size_t known = 3;
  auto mean = images.getAs<DenseF64ArrayAttr>("mean");
  auto deviation = images.getAs<DenseF64ArrayAttr>("deviation");
  auto scale = images.getAs<FloatAttr>("scale");
  if (!scale || !scale.getType().isF64() || !mean || !deviation || mean.empty() ||
      mean.size() > 4 || mean.size() != deviation.size() ||
      llvm::is_contained(deviation.asArrayRef(), 0.0))
    return false;
  Attribute resize = images.get("resize"), edge = images.get("shortest_edge");
  if (Attribute filter = images.get("filter")) {
    auto name = dyn_cast<StringAttr>(filter);
    if (!name || !llvm::is_contained(kImageFilters, name.getValue()) || !resize == !edge)
      return false;
    auto length = dyn_cast_or_null<IntegerAttr>(edge);
    if (edge ? !length || !length.getType().isInteger(32) || length.getInt() < 1 : !isSides(resize))
      return false;
    known += 2;
  }
  Attribute crop = images.get("crop");
  return (!crop || isSides(crop)) && images.size() == known + (crop ? 1 : 0);
}

static bool isTokens(Attribute attr) {
  auto list = dyn_cast<DenseI64ArrayAttr>(attr);
  return list && llvm::all_of(list.asArrayRef(), [](int64_t token) { return token >= 0; });
}

static bool isAtLeast(Attribute attr, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getValue().sge(least);
}

static const AttributeRule *findRule(StringRef name) {
  using Holder = AttributeRule::Holder;
  using D = FoveaDialect;
  static constexpr const char *kCount = "a positive integer", *kFlag = "a unit attribute";
  static const AttributeRule kRules[] = {
      {D::kTargetAttr, Holder::Module, isA<TargetAttr>, "a target"},
      {kLabelsAttr, Holder::Module, isStrings, "an array of strings"},
      {kScoreFunctionAttr, Holder::Module, isScoreFunction, "\"softmax\", \"sigmoid\" or \"none\""},
      {kImagesAttr, Holder::Module, isImages, "settings of images"},
      {kSamplingRateAttr, Holder::Module, [](Attribute a) { return isAtLeast(a, 1); }, kCount},
      {kBeginSuppressedAttr, Holder::Module, isTokens, "array<i64> of tokens"},
      {kPromptAttr, Holder::Module, [](Attribute a) { return readPrompt(a).has_value(); },
       "an array of tokens, each [name, token, [names], array<i64: tokens>]"},
      {D::kEntryAttr, Holder::Function, isA<UnitAttr>, kFlag},
      {D::kKindAttr, Holder::Function, isA<EntryKindAttr>, "an entry's kind"},
      {D::kSignatureAttr, Holder::Function, isA<SignatureAttr>, "a signature"},
      {D::kMaxPositionsAttr, Holder::Function, [](Attribute a) { return isAtLeast(a, 1); }, kCount},
      {D::kThreadsAttr, Holder::Kernel, [](Attribute a) { return isAtLeast(a, 1); }, kCount},
      {D::kSharedBytesAttr, Holder::Kernel, [](Attribute a) { return isAtLeast(a, 0); }, kCount},
      {D::kPersistentAttr, Holder::Kernel, isA<UnitAttr>, kFlag},
      {D::kFaultsAttr, Holder::Function, isA<UnitAttr>, kFlag},
      {D::kComputesAttr, Holder::Kernel, isA<StringAttr>, "text"},
      {D::kTensorMapsAttr, Holder::Kernel, isA<ArrayAttr>, "a list"},
      {D::kScheduleAttr, Holder::Kernel, [](Attribute) { return true; }, ""},
  };
  const auto *found =
      llvm::find_if(kRules, [&](const AttributeRule &rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

/// Kernels are functions of another dialect in the `llvm` stage.
static bool mayHold(Operation *op, AttributeRule::Holder holder) {
  switch (holder) {
  case AttributeRule::Holder::Module:
    return isa<ModuleOp>(op);
  case AttributeRule::Holder::Function:
    return isa<func::FuncOp>(op);
  case AttributeRule::Holder::Kernel:
    return isa<FunctionOpInterface>(op);
  }
  llvm_unreachable("a holder");
}

LogicalResult FoveaDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  const AttributeRule *rule = findRule(name);
  if (!rule)
    return op->emitOpError("has unknown attribute '") << name << "'";
  if (!mayHold(op, rule->holder))
    return op->emitOpError("expects '")
           << name << "' on a "
           << (rule->holder == AttributeRule::Holder::Module ? "module" : "function");
  if (!rule->accepts(attr.getValue()))
    return op->emitOpError("expects '")
           << name << "' to be " << rule->what << ", got " << attr.getValue();
  return success();
}

/// Roles that results have; arguments have the others.
static bool isOfResults(PortRole role) {
  return role == PortRole::Logits || role == PortRole::NextToken || role == PortRole::HiddenState ||
         role == PortRole::Embedding;
}

static LogicalResult verifyPort(Operation *op, Type type, NamedAttribute attr, bool isResult) {
  StringRef name = attr.getName();
  if (name == FoveaDialect::kNameAttr) {
    auto text = dyn_cast<StringAttr>(attr.getValue());
    if (!text || text.empty())
      return op->emitOpError("expects '") << name << "' to be a name, got " << attr.getValue();
    return success();
  }
  if (name == FoveaDialect::kDimsAttr) {
    auto array = dyn_cast<ArrayAttr>(attr.getValue());
    if (!array || !llvm::all_of(array, llvm::IsaPred<StringAttr>))
      return op->emitOpError("expects '")
             << name << "' to be an array of names, got " << attr.getValue();
    auto shaped = dyn_cast<ShapedType>(type);
    size_t dynamic = shaped && shaped.hasRank() ? shaped.getNumDynamicDims() : 0;
    // A cache's open sizes are its batch and its capacity.
    if (isa<CacheType>(type))
      dynamic = 2;
    if (array.size() != dynamic)
      return op->emitOpError("expects '")
             << name << "' to name " << dynamic << " dynamic sizes, got " << array.size();
    return success();
  }
  if (name == FoveaDialect::kRoleAttr) {
    auto role = dyn_cast<PortRoleAttr>(attr.getValue());
    if (!role || (role.getValue() != PortRole::None && isOfResults(role.getValue()) != isResult))
      return op->emitOpError("expects '")
             << name << "' to be the role of " << (isResult ? "a result" : "an argument")
             << ", got " << attr.getValue();
    return success();
  }
  return op->emitOpError("has unknown argument attribute '") << name << "'";
}

LogicalResult FoveaDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attr) {
  return verifyPort(op, cast<FunctionOpInterface>(op).getArgumentTypes()[index], attr, false);
}

LogicalResult FoveaDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                        NamedAttribute attr) {
  return verifyPort(op, cast<FunctionOpInterface>(op).getResultTypes()[index], attr, true);
}

//===-- Types --------------------------------------------------------------------------------===//

Type CacheType::parse(AsmParser &parser) {
  StringRef kindName;
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t, 2> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseKeyword(&kindName) || parser.parseComma() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(elementType) ||
      parser.parseGreater())
    return {};
  std::optional<CacheKind> kind = symbolizeCacheKind(kindName);
  if (!kind) {
    parser.emitError(loc) << "expects cache kind 'key' or 'value', got '" << kindName << "'";
    return {};
  }
  if (shape.size() != 2) {
    parser.emitError(loc) << "expects a cache shape of heads x size, got " << shape.size()
                          << " sizes";
    return {};
  }
  return CacheType::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), *kind,
                               shape[0], shape[1], elementType);
}

void CacheType::print(AsmPrinter &printer) const {
  printer << '<' << stringifyCacheKind(getKind()) << ", " << getHeads() << 'x' << getSize() << 'x'
          << getElementType() << '>';
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError, CacheKind,
                                int64_t heads, int64_t size, Type elementType) {
  if (heads <= 0 || size <= 0) // C1
    return emitError() << "expects positive heads and size, got " << heads << " and " << size;
  if (!elementType.isF16() && !elementType.isBF16() && !elementType.isF32() &&
      !elementType.isF64() && !elementType.isSignlessInteger(8)) // C2
    return emitError() << "expects element type f16, bf16, f32, f64 or i8, got " << elementType;
  return success();
}

//===-- Attributes ---------------------------------------------------------------------------===//

/// An attribute that may be absent, in a message.
static std::string show(Attribute attr) {
  std::string text = "none";
  if (attr)
    llvm::raw_string_ostream(text = "") << attr;
  return text;
}

static bool isPositive(double value) { return std::isfinite(value) && value > 0; }
static bool isPositive(FloatAttr value) { return value && isPositive(value.getValueAsDouble()); }
static bool arePositive(DenseF64ArrayAttr values) {
  return llvm::all_of(values.asArrayRef(), [](double value) { return isPositive(value); });
}

// (C3)
static LogicalResult verifyLowAndHigh(function_ref<InFlightDiagnostic()> emitError,
                                      RopeScalingKind kind, FloatAttr low, FloatAttr high) {
  StringRef name = stringifyRopeScalingKind(kind);
  if (!isPositive(low) || !isPositive(high))
    return emitError() << "expects positive finite low and high for '" << name << "', got "
                       << show(low) << " and " << show(high);
  double from = low.getValueAsDouble(), to = high.getValueAsDouble();
  bool isStrict = kind == RopeScalingKind::Llama3;
  if (isStrict ? from >= to : from > to)
    return emitError() << "expects low " << (isStrict ? "below high" : "not above high") << " for '"
                       << name << "', got " << low << " and " << high;
  return success();
}

// (C4)
static LogicalResult verifyLongFactors(function_ref<InFlightDiagnostic()> emitError,
                                       DenseF64ArrayAttr shortFactors,
                                       DenseF64ArrayAttr longFactors) {
  if (!shortFactors || !longFactors || shortFactors.size() != longFactors.size())
    return emitError() << "expects short and long factors of equal number for 'longrope', got "
                       << (shortFactors ? shortFactors.size() : 0) << " and "
                       << (longFactors ? longFactors.size() : 0);
  if (!arePositive(shortFactors) || !arePositive(longFactors))
    return emitError() << "expects positive finite factors for 'longrope', got " << shortFactors
                       << " and " << longFactors;
  return success();
}

LogicalResult RopeScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                      RopeScalingKind kind, FloatAttr factor, int64_t original,
                                      FloatAttr low, FloatAttr high, FloatAttr attentionFactor,
                                      bool truncate, DenseF64ArrayAttr shortFactors,
                                      DenseF64ArrayAttr longFactors) {
  using Kind = RopeScalingKind;
  StringRef name = stringifyRopeScalingKind(kind);
  if (kind != Kind::Default && kind != Kind::LongRope && !isPositive(factor)) // C1
    return emitError() << "expects a positive finite factor for '" << name << "', got "
                       << show(factor);
  bool needsOriginal =
      kind == Kind::Dynamic || kind == Kind::Yarn || kind == Kind::LongRope || kind == Kind::Llama3;
  if (needsOriginal && original <= 0) // C2
    return emitError() << "expects a positive original context for '" << name << "', got "
                       << original;
  if ((kind == Kind::Yarn || kind == Kind::Llama3) &&
      failed(verifyLowAndHigh(emitError, kind, low, high)))
    return failure();
  if (kind == Kind::LongRope && failed(verifyLongFactors(emitError, shortFactors, longFactors)))
    return failure();
  if (attentionFactor && !isPositive(attentionFactor)) // C5
    return emitError() << "expects a positive finite attentionFactor, got " << attentionFactor;
  return success();
}

int64_t mlir::fovea::getStorageBytes(Type elementType, int64_t count) {
  if (elementType.isInteger(4))
    return llvm::divideCeil(count, 2);
  if (std::optional<BlockFormat> format = getBlockFormat(elementType))
    return llvm::divideCeil(count, format->elements) * format->bytes;
  unsigned bits = elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
  return count * llvm::divideCeil(bits, 8);
}

OpFoldResult mlir::fovea::getSize(OpBuilder &builder, Location loc, Value tensor, int64_t axis) {
  return tensor::getMixedSize(builder, loc, tensor, axis);
}
