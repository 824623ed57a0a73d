#include "loss_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "four_lanes.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kBlock = 4096;  // rows whose sums are added up block by block, for any number of threads
static_assert(kBlock % kLanes == 0);
constexpr double kStepsPerRow = 4.0;  // of about a nanosecond

// A part of a vector of n_rows entries, padded with zeros to whole lanes; `room` is for its last part.
class PaddedBlock {
   public:
    const double* of(const double* values, std::size_t first, std::size_t last, std::size_t n_rows) {
        if (values == nullptr || padded(last) <= n_rows) return values == nullptr ? nullptr : values + first;
        std::copy(values + first, values + last, room_.begin());
        std::fill(room_.begin() + static_cast<std::ptrdiff_t>(last - first), room_.end(), 0.0);
        return room_.data();
    }

   private:
    std::array<double, kBlock> room_;
};

}  // namespace

LossRows::LossRows(LossKind kind, const double* scale, std::size_t n_rows, int n_threads)
    : n_rows_(n_rows),
      kind_(kind),
      n_threads_(n_threads),
      scale_(padded(n_rows), 0.0),
      decisions_(padded(n_rows), 0.0),
      duals_(padded(n_rows), 0.0) {
    std::copy(scale, scale + n_rows, scale_.begin());
    move(nullptr, 0.0, 0.0);
}

void LossRows::set_width(double width) {
    width_ = width;
    move(nullptr, 0.0, 0.0);
}

void LossRows::set_decisions(const double* decisions, double shift) {
    for_blocks(n_rows_, kBlock, n_threads_, static_cast<double>(n_rows_),
               [&](std::size_t, std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i) decisions_[i] = decisions[i] + shift;
               });
    move(nullptr, 0.0, 0.0);
}

double LossRows::slope(const double* along, double shift, double step) const {
    std::vector<double> parts((n_rows_ + kBlock - 1) / kBlock);
    const auto kernel = kind_ == LossKind::kLogistic ? vector_ops().logistic_slope : vector_ops().hinge_slope;
    for_blocks(n_rows_, kBlock, n_threads_, kStepsPerRow * static_cast<double>(n_rows_),
               [&](std::size_t b, std::size_t first, std::size_t last) {
                   PaddedBlock room;
                   const double* own = room.of(along, first, last, n_rows_);
                   parts[b] = kernel(decisions_.data() + first, own, shift, step, scale_.data() + first, width_,
                                     padded(last - first));
               });
    double sum = 0.0;
    for (const double part : parts) sum += part;
    return sum;
}

void LossRows::move(const double* along, double shift, double step) {
    std::vector<LossSums> parts((n_rows_ + kBlock - 1) / kBlock);
    const auto kernel = kind_ == LossKind::kLogistic ? vector_ops().logistic_move : vector_ops().hinge_move;
    for_blocks(n_rows_, kBlock, n_threads_, 2 * kStepsPerRow * static_cast<double>(n_rows_),
               [&](std::size_t b, std::size_t first, std::size_t last) {
                   PaddedBlock room;
                   const double* own = room.of(along, first, last, n_rows_);
                   double sums[5];
                   kernel(decisions_.data() + first, own, shift, step, scale_.data() + first, width_,
                          padded(last - first), duals_.data() + first, sums);
                   parts[b] = {sums[0], sums[1], sums[2], sums[3], sums[4]};
               });
    sums_ = {};
    for (const LossSums& part : parts) {
        sums_.loss += part.loss;
        sums_.slack += part.slack;
        sums_.duals += part.duals;
        sums_.norm += part.norm;
        sums_.curvature += part.curvature;
    }
}

std::pair<double, double> LossRows::slope_and_curvature(const double* along) const {
    std::vector<std::pair<double, double>> parts((n_rows_ + kBlock - 1) / kBlock);
    for_blocks(n_rows_, kBlock, n_threads_, kStepsPerRow * static_cast<double>(n_rows_),
               [&](std::size_t b, std::size_t first, std::size_t last) {
                   double slopes[kFourLanes] = {}, curvatures[kFourLanes] = {};
                   for (std::size_t i = first; i < last; ++i) {
                       const double d = along[i], c = std::abs(scale_[i]), size = std::abs(duals_[i]);
                       const double curvature = kind_ == LossKind::kLogistic ? size * (1.0 - size / c)
                                                : size > 0 && size < c       ? c / width_
                                                                             : 0.0;
                       slopes[i % kFourLanes] += d * duals_[i];
                       curvatures[i % kFourLanes] += d * d * curvature;
                   }
                   parts[b] = {(slopes[0] + slopes[1]) + (slopes[2] + slopes[3]),
                               (curvatures[0] + curvatures[1]) + (curvatures[2] + curvatures[3])};
               });
    std::pair<double, double> sums{0.0, 0.0};
    for (const auto& [slope, curvature] : parts) {
        sums.first += slope;
        sums.second += curvature;
    }
    return sums;
}

LargeVector<double> LossRows::balanced_duals() const {
    LargeVector<double> duals(duals_.begin(), duals_.begin() + static_cast<std::ptrdiff_t>(n_rows_));
    double sums[2] = {}, inside_sums[2] = {};  // of negative and positive duals
    for (std::size_t i = 0; i < n_rows_; ++i) {
        const double size = std::abs(duals[i]);
        const bool positive = duals[i] > 0;
        sums[positive] += size;
        inside_sums[positive] += size < std::abs(scale_[i]) ? size : 0.0;
    }
    const bool shrink_positive = sums[1] > sums[0];
    const double excess = std::abs(sums[1] - sums[0]), available = inside_sums[shrink_positive];
    const bool inside_only = available >= excess;
    const double factor = inside_only ? (available - excess) / available : sums[!shrink_positive] / sums[shrink_positive];
    if (excess == 0.0 || factor == 1.0) return duals;
    for (std::size_t i = 0; i < n_rows_; ++i)
        if ((duals[i] > 0) == shrink_positive && (!inside_only || std::abs(duals[i]) < std::abs(scale_[i]))) duals[i] *= factor;
    return duals;
}

std::vector<std::int64_t> LossRows::inside(std::size_t most, std::size_t& n_inside) const {
    const std::size_t n_blocks = (n_rows_ + kBlock - 1) / kBlock;
    std::vector<std::size_t> before(n_blocks + 1, 0);
    const auto is_inside = [&](std::size_t i) {
        const double size = std::abs(duals_[i]);
        return (size > 0) & (size < std::abs(scale_[i]));
    };
    for_blocks(n_rows_, kBlock, n_threads_, static_cast<double>(n_rows_),
               [&](std::size_t b, std::size_t first, std::size_t last) {
                   std::size_t n = 0;
                   for (std::size_t i = first; i < last; ++i) n += is_inside(i);
                   before[b + 1] = n;
               });
    for (std::size_t b = 0; b < n_blocks; ++b) before[b + 1] += before[b];
    n_inside = before[n_blocks];
    // Of the rows inside, number k * step for each k, rounded down.
    const std::size_t n = std::min(most, n_inside);
    const double step = n == 0 ? 1.0 : static_cast<double>(n_inside) / static_cast<double>(n);
    std::vector<std::int64_t> rows(n);
    for_blocks(n_rows_, kBlock, n_threads_, static_cast<double>(n_rows_),
               [&](std::size_t b, std::size_t first, std::size_t last) {
                   std::size_t at = before[b];
                   auto k = static_cast<std::size_t>(std::ceil(static_cast<double>(at) / step));
                   while (k > 0 && static_cast<std::size_t>(static_cast<double>(k - 1) * step) >= at) --k;
                   while (k < n && static_cast<std::size_t>(static_cast<double>(k) * step) < at) ++k;
                   for (std::size_t i = first; i < last && k < n; ++i) {
                       if (!is_inside(i)) continue;
                       if (static_cast<std::size_t>(static_cast<double>(k) * step) == at++) rows[k++] = static_cast<std::int64_t>(i);
                   }
               });
    return rows;
}

double sum_entropies(const double* duals, const double* scale, double multiple, std::size_t n_rows) {
    double sum = 0.0;
    for (std::size_t first = 0; first < n_rows; first += kBlock) {
        const std::size_t last = std::min(first + kBlock, n_rows);
        PaddedBlock of_duals, of_scale;
        sum += vector_ops().sum_entropies(of_duals.of(duals, first, last, n_rows), of_scale.of(scale, first, last, n_rows),
                                          multiple, padded(last - first));
    }
    return sum;
}

}  // namespace cgens
