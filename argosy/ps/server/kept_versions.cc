#include "argosy/ps/server/kept_versions.h"

#include <algorithm>

#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/ps/state/state_cut.h"

namespace argosy::ps {
namespace {

constexpr size_t kCopyBytes = size_t{4} << 20;          // of rows at a time
constexpr uint64_t kImagePieceBytes = uint64_t{1} << 20;

// The rows of sparse tables at one moment.
using RowCuts = std::vector<std::pair<size_t, table::SparseTable::Cut>>;

// Begins to copy every sparse table, and copies every dense one. REQUIRES: nobody changes the tables.
Result<RowCuts> cut_tables(const Tables& from, Tables& to) {
  RowCuts cuts;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from.is_sparse(i)) {
      ASSIGN_OR_RETURN(auto cut, from.sparse(i).begin_cut());
      cuts.emplace_back(i, std::move(cut));
    } else if (from.dense(i) != nullptr) {
      RETURN_IF_ERROR(to.dense(i)->import_bytes(from.dense(i)->export_bytes()));
    }
  }
  return cuts;
}

Status copy_rows(RowCuts& cuts, Tables& to) {
  for (auto& [table, cut] : cuts) {
    std::string records;
    for (;;) {
      records.clear();
      ASSIGN_OR_RETURN(const bool more, cut.next(kCopyBytes, records));
      if (!more) break;
      RETURN_IF_ERROR(to.sparse(table).import_records(records));
    }
    RETURN_IF_ERROR(to.sparse(table).set_progress(cut.progress()));
  }
  return {};
}

Result<wire::StateImage> image_of(const State& state) {
  StateCut cut;
  {
    const MutexLock lock(state.mutex());
    cut = state.cut();
  }
  StateImageReader pieces;
  ASSIGN_OR_RETURN(const std::string head,
                   cut.write(kImagePieceBytes, [&](std::string_view piece) { return pieces.add(piece); }));
  return std::move(pieces).finish(head);
}

}  // namespace

Result<std::shared_ptr<State>> KeptVersions::copy(State& newest, Mutex& applying) const {
  ASSIGN_OR_RETURN(std::shared_ptr<State> kept, adoption_.make_state(newest.spec(), newest.job()));
  RowCuts cuts;
  wire::StateImage image;
  {
    const MutexLock lock(applying);
    ASSIGN_OR_RETURN(cuts, cut_tables(newest.tables(), kept->tables()));
    ASSIGN_OR_RETURN(image, image_of(newest));
  }
  RETURN_IF_ERROR(copy_rows(cuts, kept->tables()));
  RETURN_IF_ERROR(kept->restore(image));
  return kept;
}

Status KeptVersions::keep(const std::string& name, State& newest, Mutex& applying) {
  if (name.empty()) return Status::invalid_argument("a version to keep needs a name");
  {
    const MutexLock lock(mutex_);
    if (find(name) != kept_.end()) return {};
    if (copying_) return Status::unavailable("a version is being copied; try again");
    if (kept_.size() >= most_) {
      return Status::resource_exhausted("{} versions are kept already, {} at most (--keep_versions); drop one first",
                                        kept_.size(), most_);
    }
    copying_ = true;
  }
  const Stopwatch watch;
  auto made = copy(newest, applying);
  const MutexLock lock(mutex_);
  copying_ = false;
  if (!made.ok()) return made.status().with_context("version '{}' could not be kept", name);
  log_info("keeps version {} as '{}', copied in {:.3f} s", (*made)->version(), name, watch.seconds());
  kept_.push_back({.name = name, .state = std::move(*made), .since = {}});
  return {};
}

KeptVersions::All::const_iterator KeptVersions::find(const std::string& name) const {
  return std::ranges::find(kept_, name, &One::name);
}

Status KeptVersions::no_such(const std::string& name) const {
  std::vector<std::string> names;
  for (const One& one : kept_) names.push_back("'" + one.name + "'");
  return Status::not_found("no version '{}' is kept here; {}", name,
                           names.empty() ? std::string("there is none") : "there are " + join(names, ", "));
}

Status KeptVersions::drop(const std::string& name) {
  const MutexLock lock(mutex_);
  const auto found = find(name);
  if (found == kept_.end()) return no_such(name);
  if (name == answers_from_) {
    return Status::failed_precondition("reads are answered from version '{}'; go to another one, or to the newest, first", name);
  }
  dropped_.push_back(found->state);
  kept_.erase(found);
  return {};
}

Status KeptVersions::answer_from(const std::string& name) {
  const MutexLock lock(mutex_);
  const auto found = find(name);
  if (!name.empty() && found == kept_.end()) return no_such(name);
  if (answers_from_ != name) {
    log_info("answers reads from {} now", name.empty() ? std::string("its newest version") : "version '" + name + "'");
  }
  answers_from_ = name;
  answering_ = name.empty() ? nullptr : found->state;
  return {};
}

std::shared_ptr<State> KeptVersions::answering() const {
  const MutexLock lock(mutex_);
  return answering_;
}

std::string KeptVersions::answers_from() const {
  const MutexLock lock(mutex_);
  return answers_from_;
}

void KeptVersions::report(wire::VersionsReply& reply) const {
  const MutexLock lock(mutex_);
  reply.set_answers_from(answers_from_);
  for (const One& one : kept_) {
    wire::VersionsReply::Kept* kept = reply.add_kept();
    kept->set_name(one.name);
    kept->set_version(one.state->version());
    kept->set_age_seconds(one.since.seconds());
  }
}

void KeptVersions::free_dropped(const std::function<bool()>& unused) {
  std::vector<std::shared_ptr<State>> free;  // after the lock
  const MutexLock lock(mutex_);
  if (!dropped_.empty() && unused()) free.swap(dropped_);
}

}  // namespace argosy::ps
