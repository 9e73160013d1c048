#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "argosy/base/error.h"
#include "argosy/graph/dtype.h"

namespace argosy::serve {

// The element type that a C++ type is.
template <typename T>
constexpr graph::DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return graph::DType::float32;
  if constexpr (std::is_same_v<T, double>) return graph::DType::float64;
  if constexpr (std::is_same_v<T, int64_t>) return graph::DType::int64;
  if constexpr (std::is_same_v<T, int32_t>) return graph::DType::int32;
  if constexpr (std::is_same_v<T, int16_t>) return graph::DType::int16;
  if constexpr (std::is_same_v<T, int8_t>) return graph::DType::int8;
  if constexpr (std::is_same_v<T, uint8_t>) return graph::DType::uint8;
  if constexpr (std::is_same_v<T, bool>) return graph::DType::boolean;
}

// What goes into a model or comes out of it: elements in row-major order, and where sequences are, their boundaries. A plain
// value; copies share the elements, which nobody changes.
struct Tensor {
  graph::DType dtype = graph::DType::float32;
  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> lod;  // offsets, outermost level first ("level of detail"); empty: no sequences
  std::shared_ptr<const void> data;       // size() elements

  int64_t size() const;   // elements
  size_t bytes() const { return static_cast<size_t>(size()) * graph::dtype_size(dtype); }

  // The elements. Throws argosy::Error where they are not of type T.
  template <typename T>
  std::span<const T> values() const {
    check_type(dtype_of<T>());
    return {static_cast<const T*>(data.get()), static_cast<size_t>(size())};
  }

  // A tensor with a copy of `values`. REQUIRES: as many as `shape` says.
  template <typename T>
  static Tensor copy_of(std::span<const T> values, std::vector<int64_t> shape, std::vector<std::vector<int64_t>> lod = {}) {
    Tensor tensor = uninitialised(dtype_of<T>(), std::move(shape), std::move(lod));
    ARGOSY_CHECK(static_cast<size_t>(tensor.size()) == values.size(), "a tensor needs as many values as its shape says");
    if (!values.empty()) std::memcpy(tensor.mutable_data(), values.data(), values.size_bytes());
    return tensor;
  }
  template <typename T>
  static Tensor copy_of(const std::vector<T>& values, std::vector<int64_t> shape, std::vector<std::vector<int64_t>> lod = {}) {
    return copy_of(std::span<const T>(values), std::move(shape), std::move(lod));
  }

  // A batch of sequences of single values, such as the ids of a slot: shape [values, 1], one level of boundaries.
  template <typename T>
  static Tensor sequences(const std::vector<std::vector<T>>& samples) {
    std::vector<int64_t> offsets{0};
    std::vector<T> values;
    for (const auto& sample : samples) {
      values.insert(values.end(), sample.begin(), sample.end());
      offsets.push_back(static_cast<int64_t>(values.size()));
    }
    const auto count = static_cast<int64_t>(values.size());
    return copy_of(std::span<const T>(values), {count, 1}, {std::move(offsets)});
  }

  static Tensor uninitialised(graph::DType dtype, std::vector<int64_t> shape, std::vector<std::vector<int64_t>> lod = {});
  // Of a tensor that was just made and has no copies yet.
  void* mutable_data() { return const_cast<void*>(data.get()); }

 private:
  void check_type(graph::DType asked) const;
};

std::string describe(const Tensor& tensor);  // "float32 [4, 13]", "int64 [7, 1] in 4 sequences"

}  // namespace argosy::serve
