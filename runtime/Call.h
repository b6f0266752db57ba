// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One entry with its arguments and results, in a context.
#ifndef FOVEA_RUNTIME_CALL_H
#define FOVEA_RUNTIME_CALL_H

#include "runtime/Context.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fovea {

/// "[rows, 3]": sizes that are -1 by their names.
std::string shapeText(const std::vector<int64_t> &shape,
                      const std::vector<std::string> &names = {});

class Call {
public:
  /// Throws Failure if there is no such entry.
  Call(Context &context, const std::string &entry);
  /// By the entry's number.
  Call(Context &context, size_t entry);

  /// Throws Failure that names the argument, what was found and what expected.
  void setArgument(const std::string &name, const fovea_tensor &tensor);
  /// Plain sizes and data, for callers inside the runtime. `isThere`: in the memory of the
  /// context's device, which is not the CPU.
  void setArgument(const std::string &name, const void *data, fovea_dtype dtype,
                   std::vector<int64_t> shape, bool isThere = false);
  void run(const fovea_run_options &how = FOVEA_RUN_OPTIONS_INIT);
  /// For runs that did not wait.
  void wait();
  /// Runs the steps `runs` times on the same arguments and caches, and gives the mean time of one.
  double measure(int64_t runs);
  const fovea_tensor &result(const std::string &name);
  /// The same but for its data, which need not be fetched.
  const fovea_tensor &describe(const std::string &name) const;
  /// From the next run on only this result is likely to be asked for.
  void fetchOnly(const std::string &name);

  /// Sums over all runs that succeeded; -1 for a cost that is not known.
  struct StepProfile {
    double seconds = 0, flops = 0, bytes = 0;
  };
  /// One for each step; empty if the context does not profile.
  const std::vector<StepProfile> &profile() const { return profiles; }

  const manifest::EntryT &entry() const { return *description; }
  /// The entry's first argument or result of this role; null if it has none.
  const manifest::ValueT *argument(manifest::Role role) const;
  const manifest::ValueT *result(manifest::Role role) const;
  Context &context() const { return theContext; }

private:
  struct Argument {
    bool set = false;
    const void *data = nullptr;
    bool isThere = false;
    std::vector<int64_t> shape;
    /// For each named dimension of a tensor, its axis and its number in `bound`.
    std::vector<std::pair<size_t, size_t>> named;
    /// Of a cache: itself, and its batch's number in `bound` or -1.
    Cache *cache = nullptr;
    int batch = -1;
  };
  /// The size of a dimension's name in this run, and the argument that gave it.
  struct Dimension {
    std::string name;
    int64_t size = -1;
    size_t owner = 0;
  };
  struct Result {
    std::vector<int64_t> shape;
    fovea_tensor tensor{};
  };

  size_t resultIndex(const std::string &name) const;
  size_t argumentIndex(const std::string &name) const;
  std::string place(const manifest::ValueT &value) const;
  bool isThere(const manifest::ValueT &value, fovea_device device) const;
  bool areAllThere() const;
  [[noreturn]] void failFault(int64_t fault) const;
  size_t dimensionNumber(const std::string &name);
  void bindDimensions();
  void checkPositions() const;
  [[noreturn]] void failSizes() const;
  void collectSizes();
  void prepareResults();
  void run(RunOptions options, void *stream);
  void addProfile();

  Context &theContext;
  size_t entryIndex;
  const manifest::EntryT *description;
  const Executor::Steps *steps;
  std::unique_ptr<Invocation> invocation;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  std::vector<Dimension> bound;
  std::vector<int64_t> sizes, locals, newLengths;
  std::vector<uint64_t> resultBytes;
  std::vector<void *> buffers;
  std::vector<double> seconds; ///< of one run's steps
  std::vector<StepProfile> profiles;
  bool hasRun = false;
  bool resultsStay = false; ///< of the last run, on the context's device
};

} // namespace fovea

struct fovea_call {
  fovea::Call call;
};

#endif // FOVEA_RUNTIME_CALL_H
