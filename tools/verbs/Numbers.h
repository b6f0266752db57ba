// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers on the command line: which are allowed, and what is said of others.
#ifndef FOVEA_TOOLS_VERBS_NUMBERS_H
#define FOVEA_TOOLS_VERBS_NUMBERS_H

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace fovea::verbs {

/// Refuses what is no finite number from `least` to `most`; `--help` shows the two.
CLI::Validator from(double least, double most = std::numeric_limits<double>::infinity());

/// An option that is a number in this range; `--help` shows what it is if it is not given.
template <typename T>
void addNumber(CLI::App &verb, const std::string &name, T &value, const std::string &help,
               double least, double most = std::numeric_limits<double>::infinity()) {
  verb.add_option(name, value, help)->check(from(least, most))->capture_default_str();
}

/// An option that is a list of integers with commas between, as in 1,2,3; refuses anything else,
/// an empty place too.
CLI::Option *addIntegers(CLI::App &verb, const std::string &name,
                         std::function<void(const std::vector<int64_t> &)> take,
                         const std::string &help);

/// `values` stays what it is if the option is not given.
template <typename Vector>
CLI::Option *addIntegers(CLI::App &verb, const std::string &name, Vector *values,
                         const std::string &help) {
  auto take = [values](const std::vector<int64_t> &all) { values->assign(all.begin(), all.end()); };
  return addIntegers(verb, name, std::function<void(const std::vector<int64_t> &)>(take), help);
}

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_NUMBERS_H
