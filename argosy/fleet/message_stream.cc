#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "argosy/base/address.h"
#include "argosy/base/clock.h"
#include "argosy/base/error.h"
#include "argosy/base/text.h"
#include "argosy/data/message_log.h"
#include "argosy/fleet/file_stream.h"

namespace argosy::fleet {
namespace {

constexpr int64_t kAnyTime = std::numeric_limits<int64_t>::min();
constexpr double kShortestWindow = 0.001, kLongestWindow = 1e9;  // seconds
constexpr double kLateSeconds = 10;
constexpr std::string_view kWindowMark = "window ";

int64_t milliseconds(double seconds) { return std::llround(seconds * 1000); }

int64_t now_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The end of the window that `time` is in. REQUIRES: time is 0 or more.
int64_t end_of_window(int64_t time, int64_t length) { return (time / length + 1) * length; }

Status unreadable(const std::string& topic, const std::string& line) {
  return Status::data_loss("what the workers have agreed upon to read of topic '{}' cannot be read: '{}'", topic, line);
}

// `count` whole numbers from 0; others: nothing.
std::vector<int64_t> numbers_in(std::string_view line, size_t count) {
  std::vector<int64_t> numbers;
  for (const std::string& word : split(line, ' ')) numbers.push_back(parse_integer(word).value_or(-1));
  if (numbers.size() != count || std::ranges::min(numbers) < 0) numbers.clear();
  return numbers;
}

void check_brokers(const std::string& brokers) {
  for (const std::string& broker : split(brokers, ',')) {
    const auto address = Address::parse_with_port(broker);
    if (!address.ok() || address->port < 1)
      throw Error(Status::invalid_argument(
          "brokers of a MessageStream: found '{}' in '{}', expected HOST:PORT,HOST:PORT; Kafka listens on port 9092 by default",
          broker, brokers));
  }
}

void check_seconds(const MessageStreamOptions& settings) {
  const auto fits = [](double seconds, double least) { return seconds >= least && seconds <= kLongestWindow; };
  if (!fits(settings.broker_seconds, kShortestWindow))
    throw Error(
        Status::invalid_argument("broker_seconds of a MessageStream is {}, expected {} to {:.0f}: how long brokers may be away",
                                 settings.broker_seconds, kShortestWindow, kLongestWindow));
  const double late = settings.late_seconds.value_or(kLateSeconds);
  if ((settings.every_seconds != 0 && !fits(settings.every_seconds, kShortestWindow)) || !fits(late, 0))
    throw Error(Status::invalid_argument(
        "every_seconds of a MessageStream is 0 (no windows) or from {} to {:.0f}, and late_seconds from 0; found {} and {}",
        kShortestWindow, kLongestWindow, settings.every_seconds, late));
  if (settings.every_seconds == 0 && settings.late_seconds)
    throw Error(
        Status::invalid_argument("late_seconds of a MessageStream is {}, and every_seconds is not set: without windows nothing "
                                 "is late. Set every_seconds, "
                                 "or leave late_seconds out",
                                 *settings.late_seconds));
}

void check(const MessageStreamOptions& settings) {
  if (settings.brokers.empty() || settings.topic.empty() || settings.group.empty())
    throw Error(Status::invalid_argument("a MessageStream needs brokers, a topic and a group; found '{}', '{}', '{}'",
                                         settings.brokers, settings.topic, settings.group));
  if (settings.topic.find('/') != std::string::npos || settings.brokers.find('/') != std::string::npos)
    throw Error(Status::invalid_argument("brokers are HOST:PORT,HOST:PORT and a topic has no '/'; found '{}', '{}'",
                                         settings.brokers, settings.topic));
  check_brokers(settings.brokers);
  if (settings.from != "earliest" && settings.from != "latest")
    throw Error(Status::invalid_argument("a MessageStream starts from 'earliest' or 'latest'; found '{}'", settings.from));
  if (settings.most < 1 || settings.range < 1)
    throw Error(Status::invalid_argument("most and range of a MessageStream are at least 1; found {} and {}", settings.most,
                                         settings.range));
  check_seconds(settings);
}

}  // namespace

// What a pass would take of a partition: [from, to), and messages are there up to `end`.
struct MessageStream::Range {
  int32_t partition = 0;
  int64_t from = 0, to = 0, end = 0;
};

// Of a list: the window that it is of, and the one that has ended with what was before it.
struct MessageStream::Window {
  int64_t end = 0;    // 0: there is none yet
  int64_t as_of = 0;  // 0: none has ended
  int64_t done = 0;   // where the stream ends here: the window that it has all of; 0: it may lack something
};

MessageStream::MessageStream(MessageStreamOptions options) : FileStream(options.stream), settings_(std::move(options)) {
  check(settings_);
}

MessageStream::MessageStream(MessageStreamOptions options, std::unique_ptr<data::MessageLog> log)
    : FileStream(options.stream), settings_(std::move(options)), log_(std::move(log)) {
  check(settings_);
}

MessageStream::~MessageStream() = default;

int64_t MessageStream::late_milliseconds() const { return milliseconds(settings_.late_seconds.value_or(kLateSeconds)); }

Status MessageStream::connect() {
  if (log_ != nullptr) return {};
  ASSIGN_OR_RETURN(data::MessageLogs * logs, data::message_logs());
  ASSIGN_OR_RETURN(log_, logs->open(settings_.brokers, settings_.topic, settings_.group));
  return {};
}

// A plan is a line for each partition: its number, and the offsets from and to. One without messages is there as well: where it
// begins is agreed upon with the first plan. With every_seconds the first line is the window.
Result<FileStream::News> MessageStream::look(bool silent) {
  RETURN_IF_ERROR(connect());
  ASSIGN_OR_RETURN(std::vector<Range> ranges, new_messages());
  News news;
  std::vector<std::string> lines;
  if (settings_.every_seconds > 0) {
    ASSIGN_OR_RETURN(const Window window, cut(ranges, silent));
    lines.push_back(fmt::format("{}{} {} {}", kWindowMark, window.end, window.as_of, window.done));
  }
  for (const Range& range : ranges) {
    news.anything = news.anything || range.to > range.from;
    lines.push_back(fmt::format("{} {} {}", range.partition, range.from, range.to));
  }
  news.plan = join(lines, "\n");
  return news;
}

Result<std::vector<MessageStream::Range>> MessageStream::new_messages() {
  const Deadline deadline = Deadline::after_seconds(settings_.broker_seconds);
  ASSIGN_OR_RETURN(const auto partitions, log_->offsets(deadline));
  std::vector<Range> ranges;
  const bool later = !begin_.empty() || !next_.empty();  // a partition that is not known was added since
  for (const data::PartitionOffsets& one : partitions) {
    if (!next_.contains(one.partition) && !begin_.contains(one.partition)) {
      ASSIGN_OR_RETURN(begin_[one.partition], first_offset(one, later, deadline));
    }
    const int64_t from = next_.contains(one.partition) ? next_[one.partition] : begin_[one.partition];
    if (from < one.first)
      return Status::data_loss(
          "kafka://{}/{}/{}: the next message is that of offset {}, and the first that the broker has is {}: {} messages are "
          "gone by the topic's "
          "retention. Commit offset {} for group '{}' to go on without them",
          settings_.brokers, settings_.topic, one.partition, from, one.first, one.first - from, one.first, settings_.group);
    const int64_t end = std::max(from, one.end);
    ranges.push_back({.partition = one.partition, .from = from, .to = from + std::min(end - from, settings_.most), .end = end});
  }
  return ranges;
}

Result<int64_t> MessageStream::first_offset(const data::PartitionOffsets& there, bool later, const Deadline& deadline) {
  ASSIGN_OR_RETURN(const auto committed, log_->committed(std::span(&there.partition, 1), deadline));
  if (committed[0]) return *committed[0];
  return settings_.from == "latest" && !later ? there.end : there.first;  // one that is added later is read from its beginning
}

bool MessageStream::nothing_in(const std::vector<Range>& ranges) {
  return std::ranges::all_of(ranges, [](const Range& range) { return range.to == range.from; });
}

// Leaves of the ranges what is of the window that is being taken, or, where that has ended, of the next one.
Result<MessageStream::Window> MessageStream::cut(std::vector<Range>& ranges, bool silent) {
  const std::vector<Range> whole = ranges;
  Window window{.end = window_end_};
  if (window.end > 0) {
    ASSIGN_OR_RETURN(const bool all, cut_before(ranges, window.end, silent));
    if (!all || !nothing_in(ranges)) return window;
    ranges = whole;
  }
  ASSIGN_OR_RETURN(const auto end, next_window(ranges, silent));
  if (!end) {
    if (window.end > 0 && now_milliseconds() >= window.end + late_milliseconds()) window.done = window.end;
    return window;
  }
  RETURN_IF_ERROR(cut_before(ranges, *end, silent).status());
  if (nothing_in(ranges)) return window;  // not yet
  return Window{.end = *end, .as_of = window.end > 0 ? *end - milliseconds(settings_.every_seconds) : 0};
}

// Whether all messages before `time` are there.
Result<bool> MessageStream::cut_before(std::vector<Range>& ranges, int64_t time, bool silent) {
  const bool late = silent || now_milliseconds() >= time + late_milliseconds();
  bool all = true;
  for (Range& range : ranges) {
    Ahead& ahead = ahead_[range.partition];
    if (ahead.end_of_window != time || ahead.offset < range.from) ahead = {.end_of_window = time, .offset = range.from};
    if (!ahead.time && ahead.offset < range.to) {
      ASSIGN_OR_RETURN(const data::TimedOffset found,
                       log_->first_at(range.partition, ahead.offset, range.to, time, settings_.broker_seconds));
      ahead = {.end_of_window = time, .offset = found.offset, .time = found.time};
    }
    const bool more_follows = range.to < range.end;  // than a pass takes
    range.to = std::min(range.to, ahead.offset);
    all = all && (ahead.time ? ahead.offset <= range.to : late && !more_follows);
  }
  return all;
}

// The end of the window of the next message; none: there is no message. Windows in which nothing came are passed over where it is
// known that nothing comes any more.
Result<std::optional<int64_t>> MessageStream::next_window(const std::vector<Range>& ranges, bool silent) {
  const int64_t length = milliseconds(settings_.every_seconds);
  std::optional<int64_t> earliest;
  bool all_have = true;
  for (const Range& range : ranges) {
    ASSIGN_OR_RETURN(const data::TimedOffset next,
                     log_->first_at(range.partition, range.from, range.to, kAnyTime, settings_.broker_seconds));
    if (next.time) earliest = std::min(earliest.value_or(*next.time), *next.time);
    all_have = all_have && next.time;
  }
  if (!earliest) return std::optional<int64_t>();
  int64_t end = end_of_window(*earliest, length);
  const int64_t open_since = std::max<int64_t>(0, now_milliseconds() - late_milliseconds());
  if (window_end_ > 0 && !all_have && !silent) end = std::min(end, end_of_window(open_since, length));
  return std::optional(std::max(end, window_end_ + length));
}

Result<MessageStream::Window> MessageStream::read_window(const std::string& line) const {
  const auto numbers =
      line.starts_with(kWindowMark) ? numbers_in(std::string_view(line).substr(kWindowMark.size()), 3) : std::vector<int64_t>();
  if (numbers.empty()) return unreadable(settings_.topic, line);
  return Window{.end = numbers[0], .as_of = numbers[1], .done = numbers[2]};
}

Result<std::vector<std::string>> MessageStream::take(const std::string& plan) {
  std::vector<std::string> lines = split(plan, '\n');
  if (settings_.every_seconds > 0 && !lines.empty()) {
    ASSIGN_OR_RETURN(const Window window, read_window(lines.front()));
    window_end_ = window.end;
    as_of_ = window.as_of > 0 ? std::optional(window.as_of) : std::nullopt;
    lines.erase(lines.begin());
  }
  std::vector<std::string> files;
  for (const std::string& line : lines) {
    const std::vector<int64_t> numbers = numbers_in(line, 3);
    if (numbers.empty() || numbers[2] < numbers[1]) return unreadable(settings_.topic, line);
    const auto partition = static_cast<int32_t>(numbers[0]);
    for (int64_t from = numbers[1], to = from; from < numbers[2]; from = to) {
      to = from + std::min(numbers[2] - from, settings_.range);
      files.push_back(data::MessageRange{
          .brokers = settings_.brokers, .topic = settings_.topic, .partition = partition, .from = from, .to = to}
                          .name());
    }
    next_[partition] = numbers[2];
  }
  return files;
}

Status MessageStream::end(const std::string& plan) {
  as_of_.reset();
  if (settings_.every_seconds == 0) return {};
  ASSIGN_OR_RETURN(const Window window, read_window(plan.substr(0, plan.find('\n'))));
  if (window.done > 0) as_of_ = window.done;
  return {};
}

Status MessageStream::settle() {
  if (next_.empty()) return {};
  RETURN_IF_ERROR(connect());
  std::vector<data::PartitionOffsets> ends;
  for (const auto& [partition, next] : next_) ends.push_back({.partition = partition, .first = 0, .end = next});
  return log_->commit(ends, Deadline::after_seconds(settings_.broker_seconds));
}

}  // namespace argosy::fleet
