#include "argosy/fleet/step_loop.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/error.h"
#include "argosy/base/notice.h"
#include "argosy/base/text.h"
#include "argosy/base/wait_check.h"

namespace argosy::fleet {
namespace {

using collective::Generations;

constexpr double kSliceSeconds = 0.1;
constexpr double kWordSeconds = 15;     // for the launcher to say who was lost, after a call has failed
constexpr double kNoticeSeconds = 0.3;  // the same, where no call has: the error is probably this rank's own
constexpr int64_t kMostSent = int64_t{256} << 20;  // bytes of one message of a copy

// What a wait of `generations` gives, waited for in slices, so that Ctrl-C ends it.
template <typename Wait>
auto in_slices(Deadline deadline, Wait wait) -> decltype(wait(deadline)) {
  for (;;) {
    const double left = deadline.seconds_left();
    auto result = wait(Deadline::after_seconds(std::min(left, kSliceSeconds)));
    if (result.ok() || result.status().code() != Code::deadline_exceeded || left <= kSliceSeconds) return result;
    if (wait_cancelled()) return Status::cancelled("the wait for the other ranks was cancelled");
  }
}

Status send_bytes(collective::Group& group, const std::string& bytes, int to) {
  const auto size = static_cast<int64_t>(bytes.size());
  RETURN_IF_ERROR(group.send(at::full({1}, size, at::kLong), to));
  for (int64_t at = 0; at < size; at += kMostSent) {
    const int64_t count = std::min(kMostSent, size - at);
    RETURN_IF_ERROR(group.send(at::from_blob(const_cast<char*>(bytes.data()) + at, {count}, at::kByte), to));
  }
  return {};
}

Result<std::string> receive_bytes(collective::Group& group, int from) {
  at::Tensor size = at::zeros({1}, at::kLong);
  RETURN_IF_ERROR(group.recv(size, from));
  std::string bytes(static_cast<size_t>(size.item<int64_t>()), '\0');
  for (int64_t at = 0; at < size.item<int64_t>(); at += kMostSent) {
    const int64_t count = std::min(kMostSent, size.item<int64_t>() - at);
    at::Tensor part = at::from_blob(bytes.data() + at, {count}, at::kByte);
    RETURN_IF_ERROR(group.recv(part, from));
  }
  return bytes;
}

}  // namespace

StepLoop::StepLoop(std::shared_ptr<collective::Group> group, LoopModel model)
    : group_(std::move(group)), model_(std::move(model)), has_model_(group_->generation() > 0) {}

void StepLoop::begin() {
  if (!survives()) return;
  if (!has_model_) {
    const Stopwatch since;
    regroup(false);
    notice("rank {} has taken the model of another after {} steps, in {:.2f} s", group_->rank(), counted_, since.seconds());
  }
  throw_if_error(Generations::say("ready"));
}

void StepLoop::step(const LoopStep& step) {
  while (!attempt(step)) continue;
  step.commit();
  ++counted_;
  in_step_ = false;
  if (std::exchange(met_with_gradients_, false)) model_.renew();
}

bool StepLoop::attempt(const LoopStep& step) {
  bool whole = false;
  Stopwatch since;
  try {
    in_step_ = true;
    if (survives()) model_.keep_buffers();
    step.body();
    if (!survives()) return true;
    model_.share_buffers();
    whole = true;
    throw_if_error(group_->barrier());
    return true;
  } catch (const Fatal& fatal) {
    std::rethrow_exception(fatal.error);
  } catch (...) {
    since.restart();
    if (!survives() || !lost()) throw;
  }
  const int64_t count = regroup(whole);
  notice("rank {} goes on at step {} after a pause of {:.2f} s: generation {}", group_->rank(), count + 1, since.seconds(),
         generation_);
  return count > counted_;
}

// After an error: whether it is that of a rank that was lost, which the launcher then says.
bool StepLoop::lost() const {
  const Deadline deadline = Deadline::after_seconds(group_->has_failed() ? kWordSeconds : kNoticeSeconds);
  return in_slices(deadline, [&](Deadline slice) { return group_->generations()->await(generation_, slice); }).ok();
}

int64_t StepLoop::regroup(bool whole) {
  const double patience = std::chrono::duration<double>(group_->timeout()).count();
  double seconds = patience;
  Status status;
  for (;;) {
    const auto next = in_slices(Deadline::after_seconds(seconds),
                                [&](Deadline slice) { return group_->generations()->await(generation_, slice); });
    if (!next.ok()) throw Error(status.ok() ? next.status() : status);
    generation_ = next->number;
    int64_t count = counted_;
    status = group_->meet_again(*next);
    if (status.ok()) status = agree(whole, count);
    if (status.ok()) return count;
    seconds = kWordSeconds;  // another rank was lost, or this one cannot go on
  }
}

// Every rank says how many steps it has counted, whether it has the gradients of the next one, and whether it has the model.
Status StepLoop::agree(bool whole, int64_t& count) {
  ASSIGN_OR_RETURN(const auto said, group_->all_gather(fmt::format("{} {} {}", counted_, whole ? 1 : 0, has_model_ ? 1 : 0)));
  RETURN_IF_ERROR(settle(said, whole, count));
  std::vector<bool> newcomers;
  int source = -1;
  for (size_t rank = 0; rank < said.size(); ++rank) {
    const auto parts = split(said[rank], ' ');
    newcomers.push_back(parts[2] == "0");
    if (source < 0 && !newcomers.back() && parts[0] == std::to_string(count)) source = static_cast<int>(rank);
  }
  if (has_model_ && count == counted_ && in_step_) model_.put_buffers_back();
  RETURN_IF_ERROR(copy(newcomers, source, count));
  // The gradients of a step that counts are still to be used.
  met_with_gradients_ = has_model_ && count > counted_;
  if (!met_with_gradients_) model_.renew();
  return {};
}

Status StepLoop::settle(const std::vector<std::string>& said, bool whole, int64_t& count) {
  count = -1;
  for (const std::string& one : said) {
    const auto parts = split(one, ' ');
    if (parts.size() != 3) return Status::internal("a rank says '{}', expected three numbers", one);
    if (parts[2] == "1") count = std::max(count, parse_integer(parts[0]).value_or(-1));
  }
  if (count < 0) return Status::failed_precondition("no rank is left that has the model");
  if (!has_model_ || counted_ == count || (counted_ + 1 == count && whole)) return {};
  return Status::internal("rank {} has counted {} steps and another one {}", group_->rank(), counted_, count);
}

Status StepLoop::copy(const std::vector<bool>& newcomers, int source, int64_t count) {
  std::string model;
  for (int rank = 0; rank < group_->size(); ++rank) {
    if (!newcomers[static_cast<size_t>(rank)]) continue;
    if (group_->rank() == source) {
      if (model.empty()) model = model_.lend();
      RETURN_IF_ERROR(send_bytes(*group_, model, rank));
    } else if (group_->rank() == rank) {
      ASSIGN_OR_RETURN(const std::string bytes, receive_bytes(*group_, source));
      model_.take(bytes);
      has_model_ = true;
      counted_ = count;
    }
  }
  return {};
}

void StepLoop::finish() {
  while (survives()) {
    throw_if_error(Generations::say(fmt::format("finished {}", generation_)));
    const auto over = in_slices(Deadline::after(group_->timeout()),
                                [&](Deadline slice) { return group_->generations()->await_over(generation_, slice); });
    if (value_or_throw(over)) return;
    regroup(false);
  }
}

}  // namespace argosy::fleet
