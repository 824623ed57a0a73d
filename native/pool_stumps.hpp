// All stumps of a training table, and which of them are taken.
//
// The pool is the set of distinct responses up to sign: if two stumps split the training rows in the same way (on two
// equal features, say), only the first is searched. All searches over a pool share the set of taken stumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bin_features.hpp"

namespace cgens {

class StumpPool {
   public:
    StumpPool(BinnedTable table, int n_threads);
    StumpPool(const StumpPool&) = delete;

    // A candidate is the number of a cell among those of all features. Two candidates may have the same response: `take`
    // and the searches then know only the first of them.
    std::size_t n_cells() const { return first_cell_.back(); }
    std::size_t first_cell(std::size_t f) const { return first_cell_[f]; }
    Split split(std::size_t candidate) const;
    // The candidate that splits the training rows like this; none if the table has no such threshold or set of levels.
    std::optional<std::size_t> find(const Split& split) const;
    // Removes a response from the searches. Returns false if it is taken already, possibly on another feature.
    bool take(std::size_t candidate);
    // out[i] = h(x_i) of canonical row i: 1 above, -1 below.
    void respond(std::size_t candidate, std::int8_t* out) const;

    std::size_t n_rows() const { return table_.n_rows; }
    std::size_t n_features() const { return table_.features.size(); }
    std::size_t n_bins() const { return n_bins_; }
    std::size_t n_entries() const { return n_entries_; }  // stored in the table: all, if it is dense
    std::size_t n_candidates() const { return n_candidates_; }  // with distinct responses
    const BinnedFeature& feature(std::size_t f) const { return table_.features[f]; }
    const std::vector<FeatureBlock>& blocks() const { return table_.blocks; }  // of a sparse table
    std::size_t first_bin(std::size_t f) const { return first_bin_[f]; }  // in arrays over all bins

    struct Cell {
        std::uint32_t feature, cell;
    };
    Cell cell_of(std::size_t candidate) const;
    struct Repeated {
        std::uint32_t cell;
        Cell first;  // the candidate that has the same response
    };
    const std::vector<Repeated>& repeated(std::size_t f) const { return repeated_[f]; }
    const std::vector<std::uint32_t>& taken(std::size_t f) const { return taken_[f]; }  // cells

    bool is_dense() const { return table_.is_dense(); }
    const BinColumn& column(std::size_t f) const { return table_.columns[f]; }  // of a dense table

    // The bins of one feature of a sparse table, row by row.
    struct FeatureBins {
        const FeatureBlock& block;
        std::size_t begin, n_bins;  // the feature's first code and number of bins
        // Calls visit(bin) unless the row is in the common bin.
        template <class Visit>
        void visit(std::size_t row, Visit visit) const {
            visit_row(block, row, [&](std::size_t code) {
                if (code - begin < n_bins) visit(code - begin);  // unsigned: also rejects code < begin
            });
        }
    };
    FeatureBins bins_of(std::size_t feature) const;

   private:
    void mark_repeated(int n_threads);

    BinnedTable table_;
    std::vector<std::size_t> first_bin_, first_cell_;
    std::vector<std::vector<Repeated>> repeated_;
    std::vector<std::vector<std::uint32_t>> taken_;
    std::size_t n_bins_ = 0, n_entries_ = 0, n_candidates_ = 0;
};

}  // namespace cgens
