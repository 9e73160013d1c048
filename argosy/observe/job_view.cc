#include "argosy/observe/job_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "argosy/base/counted.h"
#include "argosy/base/text.h"

namespace argosy::observe {
namespace {

std::string decimal_text(double value) { return is_known(value) ? fmt::format("{:.4f}", value) : "–"; }

std::string milliseconds_text(double seconds) { return is_known(seconds) ? fmt::format("{:.1f} ms", 1e3 * seconds) : "–"; }

// How many columns a text takes on a terminal: its characters, as far as they are those of this program's own texts.
size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// At most so many columns, the cut marked.
std::string cut(std::string text, size_t columns) {
  if (columns_of(text) <= columns) return text;
  while (!text.empty() && columns_of(text) + 1 > columns) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
  }
  return text + "…";
}

using Rows = std::vector<std::vector<std::string>>;

// Columns as wide as their widest text, numbers to the right.
std::string table_text(const Rows& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - columns_of(row[i]), ' ');
      line += "  " + (i == 0 || i + 1 == row.size() ? row[i] + space : space + row[i]);
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::string clock_text(double time) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local)};
}

std::string state_text(const ProcessView& process) {
  std::string text = state_name(process.state);
  if (!process.how.empty() && process.state != ProcessView::State::done) text += ": " + process.how;
  if (const std::string work = work_text(process); !work.empty()) text += ", " + work;
  if (process.restarts > 0) text += fmt::format(", {}", counted(process.restarts, "restart"));
  if (process.straggler) text += ", slow";
  if (is_known(process.replica_epoch)) {
    text += fmt::format(", primary of epoch {:.0f}{}", process.replica_epoch, process.replica_whole > 0 ? "" : ", alone");
  } else if (process.follows()) {
    text += fmt::format(", follower, {} behind", counted(static_cast<int64_t>(process.follower_lag_records), "record"));
  }
  return text;
}

std::string workers_text(const JobView& view) {
  Rows rows = {{"worker", "pid", "samples/s", "samples", "loss", "AUC", "pull", "push", "pass", "memory", "state"}};
  for (const ProcessView& process : view.processes) {
    if (!process.worker) continue;
    rows.push_back({process.name, std::to_string(process.pid), count_text(process.samples_per_second),
                    count_text(process.samples), decimal_text(process.loss), decimal_text(process.auc),
                    milliseconds_text(process.pull_seconds), milliseconds_text(process.push_seconds),
                    is_known(process.pass_ratio) ? fmt::format("{:.0f} %", 100 * process.pass_ratio) : "–",
                    bytes_text(process.memory_bytes), state_text(process)});
  }
  return rows.size() == 1 ? "" : fmt::format("\n{}", table_text(rows));
}

std::string servers_text(const JobView& view) {
  Rows rows = {{"server", "pid", "address", "pushes", "pulls", "rows", "tables", "log", "snapshot", "memory", "state"}};
  for (const ProcessView& process : view.processes) {
    if (process.worker) continue;
    rows.push_back({process.name, std::to_string(process.pid), process.address, count_text(process.pushes),
                    count_text(process.pulls), count_text(process.rows), bytes_text(process.table_bytes),
                    bytes_text(process.log_bytes),
                    is_known(process.snapshot_age_seconds) ? duration_text(process.snapshot_age_seconds) + " ago" : "none",
                    bytes_text(process.memory_bytes), state_text(process)});
  }
  return rows.size() == 1 ? "" : fmt::format("\n{}", table_text(rows));
}

std::string tables_text(const JobView& view) {
  if (view.tables.empty()) return "";
  Rows rows = {{"table", "rows", "on disk", "memory", ""}};
  for (const TableView& table : view.tables) {
    const bool dense = table.rows == 0 && table.cold_rows == 0;
    rows.push_back({table.name, dense ? "–" : count_text(table.rows), dense ? "–" : count_text(table.cold_rows),
                    bytes_text(table.memory_bytes), ""});
  }
  return fmt::format("\n{}", table_text(rows));
}

// "worker 0: load 45 %, 2 more": the long work of the process that is least far.
std::string works_text(const JobView& view) {
  const ProcessView* last = nullptr;
  int others = -1;
  for (const ProcessView& process : view.processes) {
    if (process.work.empty()) continue;
    ++others;
    if (last == nullptr || process.work_ratio < last->work_ratio) last = &process;
  }
  if (last == nullptr) return "";
  return fmt::format("{}: {}{}", last->name, work_text(*last), others > 0 ? fmt::format(", {} more", others) : "");
}

}  // namespace

const char* state_name(ProcessView::State state) {
  switch (state) {
    case ProcessView::State::waiting: return "waiting";
    case ProcessView::State::running: return "running";
    case ProcessView::State::done: return "done";
    case ProcessView::State::failed: return "failed";
    case ProcessView::State::stopped: return "stopped";
  }
  return "";
}

std::string work_text(const ProcessView& process) {
  if (process.work.empty() || !is_known(process.work_ratio)) return process.work;
  return fmt::format("{} {:.0f} %", process.work, 100 * process.work_ratio);
}

const JobEvent* JobView::last_warning() const {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->level >= LogLevel::warning) return &*event;
  }
  return nullptr;
}

std::string count_text(double value) { return is_known(value) ? with_thousands(static_cast<int64_t>(std::llround(value))) : "–"; }

std::string bytes_text(double value) {
  if (!is_known(value)) return "–";
  const char* unit = "B";
  for (const char* larger : {"KB", "MB", "GB", "TB"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = larger;
  }
  return value < 10 && unit[1] != 0 ? fmt::format("{:.1f} {}", value, unit) : fmt::format("{:.0f} {}", value, unit);
}

std::string duration_text(double seconds) {
  if (!is_known(seconds)) return "–";
  const auto all = static_cast<int64_t>(std::max(0.0, seconds));
  if (all < 3600) return fmt::format("{}:{:02}", all / 60, all % 60);
  return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

std::string job_line(const JobView& view, size_t width) {
  std::vector<std::string> parts = {duration_text(view.now - view.started)};
  if (view.samples > 0) {
    parts.push_back(fmt::format("{} samples/s", count_text(view.samples_per_second)));
    parts.push_back(fmt::format("{} samples", count_text(view.samples)));
  }
  if (is_known(view.loss)) parts.push_back(fmt::format("loss {:.4f}", view.loss));
  if (is_known(view.auc)) parts.push_back(fmt::format("AUC {:.4f}", view.auc));
  if (is_known(view.staleness)) parts.push_back(fmt::format("stale {:.0f}", view.staleness));
  if (is_known(view.eta_seconds)) parts.push_back(fmt::format("{} left", duration_text(view.eta_seconds)));
  if (std::string works = works_text(view); !works.empty()) parts.push_back(std::move(works));
  parts.push_back(fmt::format("{}/{} alive", view.alive, view.processes.size()));
  if (const JobEvent* warning = view.last_warning()) parts.push_back(fmt::format("{}: {}", warning->process, warning->text));
  return cut(join(parts, " · "), width);
}

std::string job_text(const JobView& view) {
  std::string text =
      fmt::format("{}{}: {}, {} since {} on {}; logs in {}\n", view.name, view.run.empty() ? "" : " (run " + view.run + ")",
                  view.state, duration_text(view.now - view.started), clock_text(view.started), view.host, view.folder);
  text += job_line(view, 1000) + "\n";
  text += workers_text(view) + servers_text(view) + tables_text(view);
  if (!view.ledger.empty()) text += "\n  " + join(view.ledger, "\n  ") + "\n";
  const size_t shown = std::min<size_t>(view.events.size(), 8);
  if (shown > 0) text += "\n";
  for (size_t i = view.events.size() - shown; i < view.events.size(); ++i) {
    const JobEvent& event = view.events[i];
    text += fmt::format("  {} {}: {}\n", clock_text(event.time), event.process, event.text);
  }
  for (const ProcessView& process : view.processes) {
    if (!process.tail.empty()) text += fmt::format("\n---- the end of {}:\n{}----\n", process.log, process.tail);
  }
  return text;
}

}  // namespace argosy::observe
