#pragma once

#include <filesystem>
#include <string>

#include "argosy/base/status.h"

namespace argosy {

// How a group of processes that is started again goes on from its last checkpoint. The launcher names a file in
// ARGOSY_CHECKPOINT_FILE of rank 0. Who saves a checkpoint notes its path there; when the launcher starts the group again, it
// hands that path to every process in ARGOSY_RESUME.

// The process's side: notes that `checkpoint` is whole, as an absolute path or a URI. Nothing where no launcher wants to know. A
// reader sees the note before or this one.
Status note_checkpoint(const std::filesystem::path& checkpoint);

// ARGOSY_RESUME: the checkpoint to go on from; empty: from the beginning.
std::string checkpoint_to_resume();

// The launcher's side: what was noted last in `file`; empty where nothing was.
Result<std::string> noted_checkpoint(const std::filesystem::path& file);

}  // namespace argosy
