// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Protobuf into the structures of Model.h; the one file that knows ONNX's generated classes. Every
// size is checked here, so that nothing behind it need be suspicious. Refuses what is named in
// Model.h, with the node or the tensor at fault.
#include "frontend/ONNX/Reader/Model.h"
#include "frontend/ONNX/Reader/OnnxFile.h"

#include "frontend/ONNX/Reader/onnx-ml.pb.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <set>

namespace fovea::onnx {
namespace {

/// What later operator sets mean nobody knows here.
constexpr int64_t kFirstOpset = 13, kLastOpset = 28;
constexpr size_t kMaxRank = 32;

Attribute::Kind kindOf(::onnx::AttributeProto::AttributeType type) {
  using Proto = ::onnx::AttributeProto;
  static const std::map<int, Attribute::Kind> kinds = {
      {Proto::FLOAT, Attribute::Kind::Float},   {Proto::FLOATS, Attribute::Kind::Floats},
      {Proto::INT, Attribute::Kind::Int},       {Proto::INTS, Attribute::Kind::Ints},
      {Proto::STRING, Attribute::Kind::String}, {Proto::STRINGS, Attribute::Kind::Strings},
      {Proto::TENSOR, Attribute::Kind::Tensor}, {Proto::GRAPH, Attribute::Kind::Graph},
  };
  auto found = kinds.find(type);
  return found == kinds.end() ? Attribute::Kind::Other : found->second;
}

/// A file's bytes one after the other. Those that were read leave memory: what protobuf makes of
/// them is as large.
class Pieces : public google::protobuf::io::CopyingInputStream {
public:
  explicit Pieces(const FileView &file) : file(file) {}

  int Read(void *buffer, int size) override {
    size_t count = std::min(file.size() - at, static_cast<size_t>(size));
    std::copy_n(file.data() + at, count, static_cast<uint8_t *>(buffer)); // none of an empty file
    at += count;
    if (at - dropped >= kStep) {
      size_t whole = (at - dropped) / kStep * kStep;
      file.drop(file.data() + dropped, whole);
      dropped += whole;
    }
    return static_cast<int>(count);
  }

private:
  static constexpr size_t kStep = size_t(16) << 20; // many pages
  const FileView &file;
  size_t at = 0, dropped = 0;
};

class Reader {
public:
  Reader(const std::string &path, Problems &problems, FileAccess access)
      : path(path), problems(problems), access(access) {}

  std::optional<Model> read() {
    std::string error;
    std::unique_ptr<FileView> file = openFile(path, access, error);
    if (!file)
      return fail("", error);
    if (file->size() > INT32_MAX)
      return fail("", "expects less than 2 GiB, as ONNX does, got " + std::to_string(file->size()) +
                          " bytes; larger models keep their tensors in external data");
    ::onnx::ModelProto proto;
    Pieces pieces(*file);
    google::protobuf::io::CopyingInputStreamAdaptor stream(&pieces);
    google::protobuf::io::CodedInputStream input(&stream);
    uint64_t fault = 0;
    if (!indexTensors(file->data(), file->size(), places, fault))
      return fail("", describeNoModel(*file, fault));
    if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage())
      return fail("", "expects an ONNX model, got a protobuf message of another kind, or one whose "
                      "parts are nested more than 100 deep");
    if (!proto.has_graph())
      return fail("", "expects a model with a graph, got none");
    Model model;
    model.path = path;
    model.producer = proto.producer_name();
    if (!readOpsets(proto.opset_import(), model.opsets, ""))
      return std::nullopt;
    opsets = &model.opsets;
    readGraph(*proto.mutable_graph(), model.graph, /*isMain=*/true);
    std::set<std::string> names;
    for (::onnx::FunctionProto &function : *proto.mutable_functions()) {
      std::string key = function.domain() + "::" + function.name() + ":" + function.overload();
      if (!names.insert(key).second)
        fail(printable(key), "expects one function of this name, got two");
      std::map<std::string, int64_t> own;
      readOpsets(function.opset_import(), own, function.name());
      opsets = &own;
      readFunction(function, model.functions.emplace_back());
      opsets = &model.opsets;
    }
    if (hasErrors(problems))
      return std::nullopt;
    return model;
  }

private:
  std::nullopt_t fail(const std::string &place, const std::string &message) {
    addError(problems, path, place, message);
    return std::nullopt;
  }

  template <typename List>
  bool readOpsets(const List &list, std::map<std::string, int64_t> &result,
                  const std::string &place) {
    for (const ::onnx::OperatorSetIdProto &entry : list) {
      std::string domain = entry.domain() == "ai.onnx" ? "" : entry.domain();
      result[domain] = entry.version();
    }
    auto own = result.find("");
    if (own != result.end() && (own->second < kFirstOpset || own->second > kLastOpset)) {
      fail(printable(place), "expects operator set " + std::to_string(kFirstOpset) + " to " +
                                 std::to_string(kLastOpset) + ", got " +
                                 std::to_string(own->second));
      return false;
    }
    if (place.empty() && own == result.end() && result.empty()) {
      fail("", "expects a model that names its operator sets, got none");
      return false;
    }
    return true;
  }

  /// Elements that stand in typed fields, as bytes.
  template <typename To, typename List> static void pack(const List &values, std::string &bytes) {
    bytes.reserve(static_cast<size_t>(values.size()) * sizeof(To));
    for (auto value : values) {
      To element = static_cast<To>(value);
      bytes.append(reinterpret_cast<const char *>(&element), sizeof(To));
    }
  }

  static bool packTyped(const ::onnx::TensorProto &proto, DataType type, std::string &bytes) {
    switch (type) {
    case DataType::Float:
      pack<float>(proto.float_data(), bytes);
      return true;
    case DataType::Double:
      pack<double>(proto.double_data(), bytes);
      return true;
    case DataType::Int64:
      pack<int64_t>(proto.int64_data(), bytes);
      return true;
    case DataType::UInt64:
      pack<uint64_t>(proto.uint64_data(), bytes);
      return true;
    case DataType::UInt32:
      pack<uint32_t>(proto.uint64_data(), bytes);
      return true;
    case DataType::Int32:
      pack<int32_t>(proto.int32_data(), bytes);
      return true;
    case DataType::Int16:
    case DataType::UInt16:
    case DataType::Float16:
    case DataType::BFloat16:
      pack<uint16_t>(proto.int32_data(), bytes);
      return true;
    case DataType::Bool:
    case DataType::Int8:
    case DataType::UInt8:
    case DataType::Int4:
    case DataType::UInt4:
      pack<uint8_t>(proto.int32_data(), bytes);
      return true;
    default:
      return false;
    }
  }

  /// Null after a problem. `name` is an initializer's own, or that of the value that a node makes:
  /// what a tensor in an attribute calls itself says nothing. Takes the bytes.
  std::shared_ptr<Tensor> readTensor(::onnx::TensorProto &proto, const std::string &name,
                                     bool isIndexed) {
    auto tensor = std::make_shared<Tensor>();
    tensor->name = name;
    tensor->type = static_cast<DataType>(proto.data_type());
    std::string place = printable(tensor->name);
    unsigned bytes = sizeOf(tensor->type);
    if (!bytes) {
      fail(place, "expects elements that are bool, integers, float16, bfloat16, float or double, "
                  "got " +
                      nameOf(tensor->type));
      return nullptr;
    }
    if (proto.has_segment()) {
      fail(place, "expects a whole tensor, got a segment of one");
      return nullptr;
    }
    tensor->shape.assign(proto.dims().begin(), proto.dims().end());
    int64_t size = bytes;
    bool sound = tensor->shape.size() <= kMaxRank;
    for (int64_t axis : tensor->shape)
      sound =
          sound && axis >= 0 && !__builtin_mul_overflow(size, axis, &size) && size < INT64_MAX / 2;
    if (!sound) {
      fail(place,
           "expects at most 32 sizes whose bytes can be counted, got " + printShape(tensor->shape));
      return nullptr;
    }
    bool isPacked = tensor->type == DataType::Int4 || tensor->type == DataType::UInt4;
    tensor->size = static_cast<uint64_t>(isPacked ? (size + 1) / 2 : size);
    if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
      return readExternal(proto, *tensor, place, isIndexed) ? tensor : nullptr;
    if (proto.has_raw_data())
      tensor->bytes = std::move(*proto.mutable_raw_data());
    else if (!packTyped(proto, tensor->type, tensor->bytes))
      return nullptr;
    if (tensor->bytes.size() != tensor->size) {
      fail(place, "expects " + std::to_string(tensor->size) + " bytes for " +
                      printShape(tensor->shape) + " of " + nameOf(tensor->type) + ", got " +
                      std::to_string(tensor->bytes.size()));
      return nullptr;
    }
    tensor->isMapped = isIndexed && isInPlace(*tensor);
    return tensor;
  }

  /// True if the walk over the wire format found the same bytes.
  bool isInPlace(const Tensor &tensor) const {
    auto place = places.find(tensor.name);
    return place != places.end() && !place->second.isExternal &&
           place->second.shape == tensor.shape && place->second.type == tensor.type &&
           place->second.size == tensor.size;
  }

  bool readExternal(const ::onnx::TensorProto &proto, Tensor &tensor, const std::string &place,
                    bool isIndexed) {
    tensor.isExternal = true;
    // The walk has read the entries of the main graph's tensors; names of others say nothing.
    auto known = places.find(tensor.name);
    if (!isIndexed || known == places.end() || !known->second.isExternal ||
        known->second.shape != tensor.shape || known->second.type != tensor.type) {
      fail(place, "expects external data of a tensor of the main graph with a name of its own, got "
                  "one elsewhere");
      return false;
    }
    if (!known->second.fault.empty()) {
      fail(place, known->second.fault);
      return false;
    }
    tensor.location = known->second.location;
    tensor.offset = known->second.offset;
    tensor.isMapped = true;
    std::string error;
    std::shared_ptr<FileView> &file = externals[tensor.location];
    if (!file) {
      if (failedLocations.count(tensor.location))
        return false;
      file = openExternal(path, tensor.location, access, error);
    }
    if (!file) {
      failedLocations.insert(tensor.location);
      fail(place, error);
      return false;
    }
    uint64_t length = known->second.size.value_or(tensor.size);
    if (length != tensor.size || tensor.offset > file->size() ||
        tensor.size > file->size() - tensor.offset) {
      fail(place, "expects " + std::to_string(tensor.size) + " bytes at " +
                      std::to_string(tensor.offset) + " of " + quote(tensor.location) + ", got " +
                      std::to_string(length) + " in a file of " + std::to_string(file->size()));
      return false;
    }
    // Small ones are constants of the IR, whose elements the importer reads.
    if (tensor.size <= 65536)
      tensor.bytes.assign(reinterpret_cast<const char *>(file->data()) + tensor.offset,
                          tensor.size);
    return true;
  }

  void readAttribute(::onnx::AttributeProto &proto, Attribute &result, const Node &node,
                     bool isMain) {
    result.name = proto.name();
    result.reference = proto.ref_attr_name();
    result.real = proto.f();
    result.integer = proto.i();
    result.text = proto.s();
    result.reals.assign(proto.floats().begin(), proto.floats().end());
    result.integers.assign(proto.ints().begin(), proto.ints().end());
    result.texts.assign(proto.strings().begin(), proto.strings().end());
    result.kind = kindOf(proto.type());
    if (result.kind == Attribute::Kind::Tensor) {
      result.tensor =
          readTensor(*proto.mutable_t(), node.outputs.empty() ? node.label() : node.outputs[0],
                     isMain && node.op == "Constant");
    } else if (result.kind == Attribute::Kind::Graph) {
      result.graph = std::make_shared<Graph>();
      readGraph(*proto.mutable_g(), *result.graph, /*isMain=*/false);
    }
  }

  /// The module that PyTorch's newer exporter made a node for: the last but one of the names in
  /// "['', 'layers.0', 'layers.0.attention', 'softmax']".
  static std::string readScope(const ::onnx::NodeProto &proto) {
    for (const auto &entry : proto.metadata_props()) {
      if (entry.key() != "pkg.torch.onnx.name_scopes")
        continue;
      std::vector<std::string> names;
      const std::string &text = entry.value();
      for (size_t at = text.find('\''); at != std::string::npos;) {
        size_t end = text.find('\'', at + 1);
        if (end == std::string::npos)
          break;
        names.push_back(text.substr(at + 1, end - at - 1));
        at = text.find('\'', end + 1);
      }
      return names.size() < 2 ? "" : names[names.size() - 2];
    }
    return "";
  }

  void readNode(::onnx::NodeProto &proto, Node &node, bool isMain) {
    node.name = proto.name();
    node.op = proto.op_type();
    node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    node.overload = proto.overload();
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    if (std::string scope = readScope(proto); !scope.empty())
      node.name = scope + "/" + node.label();
    auto version = opsets->find(node.domain);
    node.version = version == opsets->end() ? 0 : version->second;
    if (node.domain.empty() && !node.version)
      fail(printable(node.label()),
           "expects the model to name the operator set of " + quote(node.op) + ", got none");
    for (::onnx::AttributeProto &attribute : *proto.mutable_attribute())
      readAttribute(attribute, node.attributes.emplace_back(), node, isMain);
  }

  void readType(const ::onnx::ValueInfoProto &proto, ValueInfo &info) {
    info.name = proto.name();
    const ::onnx::TypeProto &type = proto.type();
    if (!type.has_tensor_type()) {
      info.kind = type.has_sequence_type()        ? "sequence"
                  : type.has_optional_type()      ? "optional"
                  : type.has_map_type()           ? "map"
                  : type.has_sparse_tensor_type() ? "sparse tensor"
                                                  : "value without a type";
      return;
    }
    info.type = static_cast<DataType>(type.tensor_type().elem_type());
    info.hasShape = type.tensor_type().has_shape();
    for (const ::onnx::TensorShapeProto::Dimension &dim : type.tensor_type().shape().dim()) {
      Dimension &axis = info.shape.emplace_back();
      axis.name = dim.dim_param();
      if (dim.has_dim_value() && dim.dim_value() < -1)
        fail(printable(info.name),
             "expects sizes from 0, or -1 for an open one, got " + std::to_string(dim.dim_value()));
      if (dim.has_dim_value() && dim.dim_value() >= 0)
        axis.size = dim.dim_value();
    }
    if (info.shape.size() > kMaxRank) {
      fail(printable(info.name),
           "expects at most 32 axes, got " + std::to_string(info.shape.size()));
      info.shape.clear();
    }
  }

  void readGraph(::onnx::GraphProto &proto, Graph &graph, bool isMain) {
    graph.name = proto.name();
    if (proto.sparse_initializer_size())
      fail(printable(graph.name), "expects dense initializers, got a sparse one");
    for (::onnx::TensorProto &tensor : *proto.mutable_initializer())
      if (std::shared_ptr<Tensor> read = readTensor(tensor, tensor.name(), isMain))
        graph.initializers.push_back(std::move(read));
    for (const ::onnx::ValueInfoProto &info : proto.input())
      readType(info, graph.inputs.emplace_back());
    for (const ::onnx::ValueInfoProto &info : proto.output())
      readType(info, graph.outputs.emplace_back());
    for (::onnx::NodeProto &node : *proto.mutable_node())
      readNode(node, graph.nodes.emplace_back(), isMain);
  }

  void readFunction(::onnx::FunctionProto &proto, Function &function) {
    function.name = proto.name();
    function.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    function.overload = proto.overload();
    function.inputs.assign(proto.input().begin(), proto.input().end());
    function.outputs.assign(proto.output().begin(), proto.output().end());
    function.attributes.assign(proto.attribute().begin(), proto.attribute().end());
    Node none;
    none.name = function.name;
    for (::onnx::AttributeProto &attribute : *proto.mutable_attribute_proto())
      readAttribute(attribute, function.defaults.emplace_back(), none, /*isMain=*/false);
    for (::onnx::NodeProto &node : *proto.mutable_node())
      readNode(node, function.nodes.emplace_back(), /*isMain=*/false);
  }

  const std::string &path;
  Problems &problems;
  const FileAccess access;
  std::map<std::string, TensorPlace> places;
  std::map<std::string, std::shared_ptr<FileView>> externals;
  std::set<std::string> failedLocations;
  const std::map<std::string, int64_t> *opsets = nullptr;
};

} // namespace

std::optional<Model> readModel(const std::string &path, Problems &problems, FileAccess access) {
  Problems own;
  std::optional<Model> model = Reader(path, own, access).read();
  if (model && !inlineFunctions(*model, own))
    model.reset();
  problems.insert(problems.end(), own.begin(), own.end());
  return model;
}

} // namespace fovea::onnx
