// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of encoder-decoders. `encode` reads the source once and leaves keys and values of it
// for each of the decoder's layers in caches; `prefill` and `decode` attend to these besides their
// own; `forward` is all of it at once.
#include "frontend/Builder/ModuleFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

SmallVector<Port> ModuleFrame::sourcePorts() {
  if (const std::optional<model::Sound> &sound = source.encoder->embeddings.sound)
    return {{getActivationType(context, {dynamicSize, sound->mels.samples}), "samples", {"batch"}}};
  Type ids = idsType(dynamicSize);
  return {{ids, "input_ids", {"batch", "source"}, PortRole::TokenIds},
          {ids, "attention_mask", {"batch", "source"}, PortRole::AttentionMask}};
}

Value ModuleFrame::encode(Body &body, func::FuncOp entry) {
  const model::SourceEncoder &encoder = *source.encoder;
  Value x = entry.getArgument(0);
  StackValues values;
  if (encoder.embeddings.sound) {
    x = body.embedSound(x, encoder.embeddings);
  } else {
    Value first = arith::ConstantIndexOp::create(b, locate(encoder.embeddings.name), 0);
    x = body.embed(x, {}, first, encoder.embeddings);
    values.attentionMask = entry.getArgument(1);
  }
  x = callLayers(encoderStack, x, /*decode=*/false, values);
  return encoder.finalNorm ? body.norm(x, *encoder.finalNorm) : x;
}

void ModuleFrame::callSources(Value states, std::vector<Value> &keys, std::vector<Value> &values) {
  for (auto [i, layer] : llvm::enumerate(source.layers)) {
    SmallVector<Value> operands = {states, keys[i], values[i]};
    for (const model::Weight *weight : getSourceWeights(layer))
      operands.push_back(weightRef(*weight));
    auto call = func::CallOp::create(b, locate(layer.source->name),
                                     stack.kinds[stack.kindOfLayer[i]].source, operands);
    keys[i] = call.getResult(0);
    values[i] = call.getResult(1);
  }
}

void ModuleFrame::addTranslationForward() {
  OpBuilder::InsertionGuard guard(b);
  const model::Head *head = languageHead();
  SmallVector<Port> arguments = sourcePorts();
  const unsigned written = arguments.size();
  arguments.push_back(
      {idsType(dynamicSize), "decoder_input_ids", {"batch", "sequence"}, PortRole::TokenIds});
  SmallVector<Port> results = {
      {getActivationType(context,
                         {dynamicSize, dynamicSize, head ? source.vocabulary : source.hidden}),
       head ? "logits" : "last_hidden_state",
       {"batch", "sequence"},
       head ? PortRole::Logits : PortRole::HiddenState},
      {getActivationType(context, {dynamicSize, encoderStack.length, source.hidden}),
       "encoder_last_hidden_state",
       {"batch"}}};
  if (encoderStack.length == dynamicSize)
    results.back().dims.push_back("source");
  func::FuncOp entry = addEntry(EntryKind::Forward, arguments, results, source.maxPositions);
  Location loc = entry.getLoc();
  Body reader = entryBody(entry), writer = entryBody(entry, written);
  Value states = encode(reader, entry);
  // Caches that just fit let this entry share its layers with `prefill`.
  Value batch = getValueOrCreateConstantIndexOp(b, loc, reader.batch());
  OpFoldResult sourceLength = encoderStack.length == dynamicSize
                                  ? reader.sequence()
                                  : OpFoldResult(b.getIndexAttr(encoderStack.length));
  Value read = getValueOrCreateConstantIndexOp(b, loc, sourceLength);
  Value length = getValueOrCreateConstantIndexOp(b, loc, writer.sequence());
  StackValues values;
  createCaches(loc, batch, read, /*ofSource=*/true, values.sourceKeys, values.sourceValues);
  callSources(states, values.sourceKeys, values.sourceValues);
  if (encoderStack.hasMask)
    values.sourceMask = entry.getArgument(1);
  createCaches(loc, batch, length, /*ofSource=*/false, values.keyCaches, values.valueCaches);
  Value first = CacheLengthOp::create(b, loc, b.getIndexType(), values.keyCaches.front());
  Value x = writer.embed(entry.getArgument(written), {}, first, source.embeddings);
  x = finish(callLayers(stack, x, /*decode=*/false, values), writer);
  func::ReturnOp::create(b, loc, ValueRange{head ? writer.head(x, {}, *head).front() : x, states});
}

void ModuleFrame::addSourceEntry() {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Port> arguments = sourcePorts();
  SmallVector<Port> caches = cachePorts(/*ofSource=*/true);
  size_t first = arguments.size();
  arguments.append(caches);
  // Of sound, which is always as long, the caches' positions.
  int64_t longest = encoderStack.length == dynamicSize ? source.maxPositions : encoderStack.length;
  func::FuncOp entry = addEntry(EntryKind::Encode, arguments, caches, longest);
  Body body = entryBody(entry);
  Value states = encode(body, entry);
  std::vector<Value> keys, values;
  for (size_t i = 0; i < source.layers.size(); ++i) {
    keys.push_back(entry.getArgument(first + 2 * i));
    values.push_back(entry.getArgument(first + 2 * i + 1));
  }
  callSources(states, keys, values);
  SmallVector<Value> returned;
  for (auto [key, value] : llvm::zip_equal(keys, values))
    returned.append({key, value});
  func::ReturnOp::create(b, entry.getLoc(), returned);
}

void ModuleFrame::addTranslationStep(EntryKind kind) {
  OpBuilder::InsertionGuard guard(b);
  bool decode = kind == EntryKind::Decode;
  Port ids = {
      idsType(decode ? 1 : dynamicSize), "decoder_input_ids", {"batch"}, PortRole::TokenIds};
  if (!decode)
    ids.dims.push_back("sequence");
  SmallVector<Port> arguments = {ids};
  if (encoderStack.hasMask)
    arguments.push_back(sourcePorts()[1]);
  SmallVector<Port> results = stepResults();
  SmallVector<Port> own = cachePorts(/*ofSource=*/false), given = cachePorts(/*ofSource=*/true);
  size_t first = arguments.size(), firstGiven = first + own.size();
  arguments.append(own);
  arguments.append(given);
  results.append(own);
  func::FuncOp entry = addEntry(kind, arguments, results, source.maxPositions);
  Body body = entryBody(entry);
  Location loc = entry.getLoc();
  StackValues values;
  if (encoderStack.hasMask)
    values.sourceMask = entry.getArgument(1);
  for (size_t i = 0; i < source.layers.size(); ++i) {
    values.keyCaches.push_back(entry.getArgument(first + 2 * i));
    values.valueCaches.push_back(entry.getArgument(first + 2 * i + 1));
    values.sourceKeys.push_back(entry.getArgument(firstGiven + 2 * i));
    values.sourceValues.push_back(entry.getArgument(firstGiven + 2 * i + 1));
  }
  Value place;
  if (source.embeddings.position || source.embeddings.sinusoids)
    place = CacheLengthOp::create(b, loc, b.getIndexType(), values.keyCaches.front());
  Value x = body.embed(entry.getArgument(0), {}, place, source.embeddings);
  x = callLayers(stack, x, decode, values);
  SmallVector<Value> returned = lastLogits(x, body);
  for (size_t i = 0; i < source.layers.size(); ++i)
    returned.append({values.keyCaches[i], values.valueCaches[i]});
  func::ReturnOp::create(b, loc, returned);
}
