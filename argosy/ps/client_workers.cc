// What a client does for workers among each other: barriers, gathers, hand-out of files, boxes.
#include <algorithm>
#include <cstring>

#include "argosy/ps/client_impl.h"

namespace argosy::ps {
namespace {

constexpr int kMeetingServer = 0;

template <typename T>
void combine(Reduce reduce, std::span<T> into, const std::string& bytes) {
  for (size_t i = 0; i < into.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    switch (reduce) {
      case Reduce::sum: into[i] += value; break;
      case Reduce::max: into[i] = std::max(into[i], value); break;
      case Reduce::min: into[i] = std::min(into[i], value); break;
    }
  }
}

}  // namespace

Status ClientImpl::barrier(std::string_view name, Deadline deadline, BatchId position) {
  return all_gather(name, {}, deadline, position).status();
}

Result<std::vector<std::string>> ClientImpl::all_gather(std::string_view name, std::string_view bytes, Deadline deadline,
                                                        BatchId position) {
  wire::GatherRequest request;
  request.set_name(std::string(name));
  request.set_position(position);
  {
    std::lock_guard lock(mutex_);
    const Gathers& before = gathers_[std::string(name)];
    request.set_call(before.position == position ? before.calls + 1 : 1);
    request.set_after(before.number);
  }
  Gathers done{.position = position, .calls = request.call(), .number = request.after()};
  rpc::Message call = message(wire::GATHER, kMeetingServer, std::move(request));
  call.payload.push_back(rpc::Slice::own(std::string(bytes)));
  auto received = servers_->call(kMeetingServer, std::move(call), deadline);
  if (!received.ok()) return received.status().with_context("'{}' of worker {}", name, options_.worker);
  ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::GatherReply>(*received));
  std::vector<std::string> answer;
  size_t offset = 0;
  for (const uint64_t size : reply.sizes()) {
    const auto part = received->payload.values<char>(offset, size);
    if (part.size() != size) return Status::data_loss("'{}': the answer ends at byte {}", name, received->payload.size());
    answer.emplace_back(part.begin(), part.end());
    offset += size;
  }
  std::lock_guard lock(mutex_);
  done.number = std::max(done.number, reply.number());
  gathers_[std::string(name)] = done;
  return answer;
}

template <typename T>
Status Client::all_reduce(std::string_view name, Reduce reduce, std::span<T> values, Deadline deadline, BatchId position) {
  const std::string_view mine(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  ASSIGN_OR_RETURN(const auto everybody, all_gather(name, mine, deadline, position));
  bool first = true;
  for (size_t worker = 0; worker < everybody.size(); ++worker) {
    const std::string& bytes = everybody[worker];
    if (bytes.empty()) continue;  // lost or done
    if (bytes.size() != values.size_bytes()) {
      return Status::invalid_argument("all_reduce '{}': worker {} gave {} bytes, this worker {}", name, worker, bytes.size(),
                                      values.size_bytes());
    }
    if (first) {
      if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      first = false;
    } else {
      combine(reduce, values, bytes);
    }
  }
  return {};
}

template Status Client::all_reduce(std::string_view, Reduce, std::span<double>, Deadline, BatchId);
template Status Client::all_reduce(std::string_view, Reduce, std::span<float>, Deadline, BatchId);
template Status Client::all_reduce(std::string_view, Reduce, std::span<int64_t>, Deadline, BatchId);

Result<std::optional<uint64_t>> ClientImpl::next_file(std::string_view list, uint64_t files, int reader) {
  wire::NextFileRequest request;
  request.set_list(std::string(list));
  request.set_files(files);
  request.set_reader(static_cast<uint32_t>(reader));
  {
    std::lock_guard lock(mutex_);
    request.set_number(++files_[{std::string(list), reader}]);
  }
  ASSIGN_OR_RETURN(const auto received,
                   servers_->call(kMeetingServer, message(wire::NEXT_FILE, kMeetingServer, std::move(request))));
  ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::NextFileReply>(received));
  return reply.done() ? std::optional<uint64_t>() : std::optional<uint64_t>(reply.file());
}

// A worker's box is on the server with its number, so that a shuffle through the boxes uses all servers.
Status ClientImpl::post(int to, std::string_view bytes) {
  if (to < 0 || to >= spec_.workers) return Status::invalid_argument("a message for worker {} of {}", to, spec_.workers);
  const int server = to % servers_->size();
  wire::PostRequest request;
  request.set_to(static_cast<uint32_t>(to));
  {
    std::lock_guard lock(mutex_);
    request.set_number(posts_[to]++);
  }
  rpc::Message call = message(wire::POST, server, std::move(request));
  call.payload.push_back(rpc::Slice::own(std::string(bytes)));
  return servers_->call(server, std::move(call)).status();
}

Result<Client::Mail> ClientImpl::take(Deadline deadline) {
  const int server = options_.worker % servers_->size();
  wire::TakeRequest request;
  {
    std::lock_guard lock(mutex_);
    request.set_number(taken_);
  }
  ASSIGN_OR_RETURN(const auto received, servers_->call(server, message(wire::TAKE, server, std::move(request)), deadline));
  ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::TakeReply>(received));
  {
    std::lock_guard lock(mutex_);
    taken_ += 1;
  }
  const auto bytes = received.payload.values<char>(0, received.payload.size());
  return Mail{.from = static_cast<int>(reply.from()), .bytes = std::string(bytes.begin(), bytes.end())};
}

}  // namespace argosy::ps
