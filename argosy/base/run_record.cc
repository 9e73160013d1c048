#include "argosy/base/run_record.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <functional>
#include <map>

#include "argosy/base/counted.h"
#include "argosy/base/file.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "RUN";
constexpr const char* kTrained = "TRAINED";

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// A field that is no number, or is missing, counts as 0: it is there to be shown.
uint64_t number_in(const std::map<std::string, std::string>& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? 0 : static_cast<uint64_t>(std::max<int64_t>(0, parse_integer(found->second).value_or(0)));
}

std::string text_in(const std::map<std::string, std::string>& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

RunRecord parse_record(const std::string& text) {
  std::map<std::string, std::string> fields;
  for (const std::string& line : split(text, '\n')) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) fields[line.substr(0, space)] = line.substr(space + 1);
  }
  return {.job = text_in(fields, "job"),
          .run = text_in(fields, "run"),
          .launch = text_in(fields, "launch"),
          .started = text_in(fields, "started"),
          .finished = text_in(fields, "finished"),
          .server = static_cast<int>(number_in(fields, "server")),
          .servers = static_cast<int>(number_in(fields, "servers")),
          .workers = static_cast<int>(number_in(fields, "workers")),
          .passes = number_in(fields, "passes"),
          .batches = number_in(fields, "batches"),
          .rows = number_in(fields, "rows")};
}

bool has_entries(const fs::path& folder) {
  std::error_code error;
  return fs::directory_iterator(folder, error) != fs::directory_iterator() && !error;
}

// The n of "server-<n>".
std::optional<int> server_in_name(const std::string& name) {
  if (!name.starts_with("server-")) return std::nullopt;
  const auto number = parse_integer(name.substr(7));
  return number && *number >= 0 && *number < 65536 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// `taken`: where another process has it.
Result<Fd> lock_file(const fs::path& file, const Status& taken) {
  if (file.has_parent_path()) RETURN_IF_ERROR(make_folder(file.parent_path()));
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.open()) return system_error("cannot open", file);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  return errno == EWOULDBLOCK ? taken : system_error("cannot lock", file);
}

}  // namespace

Result<std::optional<RunRecord>> read_run_record(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / kFile, error)) {
    ASSIGN_OR_RETURN(const std::string text, read_file(folder / kFile));
    RunRecord record = parse_record(text);
    if (record.batches == 0 && fs::exists(folder / kTrained, error)) record.batches = 1;
    return std::optional(std::move(record));
  }
  if (!has_entries(folder / "snapshots") && !has_entries(folder / "log")) return std::optional<RunRecord>();
  return std::optional(
      RunRecord{.server = server_in_name(folder.filename().string()).value_or(0), .servers = 0, .workers = 0, .batches = 1});
}

Status write_run_record(const fs::path& folder, const RunRecord& record) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status::unavailable("cannot make the folder '{}': {}", folder.string(), error.message());
  std::string text;
  const auto put = [&](const char* name, const auto& value) { text += fmt::format("{} {}\n", name, value); };
  put("job", one_line(record.job));
  put("run", one_line(record.run));
  put("launch", one_line(record.launch));
  put("started", record.started);
  put("finished", record.finished);
  put("server", record.server);
  put("servers", record.servers);
  put("workers", record.workers);
  put("passes", record.passes);
  put("batches", record.batches);
  put("rows", record.rows);
  return write_file_atomically(folder / kFile, text);
}

Status mark_trained(const fs::path& folder) {
  const fs::path file = folder / kTrained;
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  const Status made = fd.open() ? sync_folder(folder) : system_error("cannot create", file);
  return made.ok() ? made : Status::unavailable("{}", made.message());
}

fs::path server_folder_in(const fs::path& directory, int server) { return directory / fmt::format("server-{}", server); }

fs::path followers_in(const fs::path& directory) { return directory / "followers"; }

bool is_part_of_run(const fs::path& followers_folder) {
  std::error_code error;
  return !fs::exists(followers_folder / kRoleFile, error);
}

Result<std::vector<RunRecord>> find_old_runs(const fs::path& directory) {
  std::map<int, RunRecord> found;
  std::error_code error;
  for (fs::directory_iterator entries(directory, error), end; !error && entries != end; entries.increment(error)) {
    const auto server = server_in_name(entries->path().filename().string());
    if (!server) continue;
    ASSIGN_OR_RETURN(auto record, read_run_record(entries->path()));
    if (!record || record->batches == 0) continue;
    record->server = *server;
    found[*server] = *record;
  }
  std::vector<RunRecord> records;
  for (auto& [server, record] : found) records.push_back(std::move(record));
  return records;
}

std::string describe_runs(std::span<const RunRecord> records) {
  const RunRecord& first = records.front();
  uint64_t rows = 0, passes = first.passes;
  for (const RunRecord& record : records) {
    rows += record.rows;
    passes = std::min(passes, record.passes);
  }
  const bool finished = std::ranges::all_of(records, [](const RunRecord& record) { return !record.finished.empty(); });
  if (first.started.empty()) return "the state of a run that an earlier version wrote";
  return fmt::format("run {} of job '{}' (started {}, {}, {}: {}, {})", first.run.empty() ? "without an id" : first.run,
                     first.job, first.started, counted(first.servers, "server"),
                     finished ? "finished " + first.finished : "not finished", counted(passes, "pass", "passes"),
                     counted(rows, "row"));
}

Status stopped_by_old_run(const fs::path& directory, std::span<const RunRecord> records) {
  return Status::failed_precondition(
      "'{}' holds {}. Say what to do with it: --resume goes on with it (after a finished run, a new one begins with its tables), "
      "--fresh begins anew and moves it aside; or name another --directory. (Without the launcher: ARGOSY_ON_OLD_STATE=resume or "
      "fresh)",
      directory.string(), describe_runs(records));
}

fs::path unused_name(const fs::path& name) {
  std::error_code error;
  fs::path unused = name;
  for (int number = 2; fs::exists(unused, error); ++number) unused = fmt::format("{}-{}", name.string(), number);
  return unused;
}

Result<fs::path> move_aside(const fs::path& folder, const std::string& run) {
  std::error_code error;
  if (!fs::exists(folder, error)) return folder;
  const fs::path target = unused_name(fmt::format("{}.before-{}", folder.string(), run.empty() ? "another" : run));
  fs::rename(folder, target, error);
  if (error) return Status::unavailable("cannot move '{}' to '{}': {}", folder.string(), target.string(), error.message());
  RETURN_IF_ERROR(sync_folder(folder.parent_path().empty() ? "." : folder.parent_path()));
  return target;
}

Result<Fd> lock_server_folder(const fs::path& folder) {
  return lock_file(
      folder.string() + ".lock",
      Status::already_exists("'{}' is in use by another server process; end it, or choose another directory", folder.string()));
}

Result<Fd> lock_launch(const fs::path& directory) {
  return lock_file(directory / "launcher.lock",
                   Status::already_exists("'{}' is the directory of a job that another launcher runs; wait for its end, end it "
                                          "with argosy stop, or choose another directory",
                                          directory.string()));
}

std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[64] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

}  // namespace argosy
