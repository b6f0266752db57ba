// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Suggest.h. Reads MLIR's own words, since its parser tells nothing else.
#include "tools/compile/Suggest.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "frontend/Nearest.h"

using namespace mlir;
using namespace mlir::fovea;

/// What stands between two parts of a text; empty if they do not.
static StringRef findBetween(StringRef text, StringRef begin, StringRef end) {
  size_t at = text.find(begin);
  if (at == StringRef::npos)
    return "";
  StringRef rest = text.drop_front(at + begin.size());
  return rest.contains(end) ? rest.take_front(rest.find(end)) : "";
}

/// The names of ops that may stand for `name`: of its dialect, or, if there is none such, of all.
static std::vector<std::string> listOps(MLIRContext &context, StringRef name) {
  StringRef dialect = name.split('.').first;
  bool isKnown = context.getLoadedDialect(dialect) != nullptr;
  std::vector<std::string> names;
  for (RegisteredOperationName known : context.getRegisteredOperations())
    if (isKnown ? known.getDialectNamespace() == dialect
                : known.stripDialect() == name.split('.').second)
      names.push_back(known.getStringRef().str());
  return names;
}

template <typename... T> static std::vector<std::string> listMnemonics() {
  return {T::getMnemonic().str()...};
}

static std::vector<std::string> listAttributes() {
  return listMnemonics<
#define GET_ATTRDEF_LIST
#include "dialects/Fovea/FoveaAttrs.cpp.inc"
      >();
}

static std::vector<std::string> listTypes() {
  return listMnemonics<
#define GET_TYPEDEF_LIST
#include "dialects/Fovea/FoveaTypes.cpp.inc"
      >();
}

/// An op's dialect is right or the only thing that is wrong, so that a name is near if what stands
/// behind it is.
static std::string suggestOp(MLIRContext &context, StringRef name) {
  auto [dialect, own] = name.split('.');
  std::vector<std::string> names = listOps(context, name);
  if (!context.getLoadedDialect(dialect))
    return ::fovea::didYouMean(name, names);
  for (std::string &other : names)
    other.erase(0, dialect.size() + 1);
  std::string nearest = ::fovea::findNearest(own, names);
  return nearest.empty() ? "" : ("; did you mean '" + dialect + "." + nearest + "'?").str();
}

std::string mlir::fovea::suggestName(MLIRContext &context, StringRef diagnostic) {
  if (StringRef name = findBetween(diagnostic, "custom op '", "' is unknown"); !name.empty())
    return suggestOp(context, name);
  if (StringRef name = findBetween(diagnostic, "Dialect `", "' not found"); !name.empty())
    return ::fovea::didYouMean(name.str(),
                               {"fovea", "linalg", "tensor", "arith", "math", "func", "tile"});
  if (diagnostic.contains("in dialect `fovea`")) {
    if (StringRef name = findBetween(diagnostic, "unknown attribute `", "`"); !name.empty())
      return ::fovea::didYouMean(name.str(), listAttributes());
    if (StringRef name = findBetween(diagnostic, "type `", "`"); !name.empty())
      return ::fovea::didYouMean(name.str(), listTypes());
  }
  if (StringRef name = findBetween(diagnostic, "unknown argument attribute '", "'"); !name.empty())
    return ::fovea::didYouMean(name.str(),
                               {FoveaDialect::kNameAttr.str(), FoveaDialect::kDimsAttr.str(),
                                FoveaDialect::kRoleAttr.str()});
  if (StringRef name = findBetween(diagnostic, "unknown attribute '", "'"); !name.empty())
    return ::fovea::didYouMean(
        name.str(), {FoveaDialect::kEntryAttr.str(), FoveaDialect::kKindAttr.str(),
                     FoveaDialect::kMaxPositionsAttr.str(), FoveaDialect::kComputesAttr.str(),
                     FoveaDialect::kScheduleAttr.str()});
  return "";
}

bool mlir::fovea::areAttributesKnown(ModuleOp module) {
  bool areKnown = true;
  module.walk([&](Operation *op) {
    if (!isa_and_nonnull<FoveaDialect, tile::TileDialect>(op->getDialect()))
      return;
    for (NamedAttribute attribute : op->getDiscardableAttrs()) {
      std::vector<std::string> names;
      for (StringAttr name : op->getRegisteredInfo()->getAttributeNames())
        names.push_back(name.str());
      std::string nearest = ::fovea::didYouMean(attribute.getName().str(), names);
      if (nearest.empty())
        continue;
      areKnown = false;
      op->emitOpError("has no attribute '") << attribute.getName().getValue() << "'" << nearest;
    }
  });
  return areKnown;
}
