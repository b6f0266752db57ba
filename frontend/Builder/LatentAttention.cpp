// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multi-head latent attention, absorbed (DeepSeek-AI 2024, DeepSeek-V2, section 2.1.2): caches hold
// a token's latent once for all heads, and no head's keys or values are ever made of it.
#include "frontend/Builder/Body.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

Value Body::concatLast(Value first, Value second, Location loc) {
  int64_t size = typeOf(first).getShape().back() + typeOf(second).getShape().back();
  return tensor::ConcatOp::create(b, loc, withLastSize(first, size), typeOf(first).getRank() - 1,
                                  ValueRange{first, second});
}

Value Body::linearByHead(Value x, const model::Linear &linear) {
  Location loc = locate(linear.name);
  Value rows = arith::MulIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, batch()),
                                     getValueOrCreateConstantIndexOp(b, loc, sequence()));
  auto type = RankedTensorType::get({typeOf(x).getDimSize(2) + 1}, b.getI64Type());
  Value offsets = EqualOffsetsOp::create(b, loc, type, rows);
  Value result = this->linear(transpose(x, {2, 0, 1, 3}, loc), linear, offsets);
  return transpose(result, {1, 2, 0, 3}, loc);
}

Value Body::latentAttention(Value x, const model::Attention &attention, LayerContext &context) {
  const model::LatentAttention &latent = *attention.latent;
  Location loc = locate(attention.name);
  int64_t heads = attention.heads, rotated = attention.rotary->dim;
  Value low = latent.queryDown ? linear(x, *latent.queryDown) : x;
  if (latent.queryNorm)
    low = norm(low, *latent.queryNorm);
  int64_t plain = attention.query.weight.shape.front() / heads;
  Value query = splitHeads(linear(low, attention.query), heads, plain, loc);
  Value queryRotated = splitHeads(linear(low, latent.queryRotated), heads, rotated, loc);
  Value states = norm(linear(x, attention.key), *attention.keyNorm);
  Value value = splitHeads(states, 1, attention.valueSize, loc);
  Value keyRotated = splitHeads(linear(x, latent.keyRotated), 1, rotated, loc);

  Value first = CacheLengthOp::create(b, loc, b.getIndexType(), context.keyCache);
  Value places = positions(first, loc);
  Value mask = this->mask(attention, context, loc);
  queryRotated = rotate(queryRotated, places, *attention.rotary, loc);
  keyRotated = rotate(keyRotated, places, *attention.rotary, loc);
  query = concatLast(linearByHead(query, latent.toLatent), queryRotated, loc);
  Value key = concatLast(value, keyRotated, loc);
  key = context.keyCache = CacheAppendOp::create(b, loc, context.keyCache, key).getResult();
  value = context.valueCache = CacheAppendOp::create(b, loc, context.valueCache, value).getResult();
  Value read = attend(query, key, value, places, mask, attention, loc);
  read = linearByHead(read, latent.fromLatent);
  return linear(mergeHeads(read, loc), attention.output);
}
