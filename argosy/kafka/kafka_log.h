#pragma once

#include <memory>
#include <string>

#include "argosy/data/message_log.h"

namespace argosy::kafka_module {

Result<std::unique_ptr<data::MessageLog>> open_log(const std::string& brokers, const std::string& topic,
                                                   const std::string& group);

// A partition's messages as lines; see data::MessageLogs::read. Waits for a message as long as ARGOSY_KAFKA_SECONDS says,
// through changes of leaders and brokers that are away.
Result<std::unique_ptr<data::ByteStream>> read_range(const data::MessageRange& range, data::MessageForm form,
                                                     const data::StopSignal& stop);

}  // namespace argosy::kafka_module
