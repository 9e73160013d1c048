#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/byte_stream.h"
#include "argosy/data/object.h"
#include "argosy/data/store_uri.h"

// Objects of stores, by URI: s3://bucket/key, gs://…, abfs://…, as Arrow's FileSystemFromUri reads them. What does the work is
// the module argosy_stores, a shared library that is opened when the first such URI is met (object_module.h); no header of
// Arrow's library is seen outside of it. What is here makes failed requests again and says what went wrong.
namespace argosy::data {

// ---- Calls. Errors name the URI. A store that is away, or that throttles, is waited for (store_retry.h); what is not there and
// what is not allowed is said at once.

// What is there, an object or a folder; `not_found` where nothing is.
Result<ObjectInfo> object_info(const std::string& uri);

// The objects in a folder, and in those inside where `recursive`; folders are among them where it is not. Sorted; none where
// there is no such folder.
Result<std::vector<ObjectInfo>> list_objects(const std::string& folder, bool recursive);

// `stop`, where there is one, outlives the file.
Result<std::shared_ptr<ObjectFile>> open_object(const std::string& uri, const StopSignal* stop = nullptr);
Result<std::string> read_object(const std::string& uri);
// In large pieces. An object that is replaced while it is read is an error.
Result<std::unique_ptr<ByteStream>> stream_object(const std::string& uri, const StopSignal& stop);

// The whole object appears, or none of it: a reader sees the old one until then. `open` gives what it is to hold, from the
// beginning, for each try.
Status put_object(const std::string& uri, const std::function<Result<std::unique_ptr<ByteStream>>()>& open);
Status put_object(const std::string& uri, std::string_view bytes);
// What is not there is no error.
Status remove_object(const std::string& uri);
Status remove_object_folder(const std::string& uri);  // with all that is in it

// Paths that match a shell's pattern (* ? [] on this machine; * and [] in a URI), sorted; none where nothing does.
Result<std::vector<std::string>> matching_files(const std::string& pattern);

}  // namespace argosy::data
