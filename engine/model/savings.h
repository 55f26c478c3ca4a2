// SPDX-License-Identifier: Apache-2.0
// Savings that add up. Rules claim time from the buckets of a ledger, a relation that splits the time of each
// of its subjects into exclusive buckets; no bucket gives more than it holds, and no subject more than its
// whole time, however many rules claim it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/advice.h"
#include "engine/store/database.h"

namespace dladvisor {

// The family of all buckets: a claim on what takes time whether or not it is work, such as what the host does
// and the kernels that it launches.
inline constexpr std::string_view kAllBuckets = "step";

// The family of all buckets that are not of work: a claim on waits of more than one kind.
inline constexpr std::string_view kLostBuckets = "loss";

// A claim is on a bucket with its parts, those whose names begin with "BUCKET-", or on a family of buckets,
// those whose names begin with "FAMILY/", on all, or on all that are not of work.
struct Ledger {
  std::string relation;              // keyed by a subject and a bucket
  std::string bucket;                // the column that names the bucket
  std::string amount;                // SQL: the time in it, in the unit that rules claim
  std::vector<std::string> buckets;  // all of them, in order
  std::vector<std::string> work;     // those of work, not of loss; none where the two are not separated
  std::string periods = {};  // a query: how many alike periods the data holds, of one of which rules claim
  // A query: nouns of messages of which the data holds one, in small letters, and a SingleNoun's members.
  std::string single = {};
  // A query, whose columns are some of the relation's keys and last the time that faster work saves at most
  // as long as all losses stay as they are: what lies behind a loss is saved only with it.
  std::string work_limit = {};
  // The same columns without what makes the limit doubtful: findings do not rank by it, but say it.
  std::string work_as_recorded = {};
  // The buckets of loss whose savings make what the limit rests on faster, too. Where nothing is saved of
  // them all work together saves no more than the limit as recorded.
  std::vector<std::string> pace = {};
  // The same columns, last the time of work beside which something goes on that takes as long without it:
  // nothing of that is saved.
  std::string work_beside = {};
  // One value: whether a loss is a wait for what goes on beside the subjects at a pace of its own. They wait
  // the longer for it the sooner they are there, so that no saving is sure.
  std::string paced_from_outside = {};

  // The bucket with its parts, or those of the family; none where there is no such.
  std::vector<std::string> BucketsOf(const std::string& from) const;
  std::vector<std::string> Families() const;
};

// Caps the claim of every fired finding by what its bucket holds for the subjects that it matches, and adds
// up what findings are granted that no other explains: claims of higher confidence first, then the larger. A
// total over several subjects is that of the subject which saves most, since they run at the same time; and
// as they wait for one another, a finding on some of them saves of what is lost only as far as the subject
// that loses least loses it. Claims on work are told its limit, by which findings rank. Where the ledger has
// no row for a subject, claims stay as they are.
void GrantSavings(Advice& advice, const Ledger& ledger, const Database& db);

}  // namespace dladvisor
