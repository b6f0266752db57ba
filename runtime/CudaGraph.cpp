// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CudaGraph.h. Each node waits for the one before it, as launches do.
#include "runtime/CudaGraph.h"

#include "runtime/status/Status.h"

namespace fovea::cuda {

void CudaGraph::prepare() {
  if (!module.where().driver.hasGraphs() || length == 0)
    return;
  try {
    if (instance && isSameTopology()) {
      update();
    } else {
      drop();
      build();
    }
  } catch (const Failure &) {
    drop();
    throw;
  }
  commitTopology();
  prepared = true;
}

void CudaGraph::run() {
  if (!prepared && isSameTopology())
    prepare();
  if (!prepared) {
    drop();
    DeviceGraph::run();
    commitTopology();
    return;
  }
  const Queue &queue = module.where();
  Current current(queue);
  check(queue.driver, queue.driver.launchGraph(instance, queue.stream),
        module.deviceName() + ": launch of a graph of " + std::to_string(length) + " kernels");
}

void CudaGraph::build() {
  const Queue &queue = module.where();
  const std::string where = module.deviceName() + ": a graph of kernels";
  Current current(queue);
  check(queue.driver, queue.driver.makeGraph(&graph, 0), where);
  for (size_t i = 0; i < length; ++i) {
    KernelNode node = module.describe(nodes[i].launch());
    CUgraphNode place;
    check(queue.driver,
          queue.driver.addKernel(&place, graph, i ? &places.back() : nullptr, i ? 1 : 0, &node),
          where);
    places.push_back(place);
  }
  check(queue.driver, queue.driver.instantiate(&instance, graph, 0), where);
}

/// What is under way keeps its old parameters.
void CudaGraph::update() {
  const Queue &queue = module.where();
  Current current(queue);
  for (size_t i = 0; i < length; ++i) {
    if (!nodes[i].changed)
      continue;
    KernelNode node = module.describe(nodes[i].launch());
    check(queue.driver, queue.driver.setKernel(instance, places[i], &node),
          module.deviceName() + ": a kernel's parameters in a graph");
  }
}

void CudaGraph::drop() noexcept {
  if (!graph)
    return;
  const Queue &queue = module.where();
  queue.driver.contextPush(queue.context);
  if (instance)
    queue.driver.endInstance(instance);
  queue.driver.endGraph(graph);
  CUcontext popped;
  queue.driver.contextPop(&popped);
  graph = nullptr;
  instance = nullptr;
  places.clear();
}

} // namespace fovea::cuda
