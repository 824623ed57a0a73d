// A table of the prices of all stumps for several outputs, updated when the duals change by rank one.
//
// A least-squares master changes its duals by U <- U - p k' in each round (docs/theory.md). The prices of a candidate g
// then change by -(g'p) k': one pass of prefix sums over one vector, for any number of outputs, plus arithmetic on the
// table. g'Pg, which determines by how much each candidate would lower the objective, changes by
// g'Pg <- g'Pg - (g'p)^2 / (1 + h'p).
//
// Sums over rows are exact 64-bit integers, as in StumpScan. The table itself is in doubles, and every round adds a
// rounding error: `drift` is an upper bound, and the caller recomputes the table from the duals if it gets too large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fixed_point.hpp"
#include "large_vector.hpp"
#include "pool_stumps.hpp"

namespace cgens {

enum class PriceRule {
    kMax,    // the largest |price| of a single output (EQ:WL2)
    kGain,   // the largest decrease of the objective, 1/2 sum_t price_t^2 / (1 + g'Pg)
    kVotes,  // the largest sum of |price| over all outputs
};

struct TablePrice {
    bool found;  // false if all free candidates have price 0
    std::size_t candidate;
    std::size_t output;  // the one with the largest |price|
    double price;        // of that output, signed
    double max_price;    // largest |price| of all free candidates and outputs
    double energy;       // sum of price^2 over all outputs and the whole pool, including taken stumps
    double merit;        // the best stump's value under the rule; twice the value for kGain
};

class StumpTable {
   public:
    StumpTable(std::shared_ptr<const StumpPool> pool, std::size_t n_outputs, int n_threads);

    // Computes all prices from the duals, n_rows x n_outputs, row-major, and returns the best free stump. If `direction`
    // is not null, g'Pg is changed as well: all in one pass over the entries. If `rough`, the duals are rounded to 32
    // bits, about 10^-9 of the sum of |duals|, which takes half the time.
    TablePrice reprice(const double* duals, PriceRule rule, const double* direction, double denominator, bool rough);
    // Computes g'Pg of the empty master, P = diag(v) - vv' / sum(v) with v = diagonal.
    void set_curvature(const double* diagonal);
    // Changes the duals by -direction step', and g'Pg accordingly if it is set, and returns the best free stump: all in
    // one pass over the table.
    TablePrice change(const double* direction, const double* step, double denominator, PriceRule rule);
    // Changes g'Pg only.
    void change_curvature(const double* direction, double denominator);
    TablePrice find_best(PriceRule rule);

    // All prices, and g'Pg of all stumps if it is set: a fit that is resumed gets them back, with their drift.
    const std::vector<double>& prices() const { return prices_; }
    const std::vector<double>& curvature() const { return curvature_; }
    void set_state(std::vector<double> prices, std::vector<double> curvature, double drift);

    // out[i] = h(x_i) of canonical row i: from the entries of the feature alone, which is faster for a sparse table than
    // StumpPool::respond.
    void respond(std::size_t candidate, std::int8_t* out) const;

    // An upper bound on the rounding error of the prices.
    double drift() const { return drift_; }
    // The n_outputs prices and g'Pg of one candidate, for tests.
    std::vector<double> entries(std::size_t candidate) const;

    std::size_t n_rows() const { return pool_->n_rows(); }
    std::size_t n_outputs() const { return n_outputs_; }
    const StumpPool& pool() const { return *pool_; }
    bool has_curvature() const { return has_curvature_; }

   private:
    struct FeatureBest {
        double score;  // under the rule; 0 if there is no free candidate
        std::size_t cell;
        double max_price, taken_price, energy;  // the largest |price| of free and of taken candidates
    };
    struct Scratch {
        // Sums of units: of a dense table in each bin of a few features, group by group; else over the first entries of
        // one feature.
        std::vector<std::int64_t> sums;
        std::vector<std::int32_t> narrow_sums;
        FeatureRange range{0, 0};
        std::vector<double> along;  // of each lane: the products of a vector with the responses of all cells
        std::vector<double> squares, largest;
        const double* lane(std::size_t t, std::size_t width) const { return along.data() + t * width; }
    };
    // A vector over the rows whose products with all stumps are wanted, in fixed point, each with a unit of its own.
    struct Lane {
        const double* values;
        std::size_t stride;
        FixedPoint unit;
        std::int64_t total = 0;
    };
    // Lanes that are summed together and share the look-ups of their rows: 8, 2 or 1 per row of rounded_, or 16 per row
    // of rounded_narrow_. Two lanes of 32 bits are the halves of one value of rounded_.
    struct LaneGroup {
        std::size_t first_lane, n_lanes, width, first_value;
        bool narrow() const { return width == 16; }
        bool paired() const { return n_lanes == 2 && width == 1; }
        // The sum of lane t, given the sum of values.
        template <class Integer>
        Integer part(Integer sum, std::size_t t) const {
            if constexpr (sizeof(Integer) == 8) {
                if (!paired()) return sum;
                const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
                return t == 0 ? low : (sum - low) / (std::int64_t{1} << 32);
            }
            return sum;
        }
    };

    void sort_entries();
    // Calls visit(rows) with the rows of the entries, narrow or wide.
    template <class Visit>
    auto with_rows(Visit visit) const {
        return wide_rows_.empty() ? visit(narrow_rows_) : visit(wide_rows_);
    }
    void round_lanes(std::vector<Lane> lanes, bool rough = false);
    void run_group(const LaneGroup& group, std::size_t begin, std::size_t n_entries, std::int64_t* running) const;
    void sum_bins(FeatureRange range, Scratch& scratch) const;
    template <class Integer>
    void sum_bins_of_group(FeatureRange range, const LaneGroup& group, const Integer* rounded, Integer* sums) const;
    std::size_t n_bins(FeatureRange range) const {
        return pool_->first_bin(range.last - 1) + pool_->feature(range.last - 1).n_bins() - pool_->first_bin(range.first);
    }
    // along[k] = sum_i r_i h(x_i) of cell k for a lane r in units; sum_of(bin) and sum_until(bin) are sums of its units.
    template <class Integer, class SumOf, class SumUntil>
    void sum_cells(const BinnedFeature& feature, Integer total, Integer stored, SumOf sum_of, SumUntil sum_until,
                   double unit, double* along) const;
    template <class Integer>
    void sum_dense(std::size_t f, const LaneGroup& group, const Integer* sums, double* along) const;
    template <class Integer>
    void sum_sparse(std::size_t f, const LaneGroup& group, std::vector<Integer>& running, double* along) const;
    template <class Integer, class Until>
    void sum_lane(std::size_t f, const Lane& lane, Integer stored, Until until, double* along) const;
    void sum_feature(std::size_t f, Scratch& scratch) const;
    double entry_work() const { return static_cast<double>(pool_->n_entries() * lanes_.size()); }
    template <class Visit>
    void visit_features(double work, bool with_sums, Visit visit);
    void scan_feature(std::size_t f, const double* step, PriceRule rule, Scratch& scratch);
    TablePrice collect() const;
    double largest_price() const;  // of all stumps and outputs, taken or not
    void lower_curvature(std::size_t f, double denominator, const double* along);
    std::size_t width(std::size_t f) const { return first_cell_[f + 1] - first_cell_[f]; }
    // Where the prices of a feature and output begin.
    std::size_t first_price(std::size_t f, std::size_t output) const {
        return first_cell_[f] * n_outputs_ + output * width(f);
    }

    std::shared_ptr<const StumpPool> pool_;
    std::size_t n_outputs_;
    int n_threads_;
    std::vector<std::size_t> first_cell_;  // of each feature, padded to whole lanes
    // The row numbers of the stored entries of each feature in the order of their bins, if the table is sparse: with 16
    // bits if they suffice.
    std::vector<std::size_t> bin_begin_;  // over all bins, and the end
    std::vector<std::uint16_t> narrow_rows_;
    std::vector<std::uint32_t> wide_rows_;

    std::vector<double> prices_;     // of each feature: outputs x cells
    std::vector<double> curvature_;  // g'Pg, once it was set
    bool has_curvature_ = false;
    std::vector<Lane> lanes_;
    std::vector<LaneGroup> groups_;
    LargeVector<std::int64_t> rounded_;  // of each group: n_rows x width
    LargeVector<std::int32_t> rounded_narrow_;
    std::vector<Scratch> scratches_;  // one per thread: memory that is kept between calls
    double drift_ = 0.0;
    std::vector<FeatureBest> best_;
};

}  // namespace cgens
