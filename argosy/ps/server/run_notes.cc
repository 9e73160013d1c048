#include "argosy/ps/server/run_notes.h"

#include <algorithm>
#include <optional>

namespace argosy::ps {

RunProgress RunNotes::progress() const {
  RunProgress made{.job = job_, .run = run_.id()};
  const State* state = state_.get();
  if (state == nullptr) return made;
  made.job = state->job();
  made.batches = state->batches();
  made.workers = state->members().workers();
  made.finished = state->members().all_done();
  std::optional<uint64_t> passes;
  for (int i = 0; i < state->members().workers(); ++i) {
    const Membership::Worker worker = state->members().worker(i);
    if (worker.phase != Membership::Phase::lost)
      passes = std::min<uint64_t>(passes.value_or(worker.window.round()), worker.window.round());
  }
  made.passes = passes.value_or(0);
  return made;
}

uint64_t RunNotes::count_rows() const {
  uint64_t rows = 0;
  const State* state = state_.get();
  for (size_t i = 0; state != nullptr && i < state->tables().size(); ++i) {
    if (state->tables().is_sparse(i)) rows += state->tables().sparse(i).size().rows;
  }
  return rows;
}

Status RunNotes::begin(bool anew) {
  if (folder_ == nullptr) return {};
  RunProgress made = progress();
  made.rows = count_rows();
  const Status begun = folder_->begin(made, anew);
  if (begun.ok() || !folder_->same_run()) return begun;
  failed_(begun.with_context(
      "the record of the run"));  // the one that is there is of this run: a full disk is no reason to stay away
  return {};
}

void RunNotes::note(bool now) {
  if (folder_ == nullptr) return;
  RunProgress made = progress();
  if (!now && !folder_->note_due(made)) return;
  made.rows = count_rows();
  if (const Status s = folder_->note(made, now); !s.ok()) failed_(s.with_context("the record of the run"));
}

}  // namespace argosy::ps
