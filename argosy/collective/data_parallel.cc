#include "argosy/collective/data_parallel.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "argosy/base/text.h"
#include "argosy/collective/describe.h"
#include "argosy/collective/gradient_hook.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {
namespace {

std::string describe(const NamedTensor& one, const char* kind) {
  return fmt::format("{} {} {}", kind, one.name, collective::describe(one.tensor));
}

std::vector<at::Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const auto& one : named) tensors.push_back(one.tensor);
  return tensors;
}

// The first line in which two descriptions differ, as "has X, and … has Y".
Status differing(const std::string& mine, const std::string& other, int my_rank, int other_rank) {
  const auto my_lines = split(mine, '\n'), other_lines = split(other, '\n');
  for (size_t line = 0; line < std::max(my_lines.size(), other_lines.size()); ++line) {
    const auto at = [&](const auto& lines) { return line < lines.size() && !lines[line].empty() ? lines[line] : "nothing more"; };
    const std::string here = at(my_lines), there = at(other_lines);
    if (here == there) continue;
    return Status::failed_precondition(
        "the models of rank {} and rank {} differ: at place {} rank {} has {}, and rank {} has {}; every rank must build the "
        "same "
        "model, with its parameters in the same order",
        my_rank, other_rank, line + 1, my_rank, here, other_rank, there);
  }
  return {};
}

template <typename Node>
c10::weak_intrusive_ptr<Node> weak(const c10::intrusive_ptr<Node>& node) {
  return c10::weak_intrusive_ptr<Node>(node);
}
template <typename Node>
[[maybe_unused]] std::weak_ptr<Node> weak(const std::shared_ptr<Node>& node) {
  return node;
}

std::optional<c10::Stream> current_stream(c10::Device device) {
  if (device.is_cpu()) return std::nullopt;
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

// One that keeps the pieces that it begins with. Others arrange them anew after the first step, and where a gradient lies in its
// piece decides in which order the ranks' values are added up: a reducer that was made in the middle of a training would give
// other last bits than one that was there from its beginning.
class SteadyReducer final : public c10d::Reducer {
 public:
  template <typename... Args>
  explicit SteadyReducer(Args&&... args) : c10d::Reducer(std::forward<Args>(args)...) {
    has_rebuilt_bucket_ = true;
  }
};

size_t megabytes_to_bytes(double megabytes) { return static_cast<size_t>(megabytes * 1024 * 1024); }

}  // namespace

// Where the reducer's hooks hang, by parameter: loading a parameter (torch::load) makes torch forget the node, and with it the
// hook. The pointer's type is another one in torch 2.11.
struct DataParallel::HookedNodes {
  std::vector<decltype(torch::autograd::impl::grad_accumulator(std::declval<const at::Tensor&>()))> nodes;
};

DataParallel::DataParallel(std::shared_ptr<Group> group, std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers,
                           const DataParallelOptions& options)
    : group_(std::move(group)), parameters_(std::move(parameters)), buffers_(std::move(buffers)), options_(options) {}

DataParallel::~DataParallel() = default;

Result<std::unique_ptr<DataParallel>> DataParallel::make(std::shared_ptr<Group> group, std::vector<NamedTensor> parameters,
                                                         std::vector<NamedTensor> buffers, const DataParallelOptions& options) {
  std::unique_ptr<DataParallel> made(new DataParallel(std::move(group), std::move(parameters), std::move(buffers), options));
  for (const auto& name : options.sparse) {
    const auto found = [&](const NamedTensor& one) { return one.name == name; };
    if (std::none_of(made->parameters_.begin(), made->parameters_.end(), found)) {
      return Status::invalid_argument("there is no parameter '{}', whose gradient is said to be sparse", name);
    }
  }
  const bool met = made->group_->generation() > 0;  // a newcomer's are copied later, and only then is there anything to send
  if (met) RETURN_IF_ERROR(made->take_from_rank_0());
  std::erase_if(made->parameters_, [](const NamedTensor& one) { return !one.tensor.requires_grad(); });
  if (met) RETURN_IF_ERROR(made->make_reducer());
  return made;
}

Status DataParallel::take_from_rank_0() {
  RETURN_IF_ERROR(check_equal_models());
  std::vector<at::Tensor> all = tensors_of(parameters_), buffers_of_rank_0 = tensors_of(buffers_);
  all.insert(all.end(), buffers_of_rank_0.begin(), buffers_of_rank_0.end());
  return group_->broadcast(all, 0);
}

Status DataParallel::check_equal_models() const {
  if (group_->size() == 1) return {};
  std::string text;
  for (const auto& one : parameters_) {
    text += describe(one, one.tensor.requires_grad() ? "the parameter" : "the fixed parameter") + "\n";
  }
  for (const auto& one : buffers_) text += describe(one, "the buffer") + "\n";
  ASSIGN_OR_RETURN(const auto all, group_->all_gather(text));
  for (int other = 0; other < group_->size(); ++other) {
    RETURN_IF_ERROR(differing(text, all[other], group_->ranks()[group_->rank()], group_->ranks()[other]));
  }
  return {};
}

Status DataParallel::make_reducer() {
  if (options_.reduce_alone && !group_->c10d()) {
    return Status::failed_precondition(
        "reduce_alone: this process knows no address at which a group could meet, and so nothing that gradients could go by; "
        "start it by fleetrun, or set PADDLE_TRAINER_ENDPOINTS");
  }
  if (parameters_.empty() || !group_->c10d() || (group_->size() == 1 && !options_.reduce_alone)) return {};
  const auto parameters = tensors_of(parameters_);
  std::vector<bool> sparse;
  std::unordered_map<size_t, std::string> names;
  for (const auto& one : parameters_) {
    names.emplace(names.size(), one.name);
    sparse.push_back(std::find(options_.sparse.begin(), options_.sparse.end(), one.name) != options_.sparse.end());
  }
  stream_ = current_stream(parameters.front().device());
  const size_t cap = megabytes_to_bytes(options_.bucket_mb), first = megabytes_to_bytes(options_.first_bucket_mb);
  return guarded([&] {
    auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(parameters, {first, cap}, sparse));
    std::reverse(buckets.begin(), buckets.end());  // a backward meets the last parameters first
    const auto make = [&]<typename R>() {
      return std::make_shared<R>(parameters, std::move(buckets), group_->c10d(), sparse, cap, options_.find_unused_parameters,
                                 options_.gradient_as_bucket_view, names, first, /*skip_all_reduce_unused_params=*/false,
                                 /*use_python_reducer=*/false, /*bucket_bytes_cap_list=*/std::vector<int64_t>());
    };
    if (group_->generations() != nullptr) {
      reducer_ = make.template operator()<SteadyReducer>();
    } else {
      reducer_ = make.template operator()<c10d::Reducer>();
    }
    hooked_ = std::make_unique<HookedNodes>();
    for (const auto& parameter : parameters) hooked_->nodes.push_back(torch::autograd::impl::grad_accumulator(parameter));
    reducer_->register_comm_hook(make_gradient_hook(*group_, options_.gradient_type));
  });
}

// Gradients are added up on the stream on which the nodes that do it were made, and the reducer holds these. A step on another
// stream (one that is recorded, for example) would wait for the first, which a recording does not allow: the reducer is made
// again there.
Status DataParallel::follow_stream() {
  if (!stream_ || current_stream(parameters_.front().tensor.device()) == stream_) return {};
  reducer_.reset();
  hooked_.reset();
  return make_reducer();
}

void DataParallel::keep_buffers() {
  const at::NoGradGuard no_grad;
  kept_buffers_.clear();
  for (const auto& one : buffers_) kept_buffers_.push_back(one.tensor.detach().clone());
}

void DataParallel::put_buffers_back() {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < kept_buffers_.size(); ++i) buffers_[i].tensor.copy_(kept_buffers_[i]);
}

Status DataParallel::share_buffers() {
  if (buffers_.empty() || !options_.broadcast_buffers) return {};
  return group_->broadcast(tensors_of(buffers_), 0);
}

Status DataParallel::renew() {
  reducer_.reset();
  hooked_.reset();
  for (const auto& one : parameters_) const_cast<at::Tensor&>(one.tensor).mutable_grad().reset();
  backwards_ = 0;
  return make_reducer();
}

void DataParallel::set_accumulation(int steps) {
  accumulation_ = std::max(steps, 1);
  backwards_ = 0;
}

bool DataParallel::sends() const {
  return reducer_ && at::GradMode::is_enabled() && sync_ && (backwards_ + 1) % accumulation_ == 0;
}

void DataParallel::keep_hooks() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i].tensor;
    if (torch::autograd::impl::try_get_grad_accumulator(parameter) != hooked_->nodes[i]) {
      torch::autograd::impl::set_grad_accumulator(parameter, weak(hooked_->nodes[i]));
    }
  }
}

Status DataParallel::before_forward(bool training) {
  if (!reducer_) return {};
  RETURN_IF_ERROR(follow_stream());
  keep_hooks();
  if (sends()) {
    group_->doing(fmt::format("the forward of step {}", ++steps_));
    const Status status = guarded([&] {
      reducer_->prepare_for_forward();
      reducer_->rebuild_buckets();
    });
    if (!status.ok()) return group_->explain(status, "a forward");
  }
  if (training && options_.broadcast_buffers && at::GradMode::is_enabled()) {
    return group_->broadcast(tensors_of(buffers_), 0);
  }
  return {};
}

Status DataParallel::after_forward(const std::vector<at::Tensor>& outputs) {
  if (!reducer_ || !at::GradMode::is_enabled()) return {};
  const bool send = sends();
  if (sync_) ++backwards_;
  if (!send) return {};
  const auto searched = options_.find_unused_parameters ? outputs : std::vector<at::Tensor>();
  return group_->explain(guarded([&] { reducer_->prepare_for_backward(searched); }), "a backward");
}

}  // namespace argosy::collective
