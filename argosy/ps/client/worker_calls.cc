#include "argosy/ps/client/worker_calls.h"

#include <algorithm>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/spec/file_lines.h"

namespace argosy::ps {
namespace {

constexpr int kMeetingServer = 0;

wire::NextFileRequest::Use use_of(const FileQuestion& question) {
  switch (question.use) {
    case FileQuestion::Use::script: return wire::NextFileRequest::SCRIPT;
    case FileQuestion::Use::pass: return wire::NextFileRequest::PASS;
    case FileQuestion::Use::memory: return wire::NextFileRequest::MEMORY;
  }
  return wire::NextFileRequest::SCRIPT;
}

struct LostLines {
  FileLines any, everywhere;  // on one server at least; on all of them
};

// What the servers have of a lost worker's file. The server that hands out files has listed it, so there the worker was in the
// pass; one where it has left that pass has all of it.
Result<LostLines> lines_of_lost(std::span<const wire::LedgerReply> servers, uint32_t worker, uint64_t file) {
  LostLines lines;
  std::vector<FileLines> holders;
  const auto record = [&](const wire::LedgerReply& server) { return &server.workers(static_cast<int>(worker)).open(); };
  for (const wire::LedgerReply& server : servers) {
    if (worker >= static_cast<uint32_t>(server.workers_size())) return Status::data_loss("a server knows no worker {}", worker);
    FileLines here;
    here.read(record(server)->lines());
    if (record(server)->round() == record(servers[kMeetingServer])->round()) holders.push_back(here.only(file));
  }
  for (const FileLines& here : holders) lines.any.add(here);
  lines.everywhere = lines.any;
  for (const FileLines& here : holders) {
    FileLines missing = lines.any;
    missing.remove(here);
    lines.everywhere.remove(missing);
  }
  return lines;
}

}  // namespace

Result<std::vector<std::string>> WorkerCalls::all_gather(std::string_view name, std::string_view bytes, Deadline deadline,
                                                         BatchId position) {
  wire::GatherRequest request;
  request.set_name(std::string(name));
  request.set_position(position);
  {
    MutexLock lock(mutex_);
    const Gathers& before = gathers_[std::string(name)];
    request.set_call(before.position == position ? before.calls + 1 : 1);
    request.set_after(before.number);
  }
  Gathers done{.position = position, .calls = request.call(), .number = request.after()};
  rpc::Message call = session_.message(wire::GATHER, kMeetingServer, std::move(request));
  call.payload.push_back(rpc::Slice::own(comparison_.pack(bytes)));
  auto received = servers().call(kMeetingServer, std::move(call), deadline);
  if (!received.ok()) return received.status().with_context("'{}' of worker {}", name, session_.worker());
  ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::GatherReply>(*received));
  std::vector<std::string> answer;
  size_t offset = 0;
  for (const uint64_t size : reply.sizes()) {
    const auto part = received->payload.values<char>(offset, size);
    if (part.size() != size) return Status::data_loss("'{}': the answer ends at byte {}", name, received->payload.size());
    answer.push_back(comparison_.learn(static_cast<int>(answer.size()), std::string(part.begin(), part.end())));
    offset += size;
  }
  if (Status s = comparison_.after_barrier(deadline); !s.ok())
    return s.with_context("'{}' of worker {}", name, session_.worker());
  MutexLock lock(mutex_);
  done.number = std::max(done.number, reply.number());
  gathers_[std::string(name)] = done;
  return answer;
}

Result<std::optional<HandedFile>> WorkerCalls::next_file(const FileQuestion& question) {
  wire::NextFileRequest request;
  request.set_list(question.list);
  request.set_files(question.files);
  request.set_reader(static_cast<uint32_t>(question.reader));
  request.set_use(use_of(question));
  request.set_round(question.round);
  request.set_lines(question.lines);
  {
    MutexLock lock(mutex_);
    request.set_number(++files_[{question.list, question.reader}]);
  }
  ASSIGN_OR_RETURN(const auto received,
                   servers().call(kMeetingServer, session_.message(wire::NEXT_FILE, kMeetingServer, std::move(request))));
  ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::NextFileReply>(received));
  if (reply.done()) {
    MutexLock lock(mutex_);
    --files_[{question.list, question.reader}];  // files of a worker that is lost later may still come
    return std::optional<HandedFile>();
  }
  HandedFile file{.place = reply.file()};
  if (reply.lines() > 0) file.lines = reply.lines();
  if (!reply.lost().empty()) RETURN_IF_ERROR(take_over(question, reply, file));
  return std::optional(std::move(file));
}

// Lost workers had the file: what servers have of it from them is left out.
Status WorkerCalls::take_over(const FileQuestion& question, const wire::NextFileReply& reply, HandedFile& file) {
  if (question.use == FileQuestion::Use::script) {
    notice(LogLevel::warning,
           "file {} of list '{}' was worker {}'s, which is lost, and is read again by worker {}: what was trained of it before "
           "counts twice",
           file.place, question.list, reply.lost(reply.lost_size() - 1), session_.worker());
    return {};
  }
  if (question.use == FileQuestion::Use::memory) return {};  // nothing was trained of what was being loaded
  wire::LedgerRequest ask;
  *ask.mutable_lost() = reply.lost();
  ASSIGN_OR_RETURN(const auto answers, servers().call(session_.to_all(wire::LEDGER, ask)));
  std::vector<wire::LedgerReply> ledgers;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(auto ledger, parse_reply<wire::LedgerReply>(answer));
    ledgers.push_back(std::move(ledger));
  }
  FileLines any, everywhere;
  for (const uint32_t worker : reply.lost()) {
    ASSIGN_OR_RETURN(const LostLines lines, lines_of_lost(ledgers, worker, file.place));
    any.add(lines.any);
    everywhere.add(lines.everywhere);
  }
  file.skip = any.of(file.place);
  file.in_parts = any.count(file.place) - everywhere.count(file.place);
  log_info(
      "file {} of list '{}' was worker {}'s, which is lost: worker {} reads what is left of it; {} lines of it are trained{}",
      file.place, question.list, reply.lost(reply.lost_size() - 1), session_.worker(), any.count(file.place),
      file.in_parts == 0 ? "" : fmt::format(", {} of them on some servers only", file.in_parts));
  return {};
}

// A worker's box is on the server with its number, so that a shuffle through the boxes uses all servers.
Status WorkerCalls::post(int to, std::string_view bytes) {
  if (to < 0 || to >= job().workers) return Status::invalid_argument("a message for worker {} of {}", to, job().workers);
  const int server = to % servers().size();
  wire::PostRequest request;
  request.set_to(static_cast<uint32_t>(to));
  {
    MutexLock lock(mutex_);
    request.set_number(posts_[to]++);
  }
  rpc::Message call = session_.message(wire::POST, server, std::move(request));
  call.payload.push_back(rpc::Slice::own(std::string(bytes)));
  return servers().call(server, std::move(call)).status();
}

Result<Mail> WorkerCalls::take(Deadline deadline) {
  const int server = session_.worker() % servers().size();
  wire::TakeRequest request;
  {
    MutexLock lock(mutex_);
    request.set_number(taken_);
  }
  ASSIGN_OR_RETURN(const auto received,
                   servers().call(server, session_.message(wire::TAKE, server, std::move(request)), deadline));
  ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::TakeReply>(received));
  {
    MutexLock lock(mutex_);
    taken_ += 1;
  }
  const auto bytes = received.payload.values<char>(0, received.payload.size());
  return Mail{.from = static_cast<int>(reply.from()), .bytes = std::string(bytes.begin(), bytes.end())};
}

void WorkerCalls::resume() {
  MutexLock lock(mutex_);
  files_.clear();
}

}  // namespace argosy::ps
