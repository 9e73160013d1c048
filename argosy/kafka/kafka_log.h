#pragma once

#include <memory>
#include <string>

#include "argosy/data/message_log.h"

namespace argosy::kafka_module {

Result<std::unique_ptr<data::MessageLog>> open_log(const std::string& brokers, const std::string& topic,
                                                   const std::string& group);

// A partition's messages as text; see data::MessageLogs::read. Waits for a message as long as kPatienceSeconds, through changes
// of leaders and brokers that are away.
Result<std::unique_ptr<data::ByteStream>> read_range(const data::MessageRange& range, const data::StopSignal& stop);
inline constexpr double kPatienceSeconds = 120;

}  // namespace argosy::kafka_module
