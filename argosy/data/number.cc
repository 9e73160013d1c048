#include "argosy/data/number.h"

#include <locale.h>
#include <stdlib.h>

#include <charconv>
#include <string>

namespace argosy::data {
namespace {

// The C locale's strtof and strtod: std::from_chars leaves out what a number that is too large or too small becomes.
float c_strto(const char* text, float) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtof_l(text, nullptr, c_locale);
}
double c_strto(const char* text, double) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text, nullptr, c_locale);
}

template <typename T>
const char* read_slowly(const char* at, T& value) {
  if (*at == '+' && at[1] != '-') ++at;  // from_chars takes no plus
  const char* word_end = at;
  while (static_cast<unsigned char>(*word_end) > ' ') ++word_end;
  const auto [end, error] = std::from_chars(at, word_end, value);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) value = c_strto(std::string(at, end).c_str(), value);
  return end;
}

}  // namespace

const char* read_float_slowly(const char* at, float& value) { return read_slowly(at, value); }
const char* read_double_slowly(const char* at, double& value) { return read_slowly(at, value); }

}  // namespace argosy::data
