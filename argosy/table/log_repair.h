#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "argosy/base/status.h"
#include "argosy/table/log_segment.h"

namespace argosy::table {

// The file that the piece of a log at `position` is moved to, beside the log's own files.
std::filesystem::path set_aside_path(const std::filesystem::path& folder, uint64_t position);

// Moves pieces out of a segment, which no process has open: their bytes go to files of their own, whose names nothing had before,
// and in their place stands one record each, of the same size, with the payload that `instead` gives for its number of bytes. So
// no other record changes its position. The segment is written anew and takes its place in one step; after an error or a crash it
// is as it was. REQUIRES: pieces are of scan_segment(), each of 48 bytes or more.
Status set_aside(const LogSegment& segment, std::span<const LogPiece> pieces,
                 const std::function<std::string(uint64_t bytes)>& instead);

}  // namespace argosy::table
