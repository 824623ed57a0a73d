// The binned table as one tree sees it: the features it may use, in groups whose histograms stay in the cache.
//
// If the table is dense, the bins of the allowed features are packed for each tree row by row, group by group: histograms
// then read nothing but the entries they need. Otherwise a group is a block of the table, with the features that are not
// allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "pool_stumps.hpp"

namespace cgens {

struct Sums {
    std::int64_t price = 0, weight = 0;
    Sums& operator+=(const Sums& other) {
        price += other.price;
        weight += other.weight;
        return *this;
    }
    Sums& operator-=(const Sums& other) {
        price -= other.price;
        weight -= other.weight;
        return *this;
    }
    friend Sums operator-(Sums a, const Sums& b) { return a -= b; }
    bool empty() const { return price == 0 && weight == 0; }  // the weight of a row may round to 0
};

// A bin whose sums are not empty.
struct OccupiedBin {
    Sums sums;
    std::uint32_t bin;
};

struct FeatureGroup {
    std::vector<std::uint32_t> features;  // the allowed ones, ascending
    std::vector<std::size_t> first;       // where the bins of each begin in the histogram of the group
    std::size_t begin = 0, n_bins = 0;    // the histogram of the group within that of a node
    const FeatureBlock* block = nullptr;  // null if the table is dense
};

// The rows of a node that count.
struct RowSpan {
    const std::uint32_t* rows;
    std::size_t size;
    const Sums* sums;  // of each row of the table
};

class TreeBins {
   public:
    TreeBins(std::shared_ptr<const StumpPool> pool, int n_threads);

    void begin_tree(const std::uint8_t* allowed);
    const std::vector<FeatureGroup>& groups() const { return groups_; }
    std::size_t n_bins() const { return n_bins_; }  // of the histogram of a node
    double entries_per_row() const { return entries_per_row_; }

    // Adds the rows to the histogram of a group, but for the entries in common bins that the table does not store.
    void add_rows(const FeatureGroup& group, const RowSpan& span, Sums* histogram) const;
    // The same, and marks the bins that have a row: one bit each.
    void add_few_rows(const FeatureGroup& group, const RowSpan& span, Sums* histogram, std::uint64_t* marks) const;
    // Adds the entries in common bins, given the sums of the node.
    void complete(const FeatureGroup& group, const Sums& total, Sums* histogram) const;
    // Lists the occupied bins of the k-th feature of a complete histogram; `out` must have room for all bins and one.
    std::size_t list(const FeatureGroup& group, std::size_t k, const Sums* histogram, OccupiedBin* out) const;
    // The same for a marked histogram, which is completed in the list, and made empty, as are its marks.
    std::size_t take(const FeatureGroup& group, std::size_t k, const Sums& total, Sums* histogram, std::uint64_t* marks,
                     OccupiedBin* out) const;
    // Empties what was not taken.
    void empty(const FeatureGroup& group, Sums* histogram, std::uint64_t* marks) const;

    // Calls use(is_right), where is_right(row) looks up the side of the row's bin of a feature.
    template <class Use>
    void with_sides(std::size_t feature, const std::vector<std::uint8_t>& goes_right, const Use& use) const {
        const std::uint8_t* side = goes_right.data();
        if (is_dense()) {
            pool_->column(feature).visit(
                [&](const auto* bins) { use([side, bins](std::size_t row) { return side[bins[row]]; }); });
        } else {
            const StumpPool::FeatureBins bins = pool_->bins_of(feature);
            const std::uint8_t common = side[pool_->feature(feature).common_bin];
            use([side, common, &bins](std::size_t row) {
                std::uint8_t right = common;
                bins.visit(row, [&](std::size_t bin) { right = side[bin]; });
                return right;
            });
        }
    }

   private:
    std::size_t n_rows() const { return pool_->n_rows(); }
    bool is_dense() const { return pool_->is_dense(); }
    template <class Code>
    void pack(std::vector<Code>& packed) const;
    void add_dense_groups(const std::uint8_t* allowed);
    void add_sparse_groups(const std::uint8_t* allowed);
    template <class Mark>
    void add(const FeatureGroup& group, const RowSpan& span, Sums* histogram, const Mark& mark) const;

    std::shared_ptr<const StumpPool> pool_;
    int n_threads_;
    // The bins of allowed features: of each group, of each row, kWidth codes.
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> packed_;
    std::vector<FeatureGroup> groups_;
    std::size_t n_bins_ = 0;
    double entries_per_row_ = 0.0;
};

}  // namespace cgens
