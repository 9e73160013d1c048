#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"

// Folders of files in an object store, which can neither rename nor replace several objects at once.
//
// A save writes its files as objects under <folder>/.saved-<id>/, a name that nobody else has, and then one object,
// <folder>/__manifest__, which names each file with its object, size and checksum: that moment is the save. Readers go by the
// manifest and compare; so they see the save before or this one, whole. Files of the save before that this one does not have
// stay, as they do in a folder of this machine. One process saves into a folder at a time; where two do, the later manifest
// counts.
//
// What a save that was killed has left has no name in a manifest, and the next save removes it: at once where its process ran on
// this machine and is gone, after a day where that is not known. docs/formats.md has the manifest's format.
namespace argosy::data {

inline constexpr const char* kManifestName = "__manifest__";

struct ManifestFile {
  std::string name;    // in the folder: "fc_0.w_0"
  std::string object;  // of the folder: ".saved-…/fc_0.w_0"
  int64_t size = 0;
  uint32_t crc32 = 0;

  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct Manifest {
  std::string id;     // of the save
  uint64_t mark = 0;  // of the operation that saved it (base/file.h, folder_mark); 0: none
  std::vector<ManifestFile> files;  // by name

  std::string to_text() const;
  static Result<Manifest> from_text(const std::string& text);
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// The newest save; none where nobody has saved there.
Result<std::optional<Manifest>> read_manifest(const std::string& folder);

// Saves the files of a folder of this machine, and of those inside, to `folder`.
Status publish_folder(const std::filesystem::path& files, const std::string& folder, uint64_t mark = 0);

// Copies what is saved there to a new folder of this machine, compared with its checksums; without a manifest, as other programs
// leave a folder, the objects in it, hidden ones left out.
Status fetch_folder(const std::string& folder, const std::filesystem::path& to);

// A text that is another one whenever what is saved there is.
Result<std::string> folder_state(const std::string& folder);

}  // namespace argosy::data
