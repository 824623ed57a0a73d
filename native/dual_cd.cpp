#include "dual_cd.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "polish_duals.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

// rho relative to the mean |h_i|^2. A larger one keeps sum(r) closer to 0 but shortens every step; of 1/40, 1/4, 5/4
// and 5 the second needed the fewest sweeps in a prototype (docs/decisions/0002).
constexpr double kRhoShare = 0.25;
// Maximum number of sweeps over the active rows between two passes over all rows, and the progress, relative to the
// best of these sweeps, below which they end early.
constexpr int kInnerSweeps = 10;
constexpr double kWorthwhileShare = 0.2;
// The rounding error of w grows with every step: recompute w from the duals after this many steps per row.
constexpr std::int64_t kStepsPerRefresh = 64;
// A Newton step is taken once coordinate descent has done as many multiplications as the step costs, and only if at
// most this many duals are inside their box: it then takes some tenths of a second, during which Ctrl-C has to wait.
constexpr std::size_t kMaxPolished = 1000;
// With e > 0, weights that are smaller than this share of the responses are 0: see clear_vanishing_weights.
constexpr double kVanishing = 1e-12;
constexpr auto kPollEvery = std::chrono::milliseconds(50);

}  // namespace

DualCd::DualCd(std::vector<double> linear, std::vector<double> lower, std::vector<double> upper, int n_threads,
               std::shared_ptr<ResponseStore> store, std::size_t n_duals_per_row, double total)
    : linear_(std::move(linear)),
      lower_(std::move(lower)),
      upper_(std::move(upper)),
      n_rows_(linear_.size() / n_duals_per_row),
      total_(total),
      n_threads_(n_threads),
      store_(store ? std::move(store) : std::make_shared<ResponseStore>(n_rows_)),
      duals_(linear_.size(), 0.0),
      fits_(linear_.size(), 0.0),
      squared_norms_(linear_.size(), 0.0) {
    for (std::size_t i = 0; i < n_duals(); ++i) total_width_ += upper_[i] - lower_[i];
    start_duals();
}

template <class T>
void DualCd::add_column(const T* column) {
    // Memory is allocated before anything else changes, so that a column that does not fit leaves the solver as it was.
    if (store_->n_columns() == n_columns_) store_->append(column);  // else a sibling has appended it
    weights_.resize(store_->padded_columns(), 0.0);
    double weight = 0.0;  // EQ:KKT1
    for (std::size_t i = 0; i < n_duals(); ++i) weight += duals_[i] * static_cast<double>(column[row_of(i)]);
    for (std::size_t i = 0; i < n_duals(); ++i) {
        const double h = static_cast<double>(column[row_of(i)]);
        fits_[i] += weight * h;
        squared_norms_[i] += h * h;
    }
    weights_[n_columns_++] = weight;
    unsolved_ = true;
}

DualCd::State DualCd::state() const {
    const std::vector<double> own(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(n_columns_));
    return {duals_, fits_, own, bias_, bias_radius_, centre_, unsolved_, steps_since_refresh_, random_state_};
}

void DualCd::set_state(const State& state) {
    duals_ = state.duals;
    fits_ = state.fits;
    std::copy(state.weights.begin(), state.weights.end(), weights_.begin());
    bias_ = state.bias;
    bias_radius_ = state.bias_radius;
    centre_ = state.centre;
    unsolved_ = state.unsolved;
    steps_since_refresh_ = state.steps_since_refresh;
    random_state_ = state.random_state;
}

void DualCd::scale_box(double factor) {
    for (std::vector<double>* values : {&lower_, &upper_, &duals_, &weights_, &fits_})
        for (double& value : *values) value *= factor;
    total_width_ *= factor;
    total_ *= factor;
    unsolved_ = true;
}

template void DualCd::add_column(const std::int8_t*);
template void DualCd::add_column(const float*);
template void DualCd::add_column(const double*);

// With q = 0 and e > 0, the optimum is 0 if the hull of the rows contains the origin. Descent only approaches it, with a
// relative gap of 1, so that weights that are 0 up to rounding are set to 0.
void DualCd::clear_vanishing_weights() {
    if (total_ == 0.0) return;
    const double norm = std::inner_product(weights_.begin(), weights_.end(), weights_.begin(), 0.0);
    const double largest = *std::max_element(squared_norms_.begin(), squared_norms_.end());
    if (norm > kVanishing * kVanishing * total_ * total_ * largest) return;
    std::fill(weights_.begin(), weights_.end(), 0.0);
    std::fill(fits_.begin(), fits_.end(), 0.0);
}

void DualCd::refresh_weights() {
    std::fill(weights_.begin(), weights_.end(), 0.0);
    for (std::size_t i = 0; i < n_duals(); ++i)
        if (duals_[i] != 0.0) store_->add(duals_[i], row_of(i), weights_.data());
    steps_since_refresh_ = 0;
}

void DualCd::refresh_fits() {
    const double work = 0.25 * static_cast<double>(n_rows_ * store_->padded_columns());
    for_blocks(n_rows_, 1, n_threads_, work, [&](std::size_t i, std::size_t, std::size_t) {
        fits_[i] = store_->dot(i, weights_.data());
    });
    for (std::size_t i = n_rows_; i < n_duals(); ++i) fits_[i] = fits_[i - n_rows_];
}

// Sets the bias to the exact minimizer over b of e b + sum_i max(lo_i (t_i - b), hi_i (t_i - b)), t_i = q_i - f_i. This
// is convex and piecewise linear, with slope e - sum(hi) at the far left that rises by hi_i - lo_i at each t_i. The bias
// changes little from round to round, so it usually suffices to sort the t_i in a window around the last one.
void DualCd::choose_bias() {
    const double before = bias_;
    double radius = bias_radius_;
    while (!choose_bias_within(radius) && !std::isinf(radius))
        radius = radius < 1e6 ? 8 * radius : std::numeric_limits<double>::infinity();
    bias_radius_ = std::clamp(2 * std::abs(bias_ - before), 1e-4, 1.0);
}

bool DualCd::choose_bias_within(double radius) {
    const double left = bias_ - radius, right = bias_ + radius;
    double slope = total_;
    breakpoints_.clear();
    for (std::size_t i = 0; i < n_duals(); ++i) {
        const double at = linear_[i] - fits_[i];
        slope -= at < left ? lower_[i] : upper_[i];
        if (at >= left && at <= right) breakpoints_.push_back({at, upper_[i] - lower_[i]});
    }
    const double flat = 1e-12 * total_width_;  // a slope that is 0 up to rounding
    const bool everything = std::isinf(radius);
    if (slope > -flat && !everything) return false;  // the minimizer is left of the window
    std::sort(breakpoints_.begin(), breakpoints_.end(),
              [](const Breakpoint& a, const Breakpoint& b) { return a.at < b.at; });
    for (std::size_t k = 0; k < breakpoints_.size(); ++k) {
        if (slope > -flat) {  // already flat at the far left: all rows have one label
            bias_ = breakpoints_[k].at;
            return true;
        }
        slope += breakpoints_[k].rise;
        if (slope < -flat) continue;
        if (slope > flat) {
            bias_ = breakpoints_[k].at;
            return true;
        }
        const bool last = k + 1 == breakpoints_.size();
        if (last && !everything) return false;  // the flat segment may extend beyond the window
        bias_ = last ? breakpoints_[k].at : 0.5 * (breakpoints_[k].at + breakpoints_[k + 1].at);
        return true;
    }
    return false;
}

void DualCd::evaluate(SolveReport& report) const {
    const double half_norm = 0.5 * std::inner_product(weights_.begin(), weights_.end(), weights_.begin(), 0.0);
    double loss = 0.0, linear = 0.0;
    for (std::size_t i = 0; i < n_duals(); ++i) {
        const double residual = linear_[i] - fits_[i] - bias_;
        loss += std::max(lower_[i] * residual, upper_[i] * residual);
        linear += linear_[i] * duals_[i];
    }
    report.primal = half_norm + loss + total_ * bias_;
    report.dual = linear - half_norm;
}

// Shrinking: duals at a bound whose gradient points outward cannot move at these weights.
void DualCd::select_active() {
    active_.resize(n_duals());
    n_inside_ = 0;
    std::size_t n_active = 0;
    for (std::size_t i = 0; i < n_duals(); ++i) {  // without branches, which would be unpredictable
        const bool above = duals_[i] > lower_[i], below = duals_[i] < upper_[i];
        n_inside_ += above & below;
        const double gradient = fits_[i] + centre_ - linear_[i];
        const bool stays = (!above & (gradient > 0)) | (!below & (gradient < 0));
        active_[n_active] = static_cast<std::uint32_t>(i);
        n_active += !stays;
    }
    active_.resize(n_active);
}

void DualCd::shuffle_active() {
    for (std::size_t k = active_.size(); k > 1; --k) {
        random_state_ ^= random_state_ << 13;  // xorshift64 (Marsaglia 2003)
        random_state_ ^= random_state_ >> 7;
        random_state_ ^= random_state_ << 17;
        std::swap(active_[k - 1], active_[random_state_ % k]);
    }
}

// One pass of coordinate steps over the active rows. Returns the decrease of the augmented objective.
double DualCd::sweep_active(double rho, double& sum, bool may_shrink) {
    constexpr std::size_t kAhead = 4;
    shuffle_active();
    double progress = 0.0;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < active_.size(); ++k) {
        if (k + kAhead < active_.size()) store_->prefetch(row_of(active_[k + kAhead]));
        const std::uint32_t i = active_[k];
        const double gradient = store_->dot(row_of(i), weights_.data()) + centre_ + rho * sum - linear_[i];
        const double curvature = squared_norms_[i] + rho;
        const double old = duals_[i];
        const double moved = std::clamp(old - gradient / curvature, lower_[i], upper_[i]);
        const double step = moved - old;
        if (step == 0.0 && may_shrink) continue;  // at a bound, gradient outward: no longer active
        active_[kept++] = i;
        if (step == 0.0) continue;
        duals_[i] = moved;
        store_->add(step, row_of(i), weights_.data());
        sum += step;
        progress -= step * (gradient + 0.5 * curvature * step);
    }
    steps_since_refresh_ += static_cast<std::int64_t>(active_.size());
    work_ += static_cast<double>(active_.size() * n_columns());
    active_.resize(kept);
    centre_ += rho * sum;  // b stays the same, and the penalty starts again from 0
    return progress;
}

void DualCd::descend(SolveReport& report, const std::function<void()>& poll) {
    const double mean_norm =
        std::accumulate(squared_norms_.begin(), squared_norms_.end(), 0.0) / static_cast<double>(n_duals());
    const double rho = kRhoShare * std::max(mean_norm, std::numeric_limits<double>::min());
    double sum = std::accumulate(duals_.begin(), duals_.end(), 0.0) - total_;  // 0 if feasible
    double best = 0.0;
    for (int inner = 0; inner < kInnerSweeps && !active_.empty(); ++inner) {
        const double progress = sweep_active(rho, sum, inner > 0);
        ++report.n_sweeps;
        best = std::max(best, progress);
        poll();
        if (progress < kWorthwhileShare * best || report.status == SolveStatus::kInterrupted) break;
    }
}

// The number of multiplications to form and factorize the matrix of the inside rows.
double DualCd::newton_cost(std::size_t n_inside) const {
    const auto n = static_cast<double>(n_inside);
    return n * n * (static_cast<double>(n_columns()) / 2 + n / 6);
}

// Takes Newton steps on the duals inside their box, each as long as the box allows, until a full step fits or the
// budget is spent. With more inside duals than columns, some directions leave w unchanged and change the dual objective
// linearly, so a step may only go to the first bound (clipping each dual on its own would change w). Keeps sum(r) up to
// rounding. Returns whether any dual moved.
bool DualCd::polish() {
    if (work_ < newton_cost(n_inside_)) return false;  // counted before the sweeps: saves a pass over all rows
    work_ = std::min(work_, 3 * newton_cost(n_inside_));
    bool moved = false;
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < n_duals(); ++i)
        if (duals_[i] > lower_[i] && duals_[i] < upper_[i]) inside.push_back(i);
    while (inside.size() >= 2 && inside.size() <= kMaxPolished && work_ >= newton_cost(inside.size())) {
        work_ -= newton_cost(inside.size());
        std::vector<double> H(inside.size() * store_->padded_columns()), gradient(inside.size());
        for (std::size_t k = 0; k < inside.size(); ++k) {
            store_->copy_row(row_of(inside[k]), H.data() + k * store_->padded_columns());
            gradient[k] = store_->dot(row_of(inside[k]), weights_.data()) + centre_ - linear_[inside[k]];
        }
        const std::vector<double> step = newton_step(H, std::move(gradient));
        if (step.empty()) return moved;
        moved = true;
        if (move_inside(inside, step)) return moved;
    }
    return moved;
}

// Moves the inside duals along `step` until the first reaches its bound, and removes those that did from `inside`.
// Returns whether the full step was taken.
bool DualCd::move_inside(std::vector<std::size_t>& inside, const std::vector<double>& step) {
    const auto bound = [&](std::size_t k) { return (step[k] > 0 ? upper_ : lower_)[inside[k]]; };
    double length = 1.0;
    for (std::size_t k = 0; k < inside.size(); ++k) {
        const double distance = bound(k) - duals_[inside[k]];
        if (std::abs(length * step[k]) > std::abs(distance)) length = distance / step[k];
    }
    std::size_t kept = 0;
    for (std::size_t k = 0; k < inside.size(); ++k) {
        const std::size_t i = inside[k];
        const double distance = bound(k) - duals_[i];
        // A dual that reaches its bound is set to it exactly, or rounding would keep it inside forever.
        const bool arrives = std::abs(length * step[k]) >= std::abs(distance) * (1 - 1e-12);
        set_dual(i, arrives ? bound(k) : duals_[i] + length * step[k]);
        if (!arrives) inside[kept++] = i;
    }
    inside.resize(kept);
    return length == 1.0;
}

SolveReport DualCd::solve(double tol, std::int64_t max_sweeps, const std::function<bool()>& interrupted) {
    SolveReport report{0.0, 0.0, 0, SolveStatus::kConverged};
    work_ = 0.0;
    std::chrono::steady_clock::time_point last_poll{};  // long ago, so that the first poll is at once
    const auto poll = [&] {
        const auto now = std::chrono::steady_clock::now();
        if (report.status == SolveStatus::kInterrupted || now - last_poll <= kPollEvery) return;
        last_poll = now;
        if (interrupted()) report.status = SolveStatus::kInterrupted;
    };
    while (true) {
        clear_vanishing_weights();
        choose_bias();
        evaluate(report);
        const double gap = report.primal - report.dual;
        // A new column always gets a sweep, even if its initial weight alone keeps the gap small.
        const bool close = gap <= tol * std::abs(report.primal);
        // The centre moves by rho * sum(r), of the order of C: with a tiny C it must start at the empty master's bias.
        if (n_columns() == 0) centre_ = bias_;
        if ((close && !unsolved_) || n_columns() == 0) return report;
        poll();
        if (report.status == SolveStatus::kConverged && report.n_sweeps >= max_sweeps)
            report.status = SolveStatus::kMaxSweeps;
        if (report.status != SolveStatus::kConverged) return report;
        select_active();
        if (active_.empty()) {  // nothing can move; an open gap is rounding above tol, or there was a NaN
            if (!close) report.status = SolveStatus::kMaxSweeps;
            return report;
        }
        descend(report, poll);
        unsolved_ = false;
        cancel_opposites();
        balance_duals();
        if (report.status == SolveStatus::kConverged && polish()) balance_duals();
        if (steps_since_refresh_ > kStepsPerRefresh * static_cast<std::int64_t>(n_duals())) refresh_weights();
        refresh_fits();
    }
}

}  // namespace cgens
