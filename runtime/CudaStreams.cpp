// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CudaStreams.h. What waits for an event waits for what it stood behind at that moment: one is
// enough.
#include "runtime/CudaStreams.h"

#include "runtime/status/Status.h"

namespace fovea::cuda {

static constexpr unsigned withoutTime = 2; // CUevent_flags

void StreamSwitch::check(CUstream stream) const {
  const Driver &driver = queue.driver;
  CUcontext context = nullptr;
  int capturing = 0; // CUstreamCaptureStatus
  cuda::check(driver, driver.contextOfStream(stream, &context), device + ": the caller's stream");
  if (context != queue.context)
    failInvalid(device + ": expects a stream of its primary context, got one of another context");
  cuda::check(driver, driver.isCapturing(stream, &capturing), device + ": the caller's stream");
  if (capturing != 0)
    failInvalid(device + ": expects a stream that runs what it is asked for, got one that is being "
                         "captured");
}

void StreamSwitch::enter(CUstream stream) {
  const Driver &driver = queue.driver;
  const std::string what = device + ": the caller's stream";
  Current current(queue);
  check(stream);
  if (!event)
    cuda::check(driver, driver.makeEvent(&event, withoutTime), device + ": an event");
  cuda::check(driver, driver.recordEvent(event, queue.stream), what);
  cuda::check(driver, driver.joinStream(stream, event, 0), what);
  own = queue.stream;
  queue.stream = stream;
}

void StreamSwitch::leave() noexcept {
  if (!own)
    return;
  const Driver &driver = queue.driver;
  driver.contextPush(queue.context);
  if (driver.recordEvent(event, queue.stream) != 0 || driver.joinStream(own, event, 0) != 0)
    driver.awaitStream(queue.stream);
  CUcontext popped;
  driver.contextPop(&popped);
  queue.stream = own;
  own = nullptr;
}

void StreamSwitch::end() noexcept {
  if (event)
    queue.driver.endEvent(event);
}

} // namespace fovea::cuda
