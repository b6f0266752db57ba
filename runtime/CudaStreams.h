// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which stream a device's work is asked for on: its own, or a caller's for the time of a run. Each
// goes on behind what the other has been asked for, by an event, without the host; and the caller's
// is not touched any more when the run has been asked for. Refuses streams of other devices and
// contexts, and those that are being captured.
#ifndef FOVEA_RUNTIME_CUDASTREAMS_H
#define FOVEA_RUNTIME_CUDASTREAMS_H

#include "runtime/CudaDriver.h"

namespace fovea::cuda {

class StreamSwitch {
public:
  /// `queue` has its own stream when it is entered first; `device` is for messages.
  StreamSwitch(Queue &queue, const std::string &device) : queue(queue), device(device) {}

  void enter(CUstream stream);
  void leave() noexcept;
  /// Gives the event back; with the context current.
  void end() noexcept;

private:
  void check(CUstream stream) const;

  Queue &queue;
  const std::string &device;
  CUstream own = nullptr; ///< while a caller's is in its place
  CUevent event = nullptr;
};

} // namespace fovea::cuda

#endif // FOVEA_RUNTIME_CUDASTREAMS_H
