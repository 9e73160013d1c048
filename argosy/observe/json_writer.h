#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace argosy::observe {

// Writes JSON from the beginning to the end. What is not a finite number becomes null. Strings are written as UTF-8, and "</" so
// that a text can stand within <script>. Confined to one thread.
class JsonWriter {
 public:
  JsonWriter& begin_object(std::string_view key = {}) { return open(key, '{'); }
  JsonWriter& begin_array(std::string_view key = {}) { return open(key, '['); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& end_array() { return close(']'); }

  // Of an object with a key, of an array without one.
  JsonWriter& text(std::string_view key, std::string_view value);
  JsonWriter& number(std::string_view key, double value);
  JsonWriter& boolean(std::string_view key, bool value);

  const std::string& json() const { return json_; }

 private:
  JsonWriter& open(std::string_view key, char bracket);
  JsonWriter& close(char bracket);
  void begin_value(std::string_view key);
  void quote(std::string_view text);

  std::string json_;
};

}  // namespace argosy::observe
