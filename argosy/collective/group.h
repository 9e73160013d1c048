#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/rank_info.h"
#include "argosy/base/settings.h"
#include "argosy/base/status.h"

namespace c10d {
class ProcessGroup;
class Store;
class Work;
}  // namespace c10d

namespace argosy::collective {

struct GroupShared;
struct Generation;
class Generations;

enum class ReduceOp { sum, product, min, max, average };
Result<ReduceOp> parse_reduce_op(const std::string& name);  // "sum", "prod", "min", "max", "avg"

// Processes that compute together. Every member makes the same calls in the same order; a call returns when its own part is
// done. Each has a deadline, and a failure names the operation and the members that are lost, silent or doing something else.
// Where the members' calls differ (another operation, shape or type), each of them gets an error that names two ranks and
// what each did; that check costs a message per call, and the setting collective_check=off leaves it out.
//
// Tensors on the CPU travel by Gloo, those on a GPU by NCCL, or by Gloo where collective_backend says so. Thread-compatible. A
// group of one process sends nothing. After a call that was cancelled (base/wait_check.h) the members are out of step, and all
// there is left to do is to end.
class Group {
 public:
  // All processes of the job, at the meeting place of `place`. The process no longer dies of SIGPIPE, unless it had chosen how
  // to take it.
  static Result<std::shared_ptr<Group>> join(const RankInfo& place, const Settings& settings);
  ~Group();

  // Those of this group's ranks, in the order given, which all of them must call with the same list; none for a process
  // that is not in it.
  Result<std::shared_ptr<Group>> subgroup(const std::vector<int>& ranks);

  int rank() const { return rank_; }  // in this group
  int size() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int>& ranks() const { return ranks_; }  // the job's rank of each member
  c10::Device device() const { return device_; }

  Status all_reduce(at::Tensor& tensor, ReduceOp op = ReduceOp::sum);  // in place
  Status reduce(at::Tensor& tensor, int to, ReduceOp op = ReduceOp::sum);  // `tensor` has the result on rank `to` only
  Status broadcast(at::Tensor& tensor, int from);
  Status broadcast(std::vector<at::Tensor> tensors, int from);  // many at once, in few messages
  Result<std::vector<at::Tensor>> all_gather(const at::Tensor& tensor);  // of equal shapes, member by member
  // The sum of everybody's inputs[i] becomes member i's result.
  Result<at::Tensor> reduce_scatter(const std::vector<at::Tensor>& inputs, ReduceOp op = ReduceOp::sum);
  Status send(const at::Tensor& tensor, int to);
  Status recv(at::Tensor& tensor, int from);
  Status barrier();

  Result<std::vector<std::string>> all_gather(const std::string& bytes);
  Result<std::string> broadcast(const std::string& bytes, int from);

  // Groups that survive the loss of a rank (on_rank_loss=survive); null of others.
  Generations* generations() const;
  // Which meeting of the group this is, from 1; 0: this process was started again in the place of a lost rank, and has not met
  // the others yet. Until then every call is an error.
  int generation() const { return generation_; }
  std::chrono::milliseconds timeout() const;  // of each call
  // Whether a call has failed since the processes met. Of groups with generations().
  bool has_failed() const;
  // Ends all calls under way, here and in the others, with an error; there is nothing left to do but to meet again. Any thread.
  void close() const;
  // The processes of a newer generation meet, and this object is their group from now on. Ends with an error where a still newer
  // one begins. REQUIRES: generations(); no call of the group is under way.
  Status meet_again(const Generation& generation);

  // This process makes no more calls in any group of its job: the others do not miss it from now on. For those who cannot say
  // when the last group is destroyed (Python). Safe to call twice.
  void leave();

  // For what c10d itself does in this group (its Reducer); `what` is for reports. Null in a group of one.
  const c10::intrusive_ptr<c10d::ProcessGroup>& c10d() const { return c10d_; }
  void doing(const std::string& what) const;
  // An error of such a call, with the names of the members that are lost, silent or elsewhere.
  Status explain(const Status& error, const std::string& what) const;

 private:
  Group() = default;
  Status connect(const std::string& name);
  Status connect(const std::string& name, std::chrono::milliseconds meeting_timeout);
  Status check_met(const std::string& what) const;
  void survive();
  void be_current();  // what close() closes. REQUIRES: this is the group of all
  Result<c10::intrusive_ptr<c10d::Store>> open_generation(const Generation& generation);
  Status wait_for_all(c10d::Store& store, int generation);
  Status run(const std::string& what, const at::Tensor* tensor, const std::function<c10::intrusive_ptr<c10d::Work>()>& start);
  Status await(c10d::Work& work, const std::string& call);  // ends with `cancelled` where a wait of this process is to end
  Status await_message(c10d::Work& work, const std::string& call);  // the same for send and recv
  Status cancelled(const std::string& call);
  Status check_agreement(const std::string& call);
  Status check_rank(const std::string& what, int rank) const;
  Result<std::vector<std::string>> gather_bytes(const std::string& bytes);  // without the check

  std::shared_ptr<GroupShared> shared_;
  std::string name_ = "world";
  int rank_ = 0;
  std::vector<int> ranks_{0};
  c10::Device device_ = c10::kCPU;
  c10::intrusive_ptr<c10d::ProcessGroup> c10d_;
  c10::Device notes_ = c10::kCPU;  // where bytes between members are put
  int64_t calls_ = 0, children_ = 0;
  int generation_ = 1;
};

}  // namespace argosy::collective
