// Batch normalisation with channels last: sums over the rows by one kernel, whose last block makes the numbers of each channel, and
// one pass that uses them, with the ReLU and the sum of a residual network in it. Sums are added in a fixed order.
#include "argosy/collective/batch_norm_kernels.h"

#include "argosy/collective/channel_sums.cuh"

namespace argosy::collective::kernels {
namespace {

constexpr int kPassThreads = 256;  // of a block that passes over the rows
constexpr int kForwardBlocks = 264, kBackwardBlocks = 132;  // of sums: a few for each multiprocessor
constexpr int kRowsPerThread = 8;  // of a pass

// The numbers of a channel from the sums of (x - pivot) and of its squares. The pivot is the channel's first value: sums of squares
// of values far from 0 would not have the digits.
template <typename P>
__device__ void finish_statistics(int c, float pivot, float sum, float squares, const P* weight, const P* bias, P* running_mean,
                                  P* running_var, float* saved, int rows, int channels, float momentum, float epsilon) {
  const float offset = sum / rows, mean = pivot + offset, var = fmaxf(squares / rows - offset * offset, 0.0f);
  const float inverse = rsqrtf(var + epsilon), scale = (weight ? widen(weight[c]) : 1.0f) * inverse;
  saved[c] = mean;
  saved[channels + c] = inverse;
  saved[2 * channels + c] = scale;
  saved[3 * channels + c] = (bias ? widen(bias[c]) : 0.0f) - mean * scale;
  if (!running_mean) return;
  const float estimate = rows > 1 ? var * (rows / (rows - 1.0f)) : var;
  running_mean[c] = narrowed<P>((1 - momentum) * widen(running_mean[c]) + momentum * mean);
  running_var[c] = narrowed<P>((1 - momentum) * widen(running_var[c]) + momentum * estimate);
}

template <typename E, typename P>
__global__ void __launch_bounds__(kSumThreads)
    statistics(const E* x, const P* weight, const P* bias, P* running_mean, P* running_var, float* saved, float* partial,
               unsigned* counts, int rows, int channels, float momentum, float epsilon) {
  const Task task = task_of(rows, channels, blockIdx.y);
  float sum[8] = {}, squares[8] = {}, pivot[8] = {};
  if (task.active) {
    constexpr int kTogether = 4;
    Eight<E> read[kTogether];
    widen(load(x + task.channel), pivot);
    walk<kTogether>(
        task, channels, [&](int u, size_t offset) { read[u] = load(x + offset); },
        [&](int u, size_t) {
          float v[8];
          widen(read[u], v);
#pragma unroll
          for (int k = 0; k < 8; ++k) {
            const float from_pivot = v[k] - pivot[k];
            sum[k] += from_pivot;
            squares[k] += from_pivot * from_pivot;
          }
        });
  }
  __shared__ float total[2 * kMostLanes * 8];
  if (!sum_all(task, sum, squares, partial, counts, total)) return;
  const int width = task.lanes * 8, begin = blockIdx.x * width;
  for (int i = threadIdx.x; i < width && begin + i < channels; i += blockDim.x) {
    finish_statistics(begin + i, widen(x[begin + i]), total[i], total[width + i], weight, bias, running_mean, running_var, saved,
                      rows, channels, momentum, epsilon);
  }
}

__device__ __forceinline__ void load_channels(const float* from, int channel, float (&out)[8]) {
  widen(load(from + channel), out);
}

// y = x * scale + shift, and what comes after.
template <typename E, After A>
__global__ void __launch_bounds__(kPassThreads) normalise(const E* x, const E* added, const float* saved, E* y, int rows, int channels) {
  const Task task = task_of(rows, channels, gridDim.y - 1 - blockIdx.y);  // from the end, which the sums have read last
  if (!task.active) return;
  constexpr int kTogether = 4;
  float scale[8], shift[8];
  load_channels(saved + 2 * channels, task.channel, scale);
  load_channels(saved + 3 * channels, task.channel, shift);
  Eight<E> read[kTogether], other[kTogether];
  walk<kTogether>(
      task, channels,
      [&](int u, size_t offset) {
        read[u] = load(x + offset);
        if constexpr (A == After::add_relu) other[u] = load(added + offset);
      },
      [&](int u, size_t offset) {
        float v[8], a[8];
        widen(read[u], v);
        if constexpr (A == After::add_relu) widen(other[u], a);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          v[k] = fmaf(v[k], scale[k], shift[k]);
          if constexpr (A == After::add_relu) v[k] += a[k];
          if constexpr (A != After::nothing) v[k] = v[k] < 0 ? 0.0f : v[k];  // NaN stays
        }
        store(y + offset, v);
      });
}

// Where a task's rows are read from in a backward, and the gradient that passes the ReLU. It is found again from x where nothing was
// added, and from y otherwise.
template <typename E, After A>
struct Passing {
  const E *outer, *outer2, *x, *y;
  float scale[8], shift[8];

  __device__ __forceinline__ void begin(const float* saved, int channel, int channels) {
    if constexpr (A == After::relu) {
      load_channels(saved + 2 * channels, channel, scale);
      load_channels(saved + 3 * channels, channel, shift);
    }
  }
  __device__ __forceinline__ void mask(float (&g)[8], const float (&v)[8], const Eight<E>& out) const {
    if constexpr (A != After::nothing) {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const float decides = A == After::add_relu ? widen(out.values[k]) : fmaf(v[k], scale[k], shift[k]);
        g[k] = decides > 0 ? g[k] : 0.0f;
      }
    }
  }
};

// The sums of a gradient, and from them what inner_gradient() needs: the input's gradient is c0 * g + c1 * x + c2.
template <typename E, typename P, After A>
__global__ void __launch_bounds__(kSumThreads)
    gradient_sums(Passing<E, A> from, const float* saved, E* passed, P* weight_grad, P* bias_grad, float* coefficients, float* partial,
                  unsigned* counts, int rows, int channels) {
  const Task task = task_of(rows, channels, blockIdx.y);
  float sum[8] = {}, product[8] = {}, mean[8];
  if (task.active) {
    constexpr int kTogether = A == After::add_relu ? 2 : 4;
    load_channels(saved, task.channel, mean);
    from.begin(saved, task.channel, channels);
    Eight<E> g_read[kTogether], x_read[kTogether], y_read[kTogether], second[kTogether];
    walk<kTogether>(
        task, channels,
        [&](int u, size_t offset) {
          g_read[u] = load(from.outer + offset);
          x_read[u] = load(from.x + offset);
          if constexpr (A == After::add_relu) {
            y_read[u] = load(from.y + offset);
            if (from.outer2) second[u] = load(from.outer2 + offset);
          }
        },
        [&](int u, size_t offset) {
          float g[8], v[8];
          widen(g_read[u], g);
          widen(x_read[u], v);
          if constexpr (A == After::add_relu) {
            if (from.outer2) add(second[u], g);
          }
          from.mask(g, v, y_read[u]);
          if constexpr (A == After::add_relu) store(passed + offset, g);
#pragma unroll
          for (int k = 0; k < 8; ++k) {
            sum[k] += g[k];
            product[k] += g[k] * (v[k] - mean[k]);
          }
        });
  }
  __shared__ float total[2 * kMostLanes * 8];
  if (!sum_all(task, sum, product, partial, counts, total)) return;
  const int width = task.lanes * 8, begin = blockIdx.x * width;
  for (int i = threadIdx.x; i < width && begin + i < channels; i += blockDim.x) {
    const int c = begin + i;
    const float inverse = saved[channels + c], scale = saved[2 * channels + c];
    const float of_x = -scale * inverse * inverse * total[width + i] / rows;
    coefficients[c] = scale;
    coefficients[channels + c] = of_x;
    coefficients[2 * channels + c] = -scale * total[i] / rows - of_x * saved[c];
    if (weight_grad) weight_grad[c] = narrowed<P>(total[width + i] * inverse);
    if (bias_grad) bias_grad[c] = narrowed<P>(total[i]);
  }
}

template <typename E, After A>
__global__ void __launch_bounds__(kPassThreads)
    inner_gradient(Passing<E, A> from, const float* saved, const float* coefficients, E* inner, int rows, int channels) {
  const Task task = task_of(rows, channels, gridDim.y - 1 - blockIdx.y);
  if (!task.active) return;
  constexpr int kTogether = 2;
  float c0[8], c1[8], c2[8];
  load_channels(coefficients, task.channel, c0);
  load_channels(coefficients + channels, task.channel, c1);
  load_channels(coefficients + 2 * channels, task.channel, c2);
  from.begin(saved, task.channel, channels);
  Eight<E> g_read[kTogether], x_read[kTogether];
  walk<kTogether>(
      task, channels,
      [&](int u, size_t offset) {
        g_read[u] = load(from.outer + offset);
        x_read[u] = load(from.x + offset);
      },
      [&](int u, size_t offset) {
        float g[8], v[8];
        widen(g_read[u], g);
        widen(x_read[u], v);
        from.mask(g, v, g_read[u]);
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = fmaf(c0[k], g[k], fmaf(c1[k], v[k], c2[k]));
        store(inner + offset, v);
      });
}

int lanes_of(const NormSize& size) { return size.channels / 8 < kMostLanes ? size.channels / 8 : kMostLanes; }
unsigned up(int a, int b) { return static_cast<unsigned>((a + b - 1) / b); }
int tiles_of(const NormSize& size) { return static_cast<int>(up(size.channels / 8, lanes_of(size))); }

dim3 sum_grid(const NormSize& size, int blocks) {
  const int tiles = tiles_of(size), most = static_cast<int>(up(size.rows, 4 * (kSumThreads / lanes_of(size))));
  const int wanted = blocks / tiles > 1 ? blocks / tiles : 1;
  return dim3(tiles, most < wanted ? most : wanted);
}
dim3 pass_grid(const NormSize& size) {
  return dim3(tiles_of(size), up(size.rows, kRowsPerThread * (kPassThreads / lanes_of(size))));
}

const char* problem() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

template <typename E, After A>
void queue_pass(const NormSize& size, const NormForward& call, cudaStream_t stream) {
  normalise<E, A><<<pass_grid(size), kPassThreads, 0, stream>>>(static_cast<const E*>(call.input), static_cast<const E*>(call.added),
                                                               call.saved, static_cast<E*>(call.output), size.rows, size.channels);
}

template <typename E, typename P>
void queue_forward(const NormSize& size, const NormForward& call, cudaStream_t stream) {
  statistics<E, P><<<sum_grid(size, kForwardBlocks), kSumThreads, 0, stream>>>(
      static_cast<const E*>(call.input), static_cast<const P*>(call.weight), static_cast<const P*>(call.bias),
      static_cast<P*>(call.running_mean), static_cast<P*>(call.running_var), call.saved, call.partial, call.counts, size.rows,
      size.channels, call.momentum, call.epsilon);
  switch (call.after) {
    case After::nothing: return queue_pass<E, After::nothing>(size, call, stream);
    case After::relu: return queue_pass<E, After::relu>(size, call, stream);
    case After::add_relu: return queue_pass<E, After::add_relu>(size, call, stream);
  }
}

template <typename E, typename P, After A>
void queue_sums(const NormSize& size, const NormBackward& call, cudaStream_t stream) {
  const Passing<E, A> from{static_cast<const E*>(call.outer), static_cast<const E*>(call.outer2), static_cast<const E*>(call.input),
                           static_cast<const E*>(call.output)};
  gradient_sums<E, P, A><<<sum_grid(size, kBackwardBlocks), kSumThreads, 0, stream>>>(
      from, call.saved, static_cast<E*>(call.added), static_cast<P*>(call.weight), static_cast<P*>(call.bias), call.coefficients,
      call.partial, call.counts, size.rows, size.channels);
}

template <typename E, After A>
void queue_inner(const NormSize& size, const NormBackward& call, const void* outer, cudaStream_t stream) {
  const Passing<E, A> from{static_cast<const E*>(outer), nullptr, static_cast<const E*>(call.input), nullptr};
  inner_gradient<E, A><<<pass_grid(size), kPassThreads, 0, stream>>>(from, call.saved, call.coefficients,
                                                                    static_cast<E*>(call.inner), size.rows, size.channels);
}

template <typename E, typename P>
void queue_backward(const NormSize& size, const NormBackward& call, cudaStream_t stream) {
  switch (call.after) {
    case After::nothing:
      queue_sums<E, P, After::nothing>(size, call, stream);
      return queue_inner<E, After::nothing>(size, call, call.outer, stream);
    case After::relu:
      queue_sums<E, P, After::relu>(size, call, stream);
      return queue_inner<E, After::relu>(size, call, call.outer, stream);
    case After::add_relu:  // what has passed is there
      queue_sums<E, P, After::add_relu>(size, call, stream);
      return queue_inner<E, After::nothing>(size, call, call.added, stream);
  }
}

// Calls `queue` with a value of the elements' type and one of the parameters'.
template <typename Queue>
void by_types(const NormSize& size, const Queue& queue) {
  const bool wide = size.parameter == Number::float32;
  switch (size.element) {
    case Number::float32: return queue(float(), float());
    case Number::float16: return wide ? queue(__half(), float()) : queue(__half(), __half());
    case Number::bfloat16: return wide ? queue(__nv_bfloat16(), float()) : queue(__nv_bfloat16(), __nv_bfloat16());
  }
}

}  // namespace

Workspace workspace_of(const NormSize& size) {
  const size_t chunks = sum_grid(size, kForwardBlocks).y, tiles = tiles_of(size);
  return {tiles * chunks * 2 * lanes_of(size) * 8, tiles};
}

const char* forward(const NormSize& size, const NormForward& call, void* stream) {
  by_types(size, [&](auto element, auto parameter) {
    queue_forward<decltype(element), decltype(parameter)>(size, call, static_cast<cudaStream_t>(stream));
  });
  return problem();
}

const char* backward(const NormSize& size, const NormBackward& call, void* stream) {
  by_types(size, [&](auto element, auto parameter) {
    queue_backward<decltype(element), decltype(parameter)>(size, call, static_cast<cudaStream_t>(stream));
  });
  return problem();
}

}  // namespace argosy::collective::kernels
