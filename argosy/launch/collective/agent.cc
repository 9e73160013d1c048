#include "argosy/launch/collective/agent.h"

#include <cstdio>
#include <filesystem>

#include "argosy/base/counted.h"
#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr double kLookSeconds = 0.05;  // the log that is followed, and the time

}  // namespace

Agent::Agent(NodeLink& link, NodeJob job, AgentOptions options)
    : link_(link), job_(std::move(job)), options_(std::move(options)) {}

int Agent::run() {
  link_.send(
      {.kind = "join",
       .fields = {{"job", options_.job}, {"rank", std::to_string(options_.rank)}, {"endpoints", join(options_.endpoints, ",")}}});
  for (;; wait()) {
    if (const int number = stop_signal(); number != 0) {
      log_warning("stopped by signal {}; once more to kill at once", number);
      signals_heeded_ = 1;
      tell("leave", {{"code", std::to_string(128 + number)}});
      if (watch_) watch_->board().stopping(fmt::format("stopped by signal {}", number));
      stop_group();
      return finish(128 + number);
    }
    hear();
    while (!inbox_.empty()) {
      const LauncherMessage message = inbox_.front();
      inbox_.pop_front();
      if (const auto result = obey(message)) return finish(*result);
    }
    if (const std::string why = link_.broken(); !why.empty()) {
      log_error("{}; stopping", why);
      stop_group();
      return finish(1);
    }
    if (group_) group_->show_notices();
    if (group_) group_->watch_logs();
    look_after_group();
    if (follower_) follower_->show();
    if (watch_ && group_) watch_->tick(*group_);
  }
}

int Agent::finish(int exit_code) {
  if (watch_) watch_->finish(exit_code);
  return exit_code;
}

Status Agent::watch(std::vector<ProcessSpec>& specs) {
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  std::vector<ProcessSpec*> processes;
  for (ProcessSpec& spec : specs) processes.push_back(&spec);
  RETURN_IF_ERROR(choose_metrics_ports(processes, settings));
  if (watch_) return {};
  ASSIGN_OR_RETURN(watch_, JobWatch::start({.name = options_.job,
                                            .run = "",
                                            .folder = std::filesystem::path(specs.front().log).parent_path().string(),
                                            .command = join(job_.program.argv(), " ")},
                                           {processes.begin(), processes.end()}, options_.watch, settings));
  return {};
}

void Agent::wait() {
  const Deadline deadline = Deadline::after_seconds(kLookSeconds);
  const int link = link_.fd();
  if (group_) return group_->wait(deadline, {&link, 1});
  wait_for_event({&link, 1}, deadline);
}

void Agent::hear() {
  for (LauncherMessage& message : link_.receive()) inbox_.push_back(std::move(message));
}

void Agent::tell(const std::string& kind, std::map<std::string, std::string> fields) {
  fields["round"] = std::to_string(round_);
  link_.send({.kind = kind, .fields = std::move(fields)});
}

std::optional<int> Agent::obey(const LauncherMessage& message) {
  if (message.kind == "note") log_info("{}", message.text("text"));
  if (message.kind == "end") return end(message);
  if (message.kind == "stop") {
    report_blamed(message);
    log_warning("{}", message.text("why"));
    stop_group();
    tell("stopped");
  }
  if (message.kind != "start") return std::nullopt;
  const auto round = Round::from(message);
  Status status = round.ok() ? start(*round) : round.status();
  if (status.ok()) return std::nullopt;
  log_error("{}", status.message());
  tell("failed", {{"code", "1"}, {"why", status.message()}});
  return std::nullopt;
}

std::optional<int> Agent::end(const LauncherMessage& message) {
  report_blamed(message);
  stop_group();
  const auto code = message.number("code");
  if (code.ok() && *code == 0) {
    log_info("the job has ended well");
    return 0;
  }
  log_error("{}; the job has ended", message.text("why"));
  return code.ok() && *code > 0 ? *code : 1;
}

void Agent::show_start(const std::vector<ProcessSpec>& specs) {
  std::printf("launch train in %s mode\n", job_.devices.gpus.empty() ? "CPU" : "GPU");
  std::fflush(stdout);
  log_info("Local start {} processes. First process distributed environment info (Only For Debug):", specs.size());
  std::printf("%s\n", environment_box(specs[0]).c_str());
  std::fflush(stdout);
  const auto shown = static_cast<size_t>(options_.follow) < specs.size() ? static_cast<size_t>(options_.follow) : 0;
  log_info("details about PADDLE_TRAINER_ENDPOINTS can be found in {}, and detailed running logs in {}", job_.endpoints_file(),
           specs[shown].log);
  follower_.emplace(specs[shown].log);
}

Status Agent::start(const Round& round) {
  if (const auto& own = round.nodes[static_cast<size_t>(round.node)]; own != options_.endpoints)
    return Status::internal("the meeting place has {} for this node's {}", join(own, ","), join(options_.endpoints, ","));
  std::vector<ProcessSpec> specs = job_.processes(round);
  const bool again = round_ != 0;
  round_ = round.number;
  if (!again) {
    for (const ProcessSpec& spec : specs) RETURN_IF_ERROR(begin_log(spec.log));
    RETURN_IF_ERROR(watch(specs));
    show_start(specs);
  } else {
    RETURN_IF_ERROR(watch(specs));
    log_info("start {}: {} on {}, from {}", round.number, counted(round.endpoints().size(), "process", "processes"),
             counted(round.nodes.size(), "node"), round.resume.empty() ? "the beginning" : "checkpoint " + round.resume);
  }
  RETURN_IF_ERROR(
      write_file_atomically(job_.endpoints_file(), "PADDLE_TRAINER_ENDPOINTS:\n" + join(round.endpoints(), "\n") + "\n"));
  group_ = std::make_unique<LocalProcesses>(std::move(specs), watch_ ? &watch_->board() : nullptr);
  left_.clear();
  const Status status = group_->start_all();
  watched_ = status.ok();
  if (!status.ok()) stop_group();
  return status;
}

// Before what the others make of it.
void Agent::tell_who_left() {
  for (size_t i = 0; i < group_->size(); ++i) {
    const auto exit = group_->poll(i);
    if (exit && exit->ok() && left_.insert(i).second) tell("left", {{"who", group_->spec(i).name}});
  }
}

void Agent::look_after_group() {
  if (!watched_) return;
  tell_who_left();
  size_t ended = 0;
  std::optional<size_t> cause, consequence;
  for (size_t i = 0; i < group_->size(); ++i) {
    const auto exit = group_->poll(i);
    if (!exit) continue;
    ++ended;
    if (exit->ok()) continue;
    group_->show_notices();  // what it has said before it ended
    std::optional<size_t>& kind = group_->consequence_of(i).empty() ? cause : consequence;
    // Of several that failed since the last look, one that was killed is the likelier cause.
    if (!kind || (group_->poll(*kind)->signal == 0 && exit->signal != 0)) kind = i;
  }
  if (cause) return fail(*cause, *group_->poll(*cause));
  if (consequence && !blamed_) {
    blamed_ = consequence;
    tell_failure(*consequence, *group_->poll(*consequence), true);
  }
  if (consequence || ended < group_->size()) return;
  watched_ = false;
  tell("done");
}

void Agent::tell_failure(size_t i, const ExitStatus& exit, bool consequence) {
  tell("failed", {{"code", std::to_string(exit.code)},
                  {"why", fmt::format("{}: {}", group_->spec(i).name, exit.to_string())},
                  {"consequence", consequence ? "yes" : "no"}});
}

void Agent::fail(size_t i, const ExitStatus& exit) {
  watched_ = false;
  if (follower_) follower_->show();
  group_->report(i, exit.to_string());
  tell_failure(i, exit, false);
  stop_group();
}

void Agent::report_blamed(const LauncherMessage& message) {
  const std::string why = message.text("why");
  if (!message.text("cause").empty()) log_error("{}", message.text("cause"));
  if (!group_ || !blamed_) return;
  const auto exit = group_->poll(*blamed_);
  if (exit && why.starts_with(fmt::format("{}: {}", group_->spec(*blamed_).name, exit->to_string())))
    group_->report(*blamed_, exit->to_string());
}

void Agent::stop_group() {
  watched_ = false;
  blamed_.reset();
  if (group_) group_->stop(options_.grace_seconds, signals_heeded_, [this] { hear(); });
  group_.reset();
  if (follower_) follower_->show();
}

}  // namespace argosy::launch
