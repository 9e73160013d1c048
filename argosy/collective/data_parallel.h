#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/collective/gradient_type.h"
#include "argosy/collective/group.h"

namespace c10d {
class Reducer;
}

namespace argosy::collective {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

struct DataParallelOptions {
  double bucket_mb = 25;        // gradients are sent in pieces of about this size, while the backward goes on
  double first_bucket_mb = 1;   // the first piece is small, so that sending begins early
  bool find_unused_parameters = false;  // a step may leave parameters out; costs a walk through the graph a step
  bool gradient_as_bucket_view = true;  // gradients live in the pieces that are sent: no copies
  bool broadcast_buffers = true;        // rank 0's buffers (running means, …) go to all before each training forward
  GradientType gradient_type = GradientType::own;
  std::vector<std::string> sparse = {};  // names of parameters whose gradients are sparse
  bool reduce_alone = false;             // sends also in a group of one, for measurements
};

// A model's copy in each process of a group, kept equal: parameters and buffers are those of rank 0 at the start, and the
// gradients that a backward leaves are the mean over the group, sent while the backward runs (c10d's Reducer).
//
// Around each forward call before_forward() and after_forward(); the backward is torch's own, and an error in it names the
// members that did not come. Models that differ between ranks are refused by name of the parameter. Thread-compatible.
class DataParallel {
 public:
  static Result<std::unique_ptr<DataParallel>> make(std::shared_ptr<Group> group, std::vector<NamedTensor> parameters,
                                                    std::vector<NamedTensor> buffers, const DataParallelOptions& options = {});
  ~DataParallel();

  // `training`: whether buffers may change in this forward.
  Status before_forward(bool training = true);
  Status after_forward(const std::vector<at::Tensor>& outputs);

  // Where off, a backward adds to this process's own gradients, until the next one with it on sends the sum.
  void set_sync(bool on) { sync_ = on; }
  bool sync() const { return sync_; }
  // Every steps-th backward sends; the others add up. See DistributedOptimizer.
  void set_accumulation(int steps);
  int accumulation() const { return accumulation_; }

  // For steps that are taken again where a rank is lost in them. The buffers as they are now, and back to that; rank 0's to all.
  void keep_buffers();
  void put_buffers_back();
  Status share_buffers();
  // After the group has met again: without gradients, and as if no step had been taken. Nothing is sent.
  Status renew();

  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::shared_ptr<Group>& group() const { return group_; }

 private:
  DataParallel(std::shared_ptr<Group> group, std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers,
               const DataParallelOptions& options);
  Status take_from_rank_0();
  Status check_equal_models() const;
  Status make_reducer();
  Status follow_stream();
  bool sends() const;
  void keep_hooks();

  std::shared_ptr<Group> group_;
  std::vector<NamedTensor> parameters_;  // those that need a gradient
  std::vector<NamedTensor> buffers_;
  std::vector<at::Tensor> kept_buffers_;
  DataParallelOptions options_;
  std::shared_ptr<c10d::Reducer> reducer_;  // none where nothing has to be sent
  struct HookedNodes;
  std::unique_ptr<HookedNodes> hooked_;
  std::optional<c10::Stream> stream_;  // of a device, on which the reducer was made
  bool sync_ = true;
  int accumulation_ = 1;
  int64_t backwards_ = 0, steps_ = 0;
};

// Gradients of `data_parallel` are not sent while it lives.
class NoSync {
 public:
  explicit NoSync(DataParallel& data_parallel) : data_parallel_(data_parallel), before_(data_parallel.sync()) {
    data_parallel_.set_sync(false);
  }
  NoSync(const NoSync&) = delete;
  ~NoSync() { data_parallel_.set_sync(before_); }

 private:
  DataParallel& data_parallel_;
  const bool before_;
};

}  // namespace argosy::collective
