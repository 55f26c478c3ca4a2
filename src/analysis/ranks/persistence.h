// SPDX-License-Identifier: Apache-2.0
// Is it always the same one? Whether an item is the worst of its peers in more rounds than chance explains.
//
// Were all peers alike and rounds independent, an item would be among the k worst of n in a round with
// probability k/n. Two that are bad alike are the worst in turn, and of thousands some are worse by chance in
// every round, so k goes from 1 up to a quarter of the peers (1, 2, 3, 5, 8, ...). Of the runs of successive
// rounds that begin and end with the item among the worst, the one is taken that is least likely by chance
// (upper tail of the binomial distribution, exact), and its probability multiplied by the number of runs, of
// peers and of k that were looked at (Bonferroni), so that it is never understated by having searched. It
// does not say that an effect is large: callers ask for that as well.
//
// Few rounds of few peers cannot be unlikely by counts, however late an item is. Where counts do not tell,
// the size of the differences is asked: the item that exceeds the median of the others in all its rounds
// together by most of its own deviations (Student's t, one-sided, corrected for all peers and for asking
// twice).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace dladvisor {

struct Persistence {
  size_t item = 0;
  size_t first = 0, last = 0;  // rounds, inclusive
  int64_t rounds = 0;          // in which the item took part, from first to last
  int64_t worst = 0;           // of those, in which it was among the worst
  size_t among = 1;            // that many
  double probability = 1;      // by chance, corrected
};

// By item and round, how bad: the larger the worse. Rounds in which an item took no part are NaN; `excluded`
// cells (by item * rounds + round) count as such. At least two items.
class WorstItems {
 public:
  static constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

  WorstItems(size_t items, size_t rounds) : rounds_(rounds), values_(items * rounds, kAbsent) {}

  void Set(size_t item, size_t round, double value) { values_[item * rounds_ + round] = value; }
  double At(size_t item, size_t round) const { return values_[item * rounds_ + round]; }
  size_t items() const { return rounds_ == 0 ? 0 : values_.size() / rounds_; }
  size_t rounds() const { return rounds_; }
  // Whether it took part and is among the `among` worst.
  bool IsAmongWorst(size_t item, size_t round, size_t among) const;
  // Takes an item out of these rounds, so that the next worst can be found.
  void Exclude(size_t item, size_t first, size_t last);

  // By how much each exceeds the median of the others that take part in the round: of few, one that is bad
  // would raise a median of all. Rounds with fewer than two are absent.
  WorstItems ExcessOverOthers() const;

  // The most persistent item; nothing where no round has two.
  std::optional<Persistence> Find() const;

 private:
  // Replaces `best` by a run that is less likely.
  void FindAmong(size_t among, double looked_at, std::optional<Persistence>& best) const;
  // Likewise by a run of all rounds of an item.
  void FindBySize(std::optional<Persistence>& best) const;

  size_t rounds_;
  std::vector<double> values_;
};

}  // namespace dladvisor
