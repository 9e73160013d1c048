#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstring>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include "argosy/collective/group.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {
namespace {

constexpr size_t kBroadcastBuffer = 250 << 20;

c10d::ReduceOp to_c10d(ReduceOp op) {
  switch (op) {
    case ReduceOp::product: return c10d::ReduceOp::PRODUCT;
    case ReduceOp::min: return c10d::ReduceOp::MIN;
    case ReduceOp::max: return c10d::ReduceOp::MAX;
    case ReduceOp::sum:
    case ReduceOp::average: break;  // Gloo has no average: a sum that is divided afterwards
  }
  return c10d::ReduceOp::SUM;
}

Status check_average(ReduceOp op, const at::Tensor& tensor) {
  if (op != ReduceOp::average || tensor.is_floating_point() || tensor.is_complex()) return {};
  return Status::invalid_argument("an average of {} tensors is no {}; use a floating type, or the sum",
                                  c10::toString(tensor.scalar_type()), c10::toString(tensor.scalar_type()));
}

at::Tensor to_tensor(const std::string& bytes, c10::Device device) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor.to(device);
}

std::string to_bytes(const at::Tensor& tensor, int64_t size) {
  const at::Tensor here = tensor.cpu();
  return std::string(static_cast<const char*>(here.data_ptr()), static_cast<size_t>(size));
}

}  // namespace

Result<ReduceOp> parse_reduce_op(const std::string& name) {
  if (name == "sum") return ReduceOp::sum;
  if (name == "prod") return ReduceOp::product;
  if (name == "min") return ReduceOp::min;
  if (name == "max") return ReduceOp::max;
  if (name == "avg") return ReduceOp::average;
  return Status::invalid_argument("found the reduction '{}', expected sum, prod, min, max or avg", name);
}

Status Group::all_reduce(at::Tensor& tensor, ReduceOp op) {
  RETURN_IF_ERROR(check_average(op, tensor));
  if (size() == 1) return {};
  const at::NoGradGuard no_grad;
  at::Tensor whole = tensor.is_sparse() ? tensor : tensor.detach().contiguous();
  RETURN_IF_ERROR(run("all_reduce", &whole, [&] {
    std::vector<at::Tensor> tensors{whole};
    auto work = c10d_->allreduce(tensors, {to_c10d(op)});
    whole = tensors[0];
    return work;
  }));
  if (op == ReduceOp::average) whole.div_(size());
  if (!whole.is_alias_of(tensor)) tensor.detach().copy_(whole);
  return {};
}

Status Group::reduce(at::Tensor& tensor, int to, ReduceOp op) {
  RETURN_IF_ERROR(check_rank("reduce", to));
  RETURN_IF_ERROR(check_average(op, tensor));
  if (size() == 1) return {};
  const at::NoGradGuard no_grad;
  at::Tensor whole = tensor.detach().clone(at::MemoryFormat::Contiguous);  // on the other ranks Gloo leaves parts in it
  RETURN_IF_ERROR(run("reduce", &whole, [&] {
    std::vector<at::Tensor> tensors{whole};
    c10d::ReduceOptions options;
    options.reduceOp = to_c10d(op);
    options.rootRank = to;
    return c10d_->reduce(tensors, options);
  }));
  if (rank_ != to) return {};
  if (op == ReduceOp::average) whole.div_(size());
  tensor.detach().copy_(whole);
  return {};
}

Status Group::broadcast(at::Tensor& tensor, int from) {
  RETURN_IF_ERROR(check_rank("broadcast", from));
  if (size() == 1) return {};
  const at::NoGradGuard no_grad;
  at::Tensor whole = tensor.detach().contiguous();
  RETURN_IF_ERROR(run("broadcast", &whole, [&] {
    std::vector<at::Tensor> tensors{whole};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    return c10d_->broadcast(tensors, options);
  }));
  if (!whole.is_alias_of(tensor)) tensor.detach().copy_(whole);
  return {};
}

Status Group::broadcast(std::vector<at::Tensor> tensors, int from) {
  RETURN_IF_ERROR(check_rank("broadcast", from));
  if (size() == 1 || tensors.empty()) return {};
  RETURN_IF_ERROR(check_met("broadcast"));
  const std::string call = fmt::format("broadcast #{} of {} with {} tensors", ++calls_, name_, tensors.size());
  doing(call);
  const at::NoGradGuard no_grad;
  for (auto& tensor : tensors) tensor = tensor.detach();
  return explain(guarded([&] { c10d::broadcast_coalesced(c10d_, tensors, kBroadcastBuffer, from); }), call);
}

Result<std::vector<at::Tensor>> Group::all_gather(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.detach().contiguous();
  if (size() == 1) return std::vector<at::Tensor>{whole.clone()};
  std::vector<std::vector<at::Tensor>> all(1);
  for (int member = 0; member < size(); ++member) all[0].push_back(at::empty_like(whole));
  RETURN_IF_ERROR(run("all_gather", &whole, [&] {
    std::vector<at::Tensor> inputs{whole};
    return c10d_->allgather(all, inputs);
  }));
  for (auto& one : all[0]) one = one.detach();  // see reduce_scatter
  return std::move(all[0]);
}

Result<at::Tensor> Group::reduce_scatter(const std::vector<at::Tensor>& inputs, ReduceOp op) {
  if (static_cast<int>(inputs.size()) != size()) {
    return Status::invalid_argument("reduce_scatter: found {} tensors, expected one a member, {}", inputs.size(), size());
  }
  RETURN_IF_ERROR(check_average(op, inputs[0]));
  if (size() == 1) return inputs[0].detach().clone();
  const at::NoGradGuard no_grad;
  std::vector<std::vector<at::Tensor>> parts(1);
  for (const auto& input : inputs) parts[0].push_back(input.detach().contiguous());
  std::vector<at::Tensor> mine{at::empty_like(parts[0][rank_])};
  RETURN_IF_ERROR(run("reduce_scatter", &parts[0][0], [&] {
    c10d::ReduceScatterOptions options;
    options.reduceOp = to_c10d(op);
    return c10d_->reduce_scatter(mine, parts, options);
  }));
  if (op == ReduceOp::average) mine[0].div_(size());
  // Another tensor object on the same values: a thread of the backend may still be about to drop the one that it has filled,
  // and must not be the one that drops a Python object with it, maybe while Python ends.
  return mine[0].detach();
}

Status Group::send(const at::Tensor& tensor, int to) {
  RETURN_IF_ERROR(check_rank("send", to));
  if (to == rank_) return Status::invalid_argument("send: rank {} cannot send to itself", to);
  RETURN_IF_ERROR(check_met("send"));
  std::vector<at::Tensor> tensors{tensor.detach().contiguous()};
  const std::string call = fmt::format("send to rank {}", ranks_[to]);
  doing(call);
  c10::intrusive_ptr<c10d::Work> work;
  const Status started = guarded([&] { work = c10d_->send(tensors, to, 0); });
  return started.ok() ? await_message(*work, call) : explain(started, call);
}

Status Group::recv(at::Tensor& tensor, int from) {
  RETURN_IF_ERROR(check_rank("recv", from));
  if (from == rank_) return Status::invalid_argument("recv: rank {} cannot receive from itself", from);
  RETURN_IF_ERROR(check_met("recv"));
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> tensors{tensor.detach().contiguous()};
  const std::string call = fmt::format("recv from rank {}", ranks_[from]);
  doing(call);
  c10::intrusive_ptr<c10d::Work> work;
  const Status started = guarded([&] { work = c10d_->recv(tensors, from, 0); });
  RETURN_IF_ERROR(started.ok() ? await_message(*work, call) : explain(started, call));
  if (!tensors[0].is_alias_of(tensor)) tensor.detach().copy_(tensors[0]);
  return {};
}

Status Group::barrier() {
  if (size() == 1) return {};
  at::Tensor one = at::ones({1}, at::TensorOptions(device_));
  return run("barrier", nullptr, [&] {
    std::vector<at::Tensor> tensors{one};
    return c10d_->allreduce(tensors);
  });
}

Result<std::vector<std::string>> Group::all_gather(const std::string& bytes) {
  if (size() == 1) return std::vector<std::string>{bytes};
  RETURN_IF_ERROR(check_met("all_gather of bytes"));
  const std::string call = fmt::format("all_gather of bytes #{} of {}", ++calls_, name_);
  doing(call);
  RETURN_IF_ERROR(check_agreement(call));
  return gather_bytes(bytes);
}

Result<std::vector<std::string>> Group::gather_bytes(const std::string& bytes) {
  std::vector<std::string> all(size());
  const Status status = guarded([&] {
    std::vector<at::Tensor> length{at::full({1}, static_cast<int64_t>(bytes.size()), at::TensorOptions(notes_).dtype(at::kLong))};
    std::vector<std::vector<at::Tensor>> lengths(1), padded(1);
    for (int member = 0; member < size(); ++member) lengths[0].push_back(at::empty_like(length[0]));
    c10d_->allgather(lengths, length)->wait();
    int64_t longest = 1;
    for (const auto& one : lengths[0]) longest = std::max(longest, one.item<int64_t>());
    std::string filled = bytes;
    filled.resize(static_cast<size_t>(longest));
    std::vector<at::Tensor> mine{to_tensor(filled, notes_)};
    for (int member = 0; member < size(); ++member) padded[0].push_back(at::empty_like(mine[0]));
    c10d_->allgather(padded, mine)->wait();
    for (int member = 0; member < size(); ++member) all[member] = to_bytes(padded[0][member], lengths[0][member].item<int64_t>());
  });
  if (!status.ok()) return explain(status, "all_gather of bytes of " + name_);
  return all;
}

Result<std::string> Group::broadcast(const std::string& bytes, int from) {
  RETURN_IF_ERROR(check_rank("broadcast", from));
  if (size() == 1) return bytes;
  at::Tensor length = at::full({1}, static_cast<int64_t>(bytes.size()), at::TensorOptions(notes_).dtype(at::kLong));
  RETURN_IF_ERROR(broadcast(length, from));
  const auto size = length.item<int64_t>();
  at::Tensor content = rank_ == from ? to_tensor(bytes, notes_) : at::empty({size}, at::TensorOptions(notes_).dtype(at::kByte));
  if (size > 0) RETURN_IF_ERROR(broadcast(content, from));
  return to_bytes(content, size);
}

}  // namespace argosy::collective
