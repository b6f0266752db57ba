// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels in CUDA C++, to see the PTX of another compiler. NvccTest.cpp runs them on the emulator
// and knows what each gives.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" {

// Tiled product of n x n matrices, n a multiple of 16.
__global__ void matmul(float *c, const float *a, const float *b, int n) {
  __shared__ float ta[16][17], tb[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Softmax of rows by warps, any width.
__global__ void softmax(float *out, const float *in, int rows, int width) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  float most = -INFINITY;
  for (int i = lane; i < width; i += 32)
    most = fmaxf(most, in[row * width + i]);
  for (int o = 16; o; o /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  float sum = 0;
  for (int i = lane; i < width; i += 32)
    sum += expf(in[row * width + i] - most);
  for (int o = 16; o; o /= 2)
    sum += __shfl_down_sync(~0u, sum, o);
  sum = __shfl_sync(~0u, sum, 0);
  for (int i = lane; i < width; i += 32)
    out[row * width + i] = expf(in[row * width + i] - most) / sum;
}

__global__ void histogram(unsigned *counts, const unsigned *in, int n) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64)
    local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i] % 64], 1u);
  __syncthreads();
  if (threadIdx.x < 64 && local[threadIdx.x])
    atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

// Integers of all sizes, division, shifts, a switch, a local array, early ends.
__global__ void integers(long long *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int x = in[i];
  long long wide = (long long)x * 1000003 + i;
  unsigned char table[8];
  for (int j = 0; j < 8; ++j)
    table[j] = (unsigned char)(x >> j);
  long long result = wide / 7 + wide % 13 + (x / (i + 1)) + (unsigned)x % 10u;
  switch (x & 7) {
  case 0: result += 1; break;
  case 1: result *= 3; break;
  case 2: result ^= 0x55; break;
  case 3: result -= wide; break;
  case 4: result <<= 3; break;
  case 5: result >>= 5; break;
  default: result += table[(x >> 3) & 7];
  }
  result += __popc(x) + __clz(x) + (short)x + (signed char)x + __brev(x) % 5 + __byte_perm(x, i, 0x5140);
  for (int j = 0; j < (i & 15); ++j)
    result = result * 31 + j;
  out[i] = result;
}

__global__ void halves(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __half h = __float2half(in[i]);
  __half2 two = __hadd2(__half2half2(h), __floats2half2_rn(1.0f, 2.0f));
  __nv_bfloat16 b = __float2bfloat16(in[i]);
  out[4 * i] = __half2float(__hmul(h, h));
  out[4 * i + 1] = __low2float(two) + __high2float(two);
  out[4 * i + 2] = __bfloat162float(b);
  out[4 * i + 3] = __bfloat162float(__hfma(b, b, b));
}

__global__ void doubles(double *out, const double *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = sqrt(in[i] * in[i] + 1.0) / (in[i] + 3.0) + floor(in[i]) + (double)(int)in[i];
}

__global__ void vote(unsigned *out, const int *in) {
  int x = in[threadIdx.x];
  unsigned ballot = __ballot_sync(~0u, x > 0), active = 0;
  if (x > 0) {
    active = __activemask();
    x += __reduce_add_sync(active, x);
  }
  __syncwarp();
  out[4 * threadIdx.x] = ballot;
  out[4 * threadIdx.x + 1] = active;
  out[4 * threadIdx.x + 2] = x;
  out[4 * threadIdx.x + 3] = __syncthreads_count(x > 5) | (__any_sync(~0u, x == 3) << 16) | __match_any_sync(~0u, in[threadIdx.x] & 1) % 7 << 20;
}

// The last block to finish adds what all blocks left.
__device__ unsigned done;
__global__ void reduce(float *total, float *parts, const float *in, int n) {
  __shared__ float warps[32];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int o = 16; o; o /= 2)
    sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < blockDim.x / 32; ++i)
      sum += warps[i];
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < gridDim.x; ++i)
      sum += ((volatile float *)parts)[i];
    *total = sum;
  }
}
}
