// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and sizes of ONNX's element types, and the inlining of a model's own functions.
#include "frontend/ONNX/Reader/Model.h"

#include <set>
#include <unordered_map>

namespace fovea::onnx {

std::string nameOf(DataType type) {
  static const char *const names[] = {
      "undefined",      "float",      "uint8",          "int8",       "uint16",    "int16",
      "int32",          "int64",      "string",         "bool",       "float16",   "double",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
      "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};
  auto number = static_cast<int32_t>(type);
  if (number >= 0 && static_cast<size_t>(number) < sizeof(names) / sizeof(*names))
    return names[number];
  return "element type " + std::to_string(number);
}

unsigned sizeOf(DataType type) {
  switch (type) {
  case DataType::Bool:
  case DataType::Int8:
  case DataType::UInt8:
  case DataType::Int4:
  case DataType::UInt4:
    return 1;
  case DataType::Int16:
  case DataType::UInt16:
  case DataType::Float16:
  case DataType::BFloat16:
    return 2;
  case DataType::Float:
  case DataType::Int32:
  case DataType::UInt32:
    return 4;
  case DataType::Double:
  case DataType::Int64:
  case DataType::UInt64:
    return 8;
  default:
    return 0;
  }
}

int64_t Tensor::count() const {
  int64_t result = 1;
  for (int64_t axis : shape)
    result *= axis;
  return result;
}

const std::string &Node::label() const {
  if (!name.empty())
    return name;
  for (const std::string &output : outputs)
    if (!output.empty())
      return output;
  return op;
}

const Attribute *Node::find(const std::string &attribute) const {
  for (const Attribute &candidate : attributes)
    if (candidate.name == attribute)
      return &candidate;
  return nullptr;
}

namespace {

constexpr size_t kMaxNodes = 1'000'000;
constexpr unsigned kMaxDepth = 64;

/// Copies nodes into the graph that calls them.
class Inliner {
public:
  Inliner(Model &model, Problems &problems) : model(model), problems(problems) {
    for (const Function &function : model.functions)
      functions.emplace(key(function.domain, function.name, function.overload), &function);
  }

  bool run() {
    expand(model.graph.nodes, 0);
    return isSound;
  }

private:
  using Names = std::unordered_map<std::string, std::string>;

  static std::string key(const std::string &domain, const std::string &name,
                         const std::string &overload) {
    return domain + '\n' + name + '\n' + overload;
  }

  void fail(const Node &node, const std::string &message) {
    if (isSound)
      addError(problems, model.path, printable(node.label()), message);
    isSound = false;
  }

  void expand(std::vector<Node> &nodes, unsigned depth) {
    bool hasCall = false;
    for (Node &node : nodes) {
      hasCall |= functions.count(key(node.domain, node.op, node.overload)) != 0;
      for (Attribute &attribute : node.attributes)
        if (attribute.graph)
          expand(attribute.graph->nodes, depth);
    }
    if (!hasCall || !isSound)
      return;
    std::vector<Node> result;
    for (Node &node : nodes) {
      auto function = functions.find(key(node.domain, node.op, node.overload));
      if (function == functions.end())
        result.push_back(std::move(node));
      else
        inlineCall(node, *function->second, result, depth);
      if (!isSound)
        return;
    }
    nodes = std::move(result);
  }

  void inlineCall(const Node &call, const Function &function, std::vector<Node> &result,
                  unsigned depth) {
    if (depth >= kMaxDepth)
      return fail(call, "expects functions that do not call themselves, got " +
                            quote(function.name) + " in calls " + std::to_string(depth) + " deep");
    if (call.inputs.size() > function.inputs.size() ||
        call.outputs.size() > function.outputs.size())
      return fail(call, "expects at most " + std::to_string(function.inputs.size()) +
                            " inputs and " + std::to_string(function.outputs.size()) +
                            " outputs of function " + quote(function.name) + ", got " +
                            std::to_string(call.inputs.size()) + " and " +
                            std::to_string(call.outputs.size()));
    std::string prefix = call.label() + "/";
    if (!prefixes.insert(prefix).second)
      prefix += std::to_string(++calls) + "/";
    Names names;
    names[""] = "";
    for (size_t i = 0; i < function.inputs.size(); ++i)
      names[function.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
    std::vector<Node> body;
    for (size_t i = 0; i < function.outputs.size(); ++i) {
      std::string wanted = i < call.outputs.size() ? call.outputs[i] : "";
      if (wanted.empty())
        continue;
      auto known = names.find(function.outputs[i]);
      if (known == names.end()) {
        names[function.outputs[i]] = wanted;
        continue;
      }
      // An input handed through, or one result under two names.
      Node &identity = body.emplace_back();
      identity.op = "Identity";
      identity.name = prefix + "Identity";
      identity.version = model.opsets.count("") ? model.opsets[""] : 13;
      identity.inputs = {known->second};
      identity.outputs = {wanted};
    }
    std::vector<Node> identities = std::move(body);
    body = function.nodes;
    nodes += body.size();
    if (nodes > kMaxNodes)
      return fail(call, "expects at most a million nodes once functions are inlined, got more");
    for (Node &node : body)
      rename(node, names, prefix, &call, &function);
    expand(body, depth + 1);
    for (Node &node : body)
      result.push_back(std::move(node));
    for (Node &node : identities)
      result.push_back(std::move(node));
  }

  void rename(Node &node, Names &names, const std::string &prefix, const Node *call,
              const Function *function) {
    node.name = prefix + node.label();
    for (std::string &input : node.inputs)
      input = lookUp(input, names, prefix);
    for (std::string &output : node.outputs)
      output = lookUp(output, names, prefix);
    std::vector<Attribute> attributes;
    for (Attribute &attribute : node.attributes) {
      const Attribute *source = &attribute;
      if (!attribute.reference.empty()) {
        source = call->find(attribute.reference);
        for (const Attribute &fallback : function->defaults)
          if (!source && fallback.name == attribute.reference)
            source = &fallback;
        if (!source)
          continue; // absent in the call: absent here
      }
      Attribute &copy = attributes.emplace_back(*source);
      copy.name = attribute.name;
      if (attribute.reference.empty() && attribute.graph) {
        copy.graph = std::make_shared<Graph>(*attribute.graph);
        rename(*copy.graph, names, prefix, call, function);
      }
    }
    node.attributes = std::move(attributes);
  }

  /// Names that a subgraph defines are renamed with the function's own: they are distinct.
  void rename(Graph &graph, Names &names, const std::string &prefix, const Node *call,
              const Function *function) {
    for (ValueInfo &input : graph.inputs)
      input.name = lookUp(input.name, names, prefix);
    for (std::shared_ptr<Tensor> &tensor : graph.initializers) {
      tensor = std::make_shared<Tensor>(*tensor);
      tensor->name = lookUp(tensor->name, names, prefix);
    }
    for (Node &node : graph.nodes)
      rename(node, names, prefix, call, function);
    for (ValueInfo &output : graph.outputs)
      output.name = lookUp(output.name, names, prefix);
  }

  static const std::string &lookUp(const std::string &name, Names &names,
                                   const std::string &prefix) {
    auto [entry, isNew] = names.try_emplace(name);
    if (isNew)
      entry->second = prefix + name;
    return entry->second;
  }

  Model &model;
  Problems &problems;
  std::unordered_map<std::string, const Function *> functions;
  std::set<std::string> prefixes;
  size_t nodes = 0, calls = 0;
  bool isSound = true;
};

} // namespace

bool inlineFunctions(Model &model, Problems &problems) {
  return model.functions.empty() || Inliner(model, problems).run();
}

} // namespace fovea::onnx
