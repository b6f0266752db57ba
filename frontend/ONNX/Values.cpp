// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph's tensors as values of the IR: arguments and results of nodes as they are, weights by
// name, small tensors as constants, sizes as scalars. Their elements, where these are known.
#include "frontend/ONNX/Importer.h"

#include "llvm/Support/Path.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// Larger tensors are weights even if they are no parameters.
static constexpr uint64_t kMaxConstant = 65536;
/// Float tensors with more elements are parameters.
static constexpr int64_t kMaxPlainFloats = 16;
/// How many elements are followed one by one.
static constexpr int64_t kMaxElements = 1024;

int64_t Data::count() const {
  int64_t result = 1;
  for (Sym size : shape)
    result *= *Symbols::known(size);
  return result;
}

bool mlir::fovea::onnx::isFloat(DataType type) {
  return type == DataType::Float || type == DataType::Float16 || type == DataType::BFloat16 ||
         type == DataType::Double;
}

bool mlir::fovea::onnx::isUnsigned(DataType type) {
  return type == DataType::UInt8 || type == DataType::UInt16 || type == DataType::UInt32 ||
         type == DataType::UInt64 || type == DataType::UInt4 || type == DataType::Bool;
}

static const llvm::fltSemantics &semanticsOf(DataType type) {
  switch (type) {
  case DataType::Float16:
    return APFloat::IEEEhalf();
  case DataType::BFloat16:
    return APFloat::BFloat();
  case DataType::Float:
    return APFloat::IEEEsingle();
  default:
    return APFloat::IEEEdouble();
  }
}

double mlir::fovea::onnx::roundTo(DataType type, double value) {
  if (type == DataType::Double)
    return value;
  APFloat number(value);
  bool losesInfo;
  number.convert(semanticsOf(type), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

Type Importer::elementType(DataType type) {
  switch (type) {
  case DataType::Float:
    return b.getF32Type();
  case DataType::Float16:
    return b.getF16Type();
  case DataType::BFloat16:
    return b.getBF16Type();
  case DataType::Double:
    return b.getF64Type();
  case DataType::Bool:
    return b.getI1Type();
  case DataType::Int4:
  case DataType::UInt4:
    return b.getIntegerType(4);
  case DataType::Int8:
  case DataType::UInt8:
    return b.getI8Type();
  case DataType::Int16:
  case DataType::UInt16:
    return b.getI16Type();
  case DataType::Int32:
  case DataType::UInt32:
    return b.getI32Type();
  case DataType::Int64:
  case DataType::UInt64:
    return b.getI64Type();
  default:
    return {};
  }
}

RankedTensorType Importer::typeOf(DataType type, ArrayRef<Sym> shape) {
  SmallVector<int64_t> sizes =
      llvm::map_to_vector(shape, [&](Sym size) { return Symbols::typed(size); });
  return RankedTensorType::get(sizes, elementType(type));
}

SmallVector<Sym> Importer::numbers(ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return number(value); });
}

Data *Importer::make(DataType type, ArrayRef<Sym> shape, Value value) {
  Data *data = add();
  data->type = type;
  data->shape.assign(shape.begin(), shape.end());
  data->value = value;
  return data;
}

Data *Importer::makeKnown(DataType type, ArrayRef<Sym> shape, std::vector<Element> elements) {
  Data *data = make(type, shape, {});
  data->elements = std::move(elements);
  return data;
}

Data *Importer::makeInteger(DataType type, int64_t value) {
  return makeKnown(type, {}, {integerElement(value)});
}

Data *Importer::makeReal(DataType type, double value) {
  return makeKnown(type, {}, {Element{nullptr, roundTo(type, value)}});
}

//===-- Elements -----------------------------------------------------------------------------===//

/// Element `i` of little-endian bytes.
static int64_t integerAt(const ::fovea::onnx::Tensor &tensor, int64_t i) {
  auto load = [&](auto zero) {
    std::memcpy(&zero, tensor.bytes.data() + i * sizeof(zero), sizeof(zero));
    return static_cast<int64_t>(zero);
  };
  switch (tensor.type) {
  case DataType::Bool:
    return tensor.bytes[i] != 0;
  case DataType::Int8:
    return load(int8_t());
  case DataType::UInt8:
    return load(uint8_t());
  case DataType::Int16:
    return load(int16_t());
  case DataType::UInt16:
    return load(uint16_t());
  case DataType::Int32:
    return load(int32_t());
  case DataType::UInt32:
    return load(uint32_t());
  case DataType::Int4:
  case DataType::UInt4: {
    int half = (static_cast<uint8_t>(tensor.bytes[i / 2]) >> (i % 2 * 4)) & 15;
    return tensor.type == DataType::Int4 && half > 7 ? half - 16 : half;
  }
  default:
    return load(int64_t());
  }
}

static double realAt(const ::fovea::onnx::Tensor &tensor, int64_t i) {
  unsigned width = sizeOf(tensor.type);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + i * width, width);
  return APFloat(semanticsOf(tensor.type), APInt(width * 8, bits)).convertToDouble();
}

const std::vector<Element> *Importer::elements(Data &data) {
  if (data.elements)
    return &*data.elements;
  if (!data.stored || (data.stored->bytes.empty() && data.stored->size))
    return nullptr;
  int64_t count = data.stored->count();
  if (count > (isFloat(data.type) ? kMaxPlainFloats : kMaxElements))
    return nullptr;
  std::vector<Element> result;
  for (int64_t i = 0; i < count; ++i) {
    if (isFloat(data.type))
      result.push_back({nullptr, realAt(*data.stored, i)});
    else
      result.push_back(integerElement(integerAt(*data.stored, i)));
  }
  data.elements = std::move(result);
  return &*data.elements;
}

std::optional<Element> Importer::scalar(Data &data) {
  if (!llvm::all_of(data.shape, [](Sym size) { return Symbols::known(size) == 1; }))
    return std::nullopt;
  const std::vector<Element> *known = elements(data);
  return known && known->size() == 1 ? std::optional<Element>(known->front()) : std::nullopt;
}

Sym Importer::symbolOf(Data &data) {
  if (!llvm::all_of(data.shape, [](Sym size) { return Symbols::known(size) == 1; }))
    return nullptr;
  if (std::optional<Element> element = scalar(data)) {
    if (element->integer)
      return element->integer;
    bool isWhole = std::abs(element->real) < 1e15 && element->real == std::floor(element->real);
    return isWhole ? number(static_cast<int64_t>(element->real)) : nullptr;
  }
  if (!data.symbol && !isFloat(data.type))
    data.symbol = symbols.data();
  return data.symbol;
}

std::optional<int64_t> Importer::integerOf(Data &data) {
  std::optional<Element> element = scalar(data);
  return element && element->integer ? Symbols::known(element->integer) : std::nullopt;
}

std::optional<double> Importer::realOf(Data &data) {
  std::optional<Element> element = scalar(data);
  if (!element)
    return std::nullopt;
  if (!element->integer)
    return element->real;
  std::optional<int64_t> number = Symbols::known(element->integer);
  return number ? std::optional<double>(*number) : std::nullopt;
}

//===-- Values -------------------------------------------------------------------------------===//

Value Importer::scalarConstant(Type type, const Element &element) {
  if (auto real = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(real, element.real));
  if (std::optional<int64_t> known = Symbols::known(element.integer)) {
    if (type.isIndex())
      return arith::ConstantIndexOp::create(b, *known);
    APInt bits(64, *known);
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(type, bits.trunc(type.getIntOrFloatBitWidth())));
  }
  Value index = symbols.materialize(element.integer);
  if (type.isIndex())
    return index;
  return arith::IndexCastOp::create(b, type, index);
}

Value Importer::constantOf(const ::fovea::onnx::Tensor &tensor, RankedTensorType type) {
  int64_t count = tensor.count();
  Type element = type.getElementType();
  if (element.isInteger(1) || element.isInteger(4)) {
    SmallVector<APInt> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(APInt(64, integerAt(tensor, i)).trunc(element.getIntOrFloatBitWidth()));
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
  }
  return arith::ConstantOp::create(
      b, DenseElementsAttr::getFromRawBuffer(
             type, ArrayRef<char>(tensor.bytes.data(), tensor.bytes.size())));
}

Value Importer::weightOf(const ::fovea::onnx::Tensor &tensor, RankedTensorType type) {
  FlatSymbolRefAttr &symbol = weights[tensor.name];
  if (!symbol) {
    // Names may hold anything; as symbols they are quoted where needed.
    std::string name = ::fovea::printable(tensor.name, 1000);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(entry);
    auto recipe =
        StoredAttr::get(b.getContext(), llvm::sys::path::filename(model.path), tensor.name, type);
    auto weight =
        WeightOp::create(b, b.getStringAttr(name), TypeAttr::get(type), recipe, StringAttr());
    SymbolTable(*module).insert(weight);
    symbol = FlatSymbolRefAttr::get(weight.getSymNameAttr());
  }
  return WeightRefOp::create(b, type, symbol);
}

/// A splat for each run of a vector that holds sizes; a constant where all is known.
Value Importer::fromElements(Data &data) {
  RankedTensorType type = typeOf(data);
  Type element = type.getElementType();
  const std::vector<Element> &known = *data.elements;
  bool isConstant =
      llvm::all_of(known, [](const Element &e) { return !e.integer || Symbols::known(e.integer); });
  if (isConstant && isFloat(data.type)) {
    SmallVector<APFloat> values;
    for (const Element &e : known) {
      APFloat number(e.real);
      bool losesInfo;
      number.convert(semanticsOf(data.type), APFloat::rmNearestTiesToEven, &losesInfo);
      values.push_back(number);
    }
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
  }
  if (isConstant) {
    SmallVector<APInt> values = llvm::map_to_vector(known, [&](const Element &e) {
      return APInt(64, *Symbols::known(e.integer)).trunc(element.getIntOrFloatBitWidth());
    });
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
  }
  if (known.size() == 1)
    return tensor::SplatOp::create(b, scalarConstant(element, known.front()), type.getShape(),
                                   ValueRange());
  SmallVector<Value> parts;
  for (const Element &e : known)
    parts.push_back(
        tensor::SplatOp::create(b, scalarConstant(element, e), ArrayRef<int64_t>{1}, ValueRange()));
  Value flat = tensor::ConcatOp::create(b, 0, parts);
  if (data.rank() == 1)
    return flat;
  ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, data.rank()));
  return tensor::ExpandShapeOp::create(b, type, flat, ArrayRef<ReassociationIndices>{all});
}

/// Whether floats are no parameters but the frequencies of a rotary embedding, 1, r, r^2, ...
/// perhaps divided by one number: passes want to read theta off them.
static bool isGeometric(const ::fovea::onnx::Tensor &tensor) {
  constexpr int64_t kMost = 1024;
  int64_t count = tensor.bytes.empty() ? 0 : tensor.count();
  if (count < 4 || count > kMost ||
      llvm::count_if(tensor.shape, [](auto size) { return size != 1; }) != 1)
    return false;
  double ratio = realAt(tensor, 1) / realAt(tensor, 0);
  if (!(realAt(tensor, 0) > 0 && realAt(tensor, 0) <= 1 && ratio > 0 && ratio < 1))
    return false;
  for (int64_t i = 1; i < count; ++i)
    if (!(std::abs(realAt(tensor, i) / realAt(tensor, i - 1) - ratio) <= 1e-3 * ratio))
      return false;
  return true;
}

/// Whether a matrix of floats is no parameter but a mask: a triangle of zeros and ones or
/// infinities, which passes want to look into.
static bool isTable(const ::fovea::onnx::Tensor &tensor) {
  constexpr size_t kMostValues = 3;
  constexpr uint64_t kMaxTable = 1 << 24;
  if (tensor.shape.size() < 2 || tensor.bytes.empty() || tensor.size > kMaxTable)
    return false;
  llvm::SmallVector<double, kMostValues + 1> seen;
  for (int64_t i = 0, count = tensor.count(); i < count; ++i) {
    double value = isFloat(tensor.type) ? realAt(tensor, i) : integerAt(tensor, i);
    if (!llvm::is_contained(seen, value))
      seen.push_back(value);
    if (seen.size() > kMostValues || std::isnan(value))
      return false;
  }
  return seen.size() > 1;
}

/// Whether a table of floats is no parameter but sines and cosines of a row's number times a
/// frequency of the column's: passes want to see that it turns queries and keys.
static bool isSinusoidal(const ::fovea::onnx::Tensor &tensor) {
  constexpr int64_t kRows = 8;     // that are looked at
  constexpr double kNearly = 1e-3; // as an arc cosine is inexact near one
  constexpr uint64_t kMaxTable = 1 << 24;
  size_t rank = tensor.shape.size();
  if (rank < 2 || tensor.bytes.empty() || tensor.size > kMaxTable)
    return false;
  int64_t rows = tensor.shape[rank - 2], columns = tensor.shape[rank - 1];
  if (rows < kRows || columns < 2 || tensor.count() != rows * columns)
    return false;
  bool turns = false;
  for (int64_t column = 0; column < columns; ++column) {
    auto at = [&](int64_t row) { return realAt(tensor, row * columns + column); };
    bool isCosine = at(0) == 1;
    if ((!isCosine && at(0) != 0) || !(std::abs(at(1)) <= 1))
      return false;
    double frequency = isCosine ? std::acos(at(1)) : std::asin(at(1));
    turns |= frequency > 0.1;
    for (int64_t row = 2; row < kRows; ++row) {
      double angle = static_cast<double>(row) * frequency;
      if (!(std::abs(at(row) - (isCosine ? std::cos(angle) : std::sin(angle))) <= kNearly))
        return false;
    }
  }
  return turns;
}

Value Importer::value(Data &data) {
  if (data.value)
    return data.value;
  OpBuilder::InsertionGuard guard(b);
  if (const ::fovea::onnx::Tensor *tensor = data.stored) {
    RankedTensorType type = typeOf(data);
    bool isMany = isFloat(data.type) && data.rank() >= 1 && tensor->count() > kMaxPlainFloats;
    bool isReadByPasses = ((isMany || tensor->size > kMaxConstant) && isTable(*tensor)) ||
                          (isMany && isSinusoidal(*tensor));
    bool isParameter = isMany && !isReadByPasses && !isGeometric(*tensor);
    bool isSmall = (tensor->size <= kMaxConstant || isReadByPasses) &&
                   (!tensor->bytes.empty() || !tensor->size);
    bool isPacked = type.getElementType().isInteger(4);
    data.value = tensor->isMapped && !isPacked && (isParameter || !isSmall)
                     ? weightOf(*tensor, type)
                     : constantOf(*tensor, type);
    return data.value;
  }
  return data.value = fromElements(data);
}
