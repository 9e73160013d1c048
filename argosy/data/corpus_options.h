#pragma once

#include <cstdint>
#include <memory>

namespace argosy::data {

class Vocabulary;

// How lines of words become samples of a word and the words around it.
struct CorpusOptions {
  std::shared_ptr<const Vocabulary> vocabulary;  // of words to ids; words that it lacks are passed over
  int window = 5;        // each word sees 1 to so many on either side, drawn anew for each
  double sample = 1e-4;  // frequent words are left out at random, see Vocabulary::keep_probability; 0: none is
  double power = 0.75;   // negatives are drawn as often as count^power says
  uint64_t seed = 1;
};

}  // namespace argosy::data
