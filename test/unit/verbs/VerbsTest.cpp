// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-run as its users start it: what goes to standard output, what to standard
// error, the exit code; and the C header's own example.
#include "test/unit/support/TestArtifact.h"
#include "tools/verbs/Common.h"
#include "tools/verbs/Npz.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sys/wait.h>

using namespace fovea;
using namespace fovea::test;
using namespace fovea::verbs;

namespace {

struct Outcome {
  int code;
  std::string out, err;
};

class VerbsTest : public ::testing::Test {
protected:
  void SetUp() override {
    file = folder.file("test.fovea");
    writeTestArtifact(file);
  }

  static std::string readAll(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// `words` as the shell reads them; FILE stands for the artifact.
  Outcome shell(std::string words) {
    for (size_t at; (at = words.find("FILE")) != std::string::npos;)
      words.replace(at, 4, file);
    std::string out = folder.file("out.txt"), err = folder.file("err.txt");
    int status = std::system(("( " + words + " ) > " + out + " 2> " + err).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readAll(out), readAll(err)};
  }
  Outcome run(const std::string &words) { return shell(FOVEA_RUN " " + words); }

  /// Exit code 1, no output, one message that holds `part`.
  void refused(const Outcome &outcome, const std::string &part) {
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind("fovea-run: error: ", 0), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find("error:"), outcome.err.rfind("error:")) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
  void usage(const std::string &words, const std::string &part) {
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }

  void writeIds(const std::string &name, std::vector<int64_t> shape, std::vector<int64_t> ids) {
    Array array;
    array.name = name;
    array.dtype = {FOVEA_INT, 64, 1};
    array.shape = std::move(shape);
    const auto *bytes = reinterpret_cast<const uint8_t *>(ids.data());
    array.data.assign(bytes, bytes + ids.size() * 8);
    std::string error;
    ASSERT_TRUE(writeNpz(folder.file("in.npz"), {array}, error)) << error;
  }

  TemporaryFolder folder;
  std::string file;
};

TEST_F(VerbsTest, HelpTeaches) {
  for (const char *verb : {"", "run", "generate", "chat", "embed", "bench"}) {
    Outcome help = run(std::string(verb) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_NE(help.out.find(*verb ? std::string("fovea-run ") + verb : "generate"),
              std::string::npos)
        << help.out;
  }
  EXPECT_EQ(run("--version").out.rfind("fovea-run 0.", 0), 0u);
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help run").out, run("run --help").out);
}

TEST_F(VerbsTest, WrongUsageIsTold) {
  usage("", "expects a verb: run, generate");
  usage("compile FILE", "unknown verb 'compile', expected one of run, generate");
  usage("generate", "FILE");
  usage("generate FILE", "exactly one of --prompt");
  usage("generate FILE --prompt a --prompt-file b", "exactly one of --prompt");
  usage("generate FILE --prompt a --no-such-flag", "no-such-flag");
  usage("generate FILE --prompt a -n -3", "-3");
  usage("generate FILE --prompt a --temp warm", "warm");
  usage("generate FILE --prompt a --top-p 1.5", "1.5");
  usage("generate FILE --prompt a --device abacus", "expects cpu, cuda, cuda:N, emulator");
  usage("generate FILE --prompt a --device cuda:a", "expects cpu, cuda, cuda:N, emulator");
  usage("generate FILE --prompt a --threads -1", "--threads: expects a number from 0 to 1024");
  usage("genrate FILE", "unknown verb 'genrate', expected one of run, generate, chat, embed, "
                        "translate, transcribe, fill-mask, classify, tag, answer, bench, "
                        "completions, man; did you mean "
                        "'generate'?\nsee fovea-run --help\n");
  usage("generate FILE --prompt a --sed 5",
        "error: unknown option '--sed'; did you mean '--seed'?");
  usage("generate FILE --prompt a --stops x y", "did you mean '--stop'?\nsee fovea-run generate "
                                                "--help\n");
  usage("generate FILE --prompt a b c", "error: expects no more words, got 'b'\n");
  usage("generate --promt=a FILE", "error: unknown option '--promt'; did you mean '--prompt'?");
  usage("run --entri=forward", "error: unknown option '--entri'; did you mean '--entry'?");
  usage("--verson", "error: unknown option '--verson'; did you mean '--version'?");
  refused(run("run FILE --entry forwad"), "; did you mean 'forward'?");
  refused(run("bench FILE --entry ad --no-peaks"), "; did you mean 'add'?");
  refused(run("run FILE --input inputids=[[1]]"), "; did you mean 'input_ids'?");
  usage("embed FILE", "--text");
  refused(run("run FILE"), "is not given all arguments; expects input_ids");
  refused(run("generate FILE --prompt a --device emulator"),
          "holds no code for the emulator, only for the CPU");
}

TEST_F(VerbsTest, GeneratesTheSameInEveryWay) {
  Outcome plain = run("generate FILE --prompt 'to be.' -n 20 --temp 0");
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_FALSE(plain.out.empty());
  EXPECT_NE(plain.err.find("prompt 7 tokens"), std::string::npos) << plain.err;
  EXPECT_EQ(run("generate FILE --prompt 'to be.' -n 20 --temp 0 --threads 3 --chunk 2").out,
            plain.out);
  EXPECT_EQ(run("generate FILE --prompt 'to be.' -n 20 --temp 0 --threads 0").out, plain.out);
  EXPECT_EQ(run("generate FILE --prompt-ids 0,21,16,28,3,6,29 -n 20 --temp 0").out, plain.out);
  EXPECT_EQ(
      shell("printf 'to be.' | " FOVEA_RUN " generate FILE --prompt-file - -n 20 --temp 0").out,
      plain.out);
  std::ofstream(folder.file("prompt.txt")) << "to be.";
  EXPECT_EQ(run("generate FILE --prompt-file " + folder.file("prompt.txt") + " -n 20 --temp 0").out,
            plain.out);
  Outcome quiet = run("generate FILE --prompt 'to be.' -n 20 --temp 0 --quiet");
  EXPECT_EQ(quiet.err, "");
  Outcome json = run("generate FILE --prompt 'to be.' -n 5 --temp 0 --json --ignore-end");
  nlohmann::json record = nlohmann::json::parse(json.out);
  EXPECT_EQ(record["tokens"].size(), 5u);
  EXPECT_EQ(record["prompt_tokens"], 7);
  EXPECT_EQ(record["stop"], "count");
}

TEST_F(VerbsTest, NumbersAreGrouped) {
  EXPECT_EQ(grouped(0.001234), "0.00123");
  EXPECT_EQ(grouped(-5), "-5");
  EXPECT_EQ(grouped(12.345), "12.3");
  EXPECT_EQ(grouped(999.4), "999");
  EXPECT_EQ(grouped(999.6), "1,000");
  EXPECT_EQ(grouped(1134.2), "1,130");
  EXPECT_EQ(grouped(1134.2, 4), "1,134");
  EXPECT_EQ(grouped(196543, 4), "196,500");
  EXPECT_EQ(grouped(1234567890), "1,230,000,000");
  EXPECT_EQ(grouped(1e300), "1e+300");
}

TEST_F(VerbsTest, SeedsRepeat) {
  std::string words = "generate FILE --prompt a -n 30 --ignore-end --temp 2 --top-k 20 ";
  Outcome first = run(words + "--seed 5");
  EXPECT_EQ(first.out, run(words + "--seed 5 --threads 2").out);
  EXPECT_NE(first.out, run(words + "--seed 6").out);
  EXPECT_NE(first.err.find("--seed=5"), std::string::npos);
  // Without one, the seed that was drawn is told.
  Outcome free = run(words);
  size_t at = free.err.find("--seed=");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(run(words + free.err.substr(at, free.err.find('\n', at) - at)).out, free.out);
}

TEST_F(VerbsTest, FaultyInputIsRefused) {
  refused(run("generate " + folder.file("none.fovea") + " --prompt a"), "none.fovea");
  refused(run("generate FILE --prompt-file " + folder.file("none.txt")), "none.txt");
  refused(run("generate FILE --prompt-file " + folder.path.string()), folder.path.string());
  refused(run("generate FILE --context 4 --prompt 'to be or not to be'"), "room for 4");
  refused(run("generate FILE --context 65 --prompt a"), "at most 64");
  refused(run("generate FILE --prompt-ids 99"), "token id 99");
  refused(run("bench FILE --prompt-tokens 60 --new-tokens 10"), "room for 64");
  Outcome full =
      shell(FOVEA_RUN " generate FILE --prompt a -n 3 --temp 0 --ignore-end > /dev/full");
  refused(full, "standard output");
  full = shell(FOVEA_RUN " embed FILE --text a > /dev/full");
  refused(full, "standard output");
}

TEST_F(VerbsTest, StopsAtAFullContext) {
  Outcome outcome = run("generate FILE --prompt a -n 500 --temp 0 --ignore-end");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("the context of 64 is full"), std::string::npos) << outcome.err;
}

TEST_F(VerbsTest, EmbedsTexts) {
  Outcome outcome = run("embed FILE --text ab --text c");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "5 3\n4 2\n");
  EXPECT_EQ(shell("printf 'ab\\nc\\n' | " FOVEA_RUN " embed FILE --text-file -").out, outcome.out);
  EXPECT_EQ(nlohmann::json::parse(run("embed FILE --text ab --json").out)["embeddings"][0],
            nlohmann::json({5.0, 3.0}));
  Outcome cut = run("embed FILE --text aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
  EXPECT_NE(cut.err.find("were cut"), std::string::npos) << cut.err;
}

TEST_F(VerbsTest, RunsAnEntryOnArrays) {
  std::string in = folder.file("in.npz"), out = folder.file("out.npz");
  std::string words = "run FILE --inputs " + in + " --outputs " + out;
  writeIds("input_ids", {1, 3}, {1, 2, 3});
  Outcome outcome = run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  std::vector<Array> arrays;
  std::string error;
  ASSERT_TRUE(readNpz(out, arrays, error)) << error;
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].name, "logits");
  EXPECT_EQ(arrays[0].shape, (std::vector<int64_t>{1, 3, 32}));
  // Last position: sum 6 at length 3 gives word (42 + 9) % 32 = 19.
  float best;
  std::memcpy(&best, arrays[0].data.data() + 4 * (2 * 32 + 19), 4);
  EXPECT_EQ(best, 4.0f);
  std::string before = readAll(out);

  refused(run(words + " --entry backward"), "has no entry 'backward'; it has 'add'");
  writeIds("colour", {1, 3}, {1, 2, 3});
  refused(run(words), "in.npz: entry 'forward' has no argument 'colour'; it has 'input_ids'");
  writeIds("input_ids", {3}, {1, 2, 3});
  refused(run(words), "expects shape [batch, sequence], got [3]");
  writeIds("input_ids", {1, 0}, {});
  refused(run(words), "at least one element");
  std::ofstream(in, std::ios::trunc) << "no zip";
  refused(run(words), "in.npz: is not a .npz file");
  EXPECT_EQ(readAll(out), before);
}

TEST_F(VerbsTest, WidensIntegers) {
  std::string in = folder.file("in.npz"), out = folder.file("out.npz");
  Array narrow;
  narrow.name = "input_ids";
  narrow.dtype = {FOVEA_INT, 32, 1};
  narrow.shape = {1, 2};
  int32_t ids[] = {1, -1};
  narrow.data.resize(8);
  std::memcpy(narrow.data.data(), ids, 8);
  std::string error, words = "run FILE --inputs " + in + " --outputs " + out;
  ASSERT_TRUE(writeNpz(in, {narrow}, error));
  EXPECT_EQ(run(words).code, 0);
  narrow.dtype = {FOVEA_FLOAT, 32, 1};
  ASSERT_TRUE(writeNpz(in, {narrow}, error));
  refused(run(words), "argument 'input_ids' expects element type i64, got f32");
}

TEST_F(VerbsTest, BenchTellsEachKernel) {
  Outcome outcome = run("bench FILE --prompt-tokens 16 --new-tokens 4");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "fovea-run: sizes that were not given: batch=1 (--batch)\n");
  EXPECT_EQ(run("bench FILE --prompt-tokens 16 --new-tokens 4 --quiet --no-peaks").err, "");
  outcome = run("bench FILE --new-tokens 4 --no-peaks");
  refused(outcome, "ask for 132 positions; the context has room for 64");
  outcome = run("bench FILE --dim sequence=8 --new-tokens 4");
  for (const char *word : {"prefill: 8 tokens", "decode: 4 tokens", "decode_1", "%"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << outcome.out;
  nlohmann::json record =
      nlohmann::json::parse(run("bench FILE --prompt-tokens 16 --new-tokens 4 --json").out);
  EXPECT_GT(record["decode"]["seconds"], 0.0);
  EXPECT_EQ(record["prefill"]["kernels"].size(), 2u);
  EXPECT_GT(record["peaks"]["flops_per_second"], 1e9);
  EXPECT_GT(record["peaks"]["bytes_per_second"], 1e8);
}

TEST_F(VerbsTest, BenchMeasuresAnyEntry) {
  Outcome outcome = run("bench FILE --entry add --dim rows=5 --repeat 2 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  nlohmann::json kernel = nlohmann::json::parse(outcome.out)["add"]["kernels"]["add_0"];
  EXPECT_EQ(kernel["flops"], 15.0);
  EXPECT_EQ(kernel["bytes"], 180.0);
  EXPECT_EQ(kernel["calls"], 1.0);
  EXPECT_EQ(kernel["computes"], "sum by hand");
  EXPECT_EQ(kernel["schedule"], "by rows");
  EXPECT_GT(kernel["share_of_peak"], 0.0);
  EXPECT_LT(kernel["share_of_peak"], 1.0);
  outcome = run("bench FILE --entry add --dim rows=5 --no-peaks");
  EXPECT_NE(outcome.out.find("add_0: sum by hand, by rows"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("measured"), std::string::npos) << outcome.out;
  usage("bench FILE --entry add --no-peaks",
        "entry 'add': expects sizes of rows\nfor example: --dim rows=128\n");
  usage("bench FILE --entry add --dim rows=five", "expects NAME=SIZE");
  usage("bench FILE --entry add --dim rows=", "expects NAME=SIZE");
  usage("bench FILE --entry add --dim rows=0", "expects a size from 1 to 1099511627776, got 0");
  usage("bench FILE --entry add --dim rows=9999999999999999999999", "expects a size from 1");
  usage("bench FILE --entry add --dim rosw=5",
        "--dim rosw=5: expects an open dimension of entry 'add', which has rows; did you mean "
        "'rows'?");
  usage("bench FILE --dim foo=3", "of entries 'prefill' and 'decode', which has batch, sequence\n");
  usage("bench FILE --entry add --batch 2 --dim rows=5",
        "--batch: expects an open dimension of this kind in entry 'add'");
  refused(run("bench FILE --entry add --dim rows=1000000000000 --no-peaks"), "impossibly large");
  refused(run("bench FILE --entry none --no-peaks"), "has no entry 'none'");
}

TEST_F(VerbsTest, WritesTraces) {
  std::string path = folder.file("trace.json");
  EXPECT_EQ(
      run("generate FILE --prompt ab -n 3 --temp 0 --ignore-end --threads 2 --trace " + path).code,
      0);
  std::ifstream file(path);
  nlohmann::json events = nlohmann::json::parse(file)["traceEvents"];
  size_t steps = 0, calls = 0;
  std::set<int> threads;
  for (const nlohmann::json &event : events) {
    if (event["ph"] != "X")
      continue;
    EXPECT_GE(event["ts"], 0.0);
    EXPECT_GE(event["dur"], 0.0);
    threads.insert(event["tid"].get<int>());
    if (event["cat"] == "call") {
      ++calls;
      continue;
    }
    ++steps;
    EXPECT_EQ(event["args"]["location"], "test." + event["args"]["entry"].get<std::string>());
  }
  EXPECT_TRUE(threads.count(0));
  EXPECT_LE(*threads.rbegin(), 1);
  EXPECT_GE(calls, 3u);
  // Two steps a call, of one thread or both.
  EXPECT_GE(steps, calls * 2);
  EXPECT_LE(steps, calls * 2 * 2);
  EXPECT_EQ(run("bench FILE --prompt-tokens 4 --new-tokens 1 --no-peaks --trace " + path).code, 0);
  refused(run("bench FILE --prompt-tokens 4 --no-peaks --trace /nowhere/trace.json"),
          "/nowhere/trace.json: cannot be written");
}

/// The program in the header's opening comment, as it stands.
TEST_F(VerbsTest, TheHeadersExampleRuns) {
  std::ifstream header(FOVEA_RUNTIME_HEADERS "/fovea/runtime.h");
  std::ofstream source(folder.file("example.c"));
  bool inside = false;
  for (std::string line; std::getline(header, line);) {
    inside = inside || line.rfind(" *   #include", 0) == 0;
    if (inside && line != " *" && line.rfind(" *   ", 0) != 0)
      break;
    if (inside)
      source << (line.size() > 5 ? line.substr(5) : "") << "\n";
  }
  source.close();
  Outcome built =
      shell(FOVEA_C_COMPILER " " FOVEA_C_FLAGS
                             " -std=c11 -Wall -Wextra -Werror -pedantic -I " FOVEA_RUNTIME_HEADERS
                             " -o " +
            folder.file("example") + " " + folder.file("example.c") +
            " " FOVEA_RUNTIME_LIBRARY " -Wl,-rpath,$(dirname " FOVEA_RUNTIME_LIBRARY ")");
  ASSERT_EQ(built.code, 0) << built.err;
  Outcome outcome = shell(folder.file("example") + " FILE");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "after the third token, 19 is the most likely of 32\n");
  outcome = shell(folder.file("example") + " /nowhere.fovea");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("error: /nowhere.fovea"), std::string::npos);
}

} // namespace
