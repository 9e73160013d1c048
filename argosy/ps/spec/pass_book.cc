#include "argosy/ps/spec/pass_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "argosy/base/text.h"

namespace argosy::ps {
namespace {

constexpr size_t kPieces = 8;         // of a list in a message
constexpr std::string_view kLost = "lost";  // wire::WorkerLedger.state
constexpr uint64_t kListed = 10'000;  // numbers that a difference names at most

// Of one record: what this server lost, went on without, or heard of another that has lost more.
uint64_t lost_batches(const wire::PassRecord& record) {
  const wire::PassLedger& ledger = record.ledger();
  return std::max(record.lost_batches() + static_cast<uint64_t>(ledger.given_up_size()), ledger.lost_elsewhere_batches());
}

uint64_t lost_samples(const wire::PassRecord& record) {
  const wire::PassLedger& ledger = record.ledger();
  return std::max(record.lost_samples() + ledger.given_up_samples(), ledger.lost_elsewhere_samples());
}

void add(const wire::PassRecord& record, wire::PassRecord* sum) {
  wire::PassLedger& total = *sum->mutable_ledger();
  const wire::PassLedger& one = record.ledger();
  // Lists become counts in the sums: of batches that are there, the empty ones are no part.
  total.set_batches(total.batches() + one.batches() - static_cast<uint32_t>(one.empty_size()));
  total.set_samples(total.samples() + one.samples());
  total.set_lines(total.lines() + one.lines());
  total.set_bad_lines(total.bad_lines() + one.bad_lines());
  total.set_files(total.files() + one.files());
  total.set_failed_runs(total.failed_runs() + one.failed_runs());
  total.set_unsent(one.unsent());
  total.set_lines_of_lost(total.lines_of_lost() + one.lines_of_lost());
  total.set_lines_in_parts(total.lines_in_parts() + one.lines_in_parts());
  total.set_holds_back(one.holds_back());
  total.set_begun_again(total.begun_again() + one.begun_again());
  total.set_given_up_differences(total.given_up_differences() + one.given_up_differences());
  sum->set_lost_batches(sum->lost_batches() + lost_batches(record));
  sum->set_lost_samples(sum->lost_samples() + lost_samples(record));
  sum->set_dropped_batches(sum->dropped_batches() + record.dropped_batches());
  sum->set_dropped_samples(sum->dropped_samples() + record.dropped_samples());
  sum->set_restarts(sum->restarts() + record.restarts());
}

}  // namespace

wire::PassLedger to_wire(const PassReading& reading) {
  wire::PassLedger ledger;
  ledger.set_batches(reading.batches);
  ledger.mutable_empty()->Add(reading.empty.begin(), reading.empty.end());
  ledger.set_samples(reading.samples);
  ledger.set_lines(reading.lines);
  ledger.set_bad_lines(reading.bad_lines);
  ledger.set_files(reading.files);
  ledger.set_fed(reading.fed);
  ledger.set_failed_runs(reading.failed_runs);
  ledger.set_unsent(reading.unsent);
  ledger.set_lines_of_lost(reading.lines_of_lost);
  ledger.set_lines_in_parts(reading.lines_in_parts);
  ledger.set_holds_back(reading.holds_back);
  ledger.set_begun_again(reading.begun_again);
  ledger.set_given_up_differences(reading.given_up_differences);
  return ledger;
}

// Costs what the window and the lists of the ledger hold, whatever number of batches the ledger claims.
PassDifference compare(const Window& window, uint32_t round, const wire::PassLedger& ledger) {
  const bool begun = window.round() == round;
  const uint32_t through = begun ? window.through() : 0;
  std::set<uint32_t> absent(ledger.empty().begin(), ledger.empty().end());
  absent.insert(ledger.given_up().begin(), ledger.given_up().end());
  PassDifference difference;
  const auto note = [](std::vector<uint32_t>& listed, uint32_t batch) {
    if (listed.size() < kListed) listed.push_back(batch);
  };
  std::set<uint32_t> settled;  // from `through` on: here, or not expected
  if (begun) settled = window.above();
  for (const uint32_t batch : absent) {
    // What lies behind the ledger's batches is counted below, whatever the lists say of it.
    if (begun && batch < ledger.batches() && window.contains(batch_id(round, batch)))
      note(difference.unexpected_batches, batch), ++difference.unexpected;
    settled.insert(batch);
  }
  std::erase_if(settled, [&](uint32_t batch) { return batch < through; });
  const auto within = static_cast<uint64_t>(std::distance(settled.begin(), settled.lower_bound(ledger.batches())));
  if (ledger.batches() > through) difference.missing = ledger.batches() - through - within;
  for (uint32_t i = through; i < ledger.batches() && difference.missing_batches.size() < std::min(kListed, difference.missing);
       ++i) {
    if (!settled.contains(i)) note(difference.missing_batches, i);
  }
  if (through > ledger.batches()) difference.unexpected += through - ledger.batches();
  for (uint32_t i = ledger.batches(); i < through && difference.unexpected_batches.size() < kListed; ++i)
    note(difference.unexpected_batches, i);
  if (!begun) return difference;
  for (auto above = window.above().lower_bound(ledger.batches()); above != window.above().end(); ++above) {
    note(difference.unexpected_batches, *above);
    ++difference.unexpected;
  }
  return difference;
}

std::string list_batches(std::span<const uint32_t> ascending, uint64_t count) {
  std::vector<std::string> pieces;
  size_t named = 0;
  for (size_t i = 0; i < ascending.size() && pieces.size() < kPieces;) {
    size_t end = i + 1;
    while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1) ++end;
    pieces.push_back(end == i + 1 ? fmt::format("{}", ascending[i]) : fmt::format("{} to {}", ascending[i], ascending[end - 1]));
    named += end - i;
    i = end;
  }
  std::string text = join(pieces, ", ");
  if (named < count) text += fmt::format(" and {} more", with_thousands(static_cast<int64_t>(count - named)));
  return text;
}

wire::PassRecord& PassBook::open(uint32_t round) {
  if (open_.round() < round) {
    open_.Clear();
    open_lines_.clear();
    open_.set_round(round);
  }
  return open_;
}

void PassBook::applied(uint32_t round, uint64_t batches, uint64_t samples, const FileLines& lines) {
  wire::PassLedger& sums = *open(round).mutable_ledger();
  open_lines_.add(lines);
  sums.set_batches(sums.batches() + static_cast<uint32_t>(batches));
  sums.set_samples(sums.samples() + samples);
}

void PassBook::dropped(uint64_t batches, uint64_t samples, const FileLines& lines) {
  open_lines_.remove(lines);
  open_.set_dropped_batches(open_.dropped_batches() + batches);
  open_.set_dropped_samples(open_.dropped_samples() + samples);
  wire::PassLedger& sums = *open_.mutable_ledger();
  sums.set_batches(sums.batches() - static_cast<uint32_t>(std::min<uint64_t>(batches, sums.batches())));
  sums.set_samples(sums.samples() - std::min(samples, sums.samples()));
}

void PassBook::sent_again(uint64_t batches, uint64_t samples) {
  open_.set_dropped_batches(open_.dropped_batches() - std::min(batches, open_.dropped_batches()));
  open_.set_dropped_samples(open_.dropped_samples() - std::min(samples, open_.dropped_samples()));
}

void PassBook::restarted() { open_.set_restarts(open_.restarts() + 1); }

void PassBook::left(uint32_t round, const wire::PassLedger& ledger, uint64_t lost_batches, uint64_t lost_samples) {
  wire::PassRecord record = open(round);
  *record.mutable_ledger() = ledger;
  record.set_lost_batches(lost_batches);
  record.set_lost_samples(lost_samples);
  open(round + 1);
  passes_.push_back(std::move(record));
  if (passes_.size() <= kPasses) return;
  add(passes_.front(), &earlier_);
  passes_.pop_front();
}

const wire::PassRecord* PassBook::find(uint32_t round) const {
  const auto found = std::ranges::find(passes_, round, &wire::PassRecord::round);
  return found == passes_.end() ? nullptr : &*found;
}

wire::WorkerLedger PassBook::image() const {
  wire::WorkerLedger image;
  for (const wire::PassRecord& pass : passes_) *image.add_passes() = pass;
  *image.mutable_open() = open_;
  open_lines_.write(image.mutable_open()->mutable_lines());
  *image.mutable_earlier() = earlier_;
  return image;
}

void PassBook::restore(const wire::WorkerLedger& saved) {
  passes_.assign(saved.passes().begin(), saved.passes().end());
  open_ = saved.open();
  open_lines_.clear();
  open_lines_.read(open_.lines());
  open_.clear_lines();
  earlier_ = saved.earlier();
}

PassSummary summary_of(const wire::PassRecord& record) {
  const wire::PassLedger& ledger = record.ledger();
  PassSummary summary;
  summary.round = record.round();
  summary.workers = 1;
  summary.batches = ledger.batches() - static_cast<uint32_t>(ledger.empty_size());
  summary.samples = ledger.samples();
  summary.lines = ledger.lines();
  summary.bad_lines = ledger.bad_lines();
  summary.files = ledger.files();
  summary.given_up_batches = lost_batches(record) + record.dropped_batches();
  summary.given_up_samples = lost_samples(record) + record.dropped_samples();
  summary.failed_runs = ledger.failed_runs();
  summary.restarts = record.restarts();
  summary.unsent = ledger.unsent();
  summary.fed = ledger.fed();
  summary.lines_of_lost = ledger.lines_of_lost();
  summary.lines_in_parts = ledger.lines_in_parts();
  summary.holds_back = ledger.holds_back();
  summary.begun_again = ledger.begun_again();
  summary.given_up_differences = ledger.given_up_differences();
  return summary;
}

void merge(PassSummary& into, const PassSummary& of_another_server) {
  into.given_up_batches = std::max(into.given_up_batches, of_another_server.given_up_batches);
  into.given_up_samples = std::max(into.given_up_samples, of_another_server.given_up_samples);
  into.restarts = std::max(into.restarts, of_another_server.restarts);
}

OpenPass open_pass(const wire::WorkerLedger& worker) {
  const wire::PassRecord& record = worker.open();
  OpenPass pass;
  pass.worker = static_cast<int>(worker.worker());
  pass.state = worker.state();
  pass.round = record.round();
  pass.batches = record.ledger().batches();
  pass.samples = record.ledger().samples();
  pass.dropped_batches = record.dropped_batches();
  pass.dropped_samples = record.dropped_samples();
  pass.files_handed_on = worker.files_handed_on();
  pass.files_left = worker.files_left();
  pass.files_twice = worker.files_twice();
  pass.lost = worker.state() == kLost;
  return pass;
}

// What counts is what all servers have: the earliest pass, and the fewest batches of it.
void merge(OpenPass& into, const OpenPass& of_another_server) {
  const OpenPass a = into, &b = of_another_server;
  if (std::tie(b.round, b.batches) < std::tie(a.round, a.batches)) into = b;
  into.lost = a.lost || b.lost;
  if (into.lost) into.state = kLost;
  into.dropped_batches = std::max(a.dropped_batches, b.dropped_batches);
  into.dropped_samples = std::max(a.dropped_samples, b.dropped_samples);
  into.files_handed_on = std::max(a.files_handed_on, b.files_handed_on);
  into.files_left = std::max(a.files_left, b.files_left);
  into.files_twice = std::max(a.files_twice, b.files_twice);
}

JobLedger join_ledgers(std::span<const wire::LedgerReply> servers) {
  std::map<std::pair<uint32_t, uint32_t>, PassSummary> passes;  // by round and worker
  std::map<uint32_t, PassSummary> earlier;                      // by worker
  std::map<uint32_t, OpenPass> open;
  const auto take = [](auto& map, const auto& key, const PassSummary& summary) {
    const auto [place, fresh] = map.emplace(key, summary);
    if (!fresh) merge(place->second, summary);
  };
  JobLedger job;
  for (const wire::LedgerReply& server : servers) {
    for (const auto& [table, gradients] : server.nonfinite()) job.nonfinite[table] += gradients;
    for (const wire::WorkerLedger& worker : server.workers()) {
      for (const wire::PassRecord& record : worker.passes())
        take(passes, std::pair(record.round(), worker.worker()), summary_of(record));
      if (worker.earlier().ledger().batches() > 0) take(earlier, worker.worker(), summary_of(worker.earlier()));
      if (worker.open().ledger().batches() == 0 && worker.state() != kLost && !open.contains(worker.worker())) continue;
      const OpenPass pass = open_pass(worker);
      const auto [place, fresh] = open.emplace(worker.worker(), pass);
      if (!fresh) merge(place->second, pass);
    }
  }
  for (const auto& [key, summary] : passes) {
    job.total.add(summary);
    if (job.passes.empty() || job.passes.back().round != key.first) {
      job.passes.push_back({});
      job.passes.back().round = key.first;
    }
    job.passes.back().add(summary);
  }
  for (const auto& [worker, summary] : earlier) job.total.add(summary);
  job.total.workers = 0;
  // What a geo worker has not sent is a backlog that goes on from pass to pass: the last one counts.
  std::map<uint32_t, double> unsent;
  for (const auto& [worker, summary] : earlier) unsent[worker] = summary.unsent;
  for (const auto& [key, summary] : passes) unsent[key.second] = summary.unsent;
  job.total.unsent = 0;
  for (const auto& [worker, rest] : unsent) job.total.unsent += rest;
  // A barrier at the end of a script begins a round in which nothing is read.
  std::erase_if(job.passes, [](const PassSummary& pass) {
    return pass.batches == 0 && pass.lines == 0 && pass.bad_lines == 0 && pass.failed_runs == 0 && pass.given_up_batches == 0;
  });
  for (const auto& [worker, pass] : open) job.open.push_back(pass);
  return job;
}

}  // namespace argosy::ps
