#include "argosy/apps/word2vec_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "argosy/cli/program_arguments.h"
#include "argosy/data/vocabulary.h"
#include "argosy/inspect/word_vectors.h"

namespace argosy::apps {
namespace {

struct EvalArguments {
  std::string vectors, vocabulary, analogies, similarity;
};

Result<inspect::WordVectors> open_vectors(const EvalArguments& arguments) {
  if (arguments.vocabulary.empty()) return inspect::WordVectors::read_text(arguments.vectors);
  ASSIGN_OR_RETURN(const data::Vocabulary vocabulary, data::Vocabulary::read(arguments.vocabulary));
  std::vector<std::string> words;
  for (int64_t id = 0; id < vocabulary.size(); ++id) words.emplace_back(vocabulary.word(id));
  return inspect::WordVectors::read_tensor(arguments.vectors, std::move(words));
}

Status check(const EvalArguments& arguments) {
  if (!arguments.analogies.empty() || !arguments.similarity.empty()) return {};
  return Status::invalid_argument("nothing to evaluate: give --analogies, --similarity or both");
}

Status evaluate(const EvalArguments& arguments) {
  ASSIGN_OR_RETURN(const inspect::WordVectors vectors, open_vectors(arguments));
  std::printf("%zu words, vectors of %zu\n", vectors.size(), vectors.width());
  if (!arguments.analogies.empty()) {
    ASSIGN_OR_RETURN(const auto scores, vectors.analogies(arguments.analogies));
    for (const auto& score : scores)
      std::printf("analogies %s: %.2f %% (%lld of %lld, %lld with unknown words)\n", score.section.c_str(), score.percent(),
                  static_cast<long long>(score.right), static_cast<long long>(score.asked),
                  static_cast<long long>(score.unknown));
  }
  if (!arguments.similarity.empty()) {
    ASSIGN_OR_RETURN(const auto found, vectors.similarity(arguments.similarity));
    std::printf("similarity: %.2f, 100 times Spearman's correlation (%lld pairs, %lld with unknown words)\n",
                100 * found.spearman, static_cast<long long>(found.pairs), static_cast<long long>(found.unknown));
  }
  return {};
}

}  // namespace

void add_word2vec_eval(CLI::App& app, int& result) {
  auto* command = app.add_subcommand(
      "word2vec-eval",
      "How well vectors of words answer analogies (a is to b as c is to d) and order pairs by similarity.\n\n"
      "  argosy word2vec-eval model/emb --vocabulary model/words --analogies questions-words.txt   a table that a training has "
      "saved\n"
      "  argosy word2vec-eval vectors.txt --analogies questions-words.txt --similarity pairs.txt   word2vec's text, as gensim "
      "writes it\n\n"
      "An analogy is right where d is the word nearest to b - a + c. Questions are word2vec's: lines ': section' and 'a b c d'.\n"
      "Similarity is 100 times the correlation (Spearman's) of the cosines' order with that of the numbers in lines 'a b "
      "number'.\n"
      "Words without a vector are counted and not asked.");
  auto arguments = std::make_shared<EvalArguments>();
  command->add_option("vectors", arguments->vectors, "word2vec's text format, or, with --vocabulary, the file of a saved table")
      ->required();
  command->add_option("--vocabulary", arguments->vocabulary,
                      "the words of the table's rows in order, a word and its count a line");
  command->add_option("--analogies", arguments->analogies, "a file of questions");
  command->add_option("--similarity", arguments->similarity, "a file of pairs");
  command->callback([arguments, &result] {
    const Status usage = check(*arguments), status = usage.ok() ? evaluate(*arguments) : usage;
    std::fflush(stdout);
    if (!status.ok()) std::fprintf(stderr, "argosy word2vec-eval: %s\n", status.message().c_str());
    result = !usage.ok() ? cli::kUsageError : status.ok() ? 0 : 1;
  });
}

}  // namespace argosy::apps
