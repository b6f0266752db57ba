// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls: right numbers, the same to the bit for every kind and number of threads,
// and each wrong argument named.
#include "test/unit/runtime/RuntimeTest.h"

#include <numeric>
#include <thread>

using namespace fovea;
using namespace fovea::test;

namespace {

TEST_F(RuntimeTest, AddsTwoTensors) {
  ContextPtr own = context(2);
  CallPtr add = call(own, "add");
  for (int64_t rows : {1, 5, 2}) {
    std::vector<float> a(rows * 3), b(rows * 3, 10);
    std::iota(a.begin(), a.end(), 0.0f);
    EXPECT_EQ(set(add, "a", a, {rows, 3}), "");
    EXPECT_EQ(set(add, "b", b, {rows, 3}), "");
    EXPECT_EQ(run(add), "");
    std::vector<float> sum = result<float>(add, "sum");
    ASSERT_EQ(sum.size(), a.size());
    for (size_t i = 0; i < sum.size(); ++i)
      EXPECT_EQ(sum[i], static_cast<float>(i) + 10);
  }
}

TEST_F(RuntimeTest, NamesWrongArguments) {
  ContextPtr own = context();
  CallPtr add = call(own, "add");
  std::vector<float> data(12);
  std::vector<int64_t> integers(12);
  EXPECT_EQ(set(add, "c", data, {1, 3}), "entry 'add' has no argument 'c'; it has 'a', 'b'");
  EXPECT_EQ(set(add, "a", data, {1, 4}),
            "entry 'add': argument 'a' expects shape [rows, 3], got [1, 4]");
  EXPECT_EQ(set(add, "a", data, {3}), "entry 'add': argument 'a' expects shape [rows, 3], got [3]");
  EXPECT_EQ(set(add, "a", integers, {1, 3}),
            "entry 'add': argument 'a' expects element type f32, got i64");
  expectIn(set(add, "a", data, {0, 3}), "at least one element");
  expectIn(set(add, "a", nullptr, FOVEA_FLOAT, 32, {1, 3}), "has no data");
  expectIn(set(add, "a", reinterpret_cast<char *>(data.data()) + 1, FOVEA_FLOAT, 32, {1, 3}),
           "aligned");
  expectIn(set(add, "a", data, {int64_t(1) << 61, 3}), "impossibly large");
  expectIn(run(add), "argument 'a' is missing");
  EXPECT_EQ(set(add, "a", data, {4, 3}), "");
  EXPECT_EQ(set(add, "b", data, {2, 3}), "");
  EXPECT_EQ(run(add), "entry 'add': argument 'b' expects 4 for 'rows', as 'a' has, got 2 "
                      "(shape [2, 3])");
  const fovea_tensor *tensor;
  expectIn(message(fovea_call_get_result(add.get(), "sum", &tensor)), "has not been run");
  expectIn(message(fovea_call_get_result(add.get(), "product", &tensor)), "it has 'sum'");
  fovea_call *none = nullptr;
  expectIn(message(fovea_call_create(own.get(), "backward", &none)), "has no entry 'backward'");
  CallPtr prefill = call(own, "prefill");
  expectIn(set(prefill, "key_cache.0", data, {1, 1, 1, 1}), "is a cache");
}

TEST_F(RuntimeTest, StridesMustBeRowMajor) {
  ContextPtr own = context();
  CallPtr add = call(own, "add");
  std::vector<float> data(12);
  int64_t shape[] = {2, 3}, strides[] = {3, 1};
  fovea_tensor tensor{};
  tensor.data = data.data();
  tensor.device.type = FOVEA_CPU;
  tensor.ndim = 2;
  tensor.dtype = {FOVEA_FLOAT, 32, 1};
  tensor.shape = shape;
  tensor.strides = strides;
  EXPECT_EQ(message(fovea_call_set_argument(add.get(), "a", &tensor)), "");
  strides[0] = 6;
  expectIn(message(fovea_call_set_argument(add.get(), "a", &tensor)),
           "stride 3 in dimension 0, got 6");
  // A dimension of one element has no stride to speak of.
  shape[0] = 1;
  EXPECT_EQ(message(fovea_call_set_argument(add.get(), "a", &tensor)), "");
  tensor.device.type = 2;
  EXPECT_EQ(message(fovea_call_set_argument(add.get(), "a", &tensor)),
            "entry 'add': argument 'a' expects a tensor in CPU memory, got one of CUDA device 0");
}

/// A host that starts a thread for each body.
void hostRegion(void *user, int32_t count, fovea_body body, void *data) {
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < count; ++i)
    threads.emplace_back([=] { body(data, i); });
  for (std::thread &thread : threads)
    thread.join();
  ++*static_cast<int *>(user);
}
/// A host that runs bodies one after the other, the last first.
void hostFor(void *user, int32_t count, fovea_body body, void *data) {
  while (count-- > 0)
    body(data, count);
  ++*static_cast<int *>(user);
}

TEST_F(RuntimeTest, ResultsAreEqualToTheBitForAllThreads) {
  std::vector<float> x(1003), expected;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 0.001f * static_cast<float>(i * i % 617);
  auto wave = [&](const ContextPtr &own) {
    CallPtr made = call(own, "wave");
    EXPECT_EQ(set(made, "x", x, {1003}), "");
    EXPECT_EQ(run(made), "");
    return result<float>(made, "y");
  };
  expected = wave(context(1));
  ASSERT_EQ(expected.size(), x.size());
  EXPECT_NE(expected, x);
  for (int threads : {2, 3, 7})
    EXPECT_EQ(wave(context(threads)), expected) << threads;
  int calls = 0;
  fovea_threading host = {sizeof(host), 3, &calls, hostRegion, nullptr};
  EXPECT_EQ(wave(context(0, 0, &host)), expected);
  EXPECT_EQ(calls, 1);
  host = {sizeof(host), 5, &calls, nullptr, hostFor};
  EXPECT_EQ(wave(context(0, 0, &host)), expected);
  EXPECT_EQ(calls, 41);
}

TEST_F(RuntimeTest, TimesSteps) {
  ContextPtr own = context(2, 0, nullptr, 1);
  CallPtr wave = call(own, "wave");
  std::vector<float> x(1000, 1);
  EXPECT_EQ(set(wave, "x", x, {1000}), "");
  EXPECT_EQ(run(wave), "");
  double seconds = -1;
  EXPECT_EQ(message(fovea_call_get_step_time(wave.get(), 39, &seconds)), "");
  EXPECT_GT(seconds, 0);
  expectIn(message(fovea_call_get_step_time(wave.get(), 40, &seconds)), "no step number 40");
  ContextPtr plain = context();
  CallPtr other = call(plain, "wave");
  expectIn(message(fovea_call_get_step_time(other.get(), 0, &seconds)), "does not profile");
}

TEST_F(RuntimeTest, AFaultNamesItsKernel) {
  ContextPtr own = context(2);
  CallPtr fault = call(own, "fault");
  std::vector<int64_t> ids = {1, 2, 10, 4};
  EXPECT_EQ(set(fault, "ids", ids, {4}), "");
  EXPECT_EQ(run(fault), "entry 'fault': kernel 'fault_1' (test.fault) met an index or a size out "
                        "of bounds; look at the values of 'ids'");
  ids[2] = 3;
  EXPECT_EQ(run(fault), "");
  EXPECT_EQ(result<int64_t>(fault, "out"), ids);
}

TEST_F(RuntimeTest, CachesGrowAndAreEmptied) {
  ContextPtr own = context(2, 8);
  CallPtr prefill = call(own, "prefill"), decode = call(own, "decode");
  auto length = [&] {
    fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
    EXPECT_EQ(message(fovea_context_get_info(own.get(), &info)), "");
    EXPECT_EQ(info.capacity, 8);
    return info.length;
  };
  std::vector<int64_t> ids = {3, 4, 5, 6, 7, 8};
  EXPECT_EQ(set(prefill, "input_ids", ids, {2, 3}), "");
  EXPECT_EQ(run(prefill), "");
  EXPECT_EQ(length(), 3);
  std::vector<float> first = result<float>(prefill, "logits");
  ASSERT_EQ(first.size(), 64u);
  // Row 0: tokens 3+4+5 at length 3 give word (12*7+9)%32 = 29.
  EXPECT_EQ(first[29], 4.0f);
  EXPECT_EQ(first[32 + (21 * 7 + 9) % 32], 4.0f);

  std::vector<int64_t> one = {1};
  EXPECT_EQ(set(decode, "input_ids", one, {1, 1}), "");
  expectIn(run(decode), "holds 3 positions of 2 rows; the call has 1 rows");
  std::vector<int64_t> two = {1, 2};
  EXPECT_EQ(set(decode, "input_ids", two, {2, 1}), "");
  EXPECT_EQ(run(decode), "");
  EXPECT_EQ(length(), 4);
  EXPECT_EQ(result<float>(decode, "logits")[(13 * 7 + 12) % 32], 4.0f);

  // 4 + 3 = 7 fit, 3 more do not, and nothing changes then.
  EXPECT_EQ(run(prefill), "");
  expectIn(run(prefill), "cache 'key_cache.0' would hold 10 positions; the context has room for 8");
  EXPECT_EQ(length(), 7);
  // A fault leaves the caches as they were.
  std::vector<int64_t> wrong = {1, 99};
  EXPECT_EQ(set(decode, "input_ids", wrong, {2, 1}), "");
  expectIn(run(decode), "argument 'input_ids' expects token ids from 0 to 31, got 99 at element 1");
  EXPECT_EQ(length(), 7);

  EXPECT_EQ(message(fovea_context_reset(own.get())), "");
  EXPECT_EQ(length(), 0);
  EXPECT_EQ(run(prefill), "");
  EXPECT_EQ(result<float>(prefill, "logits"), first);
}

TEST_F(RuntimeTest, MaxPositionsBoundTheSequence) {
  ContextPtr own = context();
  CallPtr forward = call(own, "forward");
  std::vector<int64_t> ids(65, 1);
  EXPECT_EQ(set(forward, "input_ids", ids, {1, 65}), "");
  EXPECT_EQ(run(forward), "entry 'forward': 65 new positions are more than the 64 that the model "
                          "was made for");
  EXPECT_EQ(set(forward, "input_ids", ids, {1, 64}), "");
  EXPECT_EQ(run(forward), "");
}

TEST_F(RuntimeTest, OptionsOutOfRangeAreRefused) {
  fovea_context *made = nullptr;
  fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
  options.capacity = 65;
  expectIn(message(fovea_context_create(module.get(), &options, &made)), "at most 64 positions");
  options.capacity = -1;
  expectIn(message(fovea_context_create(module.get(), &options, &made)), "got -1");
  options.capacity = 0;
  options.threads = -2;
  expectIn(message(fovea_context_create(module.get(), &options, &made)), "threads");
  options.threads = 0;
  fovea_threading none = FOVEA_THREADING_INIT;
  options.threading = &none;
  expectIn(message(fovea_context_create(module.get(), &options, &made)), "threading");
  EXPECT_EQ(made, nullptr);
}

TEST_F(RuntimeTest, ContextsOfOneModuleRunAtTheSameTime) {
  std::vector<std::thread> users;
  for (int user = 0; user < 3; ++user)
    users.emplace_back([&, user] {
      ContextPtr own = context(2);
      CallPtr add = call(own, "add");
      for (int round = 0; round < 50; ++round) {
        std::vector<float> a(30, static_cast<float>(user)), b(30, static_cast<float>(round));
        EXPECT_EQ(set(add, "a", a, {10, 3}), "");
        EXPECT_EQ(set(add, "b", b, {10, 3}), "");
        EXPECT_EQ(run(add), "");
        EXPECT_EQ(result<float>(add, "sum"),
                  std::vector<float>(30, static_cast<float>(user + round)));
      }
    });
  for (std::thread &user : users)
    user.join();
}

TEST_F(RuntimeTest, CostsAreSummedOverRuns) {
  ContextPtr own = context(2, 0, nullptr, /*profile=*/1);
  CallPtr add = call(own, "add");
  std::vector<float> data(12);
  for (int64_t rows : {1, 4}) {
    EXPECT_EQ(set(add, "a", data, {rows, 3}), "");
    EXPECT_EQ(set(add, "b", data, {rows, 3}), "");
    EXPECT_EQ(run(add), "");
  }
  double flops = 0, bytes = 0;
  EXPECT_EQ(message(fovea_call_get_step_cost(add.get(), 0, &flops, &bytes)), "");
  EXPECT_EQ(flops, 3 + 12);
  EXPECT_EQ(bytes, 36 + 144);
  CallPtr wave = call(own, "wave");
  EXPECT_EQ(set(wave, "x", data, {12}), "");
  EXPECT_EQ(run(wave), "");
  EXPECT_EQ(message(fovea_call_get_step_cost(wave.get(), 3, &flops, &bytes)), "");
  EXPECT_EQ(flops, -1);
  EXPECT_EQ(bytes, -1);
  expectIn(message(fovea_call_get_step_cost(wave.get(), 40, &flops, &bytes)), "no step number 40");
}

/// One event for each step and thread that took part in it, and one for the call, with every kind
/// of threads.
TEST_F(RuntimeTest, TracesWhatEachThreadDid) {
  int calls = 0;
  fovea_threading region = {sizeof(region), 3, &calls, hostRegion, nullptr};
  fovea_threading single = {sizeof(single), 3, &calls, nullptr, hostFor};
  std::vector<float> x(20);
  for (fovea_threading *threading : {static_cast<fovea_threading *>(nullptr), &region, &single}) {
    fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
    options.threads = 3;
    options.threading = threading;
    options.trace = 1;
    fovea_context *made = nullptr;
    ASSERT_EQ(message(fovea_context_create(module.get(), &options, &made)), "");
    ContextPtr own(made);
    CallPtr wave = call(own, "wave");
    EXPECT_EQ(set(wave, "x", x, {20}), "");
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(run(wave), "");
    const fovea_trace_event *events = nullptr;
    size_t count = 0;
    ASSERT_EQ(message(fovea_context_get_trace(own.get(), &events, &count)), "");
    std::vector<int> steps(40), calls(3);
    int64_t begin = events[0].begin, whole = 0;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_STREQ(events[i].entry, "wave");
      EXPECT_LE(events[i].begin, events[i].end);
      if (events[i].step < 0) {
        whole += events[i].end - events[i].begin;
        ++calls.at(static_cast<size_t>(events[i].thread));
        continue;
      }
      ++steps.at(static_cast<size_t>(events[i].step));
      EXPECT_LT(events[i].thread, 3);
    }
    for (int ofStep : steps) {
      EXPECT_GE(ofStep, 2);
      EXPECT_LE(ofStep, 2 * 3);
    }
    if (threading == &single)
      EXPECT_EQ(steps, std::vector<int>(40, 2 * 3));
    EXPECT_EQ(calls, std::vector<int>({2, 0, 0}));
    EXPECT_GT(whole, 0);
    EXPECT_GT(begin, 0);
  }
  const fovea_trace_event *events = nullptr;
  size_t count = 0;
  ContextPtr quiet = context();
  expectIn(message(fovea_context_get_trace(quiet.get(), &events, &count)), "does not trace");
}

} // namespace
