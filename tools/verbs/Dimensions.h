// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The open dimensions of what entries take, and the sizes that a measurement gives them.
#ifndef FOVEA_TOOLS_VERBS_DIMENSIONS_H
#define FOVEA_TOOLS_VERBS_DIMENSIONS_H

#include "tools/verbs/Common.h"
#include "tools/verbs/Npz.h"

#include <map>

namespace fovea::verbs {

enum class DimensionKind { Other, Batch, Sequence };

/// Named dimensions whose sizes are known at the call.
class Dimensions {
public:
  /// Adds those of an entry's arguments.
  void add(const ModulePtr &module, const std::string &entry);
  /// Gives one a size by "NAME=SIZE". Throws Failure.
  void setSize(const std::string &word);
  /// Those of a kind get that size if they have none. Throws Failure if `isWanted` and there is
  /// none of the kind: `option` would have no effect. What had no size and was not asked for is in
  /// getDefaults().
  void setKind(DimensionKind kind, int64_t size, bool isWanted, const std::string &option);
  /// Those of `given` arrays get the sizes that these have, if they have none.
  void setFrom(const std::vector<Array> &given);
  /// Throws Failure, which names all, if one has no size.
  void check() const;

  /// -1 if there is none of the name.
  int64_t getSize(const std::string &name) const;
  /// The greatest of a kind; 0 if there is none.
  int64_t getLongest(DimensionKind kind) const;
  /// From now on those of the kind have that size.
  void change(DimensionKind kind, int64_t size);
  /// "batch=1 (--batch), sequence=128 (--prompt-tokens)".
  const std::string &getDefaults() const { return defaults; }

private:
  struct Dimension {
    DimensionKind kind = DimensionKind::Other;
    int64_t size = -1;
    bool isMade = false; ///< of an argument that no array is given for
  };
  std::vector<std::string> getNames() const;
  std::string listNames() const;

  std::map<std::string, Dimension> all;
  std::vector<fovea_value_info> arguments;
  std::string entries, defaults;
};

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_DIMENSIONS_H
