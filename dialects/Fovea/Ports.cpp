// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Ports.h. The one place where a name means something.
#include "dialects/Fovea/Ports.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {
template <typename Meaning> struct Named {
  StringLiteral name;
  Meaning meaning;
};

constexpr Named<EntryKind> kEntries[] = {{"forward", EntryKind::Forward},
                                         {"prefill", EntryKind::Prefill},
                                         {"decode", EntryKind::Decode},
                                         {"embed", EntryKind::Embed},
                                         {"encode", EntryKind::Encode}};
// As transformers and its exporters name them.
constexpr Named<PortRole> kArguments[] = {{"input_ids", PortRole::TokenIds},
                                          {"decoder_input_ids", PortRole::TokenIds},
                                          {"attention_mask", PortRole::AttentionMask},
                                          {"token_type_ids", PortRole::TokenTypes},
                                          {"position_ids", PortRole::Positions}};
constexpr Named<PortRole> kResults[] = {{"logits", PortRole::Logits},
                                        {"next_token", PortRole::NextToken},
                                        {"last_hidden_state", PortRole::HiddenState},
                                        {"embedding", PortRole::Embedding}};
constexpr StringLiteral kDims[] = {"batch", "sequence"};
} // namespace

static std::optional<PromptToken> readPromptToken(Attribute attr) {
  auto parts = dyn_cast<ArrayAttr>(attr);
  if (!parts || parts.size() != 4)
    return std::nullopt;
  auto name = dyn_cast<StringAttr>(parts[0]);
  auto token = dyn_cast<IntegerAttr>(parts[1]);
  auto values = dyn_cast<ArrayAttr>(parts[2]);
  auto tokens = dyn_cast<DenseI64ArrayAttr>(parts[3]);
  if (!name || !token || !token.getType().isSignlessInteger(64) || !values || !tokens ||
      values.size() != static_cast<size_t>(tokens.size()) ||
      !llvm::all_of(values, llvm::IsaPred<StringAttr>))
    return std::nullopt;
  // Somebody has to say which.
  if (token.getInt() < (tokens.empty() ? 0 : -1) ||
      llvm::any_of(tokens.asArrayRef(), [](int64_t id) { return id < 0; }))
    return std::nullopt;
  return PromptToken{name.getValue(), token.getInt(), values, tokens.asArrayRef()};
}

std::optional<SmallVector<PromptToken>> mlir::fovea::readPrompt(Attribute attr) {
  auto all = dyn_cast<ArrayAttr>(attr);
  if (!all)
    return std::nullopt;
  SmallVector<PromptToken> prompt;
  for (Attribute one : all) {
    std::optional<PromptToken> token = readPromptToken(one);
    if (!token)
      return std::nullopt;
    prompt.push_back(*token);
  }
  return prompt;
}

template <typename Meaning>
static Meaning find(ArrayRef<Named<Meaning>> table, StringRef name, Meaning otherwise) {
  for (const Named<Meaning> &one : table)
    if (one.name == name)
      return one.meaning;
  return otherwise;
}

EntryKind mlir::fovea::getEntryKind(func::FuncOp entry) {
  if (auto kind = entry->getAttrOfType<EntryKindAttr>(FoveaDialect::kKindAttr))
    return kind.getValue();
  return find<EntryKind>(kEntries, entry.getName(), EntryKind::Generic);
}

static PortRole getRole(PortRoleAttr role, StringAttr name, ArrayRef<Named<PortRole>> names) {
  if (role)
    return role.getValue();
  return name ? find(names, name.getValue(), PortRole::None) : PortRole::None;
}

PortRole mlir::fovea::getArgumentRole(func::FuncOp entry, unsigned argument) {
  return getRole(entry.getArgAttrOfType<PortRoleAttr>(argument, FoveaDialect::kRoleAttr),
                 entry.getArgAttrOfType<StringAttr>(argument, FoveaDialect::kNameAttr), kArguments);
}

PortRole mlir::fovea::getResultRole(func::FuncOp entry, unsigned result) {
  return getRole(entry.getResultAttrOfType<PortRoleAttr>(result, FoveaDialect::kRoleAttr),
                 entry.getResultAttrOfType<StringAttr>(result, FoveaDialect::kNameAttr), kResults);
}

func::FuncOp mlir::fovea::findEntry(ModuleOp module, EntryKind kind) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(FoveaDialect::kEntryAttr) && getEntryKind(function) == kind)
      return function;
  return {};
}

/// The name of an axis of token ids [batch, sequence], if it is open and has one.
static std::optional<StringRef> getIdsDim(PortRole role, Type type, ArrayAttr dims, unsigned axis) {
  auto ids = dyn_cast<RankedTensorType>(type);
  if (role != PortRole::TokenIds || !ids || ids.getRank() != 2 || !ids.isDynamicDim(axis) || !dims)
    return std::nullopt;
  return cast<StringAttr>(dims[axis == 1 && ids.isDynamicDim(0) ? 1 : 0]).getValue();
}

static StringRef getDim(SignatureAttr signature, unsigned axis) {
  for (PortAttr port : signature.getArguments())
    if (auto dim = getIdsDim(port.getRole(), port.getType(), port.getDims(), axis))
      return *dim;
  return kDims[axis];
}

StringRef mlir::fovea::getBatchDim(SignatureAttr signature) { return getDim(signature, 0); }
StringRef mlir::fovea::getSequenceDim(SignatureAttr signature) { return getDim(signature, 1); }

StringRef mlir::fovea::getBatchDim(func::FuncOp entry) {
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes()))
    if (auto dim = getIdsDim(getArgumentRole(entry, i), type,
                             entry.getArgAttrOfType<ArrayAttr>(i, FoveaDialect::kDimsAttr), 0))
      return *dim;
  return kDims[0];
}
