// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside of the interpreter: the values of one function that runs, and the table of what to do for
// each op. A family of ops fills the table in one file.
#ifndef FOVEA_INTERPRETER_FRAME_H
#define FOVEA_INTERPRETER_FRAME_H

#include "dialects/Fovea/Try.h"
#include "interpreter/Interpreter.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::fovea::interpreter {

class Frame;

/// Computes an op's results from its operands, both in the frame. Fails after a diagnostic.
using Handler = std::function<LogicalResult(Operation *, Frame &)>;

class HandlerTable {
public:
  template <typename OpT> void add(LogicalResult (*run)(OpT, Frame &)) {
    handlers[OpT::getOperationName()] = [run](Operation *op, Frame &frame) {
      return run(cast<OpT>(op), frame);
    };
  }
  /// For a handler that serves many ops.
  template <typename... OpT> void addAll(const Handler &handler) {
    ((handlers[OpT::getOperationName()] = handler), ...);
  }
  /// Null if the op is not known.
  const Handler *lookup(OperationName name) const {
    auto found = handlers.find(name.getStringRef());
    return found == handlers.end() ? nullptr : &found->second;
  }

private:
  llvm::StringMap<Handler> handlers;
};

// The families, one file each.
void addArithOps(HandlerTable &table);
void addAttentionOps(HandlerTable &table);
void addCacheOps(HandlerTable &table);
void addControlOps(HandlerTable &table);
void addExpertOps(HandlerTable &table);
void addLayerOps(HandlerTable &table);
void addLinalgOps(HandlerTable &table);
void addMaskOps(HandlerTable &table);
void addMathOps(HandlerTable &table);
void addPositionOps(HandlerTable &table);
void addTensorOps(HandlerTable &table);
void addWeightOps(HandlerTable &table);

/// A function that runs, with the values of all its regions.
class Frame {
public:
  Frame(Interpreter::State &state, SmallVector<func::CallOp> calls, Observer *observer)
      : state(state), calls(std::move(calls)), observer(observer) {}

  const RuntimeValue &get(Value value) const;
  const Tensor &tensor(Value value) const { return *tensorRef(value); }
  TensorRef tensorRef(Value value) const { return std::get<TensorRef>(get(value)); }
  const Cache &cache(Value value) const { return *std::get<CacheRef>(get(value)); }
  MaskRef mask(Value value) const { return std::get<MaskRef>(get(value)); }
  int64_t integer(Value value) const { return std::get<int64_t>(get(value)); }
  double real(Value value) const { return std::get<double>(get(value)); }
  /// A scalar of any type.
  Element element(Value value) const;
  /// The sizes, offsets or strides that an op has as a mix of attributes and operands.
  SmallVector<int64_t> integers(ArrayRef<OpFoldResult> mixed) const;

  /// Gives a value to a result or block argument, rounded or wrapped to its type. Fails with a
  /// diagnostic at `op` if it is not of the type.
  LogicalResult set(Operation *op, Value value, RuntimeValue what);
  LogicalResult set(Operation *op, Value value, Tensor what) {
    return set(op, value, RuntimeValue(TensorRef(std::make_shared<Tensor>(std::move(what)))));
  }
  /// The same for a value that is rounded already: one that another value of the type held.
  LogicalResult bind(Operation *op, Value value, RuntimeValue what);
  /// For the result of an op that has one.
  template <typename T> LogicalResult set(Operation *op, T what) {
    return set(op, op->getResult(0), std::move(what));
  }
  LogicalResult setElement(Operation *op, Value value, Element what);

  Precision getPrecision() const;
  /// A number inside of an op, rounded to a float type as its result would be.
  double rounded(double value, Type type) const;
  /// Where the sides that `op` takes are noted; null if nobody asks.
  unsigned *getChoices(Operation *op) const;

  /// A zero tensor for the result of `op`; fails with a diagnostic if it is too large.
  FailureOr<Tensor> makeTensor(Operation *op, ArrayRef<int64_t> shape, bool isReal = true);

  /// Runs a block whose arguments get `arguments`; `results` are what its terminator hands on.
  LogicalResult run(Block &block, ArrayRef<RuntimeValue> arguments,
                    SmallVectorImpl<RuntimeValue> &results);
  /// The same for code that runs once for each element: unobserved. The arguments are set.
  LogicalResult runScalars(Block &block, SmallVectorImpl<RuntimeValue> &results);
  /// Sets a scalar block argument.
  void setArgument(BlockArgument argument, RuntimeValue what);

  /// Runs the function that an op calls.
  FailureOr<std::vector<RuntimeValue>> call(func::CallOp op, ArrayRef<RuntimeValue> arguments);
  FailureOr<std::vector<RuntimeValue>> callFunction(func::FuncOp function,
                                                    ArrayRef<RuntimeValue> arguments);
  /// The value of a weight symbol.
  FailureOr<TensorRef> weight(WeightRefOp op);

  /// Where the loops of the linalg ops around us stand, innermost last.
  SmallVector<SmallVector<int64_t>> loops;

private:
  LogicalResult runOp(Operation *op);

  Interpreter::State &state;
  SmallVector<func::CallOp> calls;
  Observer *observer;
  /// How many regions that run for each element we are inside of.
  unsigned scalarDepth = 0;
  DenseMap<Value, RuntimeValue> values;
};

/// Positions `[B|1, S]` that may be absent: then a place is its own position.
class PositionReader {
public:
  /// Fails with a diagnostic at `op` if the tensor is not for this batch and length.
  static FailureOr<PositionReader> get(Operation *op, Frame &frame, Value positions, int64_t batch,
                                       int64_t length);
  int64_t at(int64_t batch, int64_t place) const {
    if (!positions)
      return place;
    int64_t row = positions->shape[0] == 1 ? 0 : batch;
    return positions->integers[row * positions->shape[1] + place];
  }

private:
  TensorRef positions;
};

/// The side that an op which chooses (`getSides`) takes of one element; 0 if none shows.
unsigned getTakenSide(Operation *op, ArrayRef<Element> operands, Element result);

/// Replaces a row by the nearest multiples of a scale, counted in it: integers of eight bits, 0
/// where none of the row is far enough from 0. Gives the scale, max |row| / 127, not rounded to any
/// type; NaN, of only zeros, if an element is not finite.
double quantizeRow(MutableArrayRef<double> row);

/// Evaluates a weight's recipe by its own code; `op` is where diagnostics stand.
FailureOr<Tensor> evaluateRecipe(WeightOp op, RecipeSource &source);

} // namespace mlir::fovea::interpreter

#endif // FOVEA_INTERPRETER_FRAME_H
