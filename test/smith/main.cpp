// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-smith: makes random programs, and checks that Fovea recognises and computes them.
#include "passes/Elements/Equivalence.h"
#include "test/CommandLine.h"
#include "test/smith/NearMiss.h"
#include "test/smith/Tally.h"
#include "test/smith/Workers.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <unistd.h>

using namespace fovea::smith;

static constexpr const char *kHelp = R"(usage: fovea-smith [FLAGS]            check random programs
       fovea-smith [FLAGS] FILE...    check stored ones

Makes attention programs in expanded form (products, masks, a softmax in one of its spellings) over
linalg, arith, math and tensor, compiles each, and compares
  - what the fusion report says with what the program was made from,
  - what compiled code gives with the reference interpreter's run of the program as it was written,
    in f64, at two sizes each.
Program I of seed S is the same everywhere. The last line counts; the exit code is 1 if one failed.

  --count N        how many (100)
  --seed S         of all (1)
  --first I        the number of the first (0)
  --jobs N         processes at a time (as many as the machine has)
  --out DIR        writes each program that fails to DIR/seed-S-I.mlir
  --print I        prints program I and checks nothing
  --reduce I       turns choices of program I off as long as it fails in the same way, and prints
                   what is left: a file for test/smith/found once the fault is mended
  --choices TEXT   the program of this description ("type=1 depth=8"), in place of a number
  --raise-only     compile no further than the report, and run nothing: a thirtieth of the time
  --gpu ARCH       runs the code for GPUs of an architecture, sm_80 or sm_90a, on the emulator: the
                   first call with asynchronous work as early as allowed, the second as late
  --large          several tiles of queries and keys, heads of models, mostly half precision
  --near-misses    other programs: see below
  --list           says of each near miss what became of it
  --plant FAULT    leaves out a part of raising's account of what it recognises: carried, harmless,
                   intervals or coverage. The programs must notice
  --quiet          no progress

A near miss is an attention, a norm, an activation or a rotary embedding with one edit that shows
only on a rare side: beyond a number that scores hardly reach, where an axis is longer than some
size, at places behind some place; or that never shows. Its inputs take the rare side: they are
drawn until the results of the program with and without the edit differ. What raising makes of it,
and compiled code, must compute what was written, whether it is recognised or not. With
--raise-only the graph stage is compared with the `import` stage, both in f64, and no code is made.
Tables tell what became of them, by kind, site and rarity:
  kept             recognised, and the edit stayed
  fused            recognised: the edit never shows
  refused          not recognised
  vacuous          no inputs were found that take the rare side
  unsteady         none for which the results are finite and rounding does not decide
                   (of 500 and more near misses at most one in fifteen may be of these two kinds)
  wrong            the numbers differ, or the compiler failed

What to do with a failure: fovea-smith --reduce I --seed S > bad.mlir; then fovea compile bad.mlir
--dump-ir=DIR, or fovea-opt bad.mlir --fovea-raise-attention. fovea-smith bad.mlir checks it again.
)";

namespace {
struct Options {
  uint64_t count = 100, seed = 1, first = 0;
  unsigned jobs = 0;
  std::string out, choices;
  bool prints = false, reduces = false, isQuiet = false, isLarge = false, areNearMisses = false,
       lists = false;
  Trial trial;
  std::vector<std::string> files;
};
} // namespace

static constexpr fovea::test::CommandLine kCommand{"fovea-smith"};

/// Before workers are made, which raise with it.
static void plant(const std::string &name) {
  using mlir::fovea::raise::PlantedFault;
  static const std::map<std::string, PlantedFault> faults = {{"carried", PlantedFault::Carried},
                                                             {"harmless", PlantedFault::Harmless},
                                                             {"intervals", PlantedFault::Intervals},
                                                             {"coverage", PlantedFault::Coverage}};
  auto found = faults.find(name);
  if (found == faults.end())
    kCommand.fail("--plant: expects carried, harmless, intervals or coverage, got '" + name + "'");
  mlir::fovea::raise::plantFault(found->second);
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (flag == "--quiet") {
      options.isQuiet = true;
      continue;
    }
    if (flag == "--large") {
      options.isLarge = true;
      continue;
    }
    if (flag == "--near-misses") {
      options.areNearMisses = true;
      continue;
    }
    if (flag == "--list") {
      options.lists = true;
      continue;
    }
    if (flag == "--raise-only") {
      options.trial.raisesOnly = true;
      continue;
    }
    if (flag.empty() || flag[0] != '-') {
      options.files.push_back(flag);
      continue;
    }
    static constexpr const char *kKnown[] = {"--count", "--seed",  "--first",  "--jobs",
                                             "--out",   "--print", "--reduce", "--choices",
                                             "--gpu",   "--plant"};
    std::string value;
    bool hasValue = false;
    if (size_t sign = flag.find('='); sign != std::string::npos) {
      value = flag.substr(sign + 1);
      flag.resize(sign);
      hasValue = true;
    }
    if (std::none_of(std::begin(kKnown), std::end(kKnown),
                     [&](const char *known) { return flag == known; }))
      kCommand.fail("does not know the flag '" + flag + "'; see --help");
    if (!hasValue) {
      if (++i == argc)
        kCommand.fail(flag + " expects a value");
      value = argv[i];
    }
    if (flag == "--out")
      options.out = value;
    else if (flag == "--choices")
      options.choices = value;
    else if (flag == "--plant")
      plant(value);
    else if (flag == "--gpu")
      options.trial.gpu = value;
    else if (flag == "--count")
      options.count = kCommand.parseNumber(flag, value);
    else if (flag == "--seed")
      options.seed = kCommand.parseNumber(flag, value);
    else if (flag == "--jobs")
      options.jobs = static_cast<unsigned>(kCommand.parseNumber(flag, value));
    else
      options.first = kCommand.parseNumber(flag, value);
    options.prints |= flag == "--print";
    options.reduces |= flag == "--reduce";
  }
  if (options.jobs == 0)
    options.jobs = static_cast<unsigned>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
  options.jobs = std::min(options.jobs, 64u);
  return options;
}

static std::string nameOf(const Options &options, uint64_t index) {
  return "program " + std::to_string(index) + " of seed " + std::to_string(options.seed);
}

static Choices choicesOf(const Options &options, uint64_t index) {
  if (options.choices.empty())
    return draw(options.seed, index, options.isLarge);
  Choices choices;
  std::string error;
  if (!parse(options.choices, choices, error))
    kCommand.fail("--choices: " + error);
  return choices;
}

static Program programOf(const Options &options, uint64_t index) {
  Program program = generate(choicesOf(options, index));
  program.title = options.choices.empty() ? nameOf(options, index) : "given by its choices";
  return program;
}

/// How much there is to a program: less is simpler.
static double weightOf(const Choices &choices) {
  double weight = 0;
  for (int i = 0; i < kChoices; ++i)
    if (int value = choices.values[i])
      weight += 100 + std::log2(1.0 + value);
  return weight;
}

/// "numbers", "crash: signal 11", the whole of "fusion: ...": what makes two failures the same.
static std::string kindOf(const std::string &complaint) {
  if (complaint.rfind("crash", 0) == 0)
    return complaint.substr(0, complaint.find('('));
  // What is not a number at all is another fault than what is not exact.
  if (complaint.rfind("numbers", 0) == 0 && complaint.find("INF") != std::string::npos)
    return "numbers INF";
  // A softmax that is given as not fused was seen; its reason is one of few.
  if (complaint.rfind("fusion", 0) == 0)
    return complaint;
  return complaint.substr(0, complaint.find(':'));
}

/// A program that may become simpler.
struct Candidate {
  Choices choices;
  NearMiss miss;
};

static NearMiss nearMissOf(const Options &options, uint64_t index) {
  NearMiss miss = drawNearMiss(options.seed, index);
  miss.program.title = nameOf(options, index);
  return miss;
}

static Candidate candidateOf(const Options &options) {
  if (options.areNearMisses) {
    NearMiss miss = nearMissOf(options, options.first);
    return {miss.plan.choices, miss};
  }
  return {choicesOf(options, options.first), {}};
}

static std::vector<Candidate> simplify(const Options &options, const Candidate &candidate) {
  std::vector<Candidate> simpler;
  if (options.areNearMisses)
    for (NearMiss &miss : simplify(candidate.miss))
      simpler.push_back({miss.plan.choices, std::move(miss)});
  else
    for (const Choices &choices : simplify(candidate.choices))
      simpler.push_back({choices, {}});
  return simpler;
}

/// Near misses ask what raising does, and code of GPUs what PTX computes: one in eight of them goes
/// through LLVM's optimiser and the assembler, which take most of the time. Of other programs one
/// in four does, two make vectors that are not optimised, one scalar loops.
static Trial trialOf(const Options &options, uint64_t index) {
  Trial trial = options.trial;
  if (options.areNearMisses || !trial.gpu.empty())
    trial.optimization = index % 8 == 0 ? 2 : 0;
  else
    trial.optimization = index % 2 == 1 ? 1 : index % 4 == 0 ? 2 : 0;
  return trial;
}

/// In a process of its own; empty if all is well.
static std::string check(const Options &options, const Candidate &candidate) {
  Trial trial = trialOf(options, options.first);
  std::string verdict = checkOne([&](Checker &checker) {
    return options.areNearMisses ? checker.check(candidate.miss, trial)
                                 : checker.check(generate(candidate.choices), trial);
  });
  return isOutcome(verdict) ? "" : verdict;
}

/// With the inputs that a check would take.
static Program settled(NearMiss miss) {
  Checker().settle(miss);
  return miss.program;
}

static int reduce(const Options &options) {
  Candidate best = candidateOf(options);
  std::string complaint = check(options, best);
  if (complaint.empty())
    kCommand.fail(nameOf(options, options.first) + " passes: there is nothing to reduce");
  std::string kind = kindOf(complaint);
  bool hasImproved = true;
  while (hasImproved) {
    hasImproved = false;
    for (const Candidate &next : simplify(options, best)) {
      if (weightOf(next.choices) >= weightOf(best.choices))
        continue;
      std::string other = check(options, next);
      if (kindOf(other) != kind)
        continue;
      best = next;
      complaint = other;
      hasImproved = true;
      if (!options.isQuiet && isatty(STDERR_FILENO))
        std::fprintf(stderr, "\r\033[K%s", print(best.choices).c_str());
      break;
    }
  }
  Program program = options.areNearMisses ? settled(best.miss) : generate(best.choices);
  program.title = nameOf(options, options.first) + ", reduced";
  std::cout << print(program);
  std::fprintf(stderr, "%s%s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", complaint.c_str());
  return 1;
}

static Program readFile(const std::string &file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream)
    kCommand.fail(file + ": cannot be read");
  Program program;
  std::string error;
  if (!read(text.str(), program, error))
    kCommand.fail(file + ": " + error);
  return program;
}

/// Counts verdicts, and tells of failures.
class Judge {
public:
  Judge(const Options &options, const std::vector<Program> &files)
      : options(options), files(files), isTerminal(isatty(STDERR_FILENO) && !options.isQuiet) {}

  std::string check(Checker &checker, uint64_t i) const {
    if (!files.empty())
      return files[i].nearMiss.empty() ? checker.check(files[i], options.trial)
                                       : checker.check(makeNearMiss(files[i]), options.trial);
    return options.areNearMisses ? checker.check(nearMissOf(options, i), trialOf(options, i))
                                 : checker.check(programOf(options, i), trialOf(options, i));
  }

  void take(uint64_t i, const std::string &verdict) {
    bool isFine = verdict.empty() || isOutcome(verdict);
    isFine ? ++passed : ++failed;
    if (options.areNearMisses && files.empty())
      count(i, verdict);
    if (!isFine)
      tell(i, verdict);
    if (isTerminal)
      std::fprintf(stderr, "\r%llu of %llu, %llu failed ", passed + failed,
                   static_cast<unsigned long long>(options.count), failed);
  }

  int finish() const {
    if (isTerminal)
      std::fprintf(stderr, "\r\033[K");
    bool areDrawn = options.areNearMisses && files.empty();
    if (areDrawn)
      std::printf("%s\n", tally.print().c_str());
    // A generator that does not reach the rare sides tests nothing.
    bool isIdle = areDrawn && passed + failed >= 500 && 15 * idle > passed + failed;
    if (isIdle)
      std::printf("%llu near misses are vacuous or unsteady: more than one in fifteen\n", idle);
    std::printf("%llu passed, %llu failed\n", passed, failed);
    return failed || !passed || isIdle ? 1 : 0;
  }

private:
  Program programAt(uint64_t i) const {
    return !files.empty()          ? files[i]
           : options.areNearMisses ? settled(nearMissOf(options, i))
                                   : programOf(options, i);
  }

  void count(uint64_t i, const std::string &verdict) {
    NearMiss miss = nearMissOf(options, i);
    tally.add(miss.plan.edit, verdict);
    idle += verdict == "vacuous" || verdict == "unsteady";
    if (options.lists && isOutcome(verdict))
      std::printf("%s: %s: %s\n", miss.program.title.c_str(), verdict.c_str(),
                  miss.program.nearMiss.c_str());
  }

  void tell(uint64_t i, const std::string &complaint) const {
    std::string name = files.empty() ? nameOf(options, i) : options.files[i];
    std::printf("%s%s: %s\n", isTerminal ? "\r\033[K" : "", name.c_str(), complaint.c_str());
    if (files.empty() && options.choices.empty())
      std::printf("    fovea-smith --seed %llu --reduce %llu%s%s%s\n",
                  static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(i),
                  options.isLarge ? " --large" : "", options.areNearMisses ? " --near-misses" : "",
                  options.trial.gpu.empty() ? "" : (" --gpu " + options.trial.gpu).c_str());
    std::fflush(stdout);
    if (options.out.empty())
      return;
    std::string path =
        options.out + "/seed-" + std::to_string(options.seed) + "-" + std::to_string(i) + ".mlir";
    std::ofstream file(path);
    file << "// " << complaint << "\n" << print(programAt(i));
    if (!file.flush())
      kCommand.fail(path + ": cannot be written");
  }

  const Options &options;
  const std::vector<Program> &files;
  bool isTerminal;
  unsigned long long passed = 0, failed = 0, idle = 0;
  Tally tally;
};

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  if (options.prints) {
    std::cout << print(options.areNearMisses ? settled(nearMissOf(options, options.first))
                                             : programOf(options, options.first));
    return 0;
  }
  if (options.reduces)
    return reduce(options);

  std::vector<Program> files;
  for (const std::string &file : options.files)
    files.push_back(readFile(file));
  if (!files.empty()) {
    options.first = 0;
    options.count = files.size();
  } else if (!options.choices.empty()) {
    options.count = 1;
  }
  if (!options.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    if (error)
      kCommand.fail(options.out + ": " + error.message());
  }

  Judge judge(options, files);
  checkAll(
      options.first, options.count, options.jobs,
      [&](Checker &checker, uint64_t i) { return judge.check(checker, i); },
      [&](uint64_t i, const std::string &verdict) { judge.take(i, verdict); });
  return judge.finish();
}
