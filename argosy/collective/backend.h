#pragma once

#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>

#include "argosy/base/status.h"

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace argosy::collective {

// What carries the bytes between processes: one function a library, each in the only file that includes that library's
// headers, and each absent with a reason where the build has none of them.
struct BackendRequest {
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0, size = 1;
  std::string host;  // this process's own address, the only one that it listens on
  std::chrono::milliseconds timeout{};
  c10::Device device = c10::kCPU;
};

Result<c10::intrusive_ptr<c10d::Backend>> make_gloo(const BackendRequest& request);
Result<c10::intrusive_ptr<c10d::Backend>> make_nccl(const BackendRequest& request);

}  // namespace argosy::collective
