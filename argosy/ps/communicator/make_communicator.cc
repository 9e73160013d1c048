#include "argosy/ps/communicator/make_communicator.h"

#include "argosy/ps/communicator/communicator_base.h"

namespace argosy::ps {
namespace {

Status check(const CommunicatorOptions& options) {
  const auto at_least = [](std::string_view name, int value, int least) {
    return value >= least ? Status() : Status::invalid_argument("{} is {}; expected {} or more", name, value, least);
  };
  RETURN_IF_ERROR(at_least("max_merge_var_num", options.max_merge_var_num, 1));
  RETURN_IF_ERROR(at_least("send_queue_size", options.send_queue_size, 1));
  RETURN_IF_ERROR(at_least("min_send_grad_num_before_recv", options.min_send_grad_num_before_recv, 1));
  RETURN_IF_ERROR(at_least("send_wait_times", options.send_wait_times, 0));
  RETURN_IF_ERROR(at_least("thread_pool_size", options.thread_pool_size, 1));
  RETURN_IF_ERROR(at_least("geo_k_steps", options.geo_k_steps, 1));
  if (options.sync_wait_seconds > 0) return {};
  return Status::invalid_argument("sync_wait_seconds is {}; expected more than 0", options.sync_wait_seconds);
}

}  // namespace

Result<std::unique_ptr<Communicator>> make_communicator(const CommunicatorOptions& options, Client& client) {
  RETURN_IF_ERROR(check(options));
  ASSIGN_OR_RETURN(Clipper clipper, Clipper::make(client.spec(), options));
  switch (client.spec().mode) {
    case Mode::sync: return make_sync_communicator(options, client, std::move(clipper));
    case Mode::half_async: return make_half_async_communicator(options, client, std::move(clipper));
    case Mode::async:
      if (options.threads_meet) return make_half_async_communicator(options, client, std::move(clipper));
      return make_async_communicator(options, client, std::move(clipper));
    case Mode::geo: return make_geo_communicator(options, client, std::move(clipper));
  }
  return Status::invalid_argument("mode {} is unknown", static_cast<int>(client.spec().mode));
}

}  // namespace argosy::ps
