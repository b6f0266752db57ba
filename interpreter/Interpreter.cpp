// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions, blocks and values of the interpreter. Values are dropped after their last use; calls
// that nest without end are refused.
#include "interpreter/Interpreter.h"
#include "interpreter/Frame.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// Calls inside each other: layer functions need two.
static constexpr size_t kMaxCalls = 64;
/// Weights that are kept between calls, in elements: 4 GiB of doubles.
static constexpr int64_t kMaxKeptWeights = int64_t(1) << 29;

struct Interpreter::State {
  State(ModuleOp module, RecipeSource &source) : module(module), symbols(module), source(source) {
    addArithOps(handlers);
    addAttentionOps(handlers);
    addCacheOps(handlers);
    addControlOps(handlers);
    addExpertOps(handlers);
    addLayerOps(handlers);
    addLinalgOps(handlers);
    addMaskOps(handlers);
    addMathOps(handlers);
    addPositionOps(handlers);
    addTensorOps(handlers);
    addWeightOps(handlers);
  }

  const Handler *lookup(OperationName name) {
    auto [entry, isNew] = resolved.try_emplace(name.getAsOpaquePointer(), nullptr);
    if (isNew)
      entry->second = handlers.lookup(name);
    return entry->second;
  }

  /// For each op of a block, in order, the block's values that nobody needs after it.
  const std::vector<SmallVector<Value, 2>> &getLastUses(Block &block);

  ModuleOp module;
  SymbolTable symbols;
  RecipeSource &source;
  HandlerTable handlers;
  DenseMap<const void *, const Handler *> resolved;
  DenseMap<Block *, std::vector<SmallVector<Value, 2>>> lastUses;
  DenseMap<Operation *, TensorRef> weights;
  int64_t keptWeights = 0;
  Precision precision = Precision::Reference;
  ChoiceMap *choices = nullptr;
};

const std::vector<SmallVector<Value, 2>> &Interpreter::State::getLastUses(Block &block) {
  auto [entry, isNew] = lastUses.try_emplace(&block);
  if (!isNew)
    return entry->second;
  DenseSet<Value> needed;
  std::vector<SmallVector<Value, 2>> dying;
  for (Operation &op : llvm::reverse(block)) {
    SmallVector<Value, 2> &here = dying.emplace_back();
    auto use = [&](Value value) {
      if (value.getParentBlock() == &block && needed.insert(value).second)
        here.push_back(value);
    };
    for (Value result : op.getResults())
      use(result);
    op.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), use); });
  }
  std::reverse(dying.begin(), dying.end());
  entry->second = std::move(dying);
  return entry->second;
}

//===-- Values -------------------------------------------------------------------------------===//

const RuntimeValue &Frame::get(Value value) const {
  auto found = values.find(value);
  assert(found != values.end() && "a verified module defines values before it uses them");
  return found->second;
}

Element Frame::element(Value value) const {
  const RuntimeValue &held = get(value);
  if (auto *real = std::get_if<double>(&held))
    return {*real, 0};
  return {0, std::get<int64_t>(held)};
}

SmallVector<int64_t> Frame::integers(ArrayRef<OpFoldResult> mixed) const {
  return llvm::map_to_vector(mixed, [&](OpFoldResult one) {
    if (auto attr = dyn_cast<Attribute>(one))
      return cast<IntegerAttr>(attr).getInt();
    return integer(cast<Value>(one));
  });
}

static LogicalResult expectFit(Operation *op, Value value, const RuntimeValue &what) {
  if (std::string found = describeMismatch(what, value.getType()); !found.empty())
    return op->emitOpError("expects ") << value.getType() << ", got " << found;
  return success();
}

LogicalResult Frame::bind(Operation *op, Value value, RuntimeValue what) {
  if (failed(expectFit(op, value, what)))
    return failure();
  values[value] = std::move(what);
  return success();
}

LogicalResult Frame::set(Operation *op, Value value, RuntimeValue what) {
  if (failed(expectFit(op, value, what)))
    return failure();
  values[value] = normalise(std::move(what), value.getType(), state.precision);
  return success();
}

LogicalResult Frame::setElement(Operation *op, Value value, Element what) {
  Element normal = normalise(what, value.getType(), state.precision);
  if (isa<FloatType>(value.getType()))
    values[value] = normal.real;
  else
    values[value] = normal.integer;
  return success();
}

void Frame::setArgument(BlockArgument argument, RuntimeValue what) {
  values[argument] = normalise(std::move(what), argument.getType(), state.precision);
}

Precision Frame::getPrecision() const { return state.precision; }

double Frame::rounded(double value, Type type) const {
  return normalise(Element{value, 0}, type, state.precision).real;
}

unsigned *Frame::getChoices(Operation *op) const {
  return state.choices && getSides(op) ? &(*state.choices)[op] : nullptr;
}

FailureOr<Tensor> Frame::makeTensor(Operation *op, ArrayRef<int64_t> shape, bool isReal) {
  int64_t count = countElements(shape);
  if (count < 0) {
    op->emitOpError("expects sizes that are not negative and at most ")
        << kMaxElements << " elements, got a tensor of [" << shape << "]";
    return failure();
  }
  Tensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.isReal = isReal;
  if (isReal)
    tensor.reals.resize(count);
  else
    tensor.integers.resize(count);
  return tensor;
}

FailureOr<TensorRef> Frame::weight(WeightRefOp op) {
  auto symbol = state.symbols.lookup<WeightOp>(op.getWeight());
  if (!symbol)
    return op.emitOpError("expects a weight named ") << op.getWeightAttr();
  if (auto found = state.weights.find(symbol); found != state.weights.end())
    return found->second;
  TRY(Tensor value, evaluateRecipe(symbol, state.source));
  TensorRef kept = std::make_shared<Tensor>(std::move(value));
  if (state.keptWeights + kept->size() <= kMaxKeptWeights) {
    state.keptWeights += kept->size();
    state.weights[symbol] = kept;
  }
  return kept;
}

//===-- Running ------------------------------------------------------------------------------===//

LogicalResult Frame::runOp(Operation *op) {
  const Handler *handler = state.lookup(op->getName());
  if (!handler)
    return op->emitOpError("is not known to the reference interpreter");
  return (*handler)(op, *this);
}

static LogicalResult takeResults(Operation *terminator, Frame &frame,
                                 SmallVectorImpl<RuntimeValue> &results) {
  if (!terminator->hasTrait<OpTrait::ReturnLike>() || terminator->getNumSuccessors() != 0)
    return terminator->emitOpError("is not known to the reference interpreter");
  results.clear();
  for (Value operand : terminator->getOperands())
    results.push_back(frame.get(operand));
  return success();
}

LogicalResult Frame::run(Block &block, ArrayRef<RuntimeValue> arguments,
                         SmallVectorImpl<RuntimeValue> &results) {
  Operation *parent = block.getParentOp();
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    if (failed(bind(parent, argument, value)))
      return failure();
  if (scalarDepth)
    return runScalars(block, results);
  // Taken by value: a nested block may make the table grow.
  std::vector<SmallVector<Value, 2>> lastUses = state.getLastUses(block);
  for (auto [op, dying] :
       llvm::zip_equal(block.without_terminator(), ArrayRef(lastUses).drop_back())) {
    if (failed(runOp(&op)))
      return failure();
    if (observer)
      for (OpResult result : op.getResults())
        observer->onResult(calls, result, values[result]);
    for (Value value : dying)
      values.erase(value);
  }
  return takeResults(block.getTerminator(), *this, results);
}

LogicalResult Frame::runScalars(Block &block, SmallVectorImpl<RuntimeValue> &results) {
  ++scalarDepth;
  // Not without_terminator(), which asks the last op each time whether it is one.
  Operation *terminator = block.getTerminator();
  for (Operation *op = &block.front(); op != terminator; op = op->getNextNode())
    if (failed(runOp(op)))
      return failure();
  --scalarDepth;
  return takeResults(terminator, *this, results);
}

FailureOr<std::vector<RuntimeValue>> Frame::callFunction(func::FuncOp function,
                                                         ArrayRef<RuntimeValue> arguments) {
  if (function.isExternal())
    return function.emitOpError("expects a body, got a declaration");
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects one block, got ") << function.getBody().getBlocks().size();
  SmallVector<RuntimeValue> results;
  if (failed(run(function.getBody().front(), arguments, results)))
    return failure();
  return std::vector<RuntimeValue>(results.begin(), results.end());
}

FailureOr<std::vector<RuntimeValue>> Frame::call(func::CallOp op,
                                                 ArrayRef<RuntimeValue> arguments) {
  auto function = state.symbols.lookup<func::FuncOp>(op.getCallee());
  if (!function)
    return op.emitOpError("expects a function named ") << op.getCalleeAttr();
  if (calls.size() >= kMaxCalls)
    return op.emitOpError("expects at most ") << kMaxCalls << " calls inside each other";
  SmallVector<func::CallOp> path = calls;
  path.push_back(op);
  Frame frame(state, std::move(path), observer);
  return frame.callFunction(function, arguments);
}

//===-- The class ----------------------------------------------------------------------------===//

Interpreter::Interpreter(ModuleOp module, RecipeSource &weights)
    : state(std::make_unique<State>(module, weights)) {}

Interpreter::~Interpreter() = default;

void Interpreter::recordChoices(ChoiceMap *choices) { state->choices = choices; }

FailureOr<std::vector<RuntimeValue>> Interpreter::call(StringRef name,
                                                       ArrayRef<RuntimeValue> arguments,
                                                       Observer *observer, Precision precision) {
  auto function = state->symbols.lookup<func::FuncOp>(name);
  if (!function)
    return state->module.emitError("expects a function named '") << name << "', got none";
  if (function.getNumArguments() != arguments.size())
    return function.emitOpError("expects ")
           << function.getNumArguments() << " arguments, got " << arguments.size();
  state->precision = precision;
  std::vector<RuntimeValue> normal;
  for (auto [argument, type] : llvm::zip_equal(arguments, function.getArgumentTypes())) {
    if (std::string found = describeMismatch(argument, type); !found.empty())
      return function.emitOpError("expects argument ")
             << normal.size() << " to be " << type << ", got " << found;
    normal.push_back(normalise(argument, type, precision));
  }
  Frame frame(*state, {}, observer);
  return frame.callFunction(function, normal);
}
