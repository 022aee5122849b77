#include "launch/agreement.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/error.h"
#include "launch/frames.h"

namespace edgewire::launch {
namespace {

constexpr std::size_t kMostFacts = 3;     ///< facts in one line
constexpr std::size_t kMostValues = 3;    ///< values of a fact in one line
constexpr std::size_t kLongestText = 80;  ///< characters of a value

std::string pack_facts(const std::vector<Fact>& facts) {
  std::vector<std::string> texts{std::to_string(facts.size())};
  for (const Fact& fact : facts) texts.insert(texts.end(), {fact.name, fact.value});
  return pack(texts);
}

/// Unpacks whatever a process sends: it may be at another step, or of another version.
std::vector<Fact> unpack_facts(const std::string& bytes, std::size_t rank) {
  constexpr int kMost = 10000;
  try {
    const int count = std::stoi(unpack(bytes, 1)[0]);
    if (count < 0 || count > kMost) throw Error("no such count");
    const auto texts = unpack(bytes, 1 + 2 * count);
    std::vector<Fact> facts;
    for (std::size_t i = 1; i < texts.size(); i += 2) facts.push_back({texts[i], texts[i + 1]});
    return facts;
  } catch (const std::exception&) {
    throw Error(
        fmt::format("rank {} is at another step of the job than this process: start the same command, of "
                    "the same version, in all processes",
                    rank));
  }
}

std::string value_of(const std::vector<Fact>& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &Fact::name);
  if (found == facts.end() || found->value.empty()) return "not given";
  return found->value.size() <= kLongestText ? found->value : found->value.substr(0, kLongestText) + "...";
}

/// Returns a text as "--damping is 0.85 at rank 0, 0.8 at ranks 1-2"; empty if all have the same value.
std::string difference_in(const std::string& name, const std::vector<std::vector<Fact>>& all) {
  std::vector<std::pair<std::string, std::vector<int>>> values;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string value = value_of(all[rank], name);
    auto same = std::ranges::find(values, value, &std::pair<std::string, std::vector<int>>::first);
    if (same == values.end()) same = values.insert(same, {value, {}});
    same->second.push_back(static_cast<int>(rank));
  }
  if (values.size() == 1) return "";
  std::string text = name + " is";
  for (std::size_t i = 0; i < std::min(values.size(), kMostValues); ++i)
    text += fmt::format("{} {} at {}", i == 0 ? "" : ",", values[i].first, ranks_text(values[i].second));
  if (values.size() > kMostValues) text += ", and more";
  return text;
}

}  // namespace

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (last > i) text += fmt::format("{}{}", last > i + 1 ? "-" : ", ", ranks[last]);
    i = last;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

std::string difference(const std::vector<std::vector<Fact>>& all) {
  std::vector<std::string> names, found;
  for (const auto& facts : all)
    for (const Fact& fact : facts)
      if (std::ranges::find(names, fact.name) == names.end()) names.push_back(fact.name);
  for (const std::string& name : names) {
    const std::string one = difference_in(name, all);
    if (!one.empty()) found.push_back(one);
    if (!one.empty() && name == names[0]) break;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMostFacts); ++i)
    text += (text.empty() ? "" : "; ") + found[i];
  if (found.size() > kMostFacts) text += fmt::format("; and {} more", found.size() - kMostFacts);
  return text;
}

void check_agreement(Bootstrap& bootstrap, const std::vector<Fact>& mine) {
  const std::string packed = pack_facts(mine);
  const auto messages = bootstrap.allgather(packed);
  if (std::ranges::all_of(messages, [&](const auto& other) { return other == packed; })) return;
  std::vector<std::vector<Fact>> all;
  for (std::size_t rank = 0; rank < messages.size(); ++rank)
    all.push_back(unpack_facts(messages[rank], rank));
  throw Error("the processes run with different graphs or options: " + difference(all));
}

std::uint64_t new_generation(Bootstrap& bootstrap) {
  std::random_device random;
  return std::stoull(bootstrap.allgather(std::to_string(std::uint64_t{random()} << 32 | random()))[0]);
}

}  // namespace edgewire::launch
