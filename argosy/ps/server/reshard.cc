#include "argosy/ps/server/reshard.h"

#include <algorithm>
#include <map>
#include <vector>

#include "argosy/base/counted.h"
#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/run_id.h"
#include "argosy/base/run_record.h"
#include "argosy/ps/server/replica_record.h"
#include "argosy/ps/server/server_core.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/state/state_cut.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {
namespace {

namespace fs = std::filesystem;

template <typename Message>
bool same(const Message& a, const Message& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// A run as its servers left it.
struct OldServers {
  std::vector<RunRecord> records;
  std::vector<Fd> locks;
  std::vector<table::Snapshot> parts;
  std::vector<wire::StateImage> images;
};

ServerOptions tool_options(const fs::path& folder, const std::string& job, int server, int servers, Durability durability) {
  ServerOptions options;
  options.address = "";
  options.job = job;
  options.server = server;
  options.servers = servers;
  options.directory = folder;
  options.durability = durability;
  options.only_recover = true;
  return options;
}

Durability durability_of(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "log", error) ? Durability::wal : Durability::snapshot;
}

// Of a server with two processes (replicas=1) the one that has the newest state is not known here.
Status check_no_followers(const fs::path& directory, const std::vector<RunRecord>& records) {
  ASSIGN_OR_RETURN(const auto followers, find_old_runs(followers_in(directory)));
  bool pairs = !followers.empty();
  for (const RunRecord& record : records) {
    const auto replica = read_replica_record(server_folder_in(directory, record.server));
    pairs = pairs || !replica.ok() || replica->has_value();
  }
  if (!pairs) return {};
  return Status::failed_precondition(
      "'{}' is of a job with --replicas 1, and the newest state of a server may be in '{}': the files EPOCH say which process "
      "was "
      "the primary last. Put its folder in the place of server-N where it is not, and move the followers' folders and the files "
      "EPOCH away",
      directory.string(), followers_in(directory).string());
}

Result<OldServers> lock_servers(const fs::path& directory) {
  OldServers old;
  ASSIGN_OR_RETURN(old.records, find_old_runs(directory));
  if (old.records.empty()) return Status::not_found("'{}' holds no run; there is nothing to deal out", directory.string());
  RETURN_IF_ERROR(check_no_followers(directory, old.records));
  const RunRecord& first = old.records.front();
  for (size_t i = 0; i < old.records.size(); ++i) {
    const RunRecord& record = old.records[i];
    if (record.server != static_cast<int>(i) || record.servers != first.servers || record.job != first.job ||
        record.run != first.run) {
      return Status::failed_precondition("'{}' does not belong to {}", server_folder_in(directory, record.server).string(),
                                         describe_runs({&first, 1}));
    }
    ASSIGN_OR_RETURN(Fd lock, lock_server_folder(server_folder_in(directory, record.server)));
    old.locks.push_back(std::move(lock));
  }
  if (static_cast<int>(old.records.size()) == first.servers) return old;
  return Status::not_found("'{}' has the folders of {}; {} has {}", directory.string(), counted(old.records.size(), "server"),
                           describe_runs(old.records), first.servers);
}

// Puts what a server's log holds into a snapshot, and opens that.
Status fold_log(const fs::path& folder, const RunRecord& record, OldServers& old) {
  {
    Core core(tool_options(folder, record.job, record.server, record.servers, durability_of(folder)));
    RETURN_IF_ERROR(core.recover());
    if (core.state() == nullptr) return Status::not_found("'{}' holds no state", folder.string());
    RETURN_IF_ERROR(core.stop(true));
  }
  const table::OneServer one{static_cast<uint32_t>(record.server), static_cast<uint32_t>(record.servers)};
  ASSIGN_OR_RETURN(auto snapshot, table::latest_snapshot(folder / "snapshots", one));
  if (!snapshot) return Status::data_loss("'{}' has no snapshot that can be used", folder.string());
  StateImageReader reader;
  RETURN_IF_ERROR(snapshot->read([&](const table::SnapshotChunk& chunk) {
    return chunk.kind == table::SnapshotChunk::Kind::state ? reader.add(chunk.bytes) : Status();
  }));
  ASSIGN_OR_RETURN(wire::StateImage image, std::move(reader).finish(snapshot->states().at(0)));
  old.parts.push_back(std::move(*snapshot));
  old.images.push_back(std::move(image));
  return {};
}

bool all_done(const wire::StateImage& image) {
  return std::ranges::all_of(image.workers(), [](const auto& worker) {
    return worker.phase() == static_cast<uint32_t>(Membership::Phase::done) ||
           worker.phase() == static_cast<uint32_t>(Membership::Phase::lost);
  });
}

bool same_batches(const wire::StateImage& a, const wire::StateImage& b) {
  if (a.workers_size() != b.workers_size() || !same(a.position(), b.position())) return false;
  for (int i = 0; i < a.workers_size(); ++i) {
    if (!same(a.workers(i).window(), b.workers(i).window())) return false;
  }
  return true;
}

Status check_alike(const OldServers& old) {
  for (const wire::StateImage& image : old.images) {
    if (!same(image.spec(), old.images[0].spec()))
      return Status::failed_precondition("the servers of {} have different schemas", describe_runs(old.records));
    if (all_done(image) && all_done(old.images[0])) continue;
    if (image.held_size() > 0 || !same_batches(image, old.images[0])) {
      return Status::failed_precondition(
          "the servers of {} do not hold the same batches, so they cannot be dealt out anew; go on with as many servers as it "
          "had "
          "(--resume), and end it by ending its workers",
          describe_runs(old.records));
    }
  }
  return {};
}

// What of a finished run the next one begins with, which has other workers. Those of the finished one are done.
wire::StateImage with_workers(const wire::StateImage& old, int workers) {
  wire::StateImage image;
  image.set_job(old.job());
  *image.mutable_spec() = old.spec();
  image.mutable_spec()->set_workers(static_cast<uint32_t>(workers));
  *image.mutable_rates() = old.rates();
  image.set_shrinks(old.shrinks());
  image.set_batches(old.batches());
  image.set_pushes(old.pushes());
  image.set_steps(old.steps());
  uint64_t incarnation = 0;
  for (const auto& worker : old.workers()) incarnation = std::max(incarnation, worker.incarnation());
  for (int i = 0; i < workers; ++i) {
    auto* worker = image.add_workers();
    worker->set_incarnation(incarnation);
    worker->set_phase(static_cast<uint32_t>(Membership::Phase::done));
  }
  return image;
}

Status change_workers(OldServers& old, int workers) {
  if (workers == static_cast<int>(old.images[0].spec().workers())) return {};
  for (wire::StateImage& image : old.images) {
    if (!all_done(image)) {
      return Status::failed_precondition("{} has not finished and has {}: go on with as many (--resume) until it has",
                                         describe_runs(old.records), counted(image.spec().workers(), "worker"));
    }
    image = with_workers(image, workers);
  }
  return {};
}

// What every server knows is as server 0 had it; what each has of its own goes where the new number of servers looks for it.
wire::StateImage image_for(const OldServers& old, int server, int servers) {
  wire::StateImage image = old.images[0];
  image.set_servers(static_cast<uint32_t>(servers));
  image.set_server(static_cast<uint32_t>(server));
  image.clear_saved();
  image.clear_changed();
  if (server != 0) image.clear_exchange();
  image.mutable_exchange()->clear_boxes();
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> changed;  // by table and worker
  for (const wire::StateImage& part : old.images) {
    for (const auto& box : part.exchange().boxes()) {
      if (static_cast<int>(box.to()) % servers == server) *image.mutable_exchange()->add_boxes() = box;
    }
    for (const auto& one : part.changed()) {
      for (const uint64_t key : one.keys()) {
        if (server_of(key, servers) == server) changed[{one.table(), one.worker()}].push_back(key);
      }
    }
  }
  for (const auto& [whose, keys] : changed) {
    auto* one = image.add_changed();
    one->set_table(whose.first);
    one->set_worker(whose.second);
    one->mutable_keys()->Assign(keys.begin(), keys.end());
  }
  return image;
}

Status make_server(const OldServers& old, const fs::path& folder, int server, int servers, Durability durability) {
  ServerOptions options = tool_options(folder, old.records[0].job, server, servers, durability);
  ASSIGN_OR_RETURN(options.spec, from_wire(old.images[0].spec()));
  Core core(options);
  RETURN_IF_ERROR(core.recover());
  RETURN_IF_ERROR(core.take_over(old.parts, image_for(old, server, servers)));
  RunRecord record = old.records[0];
  record.server = server;
  record.servers = servers;
  record.workers = options.spec->workers;
  record.rows = core.count_rows();
  RETURN_IF_ERROR(core.stop(true));
  return write_run_record(folder, record);
}

}  // namespace

Status reshard(const fs::path& directory, int servers, std::optional<int> workers) {
  ASSIGN_OR_RETURN(OldServers old, lock_servers(directory));
  for (const RunRecord& record : old.records) RETURN_IF_ERROR(fold_log(server_folder_in(directory, record.server), record, old));
  RETURN_IF_ERROR(check_alike(old));
  if (workers) RETURN_IF_ERROR(change_workers(old, *workers));
  const fs::path made = directory / fmt::format("resharded-{}", draw_run_id());
  for (int server = 0; server < servers; ++server)
    RETURN_IF_ERROR(
        make_server(old, server_folder_in(made, server), server, servers, durability_of(server_folder_in(directory, 0))));
  for (const RunRecord& record : old.records)
    RETURN_IF_ERROR(move_aside(server_folder_in(directory, record.server), record.run).status());
  std::error_code error;
  for (int server = 0; server < servers && !error; ++server)
    fs::rename(server_folder_in(made, server), server_folder_in(directory, server), error);
  if (error)
    return Status::unavailable("cannot move what is in '{}' to '{}': {}", made.string(), directory.string(), error.message());
  fs::remove(made, error);
  log_info("{} has {} now", describe_runs(old.records), counted(servers, "server"));
  return sync_folder(directory);
}

}  // namespace argosy::ps
