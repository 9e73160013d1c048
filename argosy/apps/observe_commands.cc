#include "argosy/apps/observe_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/text.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/data/working_folder.h"
#include "argosy/observe/doctor.h"
#include "argosy/observe/job_place.h"
#include "argosy/observe/status_page.h"

namespace {

using argosy::Result;
using argosy::Status;
using argosy::observe::JobPlace;

constexpr const char* kJob = "its log folder (logs or log of this folder where none is given), or the URL of its status page";
constexpr unsigned kWatchSeconds = 1;
constexpr double kStopSeconds = 60;

int exit_status(const Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "argosy: %s\n", status.message().c_str());
  return status.code() == argosy::Code::invalid_argument ? argosy::cli::kUsageError : 1;
}

// Of a job on several machines each launcher knows its own processes. One that does not answer does not hide the others.
Status show_status(const std::vector<std::string>& jobs, bool watch) {
  std::vector<JobPlace> places;
  for (const std::string& job : jobs) {
    ASSIGN_OR_RETURN(JobPlace place, JobPlace::find(job));
    places.push_back(std::move(place));
  }
  for (;; ::sleep(kWatchSeconds)) {
    const bool last = !watch || std::ranges::all_of(places, &JobPlace::has_ended);
    Status status;
    std::vector<std::string> texts;
    for (size_t i = 0; i < places.size(); ++i) {
      const auto text = places[i].text();
      if (!text.ok() && status.ok()) status = text.status();
      if (text.ok()) texts.push_back(places.size() == 1 ? *text : fmt::format("==== {}\n{}", jobs[i], *text));
    }
    if (!status.ok() && texts.empty()) return status;
    if (watch) std::fputs(::isatty(STDOUT_FILENO) == 1 ? "\033[H\033[2J" : "\n", stdout);
    std::fputs(argosy::join(texts, "\n").c_str(), stdout);
    std::fflush(stdout);
    if (last) return status;
  }
}

Status stop(const std::string& job) {
  ASSIGN_OR_RETURN(const JobPlace place, JobPlace::find(job));
  RETURN_IF_ERROR(place.stop(kStopSeconds));
  std::puts("the job has ended");
  return {};
}

Status write_report(const std::string& job, const std::string& file) {
  RETURN_IF_ERROR(argosy::data::check_file_place(file));
  ASSIGN_OR_RETURN(const JobPlace place, JobPlace::find(job));
  ASSIGN_OR_RETURN(const std::string json, place.json());
  RETURN_IF_ERROR(argosy::data::write_place(file, argosy::observe::report_page(json)));
  std::printf("%s\n", file.c_str());
  return {};
}

int doctor() {
  bool well = true;
  for (const argosy::observe::Finding& finding : argosy::observe::examine_machine()) {
    std::printf("%s %s: %s\n", finding.well ? "ok  " : "look", finding.what.c_str(), finding.found.c_str());
    if (!finding.cure.empty()) std::printf("       %s\n", finding.cure.c_str());
    well &= finding.well;
  }
  return well ? 0 : 1;
}

}  // namespace

void add_observe_commands(CLI::App& app, int& result) {
  struct Arguments {
    std::string job, file = "report.html";
    std::vector<std::string> jobs = {""};
    bool watch = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* status = app.add_subcommand("status", "Shows how a job goes on, or how it ended.");
  status->add_option("job", arguments->jobs,
                     std::string(kJob) + "; of a job on several machines that of each, one after the other");
  status->add_flag("--watch", arguments->watch, "again every second, until the job has ended");
  status->callback([arguments, &result] { result = exit_status(show_status(arguments->jobs, arguments->watch)); });

  auto* end = app.add_subcommand("stop", "Ends a job of this machine as Ctrl-C at its launcher does, and waits for it.");
  end->add_option("job", arguments->job, kJob);
  end->callback([arguments, &result] { result = exit_status(stop(arguments->job)); });

  auto* report = app.add_subcommand("report", "Writes one HTML file with the curves, processes, tables and errors of a job.");
  report->add_option("job", arguments->job, kJob);
  report->add_option("-o,--output", arguments->file, "the file")->capture_default_str();
  report->callback([arguments, &result] { result = exit_status(write_report(arguments->job, arguments->file)); });

  auto* examine =
      app.add_subcommand("doctor", "Looks for what jobs on this machine would stumble over, and says what to do about it.");
  examine->callback([&result] { result = doctor(); });
}
