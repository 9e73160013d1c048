#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy::observe {

// Writes a file of events that TensorBoard reads: numbers and histograms over steps. Each event is a record of the file format
// (length and bytes, each with a masked CRC-32C), written at once, so that TensorBoard sees it while the job runs. Confined to
// one thread.
class EventFile {
 public:
  // `folder`/events.out.tfevents.<seconds>.<host>.<pid>; the folder is made where it is missing.
  static Result<EventFile> open(const std::string& folder);

  Status scalar(std::string_view tag, int64_t step, double value);

  struct HistogramValues {
    std::vector<double> bounds, counts;  // values up to each bound, and how many are in each bucket; equally long
    double sum = 0;
  };
  Status histogram(std::string_view tag, int64_t step, const HistogramValues& values);

 private:
  explicit EventFile(Fd file) : file_(std::move(file)) {}
  Status write_event(const std::string& content, int64_t step);
  Status write_record(const std::string& bytes);

  Fd file_;
};

// CRC-32C (Castagnoli), as in the file.
uint32_t crc32c(std::string_view bytes);

}  // namespace argosy::observe
