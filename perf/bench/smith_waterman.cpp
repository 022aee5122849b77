#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/option.h"
#include "cli/task_command.h"
#include "options/kernels.h"
#include "options/measures.h"
#include "perf/bench/alignment.h"
#include "runs/digest.h"

namespace edgewire::cli {

namespace {

using bench::Alignment;

struct SmithWatermanSettings {
  TaskOptions tasks;
  std::vector<std::string> sequences;
  std::size_t length = 3000;
  std::uint64_t seed = 1;
  std::string blocks = "30x30";
  bench::Scoring scoring;
  bool verify = false;
};

/// "ROWSxCOLUMNS"
void cut(Alignment& alignment, const std::string& blocks) {
  const std::size_t x = blocks.find('x');
  const auto part = [&](const std::string& text, std::size_t letters) {
    return static_cast<std::uint32_t>(
        whole_number(text, 1, static_cast<int>(std::min<std::size_t>(letters, 10'000)), "--blocks"));
  };
  if (x == blocks.npos) throw UsageError(fmt::format("--blocks {}: say ROWSxCOLUMNS, such as 30x30", blocks));
  alignment.rows = part(blocks.substr(0, x), alignment.a.size());
  alignment.columns = part(blocks.substr(x + 1), alignment.b.size());
}

std::shared_ptr<const Alignment> alignment_of(const SmithWatermanSettings& settings) {
  auto alignment = std::make_shared<Alignment>();
  if (settings.sequences.empty()) {
    std::tie(alignment->a, alignment->b) = bench::related_sequences(settings.length, settings.seed);
  } else {
    alignment->a = bench::read_fasta(settings.sequences[0]);
    alignment->b = bench::read_fasta(settings.sequences[1]);
  }
  if (std::max(alignment->a.size(), alignment->b.size()) > bench::kMostLetters)
    throw Error(fmt::format("sequences have {} letters at most", bench::kMostLetters));
  alignment->scoring = settings.scoring;
  cut(*alignment, settings.blocks);
  return alignment;
}

class AlignmentProgram : public TaskProgram {
 public:
  AlignmentProgram(std::shared_ptr<const Alignment> alignment, bool verify)
      : all_(std::move(alignment)), verify_(verify) {}

  std::string name() const override { return "smith-waterman"; }
  std::string describe() const override {
    return fmt::format("{} x {} letters in {} x {} blocks", all_->a.size(), all_->b.size(), all_->rows,
                       all_->columns);
  }
  std::string input() const override {
    const auto& [match, mismatch, open, extend] = all_->scoring;
    return fmt::format("{} and {} in {}x{} blocks, scores {} {} {} {}",
                       runs::digest(std::vector(all_->a.begin(), all_->a.end())),
                       runs::digest(std::vector(all_->b.begin(), all_->b.end())), all_->rows, all_->columns,
                       match, mismatch, open, extend);
  }
  void add_to(nlohmann::ordered_json& report) const override {
    report["letters"] = {all_->a.size(), all_->b.size()};
    report["blocks"] = {all_->rows, all_->columns};
    report["verified"] = verify_;
  }
  tasks::FunctionId add_functions(tasks::Registry& registry) const override {
    return bench::add_alignment(registry, all_);
  }
  std::string arguments() const override { return {}; }
  std::string result(const std::string& bytes) override {
    const auto found = tasks::from_bytes<bench::Best>(bytes);
    std::string text = in_words(found);
    if (!verify_) return text;
    if (known_.empty()) known_ = in_words(bench::align_plainly(all_->a, all_->b, all_->scoring));
    if (text != known_) throw Error(fmt::format("the result is wrong: {}, not {}", text, known_));
    return text;
  }

 private:
  static std::string in_words(const bench::Best& best) {
    return fmt::format("score {}, ends at letter {} of the first and {} of the second sequence", best.score,
                       best.end_a, best.end_b);
  }

  std::shared_ptr<const Alignment> all_;
  bool verify_;
  std::string known_;
};

}  // namespace

void add_smith_waterman(CLI::App& all) {
  auto settings = std::make_shared<SmithWatermanSettings>();
  CLI::App* command = all.add_subcommand(
      "smith-waterman",
      "the best local alignment of two sequences with affine gaps, in blocks that wait for each other");
  reads(add(*command, opt::sequences, settings->sequences)->expected(2));
  add(*command, opt::length, settings->length);
  add(*command, opt::sequence_seed, settings->seed);
  add(*command, opt::blocks, settings->blocks);
  add(*command, opt::match, settings->scoring.match);
  add(*command, opt::mismatch, settings->scoring.mismatch);
  add(*command, opt::gap_open, settings->scoring.gap_open);
  add(*command, opt::gap_extend, settings->scoring.gap_extend);
  settings->tasks.add_to(*command);
  add_run_options(*command, settings->tasks);
  add(*command, opt::verify, settings->verify,
      "check the result against a sequential reference, and exit with 1 when it differs");
  command->callback([settings] {
    const auto alignment = alignment_of(*settings);
    run_tasks(settings->tasks,
              [&] { return std::make_unique<AlignmentProgram>(alignment, settings->verify); });
  });
}

}  // namespace edgewire::cli
