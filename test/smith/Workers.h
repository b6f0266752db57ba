// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs checks in processes of their own, so that a crash costs one program.
#ifndef FOVEA_TEST_SMITH_WORKERS_H
#define FOVEA_TEST_SMITH_WORKERS_H

#include "test/smith/Check.h"
#include <cstdint>
#include <functional>

namespace fovea::smith {

/// Checks program number `i`, in a worker.
using Task = std::function<std::string(Checker &checker, uint64_t i)>;
/// Is told how program `i` did: what the task gave. "crash: ..." if the worker ended, "time: ..."
/// if it took more than a minute of processor time.
using Verdicts = std::function<void(uint64_t i, const std::string &complaint)>;

/// Checks the programs first ... first + count - 1 in `jobs` processes at a time.
void checkAll(uint64_t first, uint64_t count, unsigned jobs, const Task &task,
              const Verdicts &verdicts);

/// Checks one program in a process of its own.
std::string checkOne(const std::function<std::string(Checker &checker)> &task);

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_WORKERS_H
