#pragma once

#include <cstdint>
#include <utility>

// Apache Arrow's C data interface: how tables of columns change hands between libraries that know nothing else of each other. The
// structs are those of its specification, which says what each field means; the guards are the specification's, too.
extern "C" {
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
#endif
}

namespace argosy::data {

// Holds one of the structs above and releases it. Movable; thread-compatible.
template <typename Struct>
class ArrowOwned {
 public:
  ArrowOwned() = default;
  ArrowOwned(ArrowOwned&& other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  ArrowOwned& operator=(ArrowOwned&& other) noexcept {
    if (this != &other) {
      reset();
      held_ = std::exchange(other.held_, Struct{});
    }
    return *this;
  }
  ~ArrowOwned() { reset(); }

  // Takes what another owner has, which has nothing then.
  static ArrowOwned take(Struct* other) {
    ArrowOwned owned;
    owned.held_ = std::exchange(*other, Struct{});
    return owned;
  }

  bool holds() const { return held_.release != nullptr; }
  const Struct& operator*() const { return held_; }
  const Struct* operator->() const { return &held_; }
  Struct* get() { return &held_; }
  // Where a function puts a struct; what was held is released.
  Struct* fill() {
    reset();
    return &held_;
  }
  void reset() {
    if (held_.release != nullptr) held_.release(&held_);
    held_ = Struct{};
  }

 private:
  Struct held_{};
};

}  // namespace argosy::data
