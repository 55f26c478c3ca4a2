// SPDX-License-Identifier: Apache-2.0
// The declaration of a relation whose cells are read where they lie in a Source, such as columns of events,
// without copies.
//
//   const RelationOver<Shops>& ShopRelation() {
//     static const auto r = RelationOver<Shops>("shop", "One row per shop.")
//         .Column("opened", Type::kInteger, Unit::kNone, "Year.",
//                 [](const Shops& s, size_t row) { return CellView::Of(s.opened[row]); });
//     return r;
//   }
//   std::unique_ptr<Relation> relation = ShopRelation().Over(shops, shops->size());
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/store/relation.h"

namespace dladvisor {

template <class Source>
class RelationOver {
 public:
  using Getter = std::function<CellView(const Source& source, size_t row)>;

  RelationOver(std::string name, std::string doc) : schema_{std::move(name), std::move(doc), {}, {}} {}

  RelationOver& Column(std::string name, Type type, Unit unit, std::string doc, Getter get,
                       bool nullable = false, std::string capture = {}) {
    schema_.columns.push_back(
        {std::move(name), type, unit, std::move(doc), nullable, std::move(capture), {}});
    getters_.push_back(std::move(get));
    return *this;
  }

  const Schema& schema() const { return schema_; }

  // REQUIRES: this outlives the relation.
  std::unique_ptr<Relation> Over(std::shared_ptr<const Source> source, size_t rows) const {
    return std::make_unique<View>(*this, std::move(source), rows);
  }

 private:
  class View final : public Relation {
   public:
    View(const RelationOver& of, std::shared_ptr<const Source> source, size_t rows)
        : of_(of), source_(std::move(source)), rows_(rows) {}
    const Schema& schema() const override { return of_.schema_; }
    size_t rows() const override { return rows_; }
    CellView At(size_t row, size_t column) const override { return of_.getters_[column](*source_, row); }

   private:
    const RelationOver& of_;
    std::shared_ptr<const Source> source_;
    size_t rows_;
  };

  Schema schema_;
  std::vector<Getter> getters_;
};

}  // namespace dladvisor
