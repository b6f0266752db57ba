// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If and Loop where the shapes of the inputs decide them: the branch that is taken, the rounds that
// are made, one after the other. Refuses conditions and numbers of rounds that depend on data.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

static LogicalResult importIf(Importer &im) {
  const NodeAttribute *then = im.attribute("then_branch"), *other = im.attribute("else_branch");
  if (!then || !other || !then->graph || !other->graph)
    return im.invalid("expects two branches");
  std::optional<int64_t> condition = im.integerOf(*im.input(0));
  if (!condition)
    return im.unsupported("a condition that depends on what a tensor holds, or on open sizes; "
                          "expects one that is constant");
  const Graph &graph = *condition ? *then->graph : *other->graph;
  TRY(SmallVector<Data *> results, im.inlineGraph(graph, {}));
  if (results.size() < im.node().outputs.size())
    return im.invalid("expects a branch with " + Twine(im.node().outputs.size()) +
                      " results, got " + Twine(results.size()));
  for (size_t i = 0; i < im.node().outputs.size(); ++i)
    im.set(i, results[i]);
  return success();
}

static LogicalResult importLoop(Importer &im) {
  constexpr int64_t kMaxRounds = 256;
  const NodeAttribute *body = im.attribute("body");
  if (!body || !body->graph)
    return im.invalid("expects a body");
  std::optional<int64_t> rounds = INT64_MAX, goesOn = 1;
  if (Data *given = im.input(0))
    rounds = im.integerOf(*given);
  if (Data *given = im.input(1))
    goesOn = im.integerOf(*given);
  if (!rounds || !goesOn)
    return im.unsupported(
        "a number of rounds that depends on what a tensor holds, or on open sizes; "
        "expects a constant");
  size_t carried = im.node().inputs.size() < 2 ? 0 : im.node().inputs.size() - 2;
  size_t scanned = body->graph->outputs.size() - std::min(body->graph->outputs.size(), carried + 1);
  SmallVector<Data *> state;
  for (size_t i = 0; i < carried; ++i)
    state.push_back(im.input(i + 2));
  if (body->graph->inputs.size() != carried + 2 || llvm::is_contained(state, nullptr) ||
      body->graph->outputs.size() < carried + 1)
    return im.invalid("expects a body that takes and gives the loop's values");
  SmallVector<SmallVector<Data *>> scans(scanned);
  for (int64_t round = 0; round < *rounds && *goesOn; ++round) {
    if (round >= kMaxRounds)
      return im.unsupported("more than " + Twine(kMaxRounds) + " rounds");
    SmallVector<Data *> arguments{im.makeInteger(DataType::Int64, round),
                                  im.makeInteger(DataType::Bool, 1)};
    arguments.append(state.begin(), state.end());
    TRY(SmallVector<Data *> results, im.inlineGraph(*body->graph, arguments));
    for (Data *result : results)
      if (result->isPoisoned)
        return failure(); // the node inside has said why
    goesOn = im.integerOf(*results.front());
    if (!goesOn)
      return im.unsupported("a condition that depends on what a tensor holds; expects a constant");
    state.assign(results.begin() + 1, results.begin() + 1 + carried);
    for (size_t i = 0; i < scanned; ++i)
      scans[i].push_back(im.unsqueeze(*results[1 + carried + i], {0}));
  }
  for (auto [i, data] : llvm::enumerate(state))
    im.set(i, data);
  for (auto [i, parts] : llvm::enumerate(scans)) {
    if (parts.empty())
      return im.unsupported("a loop without rounds whose results are collected");
    TRY(auto *joined, im.concat(parts, 0));
    im.set(carried + i, joined);
  }
  return success();
}

/// The body for each element of a sequence whose length is known.
static LogicalResult importSequenceMap(Importer &im) {
  const NodeAttribute *body = im.attribute("body");
  SmallVector<Data *> operands = im.inputs();
  if (!body || !body->graph || operands.empty() || !operands.front() || !operands.front()->items ||
      body->graph->inputs.size() != operands.size())
    return im.unsupported("a sequence that is not known");
  size_t count = im.node().outputs.size();
  SmallVector<SmallVector<Data *>> results(count);
  for (auto [i, item] : llvm::enumerate(*operands.front()->items)) {
    SmallVector<Data *> arguments{item};
    for (Data *operand : llvm::drop_begin(operands)) {
      bool isShort = operand && operand->items && operand->items->size() <= i;
      if (!operand || isShort)
        return im.invalid("expects sequences of one length");
      arguments.push_back(operand->items ? (*operand->items)[i] : operand);
    }
    TRY(SmallVector<Data *> given, im.inlineGraph(*body->graph, arguments));
    if (given.size() != count)
      return im.invalid("expects a body with " + Twine(count) + " results, got " +
                        Twine(given.size()));
    for (size_t k = 0; k < count; ++k)
      results[k].push_back(given[k]);
  }
  for (size_t k = 0; k < count; ++k) {
    Data *sequence = im.make(DataType::Undefined, {}, {});
    sequence->items = std::move(results[k]);
    im.set(k, sequence);
  }
  return success();
}

void mlir::fovea::onnx::addControlOps(OpTable &table) {
  table.add("SequenceMap", 17, importSequenceMap);
  table.add("If", 13, importIf);
  table.add("Loop", 13, importLoop);
}
