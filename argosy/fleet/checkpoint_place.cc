#include "argosy/fleet/checkpoint_place.h"

#include "argosy/data/working_folder.h"

namespace argosy::fleet {

Status check_checkpoint_place(const std::string& path) { return data::FolderPlace(path).check(); }
Result<std::string> read_checkpoint(const std::string& path) { return data::read_place(path); }
Status write_checkpoint(const std::string& path, std::string_view bytes) { return data::write_place(path, bytes); }

}  // namespace argosy::fleet
