// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of CUDA. Nodes are made one by one, not captured: of a sequence that comes again only
// what changed is told to the driver, where a capture would describe and compare all of it for each
// token. A sequence that comes for the first time is launched as it is, since instantiating a graph
// costs more than one run of it saves; so is every one if the driver knows no graphs (before CUDA
// 11.4).
#ifndef FOVEA_RUNTIME_CUDAGRAPH_H
#define FOVEA_RUNTIME_CUDAGRAPH_H

#include "runtime/CudaModule.h"

namespace fovea::cuda {

class CudaGraph : public DeviceGraph {
public:
  explicit CudaGraph(CudaModule &module) : DeviceGraph(module), module(module) {}
  ~CudaGraph() override { drop(); }
  void prepare() override;
  void run() override;

private:
  void build();
  void update();
  void drop() noexcept;

  CudaModule &module;
  CUgraph graph = nullptr;
  CUgraphExec instance = nullptr;
  std::vector<CUgraphNode> places; ///< of the nodes, in order
};

} // namespace fovea::cuda

#endif // FOVEA_RUNTIME_CUDAGRAPH_H
