#include "argosy/ps/ledger.h"

#include <fmt/format.h>

#include "argosy/base/text.h"

namespace argosy::ps {
namespace {

std::string count(uint64_t number) { return with_thousands(static_cast<int64_t>(number)); }

}  // namespace

void PassSummary::add(const PassSummary& other) {
  batches += other.batches;
  samples += other.samples;
  lines += other.lines;
  bad_lines += other.bad_lines;
  files += other.files;
  given_up_batches += other.given_up_batches;
  given_up_samples += other.given_up_samples;
  failed_runs += other.failed_runs;
  restarts += other.restarts;
  unsent += other.unsent;
  workers += other.workers;
  fed = fed || other.fed;
}

std::string PassSummary::text() const {
  // Recorded passes are complete but for what was given up: anything else is refused when a worker leaves the pass.
  std::string text =
      samples == 0 && fed
          ? fmt::format("{} runs, {} applied once, {} lost", count(batches), count(applied_batches()), count(given_up_batches))
          : fmt::format("{} samples read, {} applied once, {} lost, {} bad lines skipped", count(samples),
                        count(applied_samples()), count(given_up_samples), count(bad_lines));
  if (given_up_batches > 0) {
    text += fmt::format("; given up by choice (on_worker_loss=shrink, durability=snapshot): {} batches", count(given_up_batches));
  }
  if (failed_runs > 0) text += fmt::format("; {} runs ended with an error and count nothing", count(failed_runs));
  if (unsent > 0) text += fmt::format("; geo: differences of {:.6g} in sum are not sent yet", unsent);
  return text;
}

std::string JobLedger::to_json() const {
  const auto pass_json = [](const PassSummary& pass) {
    return fmt::format(
        "\"batches\": {}, \"samples_read\": {}, \"samples_applied\": {}, \"samples_lost\": {}, \"bad_lines\": {}, \"lines\": {}, "
        "\"files\": {}, \"batches_given_up\": {}, \"samples_given_up\": {}, \"failed_runs\": {}, \"restarts\": {}, \"unsent\": "
        "{:.9g}, \"fed\": {}, \"text\": \"{}\"",
        pass.batches, pass.samples, pass.applied_samples(), pass.samples - pass.applied_samples(), pass.bad_lines, pass.lines,
        pass.files, pass.given_up_batches, pass.given_up_samples, pass.failed_runs, pass.restarts, pass.unsent, pass.fed,
        pass.text());
  };
  std::string json = "{\"passes\": [\n ";
  for (size_t i = 0; i < passes.size(); ++i) {
    json += fmt::format("{}{{\"pass\": {}, \"workers\": {}, {}}}", i == 0 ? "" : ",\n ", passes[i].round, passes[i].workers,
                        pass_json(passes[i]));
  }
  json += "],\n\"open\": [";
  for (size_t i = 0; i < open.size(); ++i) {
    json += fmt::format("{}{{\"worker\": {}, \"state\": \"{}\", \"pass\": {}, \"batches\": {}, \"samples\": {}}}",
                        i == 0 ? "" : ", ", open[i].worker, open[i].state, open[i].round, open[i].batches, open[i].samples);
  }
  return json + fmt::format("],\n\"total\": {{{}}}}}\n", pass_json(total));
}

}  // namespace argosy::ps
