// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Generation.h. Finds what a graph's arguments and results are, then writes the entry by
// cloning its ops. What takes pasts and is no such step is noted, argument by argument, and left as
// it is.
#include "frontend/ONNX/Generation.h"
#include "dialects/Fovea/Ports.h"
#include "frontend/ONNX/Importer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

using ::fovea::addError;
using ::fovea::addNote;
using ::fovea::printable;

namespace {

/// A past of keys or values, and the concatenation that is its present.
struct Past {
  unsigned argument, result;
  tensor::ConcatOp present;
  CacheType cache;
};

/// What the arguments and results of a decoder's step are. Ids, masks and positions are tables of
/// i64 with open sizes; ids may be of one position.
struct Step {
  unsigned ids = 0, logits = 0;
  std::optional<unsigned> mask, positions;
  SmallVector<Past> pasts; ///< keys and values in turns, a layer after the other
  /// Behind an encoder: the mask of what it read, and what its decoder keeps of that, as pasts.
  std::optional<unsigned> sourceMask;
  SmallVector<unsigned> sources;

  bool isPast(unsigned argument) const {
    return llvm::any_of(pasts, [&](const Past &past) { return past.argument == argument; });
  }
};

class Finder {
public:
  Finder(func::FuncOp forward, const std::string &file, ::fovea::Problems &problems,
         bool hasSource = false)
      : forward(forward), file(file), problems(problems), hasSource(hasSource) {}
  /// Nothing where there are no pasts, and where something does not fit, which is noted, or behind
  /// an encoder an error.
  std::optional<Step> find();

private:
  std::string nameOf(unsigned argument);
  bool refuse(const std::string &place, const std::string &message);
  void findPasts();
  bool findResults();
  bool findArguments();
  bool findSource(unsigned argument, RankedTensorType type, bool isTable);
  bool haveSources();
  bool isReadAsPast(const Past &past);

  func::FuncOp forward;
  const std::string &file;
  ::fovea::Problems &problems;
  bool hasSource;
  Step step;
};

/// Writes the entry.
class Writer {
public:
  Writer(func::FuncOp forward, const Step &step)
      : forward(forward), step(step), b(forward.getLoc(), forward.getContext()) {}
  func::FuncOp write();

private:
  func::FuncOp addEntry();
  void mapArguments(func::FuncOp entry);
  Value makeMask();
  Value makePositions();
  Value append(tensor::ConcatOp present, Value cache);
  Value read(Value cache, Value length, Type as);
  Value mapDim(tensor::DimOp dim);
  void finish();
  Value castTo(RankedTensorType type, Value value);

  func::FuncOp forward;
  const Step &step;
  ImplicitLocOpBuilder b;
  IRMapping mapping;
  Value batch, sequence;
  Value before, after;                 ///< how many positions each cache holds
  DenseMap<Operation *, Value> caches; ///< by the present, before and behind it
};

} // namespace

//===-- What the arguments are ---------------------------------------------------------------===//

std::string Finder::nameOf(unsigned argument) {
  return printable(getPortName(forward.getArgAttrDict(argument)).str());
}

bool Finder::refuse(const std::string &place, const std::string &message) {
  if (hasSource)
    addError(problems, file, place, message);
  else
    addNote(problems, file, place,
            "generate, chat and bench of texts are not for this model: " + message);
  return false;
}

/// [batch, heads, length, size], batch and length open.
static bool canBePast(RankedTensorType type) {
  return type.getRank() == 4 && type.isDynamicDim(0) && type.isDynamicDim(2) &&
         type.getDimSize(1) > 0 && type.getDimSize(3) > 0 &&
         isa<Float32Type, Float16Type, BFloat16Type>(type.getElementType());
}

/// Of the past with this number. Frameworks hand a layer's keys and its values on in this order.
static CacheType makeCacheType(Value past, size_t number) {
  auto type = cast<RankedTensorType>(past.getType());
  return CacheType::get(past.getContext(), number % 2 ? CacheKind::Value : CacheKind::Key,
                        type.getDimSize(1), type.getDimSize(3), type.getElementType());
}

static std::string nameCache(size_t number) {
  return (number % 2 ? "value_cache." : "key_cache.") + std::to_string(number / 2);
}

/// Results that are an argument [B, heads, P, size] with more positions behind it.
void Finder::findPasts() {
  auto results = cast<func::ReturnOp>(forward.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(results.getOperands())) {
    auto present = value.getDefiningOp<tensor::ConcatOp>();
    if (!present || present.getDim() != 2 || present.getInputs().size() != 2)
      continue;
    auto argument = dyn_cast<BlockArgument>(present.getInputs().front());
    auto type = cast<RankedTensorType>(present.getInputs().front().getType());
    if (!argument || !canBePast(type) || step.isPast(argument.getArgNumber()))
      continue;
    step.pasts.push_back({argument.getArgNumber(), static_cast<unsigned>(i), present,
                          makeCacheType(argument, step.pasts.size())});
  }
}

static std::string printType(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool Finder::findResults() {
  unsigned found = 0;
  for (unsigned i = 0; i < forward.getNumResults(); ++i) {
    auto type = cast<RankedTensorType>(forward.getResultTypes()[i]);
    if (llvm::any_of(step.pasts, [&](const Past &past) { return past.result == i; }))
      continue;
    if (getResultRole(forward, i) != PortRole::Logits || type.getRank() != 3 ||
        type.getDimSize(2) < 1 || !isa<FloatType>(type.getElementType()))
      return refuse(printable(getPortName(forward.getResultAttrDict(i)).str()),
                    "expects logits [batch, sequence, vocabulary] and present keys and values, got "
                    "another result");
    step.logits = i;
    ++found;
  }
  return found == 1 || refuse("", "expects logits, got none");
}

/// Whether the argument is of what an encoder read.
bool Finder::findSource(unsigned argument, RankedTensorType type, bool isTable) {
  if (!hasSource)
    return false;
  StringRef name = getPortName(forward.getArgAttrDict(argument));
  if (name == "encoder_attention_mask" && isTable && !step.sourceMask) {
    step.sourceMask = argument;
    return true;
  }
  if (name == "encoder_hidden_states") // whose keys and values are there
    return forward.getArgument(argument).use_empty();
  if (!canBePast(type))
    return false;
  step.sources.push_back(argument);
  return true;
}

bool Finder::findArguments() {
  bool hasIds = false;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    if (step.isPast(i))
      continue;
    // Sizes that are fixed would have to be those of each call.
    auto type = cast<RankedTensorType>(forward.getArgumentTypes()[i]);
    bool isTable = type.getRank() == 2 && type.getNumDynamicDims() == 2 &&
                   type.getElementType().isSignlessInteger(64);
    bool isColumn = hasSource && type.getRank() == 2 && type.isDynamicDim(0) &&
                    type.getDimSize(1) == 1 && type.getElementType().isSignlessInteger(64);
    PortRole role = isTable || isColumn ? getArgumentRole(forward, i) : PortRole::None;
    if (findSource(i, type, isTable))
      continue;
    if (role == PortRole::TokenIds && !hasIds) {
      hasIds = true;
      step.ids = i;
    } else if (role == PortRole::AttentionMask) {
      step.mask = i;
    } else if (role == PortRole::Positions) {
      step.positions = i;
    } else {
      return refuse(nameOf(i), "expects input_ids, attention_mask and position_ids of int64 and "
                               "pasts with their presents, their batch and lengths open, got " +
                                   printType(type));
    }
  }
  return hasIds || refuse("", "expects input_ids [batch, sequence], got no such argument");
}

/// Whether there are keys and values of the encoder for each of the decoder's own.
bool Finder::haveSources() {
  if (!hasSource || (step.sourceMask && step.sources.size() == step.pasts.size()))
    return true;
  return refuse("", "expects encoder_attention_mask and as many keys and values of the encoder as "
                    "of the decoder itself, got " +
                        std::string(step.sourceMask ? "the mask" : "no mask") + " and " +
                        std::to_string(step.sources.size()) + " beside " +
                        std::to_string(step.pasts.size()));
}

/// Whether the past is read by its present alone, but for its sizes.
bool Finder::isReadAsPast(const Past &past) {
  Value value = forward.getArgument(past.argument);
  for (Operation *user : value.getUsers())
    if (auto dim = dyn_cast<tensor::DimOp>(user);
        user != past.present && !(dim && dim.getConstantIndex()))
      return refuse(nameOf(past.argument),
                    "expects a past that is read behind each other with what is new, got one that "
                    "is read otherwise");
  return true;
}

std::optional<Step> Finder::find() {
  findPasts();
  if (step.pasts.empty())
    return std::nullopt;
  if (step.pasts.size() % 2) {
    refuse("", "expects pasts of keys and of values for each layer, got " +
                   std::to_string(step.pasts.size()));
    return std::nullopt;
  }
  bool fits = findResults() && findArguments() && haveSources() &&
              llvm::all_of(step.pasts, [&](const Past &past) { return isReadAsPast(past); });
  return fits ? std::optional<Step>(step) : std::nullopt;
}

//===-- The entry ----------------------------------------------------------------------------===//

func::FuncOp Writer::addEntry() {
  auto describe = [&](StringRef name, ArrayRef<StringRef> dims) {
    return describePort(b, name, dims);
  };
  auto logits = cast<RankedTensorType>(forward.getResultTypes()[step.logits]);
  constexpr int64_t open = ShapedType::kDynamic;
  auto ids = cast<RankedTensorType>(forward.getArgumentTypes()[step.ids]);
  bool isOne = !ids.isDynamicDim(1);
  SmallVector<Type> arguments = {ids};
  SmallVector<Type> results = {
      RankedTensorType::get({open, logits.getDimSize(2)}, logits.getElementType()),
      RankedTensorType::get({open}, b.getI64Type())};
  SmallVector<StringRef> axes = {"batch", "sequence"};
  SmallVector<DictionaryAttr> ofArguments = {
      describe(step.sourceMask ? "decoder_input_ids" : "input_ids",
               ArrayRef(axes).take_front(ids.getNumDynamicDims()))};
  SmallVector<DictionaryAttr> ofResults = {describe("logits", {"batch"}),
                                           describe("next_token", {"batch"})};
  if (step.sourceMask) {
    arguments.push_back(forward.getArgumentTypes()[*step.sourceMask]);
    ofArguments.push_back(describe("attention_mask", {"batch", "source"}));
  }
  for (auto [i, past] : llvm::enumerate(step.pasts)) {
    std::string name = nameCache(i);
    for (auto [types, attributes] :
         {std::pair(&arguments, &ofArguments), std::pair(&results, &ofResults)}) {
      types->push_back(past.cache);
      attributes->push_back(describe(name, {"batch", "capacity"}));
    }
  }
  for (auto [i, source] : llvm::enumerate(step.sources)) {
    arguments.push_back(makeCacheType(forward.getArgument(source), i));
    ofArguments.push_back(describe("source_" + nameCache(i), {"batch", "capacity"}));
  }
  b.setInsertionPointAfter(forward);
  auto entry =
      func::FuncOp::create(b, isOne ? "decode" : "prefill", b.getFunctionType(arguments, results));
  entry->setAttr(FoveaDialect::kEntryAttr, b.getUnitAttr());
  entry.setAllArgAttrs(ofArguments);
  entry.setAllResultAttrs(ofResults);
  b.setInsertionPointToStart(entry.addEntryBlock());
  return entry;
}

Value Writer::castTo(RankedTensorType type, Value value) {
  return value.getType() == type ? value : tensor::CastOp::create(b, type, value).getResult();
}

Value onnx::swapHeads(ImplicitLocOpBuilder &b, Value value) {
  static constexpr int64_t kSwapped[] = {0, 2, 1, 3};
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis : kSwapped)
    sizes.push_back(tensor::getMixedSize(b, b.getLoc(), value, axis));
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, value, empty, kSwapped)->getResult(0);
}

/// 1 for each position, of those in the caches and the new ones: no text is padded.
Value Writer::makeMask() {
  Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  auto type = cast<RankedTensorType>(forward.getArgumentTypes()[*step.mask]);
  return tensor::SplatOp::create(b, one, type.getShape(), ValueRange{batch, after});
}

/// Counted from what the caches hold.
Value Writer::makePositions() {
  auto type = cast<RankedTensorType>(forward.getArgumentTypes()[*step.positions]);
  Value empty = tensor::EmptyOp::create(b, type, ValueRange{batch, sequence});
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, ValueRange{}, ValueRange{empty},
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(2)}, loops,
      [&](OpBuilder &inner, Location loc, ValueRange) {
        Value place = linalg::IndexOp::create(inner, loc, 1);
        Value position = arith::AddIOp::create(inner, loc, place, before);
        Value number = arith::IndexCastOp::create(inner, loc, type.getElementType(), position);
        linalg::YieldOp::create(inner, loc, number);
      });
  return generic.getResult(0);
}

void Writer::mapArguments(func::FuncOp entry) {
  Value ids = entry.getArgument(0);
  batch = tensor::DimOp::create(b, ids, 0);
  sequence = tensor::DimOp::create(b, ids, 1);
  unsigned first = 1;
  if (step.sourceMask)
    mapping.map(forward.getArgument(*step.sourceMask), entry.getArgument(first++));
  before = CacheLengthOp::create(b, entry.getArgument(first));
  after = arith::AddIOp::create(b, before, sequence);
  mapping.map(forward.getArgument(step.ids), ids);
  if (step.mask)
    mapping.map(forward.getArgument(*step.mask), makeMask());
  if (step.positions)
    mapping.map(forward.getArgument(*step.positions), makePositions());
  for (auto [i, past] : llvm::enumerate(step.pasts))
    caches[past.present] = entry.getArgument(first + i);
  if (step.sources.empty())
    return;
  // As long as the mask: the graph takes the two for one size.
  Value length = tensor::DimOp::create(b, entry.getArgument(first - 1), 1);
  for (auto [i, source] : llvm::enumerate(step.sources))
    mapping.map(forward.getArgument(source), read(entry.getArgument(first + step.pasts.size() + i),
                                                  length, forward.getArgument(source).getType()));
}

/// The present is all that the cache holds with the new positions.
Value Writer::append(tensor::ConcatOp present, Value cache) {
  Value added = swapHeads(b, mapping.lookup(present.getInputs().back()));
  Value grown = CacheAppendOp::create(b, cache, added, /*scales=*/Value()).getResult();
  caches[present] = grown;
  return read(grown, after, present.getType());
}

/// The first `length` positions of a cache as frameworks hold them.
Value Writer::read(Value cache, Value length, Type as) {
  auto type = cast<CacheType>(cache.getType());
  constexpr int64_t open = ShapedType::kDynamic;
  auto tensor =
      RankedTensorType::get({open, open, type.getHeads(), type.getSize()}, type.getElementType());
  return castTo(cast<RankedTensorType>(as),
                swapHeads(b, CacheReadOp::create(b, tensor, cache, batch, length)));
}

/// A size of a past, for which no tensor stands.
Value Writer::mapDim(tensor::DimOp dim) {
  auto argument = dyn_cast<BlockArgument>(dim.getSource());
  if (!argument || !step.isPast(argument.getArgNumber()))
    return {};
  std::optional<int64_t> axis = dim.getConstantIndex();
  auto type = cast<RankedTensorType>(argument.getType());
  if (!type.isDynamicDim(*axis))
    return arith::ConstantIndexOp::create(b, type.getDimSize(*axis));
  return *axis == 0 ? batch : before;
}

/// Of the last position alone.
void Writer::finish() {
  auto results = cast<func::ReturnOp>(forward.getBody().front().getTerminator());
  Value logits = mapping.lookup(results.getOperand(step.logits));
  auto type = cast<RankedTensorType>(logits.getType());
  auto last =
      RankedTensorType::get({ShapedType::kDynamic, type.getDimSize(2)}, type.getElementType());
  constexpr int64_t open = ShapedType::kDynamic;
  logits = castTo(RankedTensorType::get({open, open, type.getDimSize(2)}, type.getElementType()),
                  logits);
  Value row = PoolOp::create(b, last, PoolKind::Last, logits, /*keep=*/Value());
  Value token = ArgmaxOp::create(b, RankedTensorType::get({open}, b.getI64Type()), row);
  SmallVector<Value> returned = {row, token};
  for (const Past &past : step.pasts)
    returned.push_back(caches[past.present]);
  func::ReturnOp::create(b, returned);
}

func::FuncOp Writer::write() {
  func::FuncOp entry = addEntry();
  mapArguments(entry);
  for (Operation &op : forward.getBody().front().without_terminator()) {
    b.setLoc(op.getLoc());
    auto dim = dyn_cast<tensor::DimOp>(op);
    auto present = dyn_cast<tensor::ConcatOp>(op);
    if (Value size = dim ? mapDim(dim) : Value())
      mapping.map(dim.getResult(), size);
    else if (auto cache = present ? caches.find(present) : caches.end(); cache != caches.end())
      mapping.map(present.getResult(), append(present, cache->second));
    else
      b.clone(op, mapping);
  }
  finish();
  return entry;
}

func::FuncOp onnx::addDecoderStep(func::FuncOp forward, const std::string &file,
                                  ::fovea::Problems &problems, SourceNames &sources) {
  std::optional<Step> step = Finder(forward, file, problems, /*hasSource=*/true).find();
  if (!step) {
    if (!hasErrors(problems))
      addError(problems, file, "",
               "expects pasts that are results with new keys and values behind them, got none");
    return {};
  }
  for (unsigned source : step->sources)
    sources.push_back(getPortName(forward.getArgAttrDict(source)).str());
  return Writer(forward, *step).write();
}

bool mlir::fovea::onnx::addPrefill(func::FuncOp forward, const std::string &file,
                                   ::fovea::Problems &problems) {
  std::optional<Step> step = Finder(forward, file, problems).find();
  if (!step)
    return false;
  Writer(forward, *step).write();
  return true;
}
