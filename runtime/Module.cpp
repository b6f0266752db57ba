// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Module.h.
#include "runtime/Module.h"

#include "runtime/CpuFeatures.h"
#include "runtime/status/Status.h"

namespace fovea {

using manifest::ElementType;

static std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

static std::vector<const char *> dimensionNames(const manifest::ValueT &value) {
  std::vector<const char *> names(value.shape.size(), "");
  for (size_t i = 0; i < names.size() && i < value.dims.size(); ++i)
    names[i] = value.dims[i].c_str();
  return names;
}

/// The best code that this machine can run, if an artifact has several.
static void selectVariant(artifact::ArtifactReader &reader) {
  const auto &variants = reader.manifest().variants;
  for (size_t i = 0; i < variants.size(); ++i)
    if (missingCpuFeatures(variants[i]->cpu_features).empty())
      return reader.select(i);
}

Module::Module(const std::string &path, artifact::FileAccess access) {
  std::string error;
  reader = artifact::ArtifactReader::open(path, error, access);
  if (!reader)
    failInvalid(error);
  selectVariant(*reader);
  const manifest::ManifestT &contents = reader->manifest();
  artifact::Bytes elf = reader->code();
  Code::requireProcessor(path, elf.data, elf.size);
  std::vector<std::string> missing = missingCpuFeatures(contents.cpu_features);
  if (!missing.empty())
    throw Failure{FOVEA_UNSUPPORTED,
                  path + ": is compiled for a CPU with " + join(missing) +
                      ", which this one lacks; compile it for this machine or with --target=" +
                      Code::kPortable};
  code = std::make_unique<Code>(path, elf.data, elf.size);
  for (const auto &description : contents.entries) {
    Entry entry;
    entry.description = description.get();
    std::string prefix = "fovea_" + description->name;
    entry.plan = reinterpret_cast<fovea_plan_fn>(code->find(prefix + "_plan"));
    entry.step = reinterpret_cast<fovea_step_fn>(code->find(prefix + "_step"));
    for (const auto &value : description->arguments)
      entry.argumentDimensions.push_back(dimensionNames(*value));
    for (const auto &value : description->results)
      entry.resultDimensions.push_back(dimensionNames(*value));
    allEntries.push_back(std::move(entry));
  }
  for (size_t i = 0; i < contents.weights.size(); ++i) {
    artifact::Bytes bytes = reader->weight(i);
    weightData.push_back(bytes.data);
    totalWeightBytes += bytes.size;
  }
  if (artifact::Bytes tables = reader->tokenizer(); tables.size > 0) {
    textTokenizer = Tokenizer::open(tables.data, tables.size, error);
    if (!textTokenizer)
      failInvalid(path + ": has a malformed tokenizer section: " + error);
  }
}

artifact::Hash Module::hash() const {
  std::vector<artifact::Hash> hashes;
  for (const artifact::Section &section : reader->header().sections)
    hashes.push_back(section.hash);
  return artifact::hashOfHashes(hashes);
}

/// A type of floats by its exponent: all ones are infinity, or NaN where a bit of the rest is set.
template <typename Word> struct NotFinite {
  Word exponent;
  bool nan = false, infinity = false;

  void read(const void *data, uint64_t bytes) {
    const auto *words = static_cast<const Word *>(data);
    for (uint64_t i = 0; i < bytes / sizeof(Word) && !nan; ++i) {
      auto word = static_cast<Word>(words[i] & ~(Word(1) << (8 * sizeof(Word) - 1)));
      nan |= word > exponent;
      infinity |= word == exponent;
    }
  }
};

std::string Module::findNotFinite() const {
  std::string infinite;
  for (size_t i = 0; i < manifest().weights.size(); ++i) {
    const manifest::WeightT &weight = *manifest().weights[i];
    bool nan = false, infinity = false;
    auto read = [&](auto words) {
      words.read(weightData[i], weight.bytes);
      nan = words.nan;
      infinity = words.infinity;
    };
    if (weight.element == ElementType::F32)
      read(NotFinite<uint32_t>{0x7f800000});
    else if (weight.element == ElementType::F64)
      read(NotFinite<uint64_t>{0x7ff0000000000000});
    else if (weight.element == ElementType::F16)
      read(NotFinite<uint16_t>{0x7c00});
    else if (weight.element == ElementType::BF16)
      read(NotFinite<uint16_t>{0x7f80});
    if (nan)
      return weight.name;
    if (infinity && infinite.empty())
      infinite = weight.name;
  }
  return infinite;
}

int Module::findEntry(const std::string &name) const {
  for (size_t i = 0; i < allEntries.size(); ++i)
    if (allEntries[i].description->name == name)
      return static_cast<int>(i);
  return -1;
}

int Module::findEntry(manifest::EntryKind kind) const {
  for (size_t i = 0; i < allEntries.size(); ++i)
    if (allEntries[i].description->kind == kind)
      return static_cast<int>(i);
  return -1;
}

size_t Module::requireEntry(const std::string &name) const {
  int index = findEntry(name);
  if (index >= 0)
    return static_cast<size_t>(index);
  std::vector<std::string> names;
  for (const Entry &entry : allEntries)
    names.push_back("'" + entry.description->name + "'");
  failInvalid(path() + ": has no entry '" + name + "'; it has " + join(names));
}

const Tokenizer &Module::requireTokenizer() const {
  if (!textTokenizer)
    failInvalid(path() + ": holds no tokenizer (its source had neither tokenizer.json nor a "
                         "SentencePiece model); only token ids can be used");
  return *textTokenizer;
}

fovea_dtype dtypeOf(ElementType type) {
  auto bits = static_cast<uint8_t>(8 * artifact::elementBytes(type));
  switch (type) {
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F16:
    return {FOVEA_FLOAT, bits, 1};
  case ElementType::BF16:
    return {FOVEA_BFLOAT, bits, 1};
  case ElementType::I8:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
    return {FOVEA_INT, bits, 1};
  case ElementType::U8:
    return {FOVEA_UINT, bits, 1};
  case ElementType::Bool:
    return {FOVEA_BOOL, bits, 1};
  case ElementType::I4: // of weights alone
  case ElementType::None:
    break;
  }
  return {0, 0, 0};
}

std::string dtypeName(fovea_dtype type) {
  std::string name;
  switch (type.code) {
  case FOVEA_INT:
    name = "i";
    break;
  case FOVEA_UINT:
    name = "u";
    break;
  case FOVEA_FLOAT:
    name = "f";
    break;
  case FOVEA_BFLOAT:
    name = "bf";
    break;
  case FOVEA_BOOL:
    if (type.bits == 8 && type.lanes == 1)
      return "bool";
    name = "bool";
    break;
  default:
    name = "type " + std::to_string(type.code) + " of bits ";
  }
  name += std::to_string(type.bits);
  return type.lanes == 1 ? name : name + "x" + std::to_string(type.lanes);
}

} // namespace fovea
