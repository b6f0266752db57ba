// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model's graph to a module: arguments, nodes in order, results. Refuses graphs whose nodes
// read what no node before them makes, and names every operator that no family knows.
#include "frontend/ONNX/Importer.h"
#include "frontend/Json.h"
#include "frontend/Nearest.h"
#include "frontend/ONNX/EncoderDecoder.h"
#include "frontend/ONNX/Generation.h"
#include "frontend/ONNX/Neighbours.h"
#include "frontend/ONNX/Onnx.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

using ::fovea::printable;
using ::fovea::quote;

//===-- The table ----------------------------------------------------------------------------===//

void OpTable::add(StringRef domain, StringRef op, int64_t firstVersion, Handler handler) {
  handlers[{domain.str(), op.str()}][firstVersion] = handler;
}

Handler OpTable::find(const Node &node) const {
  auto versions = handlers.find({node.domain, node.op});
  if (versions == handlers.end())
    return nullptr;
  // Vendors' domains have one version.
  auto after = versions->second.upper_bound(node.domain.empty() ? node.version : INT64_MAX);
  return after == versions->second.begin() ? nullptr : std::prev(after)->second;
}

/// What models could write in place of operators whose names say nothing of it.
static const std::pair<StringRef, StringRef> kNearest[] = {
    {"Compress", "Gather with constant indices"},
    {"ConvInteger", "DequantizeLinear and Conv"},
    {"ConvTranspose", "Conv"},
    {"DeformConv", "Conv"},
    {"Det", "MatMul"},
    {"GridSample", "GatherND"},
    {"GRU", "Attention"},
    {"LinearAttention", "Attention"},
    {"LRN", "LayerNormalization"},
    {"LSTM", "Attention"},
    {"MaxRoiPool", "MaxPool"},
    {"MaxUnpool", "Gather with constant indices"},
    {"Multinomial", "ArgMax"},
    {"NegativeLogLikelihoodLoss", "LogSoftmax"},
    {"NonMaxSuppression", "TopK"},
    {"QLinearConv", "DequantizeLinear and Conv"},
    {"RandomNormal", "an input of the model"},
    {"RandomNormalLike", "an input of the model"},
    {"RandomUniform", "an input of the model"},
    {"RandomUniformLike", "an input of the model"},
    {"Resize", "Gather with constant indices"},
    {"RNN", "Attention"},
    {"Scan", "Loop with a constant number of rounds"},
    {"SoftmaxCrossEntropyLoss", "LogSoftmax"},
    {"StringNormalizer", "an input of token ids"},
    {"TfIdfVectorizer", "an input of token ids"},
    {"Unique", "TopK"},
    {"Upsample", "Gather with constant indices"},
};

std::string OpTable::nearest(const Node &node) const {
  for (auto [name, other] : kNearest)
    if (name == node.op)
      return other.str();
  std::vector<std::string> names;
  for (auto &[key, versions] : handlers)
    names.push_back(key.second);
  std::string best = ::fovea::findNearest(node.op, names);
  for (auto &[key, versions] : handlers)
    if (key.second == best)
      return (key.first.empty() ? "" : key.first + ".") + best;
  return "a function of the model, made of ONNX's own operators";
}

//===-- Problems -----------------------------------------------------------------------------===//

LogicalResult Importer::report(const Twine &message) {
  std::string place = current ? printable(current->label()) : "", text = message.str();
  if (current) {
    std::string op = current->domain.empty() ? current->op : current->domain + "." + current->op;
    text = printable(op) + ": " + text;
  }
  hasReported = true;
  if (seenProblems.insert(place + '\n' + text).second)
    addError(problems, model.path, place, text);
  return failure();
}

LogicalResult Importer::unsupported(const Twine &message) {
  return report("not supported: " + message);
}
LogicalResult Importer::invalid(const Twine &message) {
  std::string text = message.str();
  if (current && !StringRef(text).contains("got "))
    text += ", got " + describeNode();
  return report(text);
}

std::string Importer::describe(ArrayRef<Sym> shape) const {
  std::string text = "[";
  for (Sym size : shape) {
    StringRef name = symbols.nameOf(size);
    text += text.size() > 1 ? ", " : "";
    if (std::optional<int64_t> known = Symbols::known(size))
      text += std::to_string(*known);
    else
      text += name.empty() ? "?" : printable(name, 40);
  }
  return text + "]";
}

/// "x of float [2, 6], axis 7": what a node has.
std::string Importer::describeNode() {
  constexpr size_t kMost = 8; // of inputs, attributes and numbers of one
  std::string text;
  auto add = [&](const std::string &name, const std::string &what) {
    text += (text.empty() ? "" : ", ") + printable(name, 40) + " " + what;
  };
  for (const std::string &name : ArrayRef(current->inputs).take_front(kMost))
    if (Data *data = name.empty() ? nullptr : lookUp(name))
      add(name,
          data->items ? "of a sequence" : "of " + nameOf(data->type) + " " + describe(data->shape));
  for (const NodeAttribute &attribute : ArrayRef(current->attributes).take_front(kMost)) {
    std::string numbers;
    for (int64_t number : ArrayRef(attribute.integers).take_front(kMost))
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
    if (attribute.integers.size() > kMost)
      numbers += ", ...";
    if (attribute.kind == NodeAttribute::Kind::Int)
      add(attribute.name, std::to_string(attribute.integer));
    else if (attribute.kind == NodeAttribute::Kind::Ints)
      add(attribute.name, "[" + numbers + "]");
    else if (attribute.kind == NodeAttribute::Kind::String)
      add(attribute.name, quote(attribute.text));
  }
  return text.empty() ? "nothing" : text;
}

/// What is wrong with sizes; empty if nothing is.
std::string Importer::faultOfSizes(DataType type, ArrayRef<Sym> shape) const {
  // No memory holds 2^48 bytes; up to there sizes and offsets cannot wrap (lowering/Kernels).
  constexpr int64_t kMostBytes = int64_t(1) << 48;
  int64_t bytes = std::max(1u, sizeOf(type));
  bool isEmpty = false, isTooLarge = false;
  for (Sym size : shape) {
    std::optional<int64_t> known = Symbols::known(size);
    if (!known)
      continue;
    if (*known < 0)
      return "expects sizes from 0, got " + describe(shape);
    isEmpty |= *known == 0;
    isTooLarge |= __builtin_mul_overflow(bytes, std::max<int64_t>(*known, 1), &bytes);
  }
  if (!isEmpty && (isTooLarge || bytes >= kMostBytes))
    return "expects a tensor of fewer than 2^48 bytes, got " + nameOf(type) + " " + describe(shape);
  return "";
}

LogicalResult Importer::checkSizes(DataType type, ArrayRef<Sym> shape) {
  std::string fault = faultOfSizes(type, shape);
  return fault.empty() ? success() : invalid(fault);
}

//===-- The node -----------------------------------------------------------------------------===//

Data *Importer::lookUp(const std::string &name) {
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(name); found != scope.end())
      return found->second;
  return nullptr;
}

Data *Importer::input(size_t i) {
  return i < current->inputs.size() && !current->inputs[i].empty() ? lookUp(current->inputs[i])
                                                                   : nullptr;
}

SmallVector<Data *> Importer::inputs() {
  SmallVector<Data *> result;
  for (size_t i = 0; i < current->inputs.size(); ++i)
    result.push_back(input(i));
  return result;
}

bool Importer::hasOutput(size_t i) const {
  return i < current->outputs.size() && !current->outputs[i].empty();
}

bool Importer::define(const std::string &name, Data *data) {
  if (scopes.back().try_emplace(name, data).second)
    return true;
  (void)invalid("expects one value of the name " + quote(name) + ", got two");
  return false;
}

void Importer::set(size_t i, Data *data) {
  if (hasOutput(i) && (data->items || succeeded(checkSizes(data->type, data->shape))))
    define(current->outputs[i], data);
}

LogicalResult Importer::setResult(FailureOr<Data *> data) {
  if (failed(data) || !*data)
    return failure();
  set(0, *data);
  return success();
}

const NodeAttribute *Importer::attribute(StringRef name) {
  readAttributes.insert(name.str());
  return current->find(name.str());
}

int64_t Importer::integer(StringRef name, int64_t fallback) {
  const NodeAttribute *found = attribute(name);
  return found ? found->integer : fallback;
}

double Importer::real(StringRef name, double fallback) {
  const NodeAttribute *found = attribute(name);
  return found ? found->real : fallback;
}

std::string Importer::text(StringRef name, StringRef fallback) {
  const NodeAttribute *found = attribute(name);
  return found ? found->text : fallback.str();
}

std::optional<SmallVector<int64_t>> Importer::integers(StringRef name) {
  const NodeAttribute *found = attribute(name);
  if (!found)
    return std::nullopt;
  return SmallVector<int64_t>(found->integers.begin(), found->integers.end());
}

FailureOr<int64_t> Importer::axis(int64_t value, int64_t rank) {
  if (value < -rank || value >= rank)
    return invalid("expects an axis in [" + Twine(-rank) + ", " + Twine(rank) + "), got " +
                   Twine(value));
  return value < 0 ? value + rank : value;
}

FailureOr<SmallVector<int64_t>> Importer::axes(ArrayRef<int64_t> values, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t value : values) {
    TRY(int64_t here, axis(value, rank));
    if (llvm::is_contained(result, here))
      return invalid("expects distinct axes, got " + Twine(value) + " twice");
    result.push_back(here);
  }
  llvm::sort(result);
  return result;
}

FailureOr<SmallVector<int64_t>> Importer::constants(Data &data, StringRef what) {
  const std::vector<Element> *known = elements(data);
  SmallVector<int64_t> result;
  if (!known || isFloat(data.type))
    return unsupported(what + " that depend on the model's inputs; expects constants");
  for (const Element &element : *known) {
    std::optional<int64_t> number = Symbols::known(element.integer);
    if (!number)
      return unsupported(what + " that depend on sizes of the model's inputs; expects constants");
    result.push_back(*number);
  }
  return result;
}

/// How many of its first inputs an operator needs: one, or what stands here.
static size_t countRequired(const Node &node) {
  static const std::map<std::string, size_t> counts = [] {
    std::map<std::string, size_t> result;
    for (auto [count, names] : std::initializer_list<std::pair<size_t, StringRef>>{
             {0, "Constant Loop SequenceEmpty"},
             {2, "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor CastLike CausalConvWithState "
                 "Conv CumProd CumSum DequantizeLinear Div Equal Expand Gather GatherElements "
                 "GatherND Gemm Greater GreaterOrEqual LayerNormalization Less LessOrEqual MatMul "
                 "MatMulInteger Mod Mul Or PRelu Pad Pow QuantizeLinear RMSNormalization Reshape "
                 "SequenceAt SequenceInsert Sub SwiGLU TensorScatter Tile TopK Unsqueeze Xor"},
             {3, "GroupNormalization InstanceNormalization OneHot Range Scatter ScatterElements "
                 "ScatterND Slice Where"},
             {5, "BatchNormalization"},
             {8, "QLinearMatMul"}})
      for (StringRef name : llvm::split(names, ' '))
        result[name.str()] = count;
    return result;
  }();
  auto found = counts.find(node.op);
  return found == counts.end() || !node.domain.empty() ? 1 : found->second;
}

/// Whether all inputs are there and are what the handler reads; `isPoisoned`: some came from a node
/// with a problem.
bool Importer::checkInputs(const Node &node, bool takesSequences, bool &isPoisoned) {
  bool isSound = true;
  for (const std::string &name : node.inputs) {
    if (name.empty())
      continue;
    Data *data = lookUp(name);
    if (!data) {
      isSound =
          succeeded(invalid("expects an input, an initializer or an earlier node named " +
                            quote(name) + ", got none: it is missing, or nodes form a cycle"));
      isPoisoned = true;
    } else {
      isPoisoned |= data->isPoisoned;
    }
  }
  // A sequence where a tensor is meant would be read as one of unknown elements.
  if (!takesSequences)
    for (const std::string &name : node.inputs)
      if (Data *data = name.empty() ? nullptr : lookUp(name); data && data->items) {
        isSound = succeeded(invalid("expects tensors, got the sequence " + quote(name)));
        isPoisoned = true;
      }
  return isSound;
}

void Importer::reportUnknown(const Node &node) {
  std::string nearest = table.nearest(node);
  if (node.domain.empty() && node.version && nearest == node.op)
    (void)unsupported("operator set " + Twine(node.version) +
                      " does not have it, as Fovea reads it");
  else
    (void)unsupported("an operator that Fovea does not know; the nearest is " + Twine(nearest));
}

/// Whether the node was read without a problem, and with it all of its attributes.
bool Importer::runHandler(const Node &node, Handler handler) {
  for (size_t i = 0, count = countRequired(node); i < count; ++i)
    if (!input(i))
      return succeeded(
          invalid("expects " + Twine(count) + " inputs, got none in place " + Twine(i)));
  if (failed(handler(*this)) || hasReported)
    return false;
  for (const NodeAttribute &attribute : node.attributes)
    if (!readAttributes.count(attribute.name))
      return succeeded(unsupported("attribute " + quote(attribute.name)));
  return true;
}

/// What a name stands for whose node has a problem, which is reported once.
void Importer::poison(const std::string &name) {
  Data *data = add();
  data->isPoisoned = true;
  scopes.back()[name] = data;
}

void Importer::importNode(const Node &node) {
  const Node *outer = std::exchange(current, &node);
  std::set<std::string> outerAttributes = std::exchange(readAttributes, {});
  bool outerReported = std::exchange(hasReported, false);
  b.setLoc(NameLoc::get(b.getStringAttr(printable(node.label(), 1000))));
  Handler handler = table.find(node);
  bool takesSequences =
      !handler || StringRef(node.op).contains("Sequence") || node.op == "Identity";
  bool isPoisoned = false;
  bool isSound = checkInputs(node, takesSequences, isPoisoned);
  if (!handler) {
    isSound = false;
    reportUnknown(node);
  } else if (!isPoisoned) {
    isSound = isSound && runHandler(node, handler);
    if (symbols.takeOverflow() && isSound)
      isSound = succeeded(invalid("expects sizes that fit 64 bits, got larger ones"));
  }
  if (!isSound || isPoisoned)
    for (const std::string &name : node.outputs)
      if (!name.empty())
        poison(name);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (hasOutput(i) && !lookUp(node.outputs[i])) {
      (void)unsupported("output " + Twine(i) + ", " + quote(node.outputs[i]));
      poison(node.outputs[i]);
    }
  current = outer;
  readAttributes = std::move(outerAttributes);
  hasReported = outerReported;
}

FailureOr<SmallVector<Data *>> Importer::inlineGraph(const Graph &graph, ArrayRef<Data *> inputs) {
  if (++depth > 32)
    return unsupported("subgraphs more than 32 deep");
  const Node *node = current;
  Location loc = b.getLoc();
  scopes.emplace_back();
  bool isSound = addInitializers(graph);
  for (auto [info, data] : llvm::zip(graph.inputs, inputs))
    isSound &= define(info.name, data);
  for (const Node &inner : graph.nodes)
    importNode(inner);
  SmallVector<Data *> results;
  for (const auto &output : graph.outputs) {
    Data *data = lookUp(output.name);
    if (!data) {
      isSound = succeeded(
          invalid("expects a value named " + quote(output.name) + " in the subgraph, got none"));
      continue;
    }
    results.push_back(data);
  }
  scopes.pop_back();
  current = node;
  b.setLoc(loc);
  --depth;
  if (!isSound)
    return failure();
  return results;
}

//===-- The module ---------------------------------------------------------------------------===//

Importer::Importer(MLIRContext *context, const Model &model, const OpTable &table,
                   ::fovea::Problems &problems)
    : b(UnknownLoc::get(context), context), symbols(sizeBuilder), model(model), table(table),
      problems(problems), sizeBuilder(context) {
  context->loadDialect<FoveaDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                       math::MathDialect, tensor::TensorDialect>();
}

bool Importer::addInitializers(const Graph &graph) {
  bool isSound = true;
  for (const auto &tensor : graph.initializers) {
    Data *data = add();
    data->type = tensor->type;
    data->shape = numbers(tensor->shape);
    data->stored = tensor.get();
    isSound &= define(tensor->name, data);
  }
  return isSound;
}

/// What the entry takes.
struct Importer::Arguments {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Data *> data;
  llvm::StringMap<Sym> named; ///< sizes, by their label
};

/// Whether an input has a name of its own, and is a tensor that can be read.
bool Importer::checkArgument(const ::fovea::onnx::ValueInfo &info, size_t number,
                             std::set<std::string> &names) {
  if (info.name.empty()) {
    addError(problems, model.path, "input " + std::to_string(number), "expects a name, got none");
    return false;
  }
  if (!names.insert(info.name).second) {
    addError(problems, model.path, printable(info.name), "expects one input of this name, got two");
    return false;
  }
  return true;
}

bool Importer::checkArgumentType(const ::fovea::onnx::ValueInfo &info) {
  Type element = info.kind == "tensor" ? elementType(info.type) : Type();
  if (info.kind == "tensor" && element && info.hasShape)
    return true;
  std::string found = info.kind != "tensor" ? info.kind
                      : !element            ? "one of " + nameOf(info.type)
                                            : "one of unknown rank";
  addError(problems, model.path, printable(info.name),
           "expects an input that is a tensor of a known rank with elements that are bool, "
           "integers, float16, bfloat16, float or double, got " +
               found);
  return false;
}

DictionaryAttr onnx::describePort(Builder &b, StringRef name, ArrayRef<mlir::Attribute> dims) {
  NamedAttrList list;
  list.set(FoveaDialect::kNameAttr, b.getStringAttr(name));
  if (!dims.empty())
    list.set(FoveaDialect::kDimsAttr, b.getArrayAttr(dims));
  return list.getDictionary(b.getContext());
}

DictionaryAttr onnx::describePort(Builder &b, StringRef name, ArrayRef<StringRef> dims) {
  return describePort(b, name, b.getStrArrayAttr(dims).getValue());
}

StringRef onnx::getPortName(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>(FoveaDialect::kNameAttr) : StringAttr();
  return name ? name.getValue() : StringRef();
}

/// Adds an input, with a size for each label of its axes; false if it has a problem.
bool Importer::addArgument(const ::fovea::onnx::ValueInfo &info, Arguments &arguments) {
  std::string name = printable(info.name);
  Data *data = add();
  data->type = info.type;
  SmallVector<mlir::Attribute> dims;
  unsigned number = arguments.data.size();
  for (auto [axis, dim] : llvm::enumerate(info.shape)) {
    if (dim.size) {
      data->shape.push_back(symbols.constant(*dim.size));
      continue;
    }
    std::string label = dim.name.empty() ? name + "_axis" + std::to_string(axis) : dim.name;
    dims.push_back(b.getStringAttr(label));
    Sym &size = arguments.named[label];
    if (!size)
      size = symbols.size(label, [this, number, axis = axis](OpBuilder &builder) {
        return tensor::DimOp::create(builder, builder.getUnknownLoc(), entry.getArgument(number),
                                     axis)
            .getResult();
      });
    data->shape.push_back(size);
  }
  if (std::string fault = faultOfSizes(data->type, data->shape); !fault.empty()) {
    addError(problems, model.path, name, fault);
    return false;
  }
  arguments.attributes.push_back(describePort(b, info.name, dims));
  arguments.types.push_back(typeOf(*data));
  arguments.data.push_back(data);
  return define(info.name, data);
}

bool Importer::addArguments() {
  Arguments arguments;
  bool isSound = true;
  std::set<std::string> names;
  for (auto [i, info] : llvm::enumerate(model.graph.inputs)) {
    if (!checkArgument(info, i, names)) {
      isSound = false;
      continue;
    }
    // Up to IR version 3 initializers were listed as inputs; since then that makes them defaults.
    if (lookUp(info.name))
      continue;
    isSound &= checkArgumentType(info) && addArgument(info, arguments);
  }
  entry = func::FuncOp::create(b, "forward", b.getFunctionType(arguments.types, {}));
  entry->setAttr(FoveaDialect::kEntryAttr, b.getUnitAttr());
  entry.addEntryBlock();
  for (auto [i, data] : llvm::enumerate(arguments.data)) {
    entry.setArgAttrs(i, arguments.attributes[i]);
    data->value = entry.getArgument(i);
  }
  b.setInsertionPointToEnd(&entry.getBody().front());
  // Code for sizes stands before this op, all else behind it.
  sizeBuilder.setInsertionPoint(arith::ConstantIndexOp::create(b, 0));
  return isSound;
}

void Importer::finish() {
  current = nullptr;
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  std::set<std::string> names;
  for (auto [i, info] : llvm::enumerate(model.graph.outputs)) {
    if (info.name.empty()) {
      addError(problems, model.path, "result " + std::to_string(i), "expects a name, got none");
      continue;
    }
    Data *data = lookUp(info.name);
    if (!data || !names.insert(info.name).second) {
      addError(problems, model.path, printable(info.name),
               data ? "expects one result of this name, got two"
                    : "expects a value of the graph with this result's name, got none");
      continue;
    }
    if (data->isPoisoned)
      continue;
    if (data->items) {
      addError(problems, model.path, printable(info.name),
               "expects a result that is a tensor, got a sequence");
      continue;
    }
    if (info.kind == "tensor" && info.type != DataType::Undefined && info.type != data->type) {
      addError(problems, model.path, printable(info.name),
               "expects a result of " + nameOf(data->type) + ", as its node gives it, got " +
                   nameOf(info.type));
      continue;
    }
    b.setLoc(NameLoc::get(b.getStringAttr(printable(info.name, 1000))));
    values.push_back(value(*data));
    types.push_back(values.back().getType());
    SmallVector<mlir::Attribute> dims;
    for (auto [axis, size] : llvm::enumerate(data->shape)) {
      if (Symbols::known(size))
        continue;
      StringRef name = symbols.nameOf(size);
      dims.push_back(b.getStringAttr(
          name.empty() ? Twine(printable(info.name)) + "_axis" + Twine(axis) : Twine(name)));
    }
    attributes.push_back(describePort(b, info.name, dims));
  }
  if (hasErrors(problems))
    return;
  func::ReturnOp::create(b, values);
  entry.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), types));
  for (auto [i, dictionary] : llvm::enumerate(attributes))
    entry.setResultAttrs(i, dictionary);
}

OwningOpRef<ModuleOp> Importer::run() {
  module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(module->getBody());
  llvm::StringRef folder = llvm::sys::path::parent_path(model.path);
  ModelOp::create(b, b.getStringAttr("onnx"), b.getStringAttr(folder.empty() ? "." : folder),
                  StringAttr(), IntegerAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
                  IntegerAttr(), IntegerAttr(), IntegerAttr(), IntegerAttr(), IntegerAttr(),
                  IntegerAttr(), IntegerAttr());
  scopes.emplace_back();
  if (!addInitializers(model.graph) || !addArguments())
    return {};
  for (const Node &node : model.graph.nodes)
    importNode(node);
  finish();
  if (hasErrors(problems))
    return {};
  return succeeded(verify(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
}

/// The graph as it is, without entries that write texts.
static OwningOpRef<ModuleOp> importGraph(MLIRContext &context, const std::string &path,
                                         ::fovea::Problems &problems,
                                         ::fovea::artifact::FileAccess access) {
  std::optional<Model> model = ::fovea::onnx::readModel(path, problems, access);
  if (!model)
    return {};
  OpTable table;
  addActivationOps(table);
  addAttentionOps(table);
  addContractionOps(table);
  addControlOps(table);
  addConvolutionOps(table);
  addElementwiseOps(table);
  addFourierOps(table);
  addIndexingOps(table);
  addMicrosoftOps(table);
  addNormOps(table);
  addPoolingOps(table);
  addQuantizeOps(table);
  addReductionOps(table);
  addResizeOps(table);
  addSequenceOps(table);
  addShapeOps(table);
  return Importer(&context, *model, table, problems).run();
}

OwningOpRef<ModuleOp> mlir::fovea::importOnnx(MLIRContext &context, const std::string &path,
                                              ::fovea::Problems &problems,
                                              ::fovea::artifact::FileAccess access) {
  OwningOpRef<ModuleOp> module = importGraph(context, path, problems, access);
  auto forward = module ? module->lookupSymbol<func::FuncOp>("forward") : func::FuncOp();
  if (!forward)
    return module;
  if (addPrefill(forward, path, problems))
    readWriter(*module, forward, /*isTranslator=*/false, problems);
  else
    readScorer(*module, forward, problems);
  if (hasErrors(problems) || failed(verify(*module)))
    return {};
  return module;
}

/// Whether the folder has a file of that name, and no weights of a checkpoint, which count first.
static bool hasInPlaceOfWeights(const std::string &folder, const char *name) {
  auto has = [&](const char *file) { return ::fovea::exists(folder + "/" + file); };
  return has(name) && !has("model.safetensors") && !has("model.safetensors.index.json");
}

std::string mlir::fovea::findOnnxFile(const std::string &model) {
  if (StringRef(model).ends_with(".onnx"))
    return model;
  return hasInPlaceOfWeights(model, "model.onnx") ? model + "/model.onnx" : "";
}

std::optional<OnnxParts> mlir::fovea::findOnnxParts(const std::string &folder) {
  if (!hasInPlaceOfWeights(folder, "encoder_model.onnx"))
    return std::nullopt;
  return OnnxParts{folder + "/encoder_model.onnx", folder + "/decoder_model.onnx",
                   folder + "/decoder_with_past_model.onnx"};
}

std::vector<std::string> mlir::fovea::listOnnxFiles(const std::string &model) {
  if (std::string file = findOnnxFile(model); !file.empty())
    return {file};
  if (std::optional<OnnxParts> parts = findOnnxParts(model))
    return {parts->encoder, parts->first, parts->next};
  return {};
}

OwningOpRef<ModuleOp> mlir::fovea::importOnnxParts(MLIRContext &context, const OnnxParts &parts,
                                                   ::fovea::Problems &problems,
                                                   ::fovea::artifact::FileAccess access) {
  auto read = [&](const std::string &path) {
    return Part{path, importGraph(context, path, problems, access)};
  };
  Part encoder = read(parts.encoder), first = read(parts.first), next = read(parts.next);
  if (!encoder.module || !first.module || !next.module)
    return {};
  return joinParts(std::move(encoder), std::move(first), std::move(next), problems);
}
