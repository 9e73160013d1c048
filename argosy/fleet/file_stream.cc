#include "argosy/fleet/file_stream.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/error.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/base/wait_check.h"
#include "argosy/data/object_store.h"
#include "argosy/fleet/fleet.h"

namespace argosy::fleet {
namespace {

// What a worker says: its process, whether it has waited long enough, and its plan.
constexpr char kIdle = 'i', kNothing = 'n', kNews = 'y';

const Fleet& fleet_of(const FileStreamOptions& options) { return options.fleet != nullptr ? *options.fleet : fleet(); }

// A worker that is lost after the others had finished a list leaves files of it that nobody has trained.
Status check_losses(const Fleet& job, const std::vector<std::string>& parts) {
  if (!job.distributed() || std::ranges::none_of(parts, &std::string::empty)) return {};
  for (const ps::OpenPass& open : job.ledger().open) {
    if (!open.lost || (open.files_left == 0 && (open.batches == 0 || open.files_handed_on > 0))) continue;
    return Status::data_loss(
        "worker {} was lost when the others had finished the list, and nobody has trained what is left of its files ({} applied "
        "batches, {} "
        "files left). Nothing of the list is committed: resume the job, and let it wait for lost workers (--on-worker-loss=wait)",
        open.worker, open.batches, open.files_left);
  }
  return {};
}

constexpr double kLongestWait = 1e9;  // seconds

const FileStreamOptions& checked(const FileStreamOptions& options) {
  if (!(options.idle_seconds >= 0 && options.idle_seconds <= kLongestWait))
    throw Error(Status::invalid_argument(
        "idle_seconds of a stream is {}, expected 0 to {:.0f}: how long nothing comes before the stream ends",
        options.idle_seconds, kLongestWait));
  if (!(options.poll_seconds > 0 && options.poll_seconds <= kLongestWait))
    throw Error(Status::invalid_argument(
        "poll_seconds of a stream is {}, expected more than 0, and at most {:.0f}: the time between two looks for news",
        options.poll_seconds, kLongestWait));
  return options;
}

// The folder that a pattern names before its first wildcard; of a URI none is known.
Status check_folder(const std::string& pattern) {
  if (is_uri(pattern) && uri_scheme(pattern) != "file") return {};
  const std::string path = local_path(pattern);
  const size_t slash = path.rfind('/', path.find_first_of("*?[\\"));
  if (slash == std::string::npos || slash == 0) return {};
  const std::string folder = path.substr(0, slash);
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return Status::invalid_argument(
      "FolderStream('{}'): the folder '{}' is not there; make it before the stream is made, or correct the pattern (a relative "
      "one is looked for in '{}')",
      pattern, folder, std::filesystem::current_path(error).string());
}

}  // namespace

FileStream::FileStream(FileStreamOptions options) : options_(checked(options)) {}

std::string FileStream::new_nonce() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::vector<std::string> FileStream::next() {
  for (;;) {
    bool idle = false;
    // A process that was started again first hears what was agreed upon before.
    const News news = live_ ? value_or_throw(wait_for_news(idle)) : News{};
    const Agreed agreed = agree(news, idle);
    if (agreed.live && agreed.first && unsettled_) {
      throw_if_error(settle());
      unsettled_ = false;
    }
    live_ = agreed.live;
    if (agreed.ended) {
      throw_if_error(end(agreed.plan));
      return {};
    }
    std::vector<std::string> files = value_or_throw(take(agreed.plan));
    unsettled_ = unsettled_ || agreed.anything;
    if (agreed.anything) return files;
  }
}

Result<FileStream::News> FileStream::wait_for_news(bool& idle) {
  const Deadline deadline = Deadline::after_seconds(options_.idle_seconds);
  for (;;) {
    const bool silent = deadline.passed();
    ASSIGN_OR_RETURN(News news, look(silent));
    idle = !news.anything && silent;
    if (news.anything || idle) return news;
    if (!pause_unless_cancelled(options_.poll_seconds, deadline))
      return Status::cancelled("the wait for new data was interrupted");
  }
}

FileStream::Agreed FileStream::agree(const News& news, bool idle) const {
  const char state = news.anything ? kNews : idle ? kIdle : kNothing;
  const std::string mine = nonce_ + state + news.plan;
  const Fleet& job = fleet_of(options_);
  const bool one = !job.initialised() || job.worker_num() == 1;
  const bool alone = one && !job.distributed();  // nobody else reads, and no servers keep what was agreed upon
  const std::vector<std::string> parts = alone ? std::vector{mine} : job.util().all_gather(mine);
  const size_t me = one ? 0 : static_cast<size_t>(job.worker_index());
  throw_if_error(check_losses(job, parts));
  // The first worker that has news decides, or else the first one that is there.
  size_t chosen = parts.size();
  for (size_t i = parts.size(); i-- > 0;) {
    if (parts[i].size() <= nonce_.size()) continue;  // lost or done
    if (chosen == parts.size() || parts[i][nonce_.size()] == kNews || parts[chosen][nonce_.size()] != kNews) chosen = i;
  }
  if (chosen == parts.size())
    throw Error(Status::data_loss(
        "what the workers had agreed upon to read is no longer kept by the servers; resume the job from a snapshot"));
  const std::string& part = parts[chosen];
  const char said = part[nonce_.size()];
  return {.plan = part.substr(nonce_.size() + 1),
          .anything = said == kNews,
          .ended = said == kIdle,
          .live = parts[me].starts_with(nonce_),
          .first = chosen == me};
}

FolderStream::FolderStream(FolderStreamOptions options) : FileStream(options.stream), settings_(std::move(options)) {
  if (settings_.pattern.empty())
    throw Error(Status::invalid_argument("a FolderStream needs a pattern of a shell, such as 'incoming/part-*'; found ''"));
  if (settings_.most < 1)
    throw Error(
        Status::invalid_argument("most of a FolderStream is {}, expected at least 1: the files of a pass", settings_.most));
  throw_if_error(check_folder(settings_.pattern));
}

Result<FileStream::News> FolderStream::look(bool) {
  RETURN_IF_ERROR(check_folder(settings_.pattern));
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, data::matching_files(settings_.pattern));
  std::vector<std::string> fresh;
  for (const std::string& path : paths) {
    if (!taken_.contains(path) && path.find('\n') == std::string::npos) fresh.push_back(path);
  }
  std::ranges::sort(fresh);
  if (static_cast<int64_t>(fresh.size()) > settings_.most) fresh.resize(static_cast<size_t>(settings_.most));
  return News{.plan = join(fresh, "\n"), .anything = !fresh.empty()};
}

Result<std::vector<std::string>> FolderStream::take(const std::string& plan) {
  std::vector<std::string> files = split(plan, '\n');
  taken_.insert(files.begin(), files.end());
  return files;
}

}  // namespace argosy::fleet
