// The responses and weighted sums of stumps on new rows.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

// out[i, j] = 1 if X[i, features[j]] > thresholds[j], else -1; row-major, X.n_rows x n_stumps.
template <class T>
void respond_stumps(const MatrixView<T>& X, const std::int64_t* features, const double* thresholds,
                    std::size_t n_stumps, std::int8_t* out, int n_threads);

// A weighted sum of stumps as one step function per feature: a prediction needs one lookup per feature, however many
// stumps use it.
class StepTables {
   public:
    // weights: n_stumps x n_outputs, row-major; stump j is 1 above thresholds[j] and -1 elsewhere.
    StepTables(const std::int64_t* features, const double* thresholds, const double* weights, std::size_t n_stumps,
               std::size_t n_outputs);

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
    };
    std::size_t count_below(const Step& step, double x) const;
    void index_cells(Step& step);
    static std::size_t cell_of(const Step& step, double x);

    std::size_t n_outputs_, n_inputs_ = 0;
    std::vector<Step> steps_;
    std::vector<double> thresholds_;
    std::vector<double> values_;        // of step s, after k thresholds: row first_threshold + s + k
    std::vector<std::uint32_t> cells_;  // the number of thresholds before each cell
};

}  // namespace cgens
