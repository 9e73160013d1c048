#include "argosy/ps/server/pass_reports.h"

#include <fmt/format.h>

#include <utility>

#include "argosy/base/counted.h"
#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/base/text.h"
#include "argosy/ps/spec/pass_book.h"
#include "argosy/ps/state/nonfinite.h"

namespace argosy::ps {

void PassReports::report_pass(const State& state, uint32_t round) const {
  if (!speaks_) return;
  PassSummary sum;
  std::vector<std::string> lost;
  for (int worker = 0; worker < state.members().workers(); ++worker) {
    if (const auto pass = state.members().finished(worker, round)) {
      sum.add(summary_of(*pass));
    } else if (state.members().is_awaited(worker)) {
      return;
    } else if (state.members().worker(worker).phase == Membership::Phase::lost) {
      lost.push_back(std::to_string(worker));
    }
  }
  if (sum.batches == 0) return;
  const std::string without = lost.empty() ? "" : fmt::format("; without worker {}, which was lost", join(lost, ", "));
  notice("pass {}: {}{}", round, sum.text(), without);
}

void PassReports::report_job(State& state, Nonfinite policy) {
  if (std::exchange(reported_, true)) return;
  if (const std::string bad = nonfinite_counts(state.tables()); !bad.empty()) {
    notice(LogLevel::warning, "not finite, and {} (nonfinite={}): {}", nonfinite_outcome(policy), nonfinite_name(policy), bad);
  }
  if (!speaks_) return;
  const wire::LedgerReply reply = ledger_of(state);
  const JobLedger ledger = join_ledgers(std::span(&reply, 1));
  if (ledger.total.batches > 0) {
    notice("the job, {}: {}", counted(ledger.passes.size(), "pass", "passes"), ledger.total.text());
  } else if (ledger.open.empty()) {
    notice("the job: no batch was trained");
  }
  for (const OpenPass& open : ledger.open) {
    notice_line(LogLevel::warning, open.text());
  }
}

wire::LedgerReply PassReports::ledger_of(State& state) {
  wire::LedgerReply reply;
  const MutexLock lock(state.mutex());
  for (int worker = 0; worker < state.members().workers(); ++worker) {
    *reply.add_workers() = state.members().ledger(worker);
    state.file_lists().describe(*reply.mutable_workers(worker));
  }
  const Tables& tables = state.tables();
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.left_out(i) > 0) (*reply.mutable_nonfinite())[tables.spec().tables[i].name] = tables.left_out(i);
  }
  return reply;
}

}  // namespace argosy::ps
