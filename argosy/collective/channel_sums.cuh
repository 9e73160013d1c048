// What the kernels of batch normalisation share: eight channels at a time, a thread's part of a tensor's rows, and sums over all rows, added in
// a fixed order by the block that comes last. Included by batch_norm_kernels.cu alone.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace argosy::collective::kernels {
namespace {

constexpr int kSumThreads = 512;  // of a block that sums
constexpr int kMostLanes = 32;    // threads beside each other, each with eight channels

__device__ __forceinline__ float widen(float x) { return x; }
__device__ __forceinline__ float widen(__half x) { return __half2float(x); }
__device__ __forceinline__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
template <typename T>
__device__ __forceinline__ T narrowed(float x);
template <>
__device__ __forceinline__ float narrowed(float x) { return x; }
template <>
__device__ __forceinline__ __half narrowed(float x) { return __float2half_rn(x); }
template <>
__device__ __forceinline__ __nv_bfloat16 narrowed(float x) { return __float2bfloat16_rn(x); }

// Eight neighbouring channels, as they lie in memory.
template <typename E>
struct alignas(16) Eight {
  E values[8];
};
template <typename E>
__device__ __forceinline__ Eight<E> load(const E* from) { return *reinterpret_cast<const Eight<E>*>(from); }
template <typename E>
__device__ __forceinline__ void widen(const Eight<E>& eight, float (&out)[8]) {
#pragma unroll
  for (int k = 0; k < 8; ++k) out[k] = widen(eight.values[k]);
}
template <typename E>
__device__ __forceinline__ void add(const Eight<E>& eight, float (&to)[8]) {
#pragma unroll
  for (int k = 0; k < 8; ++k) to[k] += widen(eight.values[k]);
}
template <typename E>
__device__ __forceinline__ void store(E* to, const float (&values)[8]) {
  Eight<E> eight;
#pragma unroll
  for (int k = 0; k < 8; ++k) eight.values[k] = narrowed<E>(values[k]);
  *reinterpret_cast<Eight<E>*>(to) = eight;
}

// What a thread has to do: eight channels from `channel` on, rows from `row` in steps of `step` up to `end`. A block has `lanes`
// threads beside each other; the grid is tiles of channels by chunks of rows.
struct Task {
  int lanes, lane, group, channel, row, end, step;
  bool active;
};
__device__ __forceinline__ Task task_of(int rows, int channels, int chunk) {
  Task task;
  const int eights = channels / 8;
  task.lanes = min(eights, kMostLanes);
  task.step = blockDim.x / task.lanes;
  task.lane = threadIdx.x % task.lanes;
  task.group = threadIdx.x / task.lanes;
  const int eight = blockIdx.x * task.lanes + task.lane;
  task.channel = eight * 8;
  task.active = task.group < task.step && eight < eights;
  const int each = (rows + gridDim.y - 1) / gridDim.y;
  task.row = chunk * each + task.group;
  task.end = min(rows, (chunk + 1) * each);
  return task;
}

// Calls use(u, offset) for U rows at a time in two goes: all loads are on their way before the first is needed.
template <int U, typename Load, typename Use>
__device__ __forceinline__ void walk(const Task& task, int channels, const Load& load_row, const Use& use_row) {
  for (int row = task.row; row < task.end; row += U * task.step) {
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (row + u * task.step < task.end) load_row(u, static_cast<size_t>(row + u * task.step) * channels + task.channel);
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (row + u * task.step < task.end) use_row(u, static_cast<size_t>(row + u * task.step) * channels + task.channel);
    }
  }
}

// The sums of one block into `tile`, [chunk][2][lanes * 8].
__device__ void sum_block(const Task& task, const float (&first)[8], const float (&second)[8], float* values, float* tile) {
  const int threads = blockDim.x, width = task.lanes * 8;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    values[k * threads + threadIdx.x] = first[k];
    values[(8 + k) * threads + threadIdx.x] = second[k];
  }
  __syncthreads();
  for (int out = threadIdx.x; out < 2 * width; out += threads) {
    const int lane = (out % width) / 8, k = (out / width) * 8 + out % 8;
    float sum = 0;
    for (int group = 0; group < task.step; ++group) sum += values[k * threads + group * task.lanes + lane];
    tile[blockIdx.y * 2 * width + out] = sum;
  }
}

// Adds the chunks' sums up, into total [2][lanes * 8].
__device__ void sum_chunks(int width, const float* tile, float* values, float* total) {
  const int fours = width / 2, groups = blockDim.x / fours;  // 2 * width numbers, four at a time
  const int four = threadIdx.x % fours, group = threadIdx.x / fours;
  if (group < groups) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int chunk = group; chunk < gridDim.y; chunk += groups) {
      const float4 one = __ldcg(reinterpret_cast<const float4*>(tile + chunk * 2 * width) + four);
      sum.x += one.x, sum.y += one.y, sum.z += one.z, sum.w += one.w;
    }
    reinterpret_cast<float4*>(values)[group * fours + four] = sum;
  }
  __syncthreads();
  for (int out = threadIdx.x; out < 2 * width; out += blockDim.x) {
    float all = 0;
    for (int g = 0; g < groups; ++g) all += values[g * 2 * width + out];
    total[out] = all;
  }
  __syncthreads();
}

// Sums over all blocks of a tile, in `total` of the block that comes last, which alone gets true.
__device__ bool sum_all(const Task& task, const float (&first)[8], const float (&second)[8], float* partial, unsigned* counts,
                        float* total) {
  __shared__ float values[16 * kSumThreads];
  __shared__ bool last;
  float* tile = partial + static_cast<size_t>(blockIdx.x) * gridDim.y * 2 * task.lanes * 8;
  sum_block(task, first, second, values, tile);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counts + blockIdx.x, 1u) == gridDim.y - 1;
    if (last) counts[blockIdx.x] = 0;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  sum_chunks(task.lanes * 8, tile, values, total);
  return true;
}

}  // namespace
}  // namespace argosy::collective::kernels
