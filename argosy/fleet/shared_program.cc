#include "argosy/fleet/shared_program.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "argosy/base/error.h"
#include "argosy/collective/group_batch_norm.h"
#include "argosy/fleet/program_steps.h"

namespace argosy::fleet {
namespace {

using graph::OpDesc;

// The gradients that updates of `block` use, directly or after clipping: those of a backward operator's outputs that belong to
// trainable parameters.
std::vector<std::string> gradients_of(const OpDesc& backward, const graph::Block& block) {
  std::vector<std::string> names;
  const auto* inputs = backward.inputs.find("Inputs");
  const auto* outputs = backward.outputs.find("InputGradients");
  if (inputs == nullptr || outputs == nullptr) return names;
  for (size_t i = 0; i < std::min(inputs->size(), outputs->size()); ++i) {
    const graph::VarDesc* input = block.find_var((*inputs)[i]);
    if (input != nullptr && input->persistable && !(*outputs)[i].empty()) names.push_back((*outputs)[i]);
  }
  return names;
}

OpDesc in_place(std::string_view type, const std::vector<std::string>& names, graph::OpRole role) {
  OpDesc op{.type = std::string(type)};
  op.inputs["X"] = names;
  op.outputs["Out"] = names;
  op.attributes[std::string(graph::kRoleAttribute)] = static_cast<int32_t>(role);
  return op;
}

// Every persistable variable that the startup program fills, once.
std::vector<std::string> filled_by(const graph::Program& startup) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const auto& op : startup.global_block().ops()) {
    for (const std::string& name : op->output_names()) {
      const graph::VarDesc* variable = startup.global_block().find_var(name);
      if (variable != nullptr && variable->persistable && seen.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

class WorldPeers final : public engine::Peers {
 public:
  explicit WorldPeers(CollectiveJob& job) : job_(job) {}

  Result<int> count() override {
    Result<int> size = 0;
    const Status status = caught([&] { size = job_.world()->size(); });
    if (!status.ok()) return status;
    return size;
  }

  Status average(const std::vector<at::Tensor>& tensors, const engine::AverageOptions& options) override {
    const auto bytes = static_cast<int64_t>(options.piece_mb * 1024 * 1024);
    for (size_t first = 0; first < tensors.size();) {
      size_t last = first;
      int64_t size = 0;
      do {
        size += tensors[last].numel() * tensors[last].element_size();
        ++last;
      } while (last < tensors.size() && size < bytes && tensors[last].scalar_type() == tensors[first].scalar_type());
      RETURN_IF_ERROR(average_piece({tensors.begin() + static_cast<int64_t>(first), tensors.begin() + static_cast<int64_t>(last)},
                                    options.half_precision));
      first = last;
    }
    return {};
  }

  Status take_from_first(const std::vector<at::Tensor>& tensors) override { return job_.world()->broadcast(tensors, 0); }
  Result<std::vector<std::string>> gather(const std::string& bytes) override { return job_.world()->all_gather(bytes); }
  at::Tensor batch_norm(const at::Tensor& input, const engine::PeerBatchNorm& state) override {
    return collective::sync_batch_norm(input,
                                       {.weight = state.scale,
                                        .bias = state.bias,
                                        .running_mean = state.mean,
                                        .running_var = state.variance,
                                        .momentum = 1 - state.momentum,
                                        .eps = state.epsilon,
                                        .biased_var = true},
                                       true, job_.world());
  }

 private:
  // What `call` throws, as a Status.
  template <typename Call>
  static Status caught(Call call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return {};
  }

  Status average_piece(const std::vector<at::Tensor>& tensors, bool half_precision) {
    std::vector<at::Tensor> flat;
    for (const at::Tensor& tensor : tensors) flat.push_back(tensor.flatten());
    at::Tensor whole = at::cat(flat).div_(job_.world()->size());
    if (half_precision) whole = whole.to(at::kHalf);
    RETURN_IF_ERROR(job_.world()->all_reduce(whole, collective::ReduceOp::sum));
    int64_t at = 0;
    for (const at::Tensor& tensor : tensors) {
      tensor.copy_(whole.narrow(0, at, tensor.numel()).view(tensor.sizes()));
      at += tensor.numel();
    }
    return {};
  }

  CollectiveJob& job_;
};

}  // namespace

namespace {

void normalize_together(graph::Program& main) {
  for (const auto& op : main.global_block().ops()) {
    if (op->type == "batch_norm") op->type = std::string(engine::kSyncBatchNormOp);
  }
}

OpDesc average_of(const std::vector<std::string>& names, const engine::AverageOptions& options) {
  OpDesc average = in_place(engine::kAverageOp, names, graph::kRoleBackward);
  average.attributes["fuse_grad_size_in_MB"] = static_cast<float>(options.piece_mb);
  average.attributes["fp16"] = options.half_precision;
  return average;
}

// The backward operators that have gradients of parameters, by their places, with the gradients' names.
std::vector<std::pair<size_t, std::vector<std::string>>> backwards_of(const graph::Block& block) {
  std::vector<std::pair<size_t, std::vector<std::string>>> found;
  for (size_t i = 0; i < block.ops().size(); ++i) {
    const auto names = block.ops()[i]->type == "backward" ? gradients_of(*block.ops()[i], block) : std::vector<std::string>();
    if (!names.empty()) found.emplace_back(i, names);
  }
  return found;
}

bool is_shared(const graph::Program& main) {
  for (size_t i = 0; i < main.block_count(); ++i) {
    for (const auto& op : main.block(i).ops()) {
      if (op->type == engine::kAverageOp || op->type == engine::kAverageParametersOp) return true;
    }
  }
  return false;
}

}  // namespace

Status share_gradients(graph::Program& main, graph::Program& startup, engine::Context& context, CollectiveJob& job,
                       const SharingOptions& options) {
  graph::Block& block = main.global_block();
  if (is_shared(main))
    return Status::failed_precondition("this program averages its gradients already; minimize() was called twice for it");
  const auto backwards = backwards_of(block);
  if (backwards.empty())
    return Status::invalid_argument("the program has no gradients to average; complete it by an optimizer's minimize()");
  if (backwards.size() > 1 && options.merge_steps > 1)
    return Status::unimplemented("gradient_merge: the program has {} losses that were minimized; it takes one", backwards.size());
  if (options.sync_batch_norm) normalize_together(main);
  for (auto at = backwards.rbegin(); at != backwards.rend() && options.local_steps == 0; ++at) {
    OpDesc average = average_of(at->second, options.average);
    if (options.merge_steps > 1)
      merge_steps(main, startup, at->first, at->second, {options.merge_steps, options.merge_average}, std::move(average));
    else
      block.insert_op_unchecked(at->first + 1, std::move(average));
  }
  if (options.local_steps > 0) average_copies(main, startup, {options.local_steps, options.local_begin}, options.average);
  main.touch();
  const auto filled = filled_by(startup);
  if (!filled.empty()) {
    startup.global_block().append_op_unchecked(in_place(engine::kTakeFromFirstOp, filled, graph::kRoleForward));
    startup.touch();
  }
  context.set_peers(std::make_shared<WorldPeers>(job));
  return {};
}

}  // namespace argosy::fleet
