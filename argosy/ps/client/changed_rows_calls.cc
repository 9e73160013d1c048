#include "argosy/ps/client/changed_rows_calls.h"

#include "argosy/ps/client/reply.h"
#include "argosy/ps/client/table_check.h"

namespace argosy::ps {

Status ChangedRowsCalls::pull(std::span<const int> tables, const ChangedRows& visit, ReadAt* read_at) {
  if (read_at != nullptr) read_at->resize(static_cast<size_t>(session_.size()));
  for (const int table : tables) RETURN_IF_ERROR(check_table_kind(job(), table, true));
  std::vector<int> servers = session_.all();
  // A server that has more than one answer holds is asked again.
  while (!servers.empty()) {
    ASSIGN_OR_RETURN(servers, pull_from(servers, tables, visit, read_at));
  }
  return {};
}

Result<std::vector<int>> ChangedRowsCalls::pull_from(std::span<const int> asked, std::span<const int> tables,
                                                     const ChangedRows& visit, ReadAt* read_at) {
  std::vector<ServerCall> calls;
  for (const int server : asked) {
    wire::PullChangedRequest request;
    request.set_number(answered_[static_cast<size_t>(server)] + 1);
    for (const int table : tables) request.add_tables(static_cast<uint32_t>(table));
    calls.push_back({server, session_.message(wire::PULL_CHANGED, server, std::move(request))});
  }
  ASSIGN_OR_RETURN(const auto answers, servers().call(std::move(calls)));
  std::vector<int> have_more;
  for (size_t i = 0; i < asked.size(); ++i) {
    const int server = asked[i];
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::PullChangedReply>(answers[i]));
    if (Status s = give(answers[i], reply, visit); !s.ok()) return s.with_context("{}", servers().name(server));
    answered_[static_cast<size_t>(server)] += 1;
    if (read_at != nullptr) keep_oldest((*read_at)[static_cast<size_t>(server)], reply.read_at());
    if (reply.more()) have_more.push_back(server);
  }
  return have_more;
}

Status ChangedRowsCalls::give(const rpc::Received& received, const wire::PullChangedReply& reply,
                              const ChangedRows& visit) const {
  size_t keys_at = 0, rows_at = 0;
  for (const wire::Section& section : reply.sections()) rows_at += section.count() * sizeof(uint64_t);
  for (const wire::Section& section : reply.sections()) {
    RETURN_IF_ERROR(check_table_kind(job(), static_cast<int>(section.table()), true));
    const size_t floats = section.count() * job().tables[section.table()].width;
    const auto keys = received.payload.values<uint64_t>(keys_at, section.count());
    const auto rows = received.payload.values<float>(rows_at, floats);
    if (keys.size() != section.count() || rows.size() != floats)
      return wrong_payload_size(received, rows_at + floats * sizeof(float));
    RETURN_IF_ERROR(visit(static_cast<int>(section.table()), keys, rows));
    keys_at += keys.size_bytes();
    rows_at += rows.size_bytes();
  }
  return {};
}

}  // namespace argosy::ps
