// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of CUDA's driver that the runtime calls, opened when they are asked for: nothing of
// CUDA is needed to build or to start. Written against the CUDA Driver API's reference; names end
// in _v2 where the driver has two.
#ifndef FOVEA_RUNTIME_CUDADRIVER_H
#define FOVEA_RUNTIME_CUDADRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace fovea::cuda {

using CUresult = int;
using CUdevice = int;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUdeviceptr = unsigned long long;

/// CUtensorMap: opaque, and the driver wants it aligned.
struct alignas(64) EncodedMap {
  uint64_t words[16];
};

/// CUDA_KERNEL_NODE_PARAMS, of the functions without _v2.
struct KernelNode {
  CUfunction function;
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  void **parameters;
  void **extra;
};

/// The driver's functions. One for the process: the library stays open.
struct Driver {
  CUresult (*init)(unsigned);
  CUresult (*deviceCount)(int *);
  CUresult (*deviceGet)(CUdevice *, int);
  CUresult (*deviceName)(char *, int, CUdevice);
  CUresult (*deviceAttribute)(int *, int, CUdevice);
  CUresult (*contextRetain)(CUcontext *, CUdevice);
  CUresult (*contextRelease)(CUdevice);
  CUresult (*contextPush)(CUcontext);
  CUresult (*contextPop)(CUcontext *);
  CUresult (*allocate)(CUdeviceptr *, size_t);
  CUresult (*release)(CUdeviceptr);
  CUresult (*allocatePinned)(void **, size_t, unsigned);
  CUresult (*releasePinned)(void *);
  CUresult (*makeStream)(CUstream *, unsigned);
  CUresult (*endStream)(CUstream);
  CUresult (*awaitStream)(CUstream);
  CUresult (*joinStream)(CUstream, CUevent, unsigned);
  CUresult (*contextOfStream)(CUstream, CUcontext *);
  CUresult (*isCapturing)(CUstream, int *);
  CUresult (*askPointer)(unsigned, int *, void **, CUdeviceptr);
  CUresult (*copyIn)(CUdeviceptr, const void *, size_t, CUstream);
  CUresult (*copyOut)(void *, CUdeviceptr, size_t, CUstream);
  CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
  CUresult (*fill)(CUdeviceptr, unsigned char, size_t, CUstream);
  CUresult (*loadModule)(CUmodule *, const void *, unsigned, int *, void **);
  CUresult (*unloadModule)(CUmodule);
  CUresult (*getFunction)(CUfunction *, CUmodule, const char *);
  CUresult (*setAttribute)(CUfunction, int, int);
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void **, void **);
  CUresult (*makeEvent)(CUevent *, unsigned);
  CUresult (*endEvent)(CUevent);
  CUresult (*recordEvent)(CUevent, CUstream);
  CUresult (*awaitEvent)(CUevent);
  CUresult (*elapsed)(float *, CUevent, CUevent);
  CUresult (*errorString)(CUresult, const char **);
  /// For launches as one; see hasGraphs.
  CUresult (*makeGraph)(CUgraph *, unsigned);
  CUresult (*endGraph)(CUgraph);
  CUresult (*addKernel)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const KernelNode *);
  CUresult (*instantiate)(CUgraphExec *, CUgraph, unsigned long long);
  CUresult (*endInstance)(CUgraphExec);
  CUresult (*setKernel)(CUgraphExec, CUgraphNode, const KernelNode *);
  CUresult (*launchGraph)(CUgraphExec, CUstream);
  /// Null if the driver is older than CUDA 12.
  CUresult (*encodeMap)(EncodedMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                        const uint32_t *, const uint32_t *, int, int, int, int);

  /// False if the driver is older than CUDA 11.4.
  bool hasGraphs() const { return launchGraph; }

  /// Throws Failure if there is no driver or it is too old.
  static const Driver &get();
};

/// What the driver says of an error.
std::string text(const Driver &driver, CUresult result);

/// Throws Failure if a function of the driver failed.
void check(const Driver &driver, CUresult result, const std::string &what);

/// Throws Failure that no such device is there.
[[noreturn]] void failUnsupported(const std::string &what);

/// Where a device's work is asked for: a context and the one stream there, which is the caller's
/// for a time (CudaStreams.h).
struct Queue {
  const Driver &driver;
  CUcontext context;
  CUstream stream;
};

/// Makes a context current on this thread while it lives: the host's own stays what it was.
class Current {
public:
  Current(const Driver &driver, CUcontext context) : driver(driver) {
    check(driver, driver.contextPush(context), "cuCtxPushCurrent");
  }
  explicit Current(const Queue &queue) : Current(queue.driver, queue.context) {}
  ~Current() {
    CUcontext popped;
    driver.contextPop(&popped);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  const Driver &driver;
};

} // namespace fovea::cuda

#endif // FOVEA_RUNTIME_CUDADRIVER_H
