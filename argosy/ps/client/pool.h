#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "argosy/base/mutex.h"

namespace argosy::ps {

// Things that are used again: take() hands one out, and it comes back when the last pointer to it is gone, also when that is
// a transport's, after the call, after the pool. They keep their memory; the taker clears what it finds.
//
// Thread-safe.
template <typename T>
class Pool {
 public:
  std::shared_ptr<T> take() {
    std::unique_ptr<T> thing;
    {
      MutexLock lock(shelf_->mutex);
      if (!shelf_->things.empty()) {
        thing = std::move(shelf_->things.back());
        shelf_->things.pop_back();
      }
    }
    if (thing == nullptr) thing = std::make_unique<T>();
    return std::shared_ptr<T>(thing.release(), [shelf = shelf_](T* used) { shelf->put(std::unique_ptr<T>(used)); });
  }

 private:
  static constexpr size_t kMost = 64;  // that lie unused

  struct Shelf {
    void put(std::unique_ptr<T> thing) {
      MutexLock lock(mutex);
      if (things.size() < kMost) things.push_back(std::move(thing));
    }

    Mutex mutex;
    std::vector<std::unique_ptr<T>> things;
  };

  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace argosy::ps
