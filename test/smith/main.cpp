// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-smith: makes random attention programs, and checks that Fovea recognises and computes them.
#include "test/CommandLine.h"
#include "test/smith/Workers.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
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
  --quiet          no progress

What to do with a failure: fovea-smith --reduce I --seed S > bad.mlir; then fovea compile bad.mlir
--dump-ir=DIR, or fovea-opt bad.mlir --fovea-raise-attention. fovea-smith bad.mlir checks it again.
)";

namespace {
struct Options {
  uint64_t count = 100, seed = 1, first = 0;
  unsigned jobs = 0;
  std::string out, choices;
  bool prints = false, reduces = false, isQuiet = false, isLarge = false;
  Trial trial;
  std::vector<std::string> files;
};
} // namespace

static constexpr fovea::test::CommandLine kCommand{"fovea-smith"};

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
    if (flag == "--raise-only") {
      options.trial.raisesOnly = true;
      continue;
    }
    if (flag.empty() || flag[0] != '-') {
      options.files.push_back(flag);
      continue;
    }
    static constexpr const char *kKnown[] = {"--count", "--seed",   "--first",   "--jobs", "--out",
                                             "--print", "--reduce", "--choices", "--gpu"};
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

static int reduce(const Options &options) {
  Choices best = choicesOf(options, options.first);
  std::string complaint = checkOne(programOf(options, options.first), options.trial);
  if (complaint.empty())
    kCommand.fail(nameOf(options, options.first) + " passes: there is nothing to reduce");
  std::string kind = kindOf(complaint);
  bool hasImproved = true;
  while (hasImproved) {
    hasImproved = false;
    for (const Choices &next : simplify(best)) {
      if (weightOf(next) >= weightOf(best))
        continue;
      std::string other = checkOne(generate(next), options.trial);
      if (kindOf(other) != kind)
        continue;
      best = next;
      complaint = other;
      hasImproved = true;
      if (!options.isQuiet && isatty(STDERR_FILENO))
        std::fprintf(stderr, "\r\033[K%s", print(best).c_str());
      break;
    }
  }
  Program program = generate(best);
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

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  if (options.prints) {
    std::cout << print(programOf(options, options.first));
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

  uint64_t passed = 0, failed = 0;
  bool isTerminal = isatty(STDERR_FILENO) && !options.isQuiet;
  auto source = [&](uint64_t i) { return files.empty() ? programOf(options, i) : files[i]; };
  auto verdict = [&](uint64_t i, const std::string &complaint) {
    complaint.empty() ? ++passed : ++failed;
    if (!complaint.empty()) {
      std::string name = files.empty() ? nameOf(options, i) : options.files[i];
      std::printf("%s%s: %s\n", isTerminal ? "\r\033[K" : "", name.c_str(), complaint.c_str());
      if (files.empty() && options.choices.empty())
        std::printf("    fovea-smith --seed %llu --reduce %llu%s%s\n",
                    static_cast<unsigned long long>(options.seed),
                    static_cast<unsigned long long>(i), options.isLarge ? " --large" : "",
                    options.trial.gpu.empty() ? "" : (" --gpu " + options.trial.gpu).c_str());
      std::fflush(stdout);
      if (!options.out.empty()) {
        std::string path = options.out + "/seed-" + std::to_string(options.seed) + "-" +
                           std::to_string(i) + ".mlir";
        std::ofstream file(path);
        file << "// " << complaint << "\n" << print(source(i));
        if (!file.flush())
          kCommand.fail(path + ": cannot be written");
      }
    }
    if (isTerminal) {
      std::fprintf(
          stderr, "\r%llu of %llu, %llu failed ", static_cast<unsigned long long>(passed + failed),
          static_cast<unsigned long long>(options.count), static_cast<unsigned long long>(failed));
    }
  };
  checkAll(options.first, options.count, options.jobs, options.trial, source, verdict);
  if (isTerminal)
    std::fprintf(stderr, "\r\033[K");
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed),
              static_cast<unsigned long long>(failed));
  return failed || !passed ? 1 : 0;
}
