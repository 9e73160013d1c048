#include "argosy/launch/collective/agent.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "argosy/base/counted.h"
#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/spare.h"
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
  if (message.kind == "regroup") regroup(message);
  if (message.kind == "meet" || message.kind == "over") tell_ranks(message);
  if (message.kind == "over") ranks_are_through_ = true;
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
  ranks_.clear();
  ranks_are_through_ = false;
  have_model_.clear();
  failed_.clear();
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
  hear_ranks();
  if (!ranks_.empty()) return look_after_ranks();
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

// A word of a rank is a message of this node: "host 2 127.0.0.1:4711" says generation and address.
void Agent::hear_ranks() {
  for (const auto& [i, word] : group_->take_words()) {
    ranks_[i].restart();
    const auto parts = split(word, ' ');
    if (parts.empty()) continue;
    if (parts[0] != "ready" && parts[0] != "host" && parts[0] != "finished") continue;
    if (parts[0] == "ready") {
      have_model_.insert(i);
      ranks_are_through_ = false;
    }
    std::map<std::string, std::string> fields{{"rank", group_->spec(i).environment.at("RANK")}};
    if (parts.size() > 1) fields["generation"] = parts[1];
    if (parts.size() > 2) fields["address"] = parts[2];
    tell(parts[0], std::move(fields));
  }
}

// What all of them do is saved first. Those that have spoken meanwhile are heard, and spared.
void Agent::kill_silent_ranks() {
  const auto is_silent = [this](const auto& rank) {
    return !group_->poll(rank.first) && rank.second.seconds() >= options_.silence_seconds;
  };
  const auto silent = ranks_are_through_ ? ranks_.end() : std::ranges::find_if(ranks_, is_silent);
  if (silent == ranks_.end()) return;
  group_->save_stacks(
      fmt::format("{} gave no sign of life for {} s (peer_seconds)", group_->spec(silent->first).name, options_.silence_seconds),
      0);
  group_->show_notices();
  hear_ranks();
  for (auto& rank : ranks_) {
    if (!is_silent(rank)) continue;
    log_error("{} gave no sign of life for {} s (peer_seconds); it is killed", group_->spec(rank.first).name,
              options_.silence_seconds);
    rank.second.restart();
    group_->kill(rank.first);
  }
}

void Agent::look_after_ranks() {
  keep_spare();
  kill_silent_ranks();
  for (size_t i = 0; i < group_->size(); ++i) {
    const auto exit = group_->poll(i);
    if (!exit || exit->ok() || !failed_.insert(i).second) continue;
    group_->show_notices();
    hear_ranks();  // what was said before it ended comes before
    if (follower_) follower_->show();
    group_->report(i, exit->to_string());
    tell_failure(i, *exit, false);
  }
  if (left_.size() < group_->size()) return;
  watched_ = false;
  spare_.reset();
  tell("done");
}

void Agent::regroup(const LauncherMessage& message) {
  if (!watched_ || message.text("round") != std::to_string(round_)) return;
  log_warning("{}", message.text("why"));
  for (size_t i = 0; i < group_->size(); ++i) {
    if (group_->spec(i).environment.at("RANK") != message.text("again")) continue;
    group_->set_variable(i, "ARGOSY_REJOIN", message.text("generation"));
    failed_.erase(i);
    ranks_.erase(i);
    have_model_.erase(i);
    if (const Status status = start_again(i); !status.ok()) return tell("failed", {{"code", "1"}, {"why", status.message()}});
  }
  tell_ranks(message);
}

Status Agent::start_again(size_t i) {
  if (spare_ && !spare_->poll()) {
    JobProcess spare = *std::exchange(spare_, std::nullopt);
    const ProcessSpec& spec = group_->spec(i);
    const std::string log = std::filesystem::absolute(spec.log).string();
    if (spare.tell(word_of_place(job_.spare(spec).environment, spec.environment, log))) {
      group_->replace(i, std::move(spare));
      return {};
    }
  }
  return group_->start(i);
}

// Once all ranks have the model: so it does not take the processors from those that start. One that ends by itself would do so
// again, and is not replaced.
void Agent::keep_spare() {
  if (!options_.spare || spare_failed_) return;
  if (spare_ && spare_->poll()) {
    spare_failed_ = true;
    log_warning(
        "the spare process has ended: {}; its log is {}/sparelog.0, and a lost rank is started anew from now on. A script that "
        "is "
        "to have a spare asks fleet for its rank, and not the environment",
        spare_->poll()->to_string(), job_.log_dir);
    spare_.reset();
  } else if (!spare_ && have_model_.size() == group_->size()) {
    auto started = JobProcess::start(job_.spare(group_->spec(0)));
    if (started.ok()) spare_.emplace(std::move(*started));
    spare_failed_ = !started.ok();
    if (spare_failed_) log_warning("no spare process: {}", started.status().message());
  }
}

void Agent::tell_ranks(const LauncherMessage& message) {
  if (!watched_ || message.text("round") != std::to_string(round_)) return;
  std::string word = message.kind;
  for (const char* field : {"generation", "host", "address"}) {
    if (!message.text(field).empty()) word += " " + message.text(field);
  }
  for (size_t i = 0; i < group_->size(); ++i) group_->tell(i, word);
}

void Agent::tell_failure(size_t i, const ExitStatus& exit, bool consequence) {
  tell("failed", {{"code", std::to_string(exit.code)},
                  {"why", fmt::format("{}: {}", group_->spec(i).name, exit.to_string())},
                  {"rank", group_->spec(i).environment.at("RANK")},
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
  spare_.reset();
  if (group_) group_->stop(options_.grace_seconds, signals_heeded_, [this] { hear(); });
  group_.reset();
  if (follower_) follower_->show();
}

}  // namespace argosy::launch
