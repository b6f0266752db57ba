// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families of ONNX's operators are written with: the values of the graph with all that is
// known of them, and the few ways to make IR of the `import` stage (docs/rationale/frontends.md).
// Whatever cannot be imported becomes a problem at its node, and the work goes on behind it.
#ifndef FOVEA_FRONTEND_ONNX_IMPORTER_H
#define FOVEA_FRONTEND_ONNX_IMPORTER_H

#include "frontend/ONNX/Reader/Model.h"
#include "frontend/ONNX/Symbolic.h"

#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Fovea/Try.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <deque>
#include <set>

namespace mlir::fovea::onnx {

using NodeAttribute = ::fovea::onnx::Attribute;
using ::fovea::onnx::DataType;
using ::fovea::onnx::Graph;
using ::fovea::onnx::Model;
using ::fovea::onnx::Node;

/// One element whose value is known: `integer` for integers and bools, else `real`.
struct Element {
  Sym integer = nullptr;
  double real = 0;
};

/// A tensor of the graph.
struct Data {
  DataType type = DataType::Undefined;
  SmallVector<Sym> shape;
  /// In the IR; made when first asked for, by Importer::value.
  Value value;
  /// All elements, row-major, where they are known and few.
  std::optional<std::vector<Element>> elements;
  /// The tensor of the file that this is; null if it is none.
  const ::fovea::onnx::Tensor *stored = nullptr;
  /// A name for its only element, a whole number; see Importer::symbolOf.
  Sym symbol = nullptr;
  /// The tensors that it is a sequence of.
  std::optional<SmallVector<Data *>> items;
  /// Set where importing went wrong; what reads it is passed over in silence.
  bool isPoisoned = false;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool isStatic() const {
    return llvm::all_of(shape, [](Sym s) { return Symbols::known(s); });
  }
  /// Of a tensor of static shape.
  int64_t count() const;
};

bool isFloat(DataType type);
bool isUnsigned(DataType type);
/// `value` as an element of this type holds it.
double roundTo(DataType type, double value);

/// The attributes of an argument or result; `dims` are the labels of its open axes.
DictionaryAttr describePort(Builder &b, StringRef name, ArrayRef<mlir::Attribute> dims);
DictionaryAttr describePort(Builder &b, StringRef name, ArrayRef<StringRef> dims);
/// The name there; empty if there is none.
StringRef getPortName(DictionaryAttr attributes);

class Importer;
using Handler = LogicalResult (*)(Importer &);

/// The operators that are known, by domain and name. A later first version of a name wins from that
/// version on.
class OpTable {
public:
  void add(StringRef domain, StringRef op, int64_t firstVersion, Handler handler);
  void add(StringRef op, int64_t firstVersion, Handler handler) {
    add("", op, firstVersion, handler);
  }
  Handler find(const Node &node) const;
  /// A known name that is spelt nearly like this, or "".
  std::string nearest(const Node &node) const;

private:
  std::map<std::pair<std::string, std::string>, std::map<int64_t, Handler>> handlers;
};

void addActivationOps(OpTable &table);
void addAttentionOps(OpTable &table);
void addContractionOps(OpTable &table);
void addControlOps(OpTable &table);
void addConvolutionOps(OpTable &table);
void addElementwiseOps(OpTable &table);
void addFourierOps(OpTable &table);
void addIndexingOps(OpTable &table);
void addMicrosoftOps(OpTable &table);
void addNormOps(OpTable &table);
void addPoolingOps(OpTable &table);
void addQuantizeOps(OpTable &table);
void addReductionOps(OpTable &table);
void addResizeOps(OpTable &table);
void addSequenceOps(OpTable &table);
void addShapeOps(OpTable &table);

class Importer {
public:
  /// `ScalarBody` computes one element from one of each operand.
  using ScalarBody = function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;
  using FoldBody = function_ref<std::optional<Element>(ArrayRef<Element>)>;

  Importer(MLIRContext *context, const Model &model, const OpTable &table,
           ::fovea::Problems &problems);
  OwningOpRef<ModuleOp> run();

  //===-- The node ---------------------------------------------------------------------------===//

  const Node &node() const { return *current; }
  int64_t version() const { return current->version; }
  /// Null where the node has no such input.
  Data *input(size_t i);
  /// All inputs; null ones are absent.
  SmallVector<Data *> inputs();
  /// The first input if it holds floats; else a problem, and null.
  Data *floats();
  bool hasOutput(size_t i) const;
  void set(size_t i, Data *data);
  /// Sets the first output, for a handler's end; hands a failure, or null, on.
  LogicalResult setResult(FailureOr<Data *> data);

  int64_t integer(StringRef attribute, int64_t fallback);
  double real(StringRef attribute, double fallback);
  std::string text(StringRef attribute, StringRef fallback);
  std::optional<SmallVector<int64_t>> integers(StringRef attribute);
  const NodeAttribute *attribute(StringRef name);
  /// An axis in [0, rank), counted from the end if negative; a problem else.
  FailureOr<int64_t> axis(int64_t value, int64_t rank);
  FailureOr<SmallVector<int64_t>> axes(ArrayRef<int64_t> values, int64_t rank);
  /// The integers of an input whose elements must be known numbers.
  FailureOr<SmallVector<int64_t>> constants(Data &data, StringRef what);

  /// Reports what this node asks for and the importer does not do; always fails.
  LogicalResult unsupported(const Twine &message);
  /// Reports a node that breaks ONNX's rules; always fails. A message that does not say what was
  /// found gets the node's inputs and attributes for it.
  LogicalResult invalid(const Twine &message);
  /// "[2, n, ?]", for messages.
  std::string describe(ArrayRef<Sym> shape) const;
  /// Reports sizes that no tensor has: negative ones, and those of more than any memory.
  LogicalResult checkSizes(DataType type, ArrayRef<Sym> shape);
  std::string faultOfSizes(DataType type, ArrayRef<Sym> shape) const;

  //===-- Values -----------------------------------------------------------------------------===//

  Type elementType(DataType type);
  RankedTensorType typeOf(const Data &data) { return typeOf(data.type, data.shape); }
  RankedTensorType typeOf(DataType type, ArrayRef<Sym> shape);
  /// The value in the IR, of `typeOf`.
  Value value(Data &data);
  /// All elements if they are known, reading a small stored tensor.
  const std::vector<Element> *elements(Data &data);
  /// A number if the tensor has one element and that is known.
  std::optional<Element> scalar(Data &data);
  std::optional<int64_t> integerOf(Data &data);
  std::optional<double> realOf(Data &data);

  /// The only element of a tensor as an expression, which may be no size; null if it is no whole
  /// number for certain.
  Sym symbolOf(Data &data);

  Data *make(DataType type, ArrayRef<Sym> shape, Value value);
  Data *makeKnown(DataType type, ArrayRef<Sym> shape, std::vector<Element> elements);
  Data *makeInteger(DataType type, int64_t value);
  Data *makeReal(DataType type, double value);
  Element integerElement(int64_t value) { return {symbols.constant(value), 0}; }
  Sym number(int64_t value) { return symbols.constant(value); }
  SmallVector<Sym> numbers(ArrayRef<int64_t> values);
  /// A scalar of the IR with an element's value.
  Value scalarConstant(Type type, const Element &element);

  //===-- Ways to make IR --------------------------------------------------------------------===//

  /// One element from one of each operand, broadcast as numpy does. `isOneOp`: the body makes one
  /// op without constants, which may stand on whole tensors.
  FailureOr<Data *> elementwise(DataType type, ArrayRef<Data *> operands, ScalarBody body,
                                bool isOneOp = false, FoldBody fold = nullptr);
  /// The shape that operands have together.
  FailureOr<SmallVector<Sym>> broadcast(ArrayRef<ArrayRef<Sym>> shapes);
  Data *cast(Data &data, DataType type);
  /// `data` under another shape of as many elements.
  FailureOr<Data *> reshape(Data &data, ArrayRef<Sym> shape);
  FailureOr<Data *> expand(Data &data, ArrayRef<Sym> shape);
  Data *transpose(Data &data, ArrayRef<int64_t> permutation);
  Data *unsqueeze(Data &data, ArrayRef<int64_t> sortedAxes);
  Data *squeeze(Data &data, ArrayRef<int64_t> sortedAxes);
  /// Parameters [C] in the place of `axis` of a tensor of this rank.
  Data *along(Data &parameter, int64_t axis, int64_t rank);
  /// `size` elements from `offset` on along `axis`, every `step`-th; negative steps go backwards.
  FailureOr<Data *> slice(Data &data, int64_t axis, Sym offset, Sym size, int64_t step = 1);
  FailureOr<Data *> concat(ArrayRef<Data *> parts, int64_t axis);
  /// Sum of products over what `outMap` leaves out; letters name axes: "bij", "bjk" -> "bik".
  FailureOr<Data *> contract(Data &a, StringRef aAxes, Data &b, StringRef bAxes, StringRef outAxes,
                             DataType type);
  /// numpy's matmul.
  FailureOr<Data *> matmul(Data &a, Data &b);

  enum class Reduction { Sum, Product, Max, Min };
  /// One step of a reduction of elements of this type, and what it begins with.
  static Value combine(ImplicitLocOpBuilder &builder, DataType type, Reduction kind, Value x,
                       Value y);
  TypedAttr firstOf(DataType type, Reduction kind);
  Data *reduce(Data &data, ArrayRef<int64_t> sortedAxes, bool keepAxes, Reduction kind);
  Data *softmax(Data &data, int64_t axis);
  /// A tensor of one value.
  Data *full(DataType type, ArrayRef<Sym> shape, const Element &element);
  /// The same by a model's wish, which may be for more than any memory.
  FailureOr<Data *> constant(DataType type, ArrayRef<Sym> shape, const Element &element);
  /// A tensor computed from indices; the body runs inside of a `linalg.generic` whose loops are the
  /// axes of `shape`. `operands` are read at the body's own places by tensor.extract, or in step by
  /// `maps`, as for linalg.
  Data *generate(DataType type, ArrayRef<Sym> shape,
                 function_ref<Value(ImplicitLocOpBuilder &, ArrayRef<Value> indices)> body);
  /// Each element's own place along an axis.
  Data *places(ArrayRef<Sym> shape, int64_t axis);
  /// What a `linalg` op begins with.
  Value filled(ArrayRef<OpFoldResult> sizes, TypedAttr element);

  // Shorthands for composite operators. What cannot be computed is a problem at the node, and gives
  // zeros of the first operand's type and shape.
  Data *binary(StringRef op, Data *a, Data *b);
  Data *unary(StringRef op, Data *a);
  Data *activate(Data &x, ActivationKind kind);
  Data *sumOver(Data &data, int64_t axis) { return reduce(data, {axis}, true, Reduction::Sum); }
  /// Sum over the axes divided by how many elements they have.
  Data *mean(Data &data, ArrayRef<int64_t> sortedAxes, bool keepAxes);
  Data *selectData(Data *condition, Data *a, Data *b);

  ImplicitLocOpBuilder b;
  Symbols symbols;

  /// Imports a subgraph in place; its inputs are the given values.
  FailureOr<SmallVector<Data *>> inlineGraph(const Graph &graph, ArrayRef<Data *> inputs);

private:
  friend class Scope;
  Data *add() { return &storage.emplace_back(); }
  void importNode(const Node &node);
  bool checkInputs(const Node &node, bool takesSequences, bool &isPoisoned);
  void reportUnknown(const Node &node);
  bool runHandler(const Node &node, Handler handler);
  void poison(const std::string &name);
  bool define(const std::string &name, Data *data);
  std::string describeNode();
  Data *lookUp(const std::string &name);
  bool addInitializers(const Graph &graph);
  struct Arguments;
  bool checkArgument(const ::fovea::onnx::ValueInfo &info, size_t number,
                     std::set<std::string> &names);
  bool checkArgumentType(const ::fovea::onnx::ValueInfo &info);
  bool addArgument(const ::fovea::onnx::ValueInfo &info, Arguments &arguments);
  bool addArguments();
  void finish();
  Value constantOf(const ::fovea::onnx::Tensor &tensor, RankedTensorType type);
  Value weightOf(const ::fovea::onnx::Tensor &tensor, RankedTensorType type);
  Value fromElements(Data &data);
  LogicalResult report(const Twine &message);
  Data *orZeros(FailureOr<Data *> result, DataType type, ArrayRef<Sym> shape);

  const Model &model;
  const OpTable &table;
  ::fovea::Problems &problems;
  OwningOpRef<ModuleOp> module;
  func::FuncOp entry;
  OpBuilder sizeBuilder;
  const Node *current = nullptr;
  std::set<std::string> readAttributes;
  /// Innermost scope last: subgraphs see what stands around them.
  std::vector<std::map<std::string, Data *>> scopes;
  std::deque<Data> storage;
  llvm::StringMap<FlatSymbolRefAttr> weights;
  std::set<std::string> seenProblems;
  bool hasReported = false; ///< Something of the current node.
  unsigned depth = 0;
};

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_IMPORTER_H
