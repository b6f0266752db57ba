// RUN: fovea-opt %s --verify-diagnostics --fovea-tile-to-threads

gpu.module @gpu {
  // expected-error @below {{expects whole warps of up to 1024 threads, got 48}}
  func.func private @no_whole_warps(%part: index, %parts: index) attributes {fovea.threads = 48 : i32} {
    return
  }
}
