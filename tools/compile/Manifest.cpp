// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries, kernels and the model's record as the manifest's tables.
#include "tools/compile/Manifest.h"
#include "dialects/Fovea/Ports.h"
#include "dialects/Fovea/Try.h"
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/Entries/Entries.h"
#include "tools/verify/Inputs.h"
#include "weights/Stream.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace ::fovea::manifest;
namespace manifest = ::fovea::manifest;

static Role getRole(PortRole role) {
  switch (role) {
  case PortRole::None:
    return Role::None;
  case PortRole::TokenIds:
    return Role::TokenIds;
  case PortRole::AttentionMask:
    return Role::AttentionMask;
  case PortRole::TokenTypes:
    return Role::TokenTypes;
  case PortRole::Positions:
    return Role::Positions;
  case PortRole::Logits:
    return Role::Logits;
  case PortRole::NextToken:
    return Role::NextToken;
  case PortRole::HiddenState:
    return Role::HiddenState;
  case PortRole::Embedding:
    return Role::Embedding;
  }
  llvm_unreachable("unknown role");
}

static manifest::EntryKind getKind(mlir::fovea::EntryKind kind) {
  switch (kind) {
  case mlir::fovea::EntryKind::Generic:
    return manifest::EntryKind::Generic;
  case mlir::fovea::EntryKind::Forward:
    return manifest::EntryKind::Forward;
  case mlir::fovea::EntryKind::Prefill:
    return manifest::EntryKind::Prefill;
  case mlir::fovea::EntryKind::Decode:
    return manifest::EntryKind::Decode;
  case mlir::fovea::EntryKind::Embed:
    return manifest::EntryKind::Embed;
  case mlir::fovea::EntryKind::Encode:
    return manifest::EntryKind::Encode;
  }
  llvm_unreachable("unknown kind of entry");
}

static FailureOr<std::unique_ptr<ValueT>> buildValue(Location loc, PortAttr port,
                                                     StringRef batchDim) {
  auto value = std::make_unique<ValueT>();
  value->name = port.getName().str();
  value->continues = static_cast<int32_t>(port.getContinues());
  value->role = getRole(port.getRole());
  auto nameOfDim = [&](size_t i) -> std::string {
    ArrayAttr dims = port.getDims();
    return dims && i < dims.size() ? cast<StringAttr>(dims[i]).str() : "";
  };
  Type element;
  if (auto cache = dyn_cast<CacheType>(port.getType())) {
    value->kind = ValueKind::Cache;
    value->heads = cache.getHeads();
    value->size = cache.getSize();
    std::string batch = nameOfDim(0);
    value->dims.push_back(batch.empty() ? batchDim.str() : batch);
    element = cache.getElementType();
  } else if (auto tensor = dyn_cast<RankedTensorType>(port.getType())) {
    // `fovea.dims` names the open sizes only, the manifest all.
    size_t open = 0;
    for (int64_t size : tensor.getShape()) {
      bool isOpen = ShapedType::isDynamic(size);
      value->shape.push_back(isOpen ? -1 : size);
      value->dims.push_back(isOpen ? nameOfDim(open++) : "");
    }
    element = tensor.getElementType();
  }
  if (element)
    value->element = getManifestType(element);
  if (value->element == ElementType::None || value->element == ElementType::I4)
    return emitError(loc) << "expects '" << port.getName()
                          << "' to be a tensor or cache of a type that a caller can give, got "
                          << port.getType();
  return value;
}

/// What the running verbs may do, by the entries there are.
static ModelKind getKind(ArrayRef<EntryLayout> entries) {
  auto has = [&](mlir::fovea::EntryKind kind) {
    return llvm::any_of(
        entries, [&](const EntryLayout &entry) { return entry.signature.getKind() == kind; });
  };
  if (has(mlir::fovea::EntryKind::Encode) && has(mlir::fovea::EntryKind::Decode))
    return ModelKind::EncoderDecoder;
  if (has(mlir::fovea::EntryKind::Prefill) && has(mlir::fovea::EntryKind::Decode))
    return ModelKind::Decoder;
  for (const EntryLayout &entry : entries)
    for (PortAttr port : entry.signature.getResults())
      if (port.getRole() == PortRole::HiddenState || port.getRole() == PortRole::Embedding)
        return ModelKind::Encoder;
  return ModelKind::Generic;
}

/// What `fovea.images` says, which the dialect has checked.
static std::unique_ptr<ImageSettings> buildImages(DictionaryAttr images) {
  std::array<double, 4> mean = {}, deviation = {};
  llvm::copy(images.getAs<DenseF64ArrayAttr>("mean").asArrayRef(), mean.begin());
  llvm::copy(images.getAs<DenseF64ArrayAttr>("deviation").asArrayRef(), deviation.begin());
  auto side = [&](StringRef name, size_t i) {
    auto sides = images.getAs<DenseI32ArrayAttr>(name);
    return sides ? sides[i] : 0;
  };
  auto edge = images.getAs<IntegerAttr>("shortest_edge");
  size_t filter = 0;
  if (auto name = images.getAs<StringAttr>("filter"))
    filter = llvm::find(kImageFilters, name.getValue()) - std::begin(kImageFilters);
  return std::make_unique<ImageSettings>(
      images.getAs<FloatAttr>("scale").getValueAsDouble(), flatbuffers::span<const double, 4>(mean),
      flatbuffers::span<const double, 4>(deviation), side("resize", 0), side("resize", 1),
      edge ? static_cast<int32_t>(edge.getInt()) : 0, side("crop", 0), side("crop", 1),
      static_cast<ImageFilter>(filter));
}

static std::unique_ptr<PromptTokenT> buildPromptToken(const mlir::fovea::PromptToken &token) {
  auto result = std::make_unique<PromptTokenT>();
  result->name = token.name.str();
  result->token = token.token;
  for (StringAttr value : token.values.getAsRange<StringAttr>())
    result->values.push_back(value.str());
  result->tokens.assign(token.tokens.begin(), token.tokens.end());
  return result;
}

static std::unique_ptr<ModelInfoT> buildModelInfo(ModuleOp module, ArrayRef<EntryLayout> entries) {
  auto info = std::make_unique<ModelInfoT>();
  info->kind = getKind(entries);
  if (auto labels = module->getAttrOfType<ArrayAttr>(kLabelsAttr))
    for (StringAttr label : labels.getAsRange<StringAttr>())
      info->labels.push_back(label.str());
  if (auto function = module->getAttrOfType<StringAttr>(kScoreFunctionAttr))
    info->score_function = function == "sigmoid" ? manifest::ScoreFunction::Sigmoid
                           : function == "none"  ? manifest::ScoreFunction::None
                                                 : manifest::ScoreFunction::Softmax;
  if (auto images = module->getAttrOfType<DictionaryAttr>(kImagesAttr))
    info->images = buildImages(images);
  auto models = module.getOps<ModelOp>();
  if (models.empty())
    return info;
  ModelOp model = *models.begin();
  info->architecture = model.getArchitecture().str();
  StringRef folder = model.getFolder().rtrim('/');
  info->name = llvm::sys::path::filename(folder).str();
  info->begin_token = model.getBeginToken() ? static_cast<int64_t>(*model.getBeginToken()) : -1;
  info->padding_token = model.getPadToken() ? static_cast<int64_t>(*model.getPadToken()) : -1;
  if (auto tokens = model.getEndTokens())
    info->end_tokens.assign(tokens->begin(), tokens->end());
  if (auto tokens = model.getSuppressedTokens())
    info->suppressed_tokens.assign(tokens->begin(), tokens->end());
  if (auto tokens = module->getAttrOfType<DenseI64ArrayAttr>(kBeginSuppressedAttr))
    info->begin_suppressed_tokens.assign(tokens.asArrayRef().begin(), tokens.asArrayRef().end());
  if (Attribute attr = module->getAttr(kPromptAttr))
    if (auto prompt = readPrompt(attr)) // which the dialect has checked
      for (const mlir::fovea::PromptToken &token : *prompt)
        info->prompt.push_back(buildPromptToken(token));
  if (auto rate = module->getAttrOfType<IntegerAttr>(kSamplingRateAttr))
    info->sampling_rate = rate.getInt();
  info->forced_begin_token = static_cast<int64_t>(model.getForcedBeginToken().value_or(-1));
  info->forced_end_token = static_cast<int64_t>(model.getForcedEndToken().value_or(-1));
  info->min_tokens = static_cast<int64_t>(model.getMinTokens().value_or(0));
  info->no_repeat_ngram = static_cast<int64_t>(model.getNoRepeatNgram().value_or(0));
  info->vocabulary_size = static_cast<int64_t>(model.getVocabulary().value_or(0));
  info->max_positions = static_cast<int64_t>(model.getMaxPositions().value_or(0));
  return info;
}

/// What a kernel's function says about it. Plain loops are what a group gets that no builder of
/// tile programs covers; a copy between buffers has no schedule.
static std::unique_ptr<KernelT> buildKernel(SymbolTable &symbols, StringRef name) {
  auto kernel = std::make_unique<KernelT>();
  kernel->name = name.str();
  Operation *function = symbols.lookup(name);
  if (auto text = function->getAttrOfType<StringAttr>(FoveaDialect::kComputesAttr))
    kernel->description = text.str();
  if (Attribute schedule = function->getAttr(FoveaDialect::kScheduleAttr)) {
    kernel->fallback = isa<LoopScheduleAttr>(schedule);
    llvm::raw_string_ostream(kernel->schedule) << schedule;
  }
  return kernel;
}

namespace {
/// The steps of entries, and the kernels that they name, each once.
class StepTable {
public:
  StepTable(ModuleOp module, std::vector<std::unique_ptr<KernelT>> &kernels)
      : symbols(module), kernels(kernels) {}

  /// `describe` adds what is known of a kernel's function besides.
  void add(
      const EntryLayout &layout, std::vector<std::unique_ptr<StepT>> &steps,
      function_ref<void(Operation *, KernelT &)> describe = [](Operation *, KernelT &) {}) {
    for (const EntryStep &launch : layout.steps) {
      auto [kernel, isNew] = numbers.try_emplace(launch.kernel, kernels.size());
      auto step = std::make_unique<StepT>();
      step->kernel = kernel->second;
      step->location = launch.location;
      step->flops = static_cast<uint32_t>(launch.flops);
      step->bytes = static_cast<uint32_t>(launch.bytes);
      steps.push_back(std::move(step));
      if (isNew) {
        kernels.push_back(buildKernel(symbols, launch.kernel));
        describe(symbols.lookup(launch.kernel), *kernels.back());
      }
    }
  }

private:
  SymbolTable symbols;
  std::vector<std::unique_ptr<KernelT>> &kernels;
  llvm::StringMap<uint32_t> numbers;
};
} // namespace

FailureOr<ManifestT> mlir::fovea::buildManifest(ModuleOp module, const TargetOptions &target,
                                                std::string fusionReport) {
  TRY(std::vector<EntryLayout> entries, describeEntries(module));
  if (entries.empty())
    return module.emitError("expects at least one function with 'fovea.entry', got none");
  ManifestT manifest;
  manifest.compiler = "fovea 0.1.0";
  manifest.cpu_features = getRequiredFeatures(target);
  manifest.target = target.name;
  manifest.fusion_report = std::move(fusionReport);
  manifest.model = buildModelInfo(module, entries);

  StepTable steps(module, manifest.kernels);
  for (const EntryLayout &layout : entries) {
    auto entry = std::make_unique<EntryT>();
    entry->name = layout.name;
    entry->locals = static_cast<uint32_t>(layout.localsCount);
    entry->max_positions = layout.maxPositions;
    entry->sequence = getSequenceDim(layout.signature).str();
    entry->kind = getKind(layout.signature.getKind());
    for (const auto &other : manifest.entries)
      if (entry->kind != manifest::EntryKind::Generic && other->kind == entry->kind)
        return module.emitError("expects one entry of kind '")
               << stringifyEntryKind(layout.signature.getKind()) << "', got '" << other->name
               << "' and '" << entry->name << "'";
    for (auto [ports, values] : {std::make_pair(layout.signature.getArguments(), &entry->arguments),
                                 std::make_pair(layout.signature.getResults(), &entry->results)})
      for (PortAttr port : ports) {
        TRY(std::unique_ptr<ValueT> value,
            buildValue(module.getLoc(), port, getBatchDim(layout.signature)));
        values->push_back(std::move(value));
      }
    steps.add(layout, entry->steps);
    manifest.entries.push_back(std::move(entry));
  }
  return manifest;
}

int64_t mlir::fovea::findVocabulary(ModuleOp module) {
  int64_t least = 0;
  for (auto entry : module.getOps<func::FuncOp>())
    for (unsigned i = 0; entry->hasAttr(FoveaDialect::kEntryAttr) && i < entry.getNumArguments();
         ++i) {
      if (getArgumentRole(entry, i) != PortRole::TokenIds)
        continue;
      verify::IntegerUse use = verify::findUse(entry, i);
      if (use.kind == verify::IntegerUse::Id)
        least = least == 0 ? use.limit : std::min(least, use.limit);
    }
  return least;
}

/// The entries' steps and locals where other code than the first runs them.
static std::vector<std::unique_ptr<ProgramT>> buildPrograms(
    ArrayRef<EntryLayout> entries, StepTable &steps,
    function_ref<void(Operation *, KernelT &)> describe = [](Operation *, KernelT &) {}) {
  std::vector<std::unique_ptr<ProgramT>> programs;
  for (const EntryLayout &layout : entries) {
    auto program = std::make_unique<ProgramT>();
    program->locals = static_cast<uint32_t>(layout.localsCount);
    steps.add(layout, program->steps, describe);
    programs.push_back(std::move(program));
  }
  return programs;
}

FailureOr<std::unique_ptr<VariantT>> mlir::fovea::buildVariant(ModuleOp module,
                                                               const TargetOptions &target) {
  TRY(std::vector<EntryLayout> entries, describeEntries(module));
  auto variant = std::make_unique<VariantT>();
  variant->name = target.name;
  variant->cpu_features = getRequiredFeatures(target);
  StepTable steps(module, variant->kernels);
  variant->programs = buildPrograms(entries, steps);
  return variant;
}

FailureOr<std::unique_ptr<DeviceT>> mlir::fovea::buildDevice(ModuleOp module, std::string chip) {
  TRY(std::vector<EntryLayout> entries, describeEntries(module));
  auto device = std::make_unique<DeviceT>();
  device->chip = std::move(chip);
  StepTable steps(module, device->kernels);
  device->programs = buildPrograms(entries, steps, [](Operation *function, KernelT &kernel) {
    kernel.threads = static_cast<uint32_t>(getThreads(function));
    kernel.shared_bytes = static_cast<uint32_t>(getSharedBytes(function));
    kernel.persistent = function->hasAttr(FoveaDialect::kPersistentAttr);
  });
  for (auto weight : module.getOps<WeightOp>())
    device->layouts.push_back(getLayout(weight.getWeightType()));
  return device;
}
