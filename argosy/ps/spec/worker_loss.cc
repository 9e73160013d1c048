#include "argosy/ps/spec/worker_loss.h"

#include <algorithm>

namespace argosy::ps {
namespace {

constexpr std::string_view kMark = "lost: ", kWorker = "worker ";

}  // namespace

Status lost_error(std::string_view workers) {
  return Status::failed_precondition(
      "{}{}; this call waits for it. See the worker's log; on_worker_loss=wait lets a job wait for it, shrink go on without it, "
      "but not without worker 0, which saves",
      kMark, workers);
}

std::optional<std::string> lost_worker(const Status& status) {
  const std::string_view text = status.message();
  const std::string mark = fmt::format("{}{}", kMark, kWorker);
  const size_t at = text.find(mark);
  if (status.code() != Code::failed_precondition || at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + mark.size());
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0) return std::nullopt;
  return fmt::format("{}{}", kWorker, rest.substr(0, digits));
}

}  // namespace argosy::ps
