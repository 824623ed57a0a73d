// The prices of all stumps for several outputs, kept as a table that a rank-one change of the duals brings up to date.
//
// A least-squares master changes its duals by U <- U - p k' each round (docs/theory.md). The prices of all candidates g
// then change by (g'p) k': one pass of prefix sums over one vector, whatever the number of outputs, plus arithmetic on
// the table. g'Pg, with which the table knows by how much each candidate would lower the objective, follows as
// g'Pg <- g'Pg - (g'p)^2 / (1 + h'p).
//
// Sums over rows are exact 64-bit integers, as in StumpScan. The table itself is in doubles and drifts by one rounding
// a round: `drift` says by how much at most, and the caller starts anew from the duals when that is too much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fixed_point.hpp"
#include "pool_stumps.hpp"

namespace cgens {

enum class PriceRule {
    kMax,    // the largest |price| of a single output (EQ:WL2)
    kGain,   // the largest decrease of the objective, 1/2 sum_t price_t^2 / (1 + g'Pg)
    kVotes,  // the largest sum of |price| over all outputs
};

struct TablePrice {
    bool found;  // false where no free candidate has a price other than 0
    std::size_t feature;
    double threshold;
    std::size_t output;  // the one of largest |price|
    double price;        // of that output, signed
    double max_price;    // largest |price| of all free candidates and outputs
    double energy;       // sum over the whole pool, taken ones included, and all outputs, of price^2
    double merit;        // what the rule measures of the best; of a gain, twice that
};

class StumpTable {
   public:
    StumpTable(std::shared_ptr<const StumpPool> pool, std::size_t n_outputs, int n_threads);

    // Makes all prices anew from duals, n_rows x n_outputs, row-major.
    void set_duals(const double* duals);
    // Makes g'P_0g anew, P_0 = diag(v) - vv' / sum(v): the empty master's.
    void set_curvature(const double* diagonal);
    // Applies the duals' change, - direction step', and g'Pg's where that is kept, and returns the best of the changed
    // table: in one pass over it.
    TablePrice change(const double* direction, const double* step, double denominator, PriceRule rule);
    // Applies a change to g'Pg only.
    void change_curvature(const double* direction, double denominator);
    TablePrice find_best(PriceRule rule);

    // out[i] = h(x_i) of canonical row i, for a threshold of the pool: by the feature's own entries, faster than the
    // pool itself can.
    void respond(std::size_t feature, double threshold, std::int8_t* out) const;

    // How far a price may be off through rounding, at most.
    double drift() const { return drift_; }
    // Prices (n_outputs of them) and g'Pg of one candidate, for tests.
    std::vector<double> entries(std::size_t feature, std::size_t bin) const;

    std::size_t n_rows() const { return pool_->n_rows(); }
    std::size_t n_features() const { return pool_->n_features(); }
    std::size_t n_outputs() const { return n_outputs_; }
    const StumpPool& pool() const { return *pool_; }
    bool has_curvature() const { return has_curvature_; }

   private:
    struct FeatureBest {
        double score;  // by the rule; 0 where no free candidate has one
        std::size_t bin;
        double max_price, energy;
    };
    struct Scratch {
        std::vector<std::int64_t> running;
        std::vector<double> along, squares, largest;
    };

    void sort_entries();
    template <class Row>
    void sort_block(const FeatureBlock& block, std::vector<Row>& rows);
    void round_rows(const double* values, std::size_t stride);
    template <class Row>
    void sum_feature(std::size_t f, const std::vector<Row>& rows, Scratch& scratch) const;
    template <class Row>
    void mark_rows(std::size_t first_bin, std::size_t last_bin, const std::vector<Row>& rows, std::int8_t sign,
                   std::int8_t* out) const;
    void sum_feature(std::size_t f, Scratch& scratch) const;
    template <class Visit>
    void visit_features(double work, Visit visit);
    void scan_feature(std::size_t f, const double* step, PriceRule rule, Scratch& scratch);
    TablePrice collect() const;
    void lower_curvature(std::size_t f, double denominator, const Scratch& scratch);
    std::size_t width(std::size_t f) const { return first_cell_[f + 1] - first_cell_[f]; }
    double* prices(std::size_t f, std::size_t output) {
        return prices_.data() + first_cell_[f] * n_outputs_ + output * width(f);
    }
    const double* prices(std::size_t f, std::size_t output) const {
        return const_cast<StumpTable*>(this)->prices(f, output);
    }

    std::shared_ptr<const StumpPool> pool_;
    std::size_t n_outputs_;
    int n_threads_;
    std::vector<std::size_t> first_cell_;  // of each feature's thresholds, padded to whole lanes
    // The stored entries of each feature in the order of their bins, as row numbers: 16 bits where they suffice.
    std::vector<std::size_t> bin_begin_;  // over all bins, and the end
    std::vector<std::uint16_t> narrow_rows_;
    std::vector<std::uint32_t> wide_rows_;

    std::vector<double> prices_;     // of each feature: outputs x thresholds
    std::vector<double> curvature_;  // g'Pg, once it was asked for
    bool has_curvature_ = false;
    std::vector<std::int64_t> rounded_;
    FixedPoint unit_;
    std::int64_t total_ = 0;
    double drift_ = 0.0;
    std::vector<FeatureBest> best_;
};

}  // namespace cgens
