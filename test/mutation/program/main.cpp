// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-mutate: plants bugs in emitted PTX, one at a time at random places, and counts which are
// found, and how.
#include "test/CommandLine.h"
#include "test/mutation/Kernels.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace fovea::mutation;

static constexpr const char *kHelp = R"(usage: fovea-mutate [FLAGS]

Compiles the tile programs of the grid to PTX (and takes the attentions of test/emulator), plants a
bug in one of them at a random place, and runs it as its tests do: all calls, early and late. A bug
counts as found if the emulator reports a fault or a result is wrong. For one that is not found it
looks for a reason why it is none, which it checks. Bug I of seed S is the same everywhere, as long
as the kernels are. The exit code is 1 if less than 98 of 100 bugs, those that are not harmless, were
found.

  --count N        how many (120)
  --seed S         of all (1)
  --first I        the number of the first (0)
  --jobs N         threads (as many as the machine has)
  --kernel TEXT    only in kernels whose name holds it
  --least N        the share that must be found, of 100 (98)
  --operator TEXT  only by operators whose name holds it
  --print I        prints the PTX with bug I
  --all            prints each bug, not only those that were not found
  --list           prints the operators
  --quiet          no progress
)";

namespace {
struct Options {
  uint64_t count = 120, seed = 1, first = 0, least = 98, print = ~uint64_t{0};
  unsigned jobs = 0;
  std::string kernel, op;
  bool printsAll = false, isQuiet = false;
};

/// A kernel that is made when a bug first falls on it.
struct Place {
  std::string name;
  std::function<Kernel()> make;
  std::mutex mutex;
  std::unique_ptr<Judge> judge;
  std::vector<std::pair<const Operator *, std::vector<size_t>>> sites;
};

struct Row {
  unsigned made = 0, byCheck = 0, byResult = 0, harmless = 0, survived = 0;
};
} // namespace

static constexpr fovea::test::CommandLine kCommand{"fovea-mutate"};

static Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (flag == "--list") {
      for (const Operator &op : operators())
        std::printf("%-22s %s -> %s\n", op.name, op.matches, op.writes);
      std::exit(0);
    }
    if (flag == "--all") {
      options.printsAll = true;
      continue;
    }
    if (flag == "--quiet") {
      options.isQuiet = true;
      continue;
    }
    if (i + 1 == argc)
      kCommand.fail("does not know the flag '" + flag + "', or it lacks its value");
    std::string value = argv[++i];
    if (flag == "--count")
      options.count = kCommand.parseNumber(flag, value);
    else if (flag == "--seed")
      options.seed = kCommand.parseNumber(flag, value);
    else if (flag == "--first")
      options.first = kCommand.parseNumber(flag, value);
    else if (flag == "--least")
      options.least = kCommand.parseNumber(flag, value);
    else if (flag == "--print")
      options.print = kCommand.parseNumber(flag, value);
    else if (flag == "--jobs")
      options.jobs = static_cast<unsigned>(kCommand.parseNumber(flag, value));
    else if (flag == "--kernel")
      options.kernel = value;
    else if (flag == "--operator")
      options.op = value;
    else
      kCommand.fail("does not know the flag '" + flag + "'");
  }
  return options;
}

/// Makes the kernel of a place. MLIR's context is one, so kernels are made one at a time.
static void prepare(Place &place, const Options &options) {
  std::lock_guard<std::mutex> lock(place.mutex);
  if (place.judge)
    return;
  static std::mutex compiler;
  Kernel kernel;
  {
    std::lock_guard<std::mutex> one(compiler);
    kernel = place.make();
  }
  if (kernel.name.empty())
    kCommand.fail(place.name + " does not compile");
  auto judge = std::make_unique<Judge>(std::move(kernel));
  if (!judge->problem().empty())
    kCommand.fail(place.name + " is wrong without a bug: " + judge->problem());
  for (const Operator &op : operators())
    if (std::string(op.name).find(options.op) != std::string::npos)
      if (std::vector<size_t> sites = sitesOf(op, judge->ptx()); !sites.empty())
        place.sites.emplace_back(&op, std::move(sites));
  place.judge = std::move(judge);
}

/// Bug `number`; its kernel becomes `place`.
static Mutant draw(uint64_t number, std::vector<std::unique_ptr<Place>> &places,
                   const Options &options, Place *&place) {
  Random random(options.seed * 1000003 + number);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    place = places[random.below(places.size())].get();
    prepare(*place, options);
    if (place->sites.empty())
      continue;
    const auto &[op, sites] = place->sites[random.below(place->sites.size())];
    Mutant mutant = mutate(*op, place->judge->ptx(), sites[random.below(sites.size())], random);
    if (!mutant.text.empty())
      return mutant;
  }
  kCommand.fail("found no place for operators '" + options.op + "' in kernels '" + options.kernel +
                "'");
}

static const char *nameOf(Verdict::Kind kind) {
  switch (kind) {
  case Verdict::Check:
    return "found by a check";
  case Verdict::Result:
    return "found by a result";
  case Verdict::Harmless:
    return "harmless";
  case Verdict::Survived:
    return "NOT FOUND";
  case Verdict::Invalid:
    return "NO PTX";
  }
  return "";
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  std::vector<std::unique_ptr<Place>> places;
  auto add = [&](const std::string &name, std::function<Kernel()> make) {
    if (name.find(options.kernel) == std::string::npos)
      return;
    places.push_back(std::make_unique<Place>());
    places.back()->name = name;
    places.back()->make = std::move(make);
  };
  for (size_t i = 0; i < countTileKernels(); ++i)
    add(nameTileKernel(i), [i] { return makeTileKernel(i); });
  for (const Kernel &kernel : makeAttentionKernels(FOVEA_PTX_DIR))
    add(kernel.name, [kernel] { return kernel; });
  if (places.empty())
    kCommand.fail("knows no kernel '" + options.kernel + "'");
  if (options.print != ~uint64_t{0}) {
    Place *place = nullptr;
    std::fputs(draw(options.print, places, options, place).text.c_str(), stdout);
    return 0;
  }

  std::mutex mutex;
  std::atomic<uint64_t> next{0};
  std::map<std::string, Row> byOperator;
  std::map<std::string, unsigned> reasons;
  uint64_t done = 0;
  Row all;
  bool invalid = false;
  bool progress = !options.isQuiet && isatty(2);
  auto work = [&] {
    for (uint64_t i; (i = next++) < options.count;) {
      uint64_t number = options.first + i;
      Place *place = nullptr;
      Mutant mutant = draw(number, places, options, place);
      Verdict verdict = place->judge->judge(mutant);
      std::lock_guard<std::mutex> lock(mutex);
      for (Row *row : {&all, &byOperator[mutant.op->name]}) {
        ++row->made;
        row->byCheck += verdict.kind == Verdict::Check;
        row->byResult += verdict.kind == Verdict::Result;
        row->harmless += verdict.kind == Verdict::Harmless;
        row->survived += verdict.kind == Verdict::Survived || verdict.kind == Verdict::Invalid;
      }
      ++reasons[std::string(nameOf(verdict.kind)) + ": " + verdict.what];
      invalid = invalid || verdict.kind == Verdict::Invalid;
      bool isFound = verdict.kind == Verdict::Check || verdict.kind == Verdict::Result;
      if (options.printsAll || !isFound)
        std::printf("%s%llu: %s: %s, line %u: %s -> %s\n  %s%s%s %s\n", progress ? "\r" : "",
                    static_cast<unsigned long long>(number), place->name.c_str(), mutant.op->name,
                    mutant.line, mutant.before.c_str(), mutant.after.c_str(), nameOf(verdict.kind),
                    verdict.what.empty() ? "" : ": ", verdict.what.c_str(),
                    verdict.message.c_str());
      if (++done; progress)
        std::fprintf(stderr, "\r%llu of %llu, %u not found ", static_cast<unsigned long long>(done),
                     static_cast<unsigned long long>(options.count), all.survived);
    }
  };
  unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (progress)
    std::fputs("\r", stderr);

  std::printf("%-24s %6s %9s %10s %9s %9s\n", "operator", "made", "by check", "by result",
              "harmless", "not found");
  auto print = [](const std::string &name, const Row &row) {
    std::printf("%-24s %6u %9u %10u %9u %9u\n", name.c_str(), row.made, row.byCheck, row.byResult,
                row.harmless, row.survived);
  };
  for (const Operator &op : operators())
    if (byOperator.count(op.name))
      print(op.name, byOperator[op.name]);
  print("all", all);
  for (const auto &[reason, count] : reasons)
    std::printf("%6u %s\n", count, reason.c_str());
  unsigned found = all.byCheck + all.byResult, bugs = found + all.survived;
  std::printf("%u of %u bugs found (%.1f %%); %u changes are harmless\n", found, bugs,
              bugs ? 100.0 * found / bugs : 100, all.harmless);
  return found * uint64_t{100} >= bugs * options.least && !invalid ? 0 : 1;
}
