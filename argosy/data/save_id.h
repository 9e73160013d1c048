#pragma once

#include <string>
#include <string_view>

namespace argosy::data {

// A name for a save that says which process makes it. It lives as long as the save is being made. Movable.
class SaveId {
 public:
  SaveId();
  SaveId(const SaveId&) = delete;
  ~SaveId();

  const std::string& text() const { return text_; }  // "MACHINE-PROCESS-START-RANDOM", hexadecimal

 private:
  const std::string text_;
};

enum class Saver { alive, gone, unknown };  // unknown: of another machine, or no such name

// Of the process that made a save's name, which is not finished.
Saver saver_of(std::string_view id);

}  // namespace argosy::data
