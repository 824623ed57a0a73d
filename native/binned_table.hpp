// The training table in bins, which stumps and trees read instead of X.
//
// A table is dense if most of its entries are outside the most common bin of their feature: it then has the bins of all
// rows, feature by feature. Else it is sparse: entries in the most common bin are not stored, and the others are stored
// row by row within blocks of features, so that a histogram reads only the rows it needs while the histograms of a block
// stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "binned_feature.hpp"
#include "large_vector.hpp"

namespace cgens {

// The bins of all rows of one feature, in as few bytes as they need.
class BinColumn {
   public:
    BinColumn() = default;
    BinColumn(std::size_t n_rows, std::size_t n_bins)
        : width_(n_bins <= 256 ? 1 : n_bins <= 65536 ? 2 : 4), bins_(n_rows * width_) {}

    // Calls visit(bins) with an array of 8, 16 or 32 bits per row.
    template <class Visit>
    decltype(auto) visit(const Visit& visit) const {
        if (width_ == 1) return visit(reinterpret_cast<const std::uint8_t*>(bins_.data()));
        if (width_ == 2) return visit(reinterpret_cast<const std::uint16_t*>(bins_.data()));
        return visit(reinterpret_cast<const std::uint32_t*>(bins_.data()));
    }
    // The same, to be written.
    template <class Fill>
    void fill(const Fill& fill) {
        visit([&](const auto* bins) { fill(const_cast<std::remove_const_t<std::remove_pointer_t<decltype(bins)>>*>(bins)); });
    }
    std::size_t width() const { return width_; }  // bytes per bin

   private:
    std::size_t width_ = 1;
    LargeVector<std::byte> bins_;
};

// At most so many features of a dense matrix are in a block: with 256 bins, they have 64 KB of histograms.
constexpr std::size_t kBlockFeatures = 32;

struct FeatureBlock {
    std::size_t first_feature = 0, n_features = 0;
    std::vector<std::size_t> bin_offset;    // n_features + 1: where the bins of a feature begin in the block
    std::vector<std::uint32_t> row_begin;   // n_rows + 1: where the codes of a row begin
    std::vector<std::uint16_t> codes;       // bin_offset + bin, ascending within a row
    std::vector<std::uint32_t> wide_codes;  // the same, used instead of codes if the block has more than 65536 bins
};

// Calls visit(code) for each stored entry of one row in a block.
template <class Visit>
inline void visit_row(const FeatureBlock& block, std::size_t row, Visit visit) {
    const std::uint32_t begin = block.row_begin[row], end = block.row_begin[row + 1];
    if (block.wide_codes.empty()) {
        for (std::uint32_t k = begin; k < end; ++k) visit(block.codes[k]);
    } else {
        for (std::uint32_t k = begin; k < end; ++k) visit(block.wide_codes[k]);
    }
}

struct BinnedTable {
    std::size_t n_rows = 0;
    std::vector<BinnedFeature> features;
    std::vector<BinColumn> columns;    // of each feature, if the table is dense
    std::vector<FeatureBlock> blocks;  // if it is sparse

    bool is_dense() const { return !columns.empty(); }
};

// Features [first, last) of a dense table that share a pass over the rows.
struct FeatureRange {
    std::size_t first, last;
    std::size_t size() const { return last - first; }
};
// All features in ranges of this size.
std::vector<FeatureRange> split_features(std::size_t n_features, std::size_t size);
// All features in ranges of a few, at least four for each thread if there are enough features.
std::vector<FeatureRange> feature_ranges(std::size_t n_features, int n_threads);

// The same table, sparse.
BinnedTable without_common_bins(BinnedTable dense, int n_threads);

}  // namespace cgens
