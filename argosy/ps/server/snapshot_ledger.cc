#include "argosy/ps/server/snapshot_ledger.h"

#include <vector>

#include "argosy/ps/spec/pass_book.h"
#include "argosy/table/snapshot.h"

namespace argosy::ps {

Result<std::string> snapshot_ledger(const std::filesystem::path& folder) {
  const auto snapshot = table::Snapshot::open(folder);
  if (!snapshot.ok() || snapshot->kind() != table::SnapshotKind::full) return std::string();
  std::vector<wire::LedgerReply> servers;
  bool any = false;
  for (const std::string& state : snapshot->states()) {
    wire::StateImage image;
    if (!image.ParseFromString(state))
      return Status::data_loss("the state of server {} in snapshot '{}' cannot be read", servers.size(), folder.string());
    wire::LedgerReply& reply = servers.emplace_back();
    *reply.mutable_workers() = image.ledgers();
    any |= image.ledgers_size() > 0;
    for (const auto& [table, gradients] : image.nonfinite()) {
      if (table < static_cast<uint32_t>(image.spec().tables_size()))
        (*reply.mutable_nonfinite())[image.spec().tables(static_cast<int>(table)).name()] = gradients;
    }
  }
  return any ? join_ledgers(servers).to_json() : std::string();
}

}  // namespace argosy::ps
