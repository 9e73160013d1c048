#pragma once

#include <string>
#include <string_view>

#include "argosy/base/status.h"

namespace argosy::launch {

// Signs what the launchers of a job say to each other, because anybody who reaches their meeting place can write there:
// HMAC-SHA256 with the job's token, over the text, the place where it stands ("from/2/17") and the meeting place's greeting, so
// that nothing said elsewhere or before can be said again. The token itself never travels. A plain value.
class Seal {
 public:
  // The first node's: makes up a greeting.
  static Seal fresh(const std::string& token);
  // Another node's, from what the first greets with; an error where that is of another version.
  static Result<Seal> from_greeting(const std::string& token, const std::string& greeting);

  const std::string& greeting() const { return greeting_; }
  std::string sealed(std::string_view text, std::string_view place) const;
  // The text; an error where it was not sealed with this token for this place.
  Result<std::string> opened(std::string_view sealed, std::string_view place) const;

 private:
  Seal(std::string token, std::string greeting) : token_(std::move(token)), greeting_(std::move(greeting)) {}
  std::string code_of(std::string_view text, std::string_view place) const;

  std::string token_, greeting_;
};

}  // namespace argosy::launch
