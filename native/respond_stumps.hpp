// The responses and weighted sums of stumps on new rows.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

// Stump j is 1 for the rows above its split and -1 for the others: x > threshold or, if that is NaN, x among levels[k]
// for level_begin[j] <= k < level_begin[j + 1], which ascend. Gaps (x = NaN) are above if gaps_above[j].
struct StumpArrays {
    std::size_t n_stumps;
    const std::int64_t* features;
    const double* thresholds;
    const std::uint8_t* gaps_above;
    const std::int64_t* level_begin;
    const std::uint32_t* levels;

    bool is_category(std::size_t j) const { return thresholds[j] != thresholds[j]; }
    bool is_above(std::size_t j, double x) const;
};

// out[i, j] = h_j(x_i); row-major, X.n_rows x n_stumps.
template <class T>
void respond_stumps(const MatrixView<T>& X, const StumpArrays& stumps, std::int8_t* out, int n_threads);

// A weighted sum of stumps as one step function, or table of levels, per feature: a prediction needs one lookup per
// feature, however many stumps use it.
class StepTables {
   public:
    // weights: n_stumps x n_outputs, row-major.
    StepTables(const StumpArrays& stumps, const double* weights, std::size_t n_outputs);

    // out[i, t] += sum_j weights[j, t] * h_j(x_i); out is row-major.
    template <class T>
    void add_decision(const MatrixView<T>& X, double* out, int n_threads) const;

    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t n_inputs() const { return n_inputs_; }  // the minimum number of columns of X

   private:
    struct Step {
        std::size_t feature;
        std::size_t first_threshold, n_thresholds;  // in thresholds_
        std::size_t first_cell;                     // in cells_; there are n_thresholds + 1, or none for few thresholds
        double origin, scale;                       // x is in cell (x - origin) * scale
        std::size_t first_value, gap_value;         // rows of values_: of the first interval or level, and of gaps
        std::size_t n_levels;                       // of a category; the row after them is that of all other levels
        bool is_category;
    };
    // Stumps on one feature, all of numbers, in the order of their thresholds, or all of categories.
    struct Group {
        const StumpArrays& stumps;
        const double* weights;
        const std::size_t *begin, *end;  // numbers of stumps
    };
    void append_numbers(const Group& group);
    void append_category(const Group& group);
    // Adds a row to values_: the sum of the stumps with signs sign(j).
    template <class Sign>
    void append_values(const Group& group, Sign sign);
    std::size_t value_of(const Step& step, double x) const;
    std::size_t count_below(const Step& step, double x) const;
    void index_cells(Step& step);
    static std::size_t cell_of(const Step& step, double x);

    std::size_t n_outputs_, n_inputs_ = 0;
    std::vector<Step> steps_;
    std::vector<double> thresholds_;
    std::vector<double> values_;        // rows of n_outputs
    std::vector<std::uint32_t> cells_;  // the number of thresholds before each cell
};

}  // namespace cgens
