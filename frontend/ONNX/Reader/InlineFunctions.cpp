// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inlining of a model's own functions: each call becomes the nodes of what it calls. Refuses
// recursion, calls with too many values, and models that grow without end.
#include "frontend/ONNX/Reader/Model.h"

#include <set>
#include <unordered_map>

namespace fovea::onnx {

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
    ValueNames names;
    names[""] = "";
    for (size_t i = 0; i < function.inputs.size(); ++i)
      names[function.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
    std::vector<Node> identities;
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
      Node &identity = identities.emplace_back();
      identity.op = "Identity";
      identity.name = prefix + "Identity";
      identity.version = model.opsets.count("") ? model.opsets[""] : 13;
      identity.inputs = {known->second};
      identity.outputs = {wanted};
    }
    nodes += function.nodes.size();
    if (nodes > kMaxNodes)
      return fail(call, "expects at most a million nodes once functions are inlined, got more");
    std::vector<Node> body = instantiate(function, call, prefix, names);
    expand(body, depth + 1);
    for (Node &node : body)
      result.push_back(std::move(node));
    for (Node &node : identities)
      result.push_back(std::move(node));
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
