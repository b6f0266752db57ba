// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ONNX model as plain structures, without protobuf and without MLIR: what `readModel` fills
// after every size has been checked, and what the importer walks over.
#ifndef FOVEA_FRONTEND_ONNX_READER_MODEL_H
#define FOVEA_FRONTEND_ONNX_READER_MODEL_H

#include "artifact/FileView.h"
#include "frontend/Problem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace fovea::onnx {

/// Element types, with the numbers of `TensorProto.DataType`.
enum class DataType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16,
  UInt4 = 21,
  Int4 = 22,
};

/// "float16", as ONNX writes it; the number where there is no name.
std::string nameOf(DataType type);
/// Bytes of an element, 1 for the packed four-bit types; 0 where tensors are not read at all.
unsigned sizeOf(DataType type);

/// A tensor whose elements are in the file, or in one beside it.
struct Tensor {
  std::string name;
  DataType type = DataType::Undefined;
  std::vector<int64_t> shape; ///< Sizes are not negative and their product fits 62 bits.
  /// Elements, little endian, row-major; two to a byte (low half first) for four-bit types. Empty
  /// for external ones until they are read.
  std::string bytes;
  /// Bytes that the elements take, checked against what the file holds.
  uint64_t size = 0;
  bool isExternal = false;
  std::string location; ///< Relative to the model's folder, with '/'.
  uint64_t offset = 0;
  /// Stored as bytes, so that `OnnxFile` finds it by its name.
  bool isMapped = false;

  int64_t count() const;
};

/// The size of an axis: a number, a name, or nothing.
struct Dimension {
  std::optional<int64_t> size;
  std::string name;
};

struct ValueInfo {
  std::string name;
  std::string kind = "tensor"; ///< Or what it is else: "sequence", "optional", ...
  DataType type = DataType::Undefined;
  bool hasShape = false;
  std::vector<Dimension> shape;
};

struct Graph;

struct Attribute {
  enum class Kind { Float, Int, String, Tensor, Graph, Floats, Ints, Strings, Other };
  std::string name;
  std::string reference; ///< Inside functions: the attribute of the call that it is.
  Kind kind = Kind::Other;
  float real = 0;
  int64_t integer = 0;
  std::string text;
  std::shared_ptr<Tensor> tensor;
  std::shared_ptr<Graph> graph;
  std::vector<float> reals;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
};

struct Node {
  std::string name; ///< May be empty; `label` never is.
  std::string op, domain, overload;
  std::vector<std::string> inputs, outputs; ///< An empty name is an absent one.
  std::vector<Attribute> attributes;
  int64_t version = 0; ///< Of its domain's operator set.

  /// The name that messages and locations use.
  const std::string &label() const;
  const Attribute *find(const std::string &attribute) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<std::shared_ptr<Tensor>> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
};

struct Model {
  std::string path;
  std::string producer;
  std::map<std::string, int64_t> opsets; ///< By domain; "" is ONNX's own.
  Graph graph;
  std::vector<Function> functions;
};

/// Reads a file. What it refuses: anything that is not an ONNX model of operator set 13 or later,
/// tensors whose bytes do not fit their shapes, external data that `ExternalData.h` refuses.
/// Functions of the model are inlined, so that nodes are ONNX's or a known vendor's.
std::optional<Model> readModel(const std::string &path, Problems &problems,
                               artifact::FileAccess access = artifact::FileAccess::Mapped);

/// Replaces calls of the model's functions by their nodes, with new names. Refuses recursion and
/// models that grow past a million nodes.
bool inlineFunctions(Model &model, Problems &problems);

/// What values of a function are called where it is inlined.
using ValueNames = std::unordered_map<std::string, std::string>;

/// The nodes of `function` in place of `call`. Values that `names` does not know yet get their own
/// names behind `prefix`, and are added to it.
std::vector<Node> instantiate(const Function &function, const Node &call, const std::string &prefix,
                              ValueNames &names);

} // namespace fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_READER_MODEL_H
