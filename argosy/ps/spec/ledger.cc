#include "argosy/ps/spec/ledger.h"

#include <fmt/format.h>

#include <cmath>

#include "argosy/base/counted.h"
#include "argosy/base/text.h"

namespace argosy::ps {
namespace {

std::string count(uint64_t number) { return with_thousands(static_cast<int64_t>(number)); }

// A text in JSON. Names of tables are names of variables, which scripts choose.
std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += c;
    }
  }
  return out + '"';
}

double finite_or(double number, double other) { return std::isfinite(number) ? number : other; }  // JSON has no others

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
  lines_of_lost += other.lines_of_lost;
  lines_in_parts += other.lines_in_parts;
  holds_back = holds_back || other.holds_back;
  begun_again += other.begun_again;
  given_up_differences += other.given_up_differences;
}

std::string PassSummary::text() const {
  // Recorded passes are complete but for what was given up: anything else is refused when a worker leaves the pass.
  std::string text = samples == 0 && fed
                         ? fmt::format("{}, {} applied once, {} lost", counted(batches, "run"), count(applied_batches()),
                                       count(given_up_batches))
                         : fmt::format("{} read, {} applied once, {} lost, {} skipped", counted(samples, "sample"),
                                       count(applied_samples()), count(given_up_samples), counted(bad_lines, "bad line"));
  if (given_up_batches > 0) {
    text += fmt::format("; given up by choice (on_worker_loss=shrink, durability=snapshot): {}",
                        counted(given_up_batches, "batch", "batches"));
  }
  if (failed_runs > 0) text += fmt::format("; {} ended with an error, counted nothing", counted(failed_runs, "run"));
  if (lines_of_lost > 0) text += fmt::format("; {} of lost workers' files counted for those", counted(lines_of_lost, "line"));
  if (lines_in_parts > 0) text += fmt::format("; {} of these are on some servers only", count(lines_in_parts));
  if (unsent > 0) text += fmt::format("; geo: differences of {:.6g} in sum are not sent yet", unsent);
  if (given_up_differences > 0)
    text += fmt::format("; geo: differences of at most {:.6g} in sum were given up after errors", given_up_differences);
  if (unknown_differences())
    text += fmt::format(
        "; what a worker held back (geo: not sent yet; int8: left out by rounding) is given up at its restart ({}): unknown",
        counted(restarts - begun_again, "restart"));
  return text;
}

std::string OpenPass::text() const {
  std::string text = fmt::format("pass {} of worker {}, which is {}, is not finished: {} of it ({}) applied", round, worker,
                                 state, counted(batches, "batch", "batches"), counted(samples, "sample"));
  if (!lost) return text;
  if (dropped_batches > 0)
    text += fmt::format("; {} more ({}), not on all servers, dropped", counted(dropped_batches, "batch", "batches"),
                        counted(dropped_samples, "sample"));
  if (files_handed_on > 0) text += fmt::format("; other workers have {} of its files, and go on where it was", files_handed_on);
  if (files_left > 0) text += fmt::format("; nobody has asked for {} of its files", files_left);
  if (files_twice > 0)
    text +=
        fmt::format("; {} of its files are read again from the beginning: what it had trained of them counts twice", files_twice);
  if (unknown_given_up())
    text += fmt::format("; given up by choice (on_worker_loss=shrink): unknown (the rest of worker {}'s {})", worker,
                        files_handed_on > 0 ? "files" : "pass, and its later ones");
  return text;
}

std::string JobLedger::to_json() const {
  const auto pass_json = [](const PassSummary& pass) {
    return fmt::format(
        "\"batches\": {}, \"samples_read\": {}, \"samples_applied\": {}, \"samples_lost\": {}, \"bad_lines\": {}, \"lines\": {}, "
        "\"files\": {}, \"batches_given_up\": {}, \"samples_given_up\": {}, \"failed_runs\": {}, \"restarts\": {}, \"unsent\": "
        "{:.9g}, \"fed\": {}, \"lines_of_lost\": {}, \"lines_in_parts\": {}, \"differences_given_up\": "
        "{}, \"text\": \"{}\"",
        pass.batches, pass.samples, pass.applied_samples(), pass.samples - pass.applied_samples(), pass.bad_lines, pass.lines,
        pass.files, pass.given_up_batches, pass.given_up_samples, pass.failed_runs, pass.restarts, finite_or(pass.unsent, -1),
        pass.fed, pass.lines_of_lost, pass.lines_in_parts,
        pass.unknown_differences() ? "\"unknown\"" : fmt::format("{:.9g}", finite_or(pass.given_up_differences, -1)),
        pass.text());
  };
  std::string json = "{\"passes\": [\n ";
  for (size_t i = 0; i < passes.size(); ++i) {
    json += fmt::format("{}{{\"pass\": {}, \"workers\": {}, {}}}", i == 0 ? "" : ",\n ", passes[i].round, passes[i].workers,
                        pass_json(passes[i]));
  }
  json += "],\n\"open\": [";
  for (size_t i = 0; i < open.size(); ++i) {
    const OpenPass& one = open[i];
    json += fmt::format(
        "{}{{\"worker\": {}, \"state\": \"{}\", \"pass\": {}, \"batches\": {}, \"samples\": {}, \"batches_dropped\": {}, "
        "\"samples_dropped\": {}, \"files_handed_on\": {}, \"files_left\": {}, \"files_twice\": {}, \"given_up\": {}, \"text\": "
        "\"{}\"}}",
        i == 0 ? "" : ", ", one.worker, one.state, one.round, one.batches, one.samples, one.dropped_batches, one.dropped_samples,
        one.files_handed_on, one.files_left, one.files_twice, one.unknown_given_up() ? "\"unknown\"" : "0", one.text());
  }
  json += fmt::format("],\n\"total\": {{{}}},\n\"nonfinite\": {{", pass_json(total));
  for (const auto& [table, gradients] : nonfinite) {
    json += fmt::format("{}{}: {}", json.ends_with('{') ? "" : ", ", json_text(table), gradients);
  }
  return json + "}}\n";
}

}  // namespace argosy::ps
