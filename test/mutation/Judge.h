// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel's PTX, right or with a planted bug, on the emulator in all of its calls, early and
// late, and says how a bug was found. For one that was not found it looks for a reason why it is
// none.
#ifndef FOVEA_TEST_MUTATION_JUDGE_H
#define FOVEA_TEST_MUTATION_JUDGE_H

#include "test/mutation/Operators.h"

#include "abi/Abi.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fovea::mutation {

struct Argument {
  enum Kind {
    Number,
    Buffer, ///< allocated apart, so that an access beside it is found
    Map,    ///< a tensor map of rank two over a buffer of 16-bit elements, swizzled by 128 bytes
    Box     ///< a tensor map by value, `map` but for its address
  } kind = Number;
  uint64_t number = 0;
  std::vector<char> bytes;      ///< of a buffer
  std::vector<uint64_t> behind; ///< what follows a buffer's address
  size_t buffer = 0;            ///< that a map describes: an argument's place
  uint64_t sizes[2] = {0, 0}, box[2] = {0, 0};
  fovea_tensor_map map = {};
  bool hidden = false; ///< a buffer of which only maps tell the address
};

/// What a run leaves in the buffers, in order.
using Results = std::vector<std::vector<char>>;

struct Call {
  std::vector<Argument> arguments;
  uint64_t grid[2] = {1, 1};
  /// `grid[0]` is more than there is to do: late runs get a few blocks too many, early ones none.
  bool padded = false;
  uint32_t threads = 128;
  uint64_t sharedBytes = 0;
  /// Empty if the results are what they must be.
  std::function<std::string(const Results &)> check;
  /// Whether results are those of the right kernel but for a step or two of a 16-bit type; for
  /// kernels whose tolerance does not show how a number is rounded.
  std::function<bool(const Results &, const Results &)> isNear;
};

struct Kernel {
  std::string name, entry, ptx;
  std::vector<Call> calls;
};

struct Verdict {
  enum Kind {
    Check,    ///< the emulator reported a fault
    Result,   ///< results are wrong, or differ between early and late
    Harmless, ///< not found, and the reason why it is no bug was checked
    Survived, ///< not found
    Invalid   ///< no PTX: the operator is at fault
  } kind = Survived;
  /// "race", "bounds", "wrong result", "never reached", ...
  std::string what, message;
};

class Judge {
public:
  explicit Judge(Kernel kernel);
  /// Why the right kernel does not pass; empty if it does.
  const std::string &problem() const { return wrong; }
  const Kernel &kernel() const { return right; }
  const Ptx &ptx() const { return parsed; }
  Verdict judge(const Mutant &mutant);

private:
  struct Run {
    bool invalid = false;
    std::string fault;
    Results results;
    uint64_t instructions = 0;
  };
  /// What the right kernel makes of a call.
  struct Baseline {
    Results results;
    uint64_t instructions = 0;
  };
  /// `blank`: buffers that the right kernel changes are left unwritten before.
  Run run(const std::string &text, const Call &call, bool late, uint64_t most,
          const Results *blank = nullptr) const;
  /// Runs all calls until one shows something. `exactly`: bits count, not tolerances.
  Verdict find(const std::string &text, bool exactly = false) const;
  uint64_t countBlocks(const Call &call) const;

  // Reasons why a bug that nothing shows is none; each is checked by running changed PTX.
  std::string explain(const Mutant &mutant) const;
  bool isReached(size_t site) const;
  bool isBarrierIdle(size_t site) const;
  bool isFencedBefore(size_t site) const;
  bool isWaitIdle(size_t site, const Statement &after) const;
  bool isForAnyCopy(const Mutant &mutant, const Statement &after) const;
  bool isStoredByOthers(const Mutant &mutant, const Statement &after) const;
  bool isLoadSame(size_t site, const Ptx &changed) const;
  std::string explainValue(const Mutant &mutant, const Statement &after) const;
  bool isLostOnReaders(const Mutant &mutant, const Statement &after) const;
  bool isBoundFree(size_t site, const std::string &sign) const;
  /// Both statements store, at one place in every run the same.
  bool isStoreSame(size_t site, const Statement &after) const;
  bool isNear(const std::string &text) const;
  /// Anything may be stored at this place.
  bool isStoreIdle(size_t site) const;
  /// No thread reads what a buffer holds that the kernel stores to.
  bool readsOnlyOperands() const;
  /// The value is a function of the thread's number, the same for all threads.
  bool isSameForEachThread(const Mutant &mutant, const Statement &after) const;

  /// Instructions, for kernels without a bug.
  static constexpr uint64_t kEnough = uint64_t{1} << 33;

  Kernel right;
  Ptx parsed;
  std::string wrong;
  std::vector<Baseline> baselines;
};

} // namespace fovea::mutation

#endif // FOVEA_TEST_MUTATION_JUDGE_H
