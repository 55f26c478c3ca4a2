// SPDX-License-Identifier: Apache-2.0
#include "engine/model/savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "engine/model/subject_index.h"

namespace dladvisor {
namespace {

// What is left of a bucket that is given away is not exactly 0.
constexpr double kLeastNs = 1;

// What one subject of the ledger still has to give.
struct Account {
  std::vector<NamedValue> subject;
  std::map<std::string, double> holds, left;                 // by bucket
  std::map<std::string, std::pair<double, double>> granted;  // low and high
  double total = 0, total_left = 0;
  double loss = 0, loss_left = 0;  // what may be saved of buckets that are not of work
  std::optional<double> work_limit, work_as_recorded;
  double beside_work = 0;  // what claims on work save of losses with it
};

bool IsWork(const Ledger& ledger, const std::string& bucket) {
  return std::ranges::find(ledger.work, bucket) != ledger.work.end();
}

std::vector<Account> OpenAccounts(const Ledger& ledger, const Database& db) {
  const Schema* schema = db.FindRelation(ledger.relation);
  if (!schema) return {};
  std::vector<std::string> keys;
  for (const std::string& key : schema->key)
    if (key != ledger.bucket) keys.push_back(key);
  const ResultSet rows =
      db.Query(fmt::format("SELECT \"{}\", ({}){}{} FROM \"{}\"", ledger.bucket, ledger.amount,
                           keys.empty() ? "" : ", ", fmt::join(keys, ", "), ledger.relation));
  std::vector<Account> accounts;
  std::map<std::string, size_t> by_subject;
  for (const auto& row : rows.rows) {
    std::vector<NamedValue> subject;
    for (size_t i = 0; i < keys.size(); ++i) subject.push_back({keys[i], row[i + 2], Unit::kNone});
    const auto [entry, is_new] = by_subject.emplace(SubjectText(subject), accounts.size());
    if (is_new) {
      accounts.emplace_back();
      accounts.back().subject = std::move(subject);
    }
    Account& account = accounts[entry->second];
    const auto amount = AsNumber(row[1]);
    const auto* bucket = std::get_if<std::string>(&row[0]);
    if (!amount || !bucket) continue;
    account.holds[*bucket] += *amount;
    account.left[*bucket] += *amount;
    account.total += *amount;
    account.total_left += *amount;
    if (!IsWork(ledger, *bucket)) account.loss += *amount;
  }
  double least = std::numeric_limits<double>::max();
  for (const Account& account : accounts)
    if (account.total > 0 && !ledger.work.empty()) least = std::min(least, account.loss);
  for (Account& account : accounts) account.loss = account.loss_left = std::min(account.loss, least);
  return accounts;
}

// As their texts are: 1 and 1.0 are the same. Of thousands of subjects each is held against each.
bool IsSameKey(const NamedValue& a, const NamedValue& b) {
  const bool is_exact = !std::holds_alternative<double>(a.value) && a.value.index() == b.value.index();
  return is_exact ? a.value == b.value : SubjectText({&a, 1}) == SubjectText({&b, 1});
}

bool Matches(const std::vector<NamedValue>& a, const std::vector<NamedValue>& b) {
  for (const NamedValue& key : a)
    for (const NamedValue& other : b)
      if (key.name == other.name && !IsSameKey(key, other)) return false;
  return true;
}

// Calls `use` with each account and the number that the query has for it.
template <typename Use>
void ForAccounts(std::vector<Account>& accounts, const std::string& query, const Database& db, Use use) {
  if (query.empty()) return;
  const ResultSet rows = db.Query(query);
  for (const auto& row : rows.rows) {
    std::vector<NamedValue> subject;
    for (size_t i = 0; i + 1 < row.size(); ++i)
      subject.push_back({rows.columns[i].name, row[i], Unit::kNone});
    for (Account& account : accounts)
      if (Matches(account.subject, subject)) use(account, AsNumber(row.back()));
  }
}

bool IsPacedFromOutside(const Ledger& ledger, const Database& db) {
  if (ledger.paced_from_outside.empty()) return false;
  const ResultSet rows = db.Query(ledger.paced_from_outside);
  return !rows.rows.empty() && AsNumber(rows.rows[0][0]).value_or(0) != 0;
}

// Takes from what the buckets of work hold, the largest first.
void TakeBeside(Account& account, const Ledger& ledger, double beside) {
  std::vector<std::string> buckets = ledger.work;
  const auto held_in = [&](const std::string& bucket) {
    const auto held = account.holds.find(bucket);
    return held == account.holds.end() ? 0.0 : held->second;
  };
  std::ranges::stable_sort(buckets, std::greater<>(), held_in);
  for (const std::string& bucket : buckets) {
    const double taken = std::min(beside, held_in(bucket));
    if (!(taken > 0)) continue;
    account.left[bucket] = account.holds[bucket] -= taken;
    beside -= taken;
  }
}

// What the buckets of a claim hold; nothing where the size of none is known: then they give at most the
// whole.
std::optional<double> SumOf(const std::map<std::string, double>& amounts,
                            const std::vector<std::string>& buckets) {
  std::optional<double> sum;
  for (const std::string& bucket : buckets)
    if (const auto known = amounts.find(bucket); known != amounts.end())
      sum = sum.value_or(0) + known->second;
  return sum;
}

// Takes `part`, of which `low` is sure, from the buckets that have most left.
void Take(Account& account, std::vector<std::string> buckets, double part, double low) {
  const auto left_in = [&](const std::string& bucket) {
    const auto left = account.left.find(bucket);
    return left == account.left.end() ? 0.0 : left->second;
  };
  std::ranges::stable_sort(buckets, std::greater<>(), left_in);
  double rest = part;
  for (const std::string& bucket : buckets) {
    const bool is_last = bucket == buckets.back();
    const double taken = is_last ? rest : std::min(rest, left_in(bucket));
    if (!(taken > 0)) continue;
    rest -= taken;
    if (const auto left = account.left.find(bucket); left != account.left.end()) left->second -= taken;
    auto& [low_granted, high_granted] = account.granted[bucket];
    low_granted += low * taken / part;
    high_granted += taken;
  }
}

// Takes the claim from every account that the finding is about; what the most generous gave.
void Grant(Finding& finding, std::vector<Account>& accounts, const Ledger& ledger, bool counts) {
  SavingClaim& saves = *finding.saves;
  if (!saves.high_ns) return;
  // A finding on all of them knows how they wait for one another.
  const std::vector<std::string> buckets = ledger.BucketsOf(saves.bucket);
  const bool is_work = !buckets.empty() && std::ranges::all_of(buckets, [&](const std::string& bucket) {
    return IsWork(ledger, bucket);
  });
  const bool is_loss =
      std::ranges::none_of(buckets, [&](const std::string& bucket) { return IsWork(ledger, bucket); });
  const bool waits = is_loss && std::ranges::any_of(accounts, [&](const Account& a) {
                       return !Matches(a.subject, finding.subject);
                     });
  std::optional<double> granted, alone, limit, now;
  for (Account& account : accounts) {
    if (!Matches(account.subject, finding.subject)) continue;
    const double whole = std::max(
        0.0, std::min({*saves.high_ns, account.total, SumOf(account.holds, buckets).value_or(account.total),
                       waits ? account.loss : account.total}));
    alone = std::max(alone.value_or(0), whole);
    if (is_work && account.work_limit) limit = std::max(limit.value_or(0), *account.work_limit);
    if (is_work && account.work_as_recorded) now = std::max(now.value_or(0), *account.work_as_recorded);
    const double total = counts ? account.total_left : account.total;
    double part =
        std::max(0.0, std::min({*saves.high_ns, total,
                                SumOf(counts ? account.left : account.holds, buckets).value_or(total)}));
    if (waits) part = std::min(part, counts ? account.loss_left : account.loss);
    if (part < kLeastNs) part = 0;
    granted = std::max(granted.value_or(0), part);
    if (!counts) continue;
    if (!is_loss)
      account.beside_work = std::max(account.beside_work, std::min(part, saves.limit_ns.value_or(0)));
    // What a claim on all buckets gives only without the losses is work, or all of it where nobody knows.
    std::vector<std::string> work;
    if (!is_work && !is_loss)
      std::ranges::copy_if(buckets, std::back_inserter(work),
                           [&](const std::string& bucket) { return IsWork(ledger, bucket); });
    const double behind =
        std::min(std::max(0.0, part - saves.limit_ns.value_or(0)), SumOf(account.left, work).value_or(0));
    const double low_share = part > 0 ? std::min(saves.low_ns.value_or(0), part) / part : 0;
    if (behind > 0) Take(account, work, behind, low_share * behind);
    double rest = part - behind;
    // What it saves as long as losses stay is of these first.
    if (!work.empty() && saves.limit_ns) {
      std::vector<std::string> losses;
      std::ranges::copy_if(buckets, std::back_inserter(losses),
                           [&](const std::string& bucket) { return !IsWork(ledger, bucket); });
      const double lost = std::min(rest, SumOf(account.left, losses).value_or(0));
      if (lost > 0) Take(account, losses, lost, low_share * lost);
      rest -= lost;
    }
    if (rest > 0) Take(account, buckets, rest, low_share * rest);
    account.total_left -= part;
    if (waits) account.loss_left -= part;
  }
  saves.alone_ns = alone ? alone : saves.high_ns;
  // Of work what the rule knows to go with it, as launches do with their kernels.
  const std::optional<double> own = is_work ? std::exchange(saves.limit_ns, std::nullopt) : std::nullopt;
  if (limit) saves.limit_ns = std::max(*limit, own.value_or(0));
  saves.now_ns = now ? std::max(*now, own.value_or(0)) : saves.limit_ns;
  if (granted) saves.high_ns = granted;
  if (saves.low_ns) saves.low_ns = std::min(*saves.low_ns, *saves.high_ns);
}

// Behind losses that stay work saves no more than its limit, however many findings share it.
void LimitWork(Account& account, const Ledger& ledger) {
  const auto granted_in = [&](const std::vector<std::string>& buckets) {
    double sum = 0;
    for (const std::string& bucket : buckets)
      if (const auto granted = account.granted.find(bucket); granted != account.granted.end())
        sum += granted->second.second;
    return sum;
  };
  const double work = granted_in(ledger.work);
  if (!account.work_as_recorded || granted_in(ledger.pace) > 0) return;
  const double most = std::max(*account.work_as_recorded, account.beside_work);
  if (!(work > most)) return;
  const double part = most / work;
  for (const std::string& bucket : ledger.work)
    if (const auto granted = account.granted.find(bucket); granted != account.granted.end()) {
      auto& [low, high] = granted->second;
      high *= part;
      low = std::min(low, high);
    }
}

}  // namespace

std::vector<std::string> Ledger::BucketsOf(const std::string& from) const {
  if (from == kAllBuckets) return buckets;
  std::vector<std::string> family;
  const bool is_one = std::ranges::find(buckets, from) != buckets.end();
  for (const std::string& name : buckets)
    if (is_one                 ? name == from || name.starts_with(from + "-")
        : from == kLostBuckets ? !IsWork(*this, name)
                               : name.starts_with(from + "/"))
      family.push_back(name);
  return family;
}

std::vector<std::string> Ledger::Families() const {
  std::vector<std::string> families;
  for (const std::string& name : buckets)
    if (const size_t slash = name.find('/'); slash != std::string::npos)
      if (std::string family = name.substr(0, slash); std::ranges::find(families, family) == families.end())
        families.push_back(std::move(family));
  families.emplace_back(kAllBuckets);
  families.emplace_back(kLostBuckets);
  return families;
}

void GrantSavings(Advice& advice, const Ledger& ledger, const Database& db) {
  std::vector<Account> accounts = OpenAccounts(ledger, db);
  ForAccounts(accounts, ledger.work_limit, db,
              [](Account& account, std::optional<double> limit) { account.work_limit = limit; });
  ForAccounts(accounts, ledger.work_as_recorded, db,
              [](Account& account, std::optional<double> limit) { account.work_as_recorded = limit; });
  ForAccounts(accounts, ledger.work_beside, db, [&](Account& account, std::optional<double> beside) {
    TakeBeside(account, ledger, beside.value_or(0));
  });
  std::vector<size_t> order;
  for (size_t i = 0; i < advice.findings.size(); ++i)
    if (advice.findings[i].outcome == Outcome::kFired && advice.findings[i].saves) order.push_back(i);
  if (IsPacedFromOutside(ledger, db))
    for (const size_t i : order)
      if (auto& low = advice.findings[i].saves->low_ns) low = 0;
  // A symptom is saved with its cause, unless no cause claims anything.
  const auto counts = [&](size_t i) {
    for (auto cause = advice.findings[i].caused_by; cause; cause = advice.findings[*cause].caused_by)
      if (const auto& saves = advice.findings[*cause].saves; saves && saves->high_ns) return false;
    return true;
  };
  const auto rank = [&](size_t i) {
    const Finding& finding = advice.findings[i];
    return std::tuple(!counts(i), finding.confidence, -finding.saves->high_ns.value_or(0),
                      std::string_view(finding.rule), i);
  };
  std::ranges::sort(order, [&](size_t a, size_t b) { return rank(a) < rank(b); });
  for (const size_t i : order) Grant(advice.findings[i], accounts, ledger, counts(i));

  const auto given = [](const Account& account) { return account.total - account.total_left; };
  const auto most = std::ranges::max_element(accounts, {}, given);
  if (most == accounts.end() || !(given(*most) > 0)) return;
  LimitWork(*most, ledger);
  for (const std::string& bucket : ledger.buckets)
    if (const auto granted = most->granted.find(bucket);
        granted != most->granted.end() && granted->second.second > 0)
      advice.savings.push_back({bucket, granted->second.first, granted->second.second});
}

}  // namespace dladvisor
