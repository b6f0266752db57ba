// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of a function as one call of it has them: with names, attributes and subgraphs of their
// own.
#include "frontend/ONNX/Reader/Model.h"

namespace fovea::onnx {

static const std::string &lookUp(const std::string &name, ValueNames &names,
                                 const std::string &prefix) {
  auto [entry, isNew] = names.try_emplace(name);
  if (isNew)
    entry->second = prefix + name;
  return entry->second;
}

static void rename(Graph &graph, ValueNames &names, const std::string &prefix, const Node &call,
                   const Function &function);

static void rename(Node &node, ValueNames &names, const std::string &prefix, const Node &call,
                   const Function &function) {
  node.name = prefix + node.label();
  for (std::string &input : node.inputs)
    input = lookUp(input, names, prefix);
  for (std::string &output : node.outputs)
    output = lookUp(output, names, prefix);
  std::vector<Attribute> attributes;
  for (Attribute &attribute : node.attributes) {
    const Attribute *source = &attribute;
    if (!attribute.reference.empty()) {
      source = call.find(attribute.reference);
      for (const Attribute &fallback : function.defaults)
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
static void rename(Graph &graph, ValueNames &names, const std::string &prefix, const Node &call,
                   const Function &function) {
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

std::vector<Node> instantiate(const Function &function, const Node &call, const std::string &prefix,
                              ValueNames &names) {
  std::vector<Node> nodes = function.nodes;
  for (Node &node : nodes)
    rename(node, names, prefix, call, function);
  return nodes;
}

} // namespace fovea::onnx
