"""All tolerances of the tests, with their reasons. None may be loosened to make a test pass.

Everything else is compared with ``==``: stump prices with integer-valued duals (sums of integers are exact in float64),
responses, learners, and everything that must not depend on threads, SIMD level or row order.
"""

#: A true gap is >= 0. Primal and dual are sums of some hundred numbers, each rounded to 1e-16 of the largest: a gap
#: below -1e-12 of the primal is a bug, not rounding (fact 3 of the design).
NEGATIVE_GAP = 1e-12

#: Two ways of computing one closed formula in float64: objectives from weights, decision values from responses.
CLOSED_FORM = 1e-9

#: Importances are square roots of variances that are computed as differences: rounding of 1e-16 of the total variance
#: becomes 1e-8 of the total spread in a feature that hardly matters.
IMPORTANCE = 1e-7

#: Feasibility of duals: rounding of the bounds, relative to the largest one.
BOX = 1e-12

#: |sum of the duals| over sum of |duals|. They are balanced by one multiplication of up to some thousand numbers.
BALANCE = 1e-12

#: w = H'r is updated step by step and recomputed every 64 sweeps: rounding of that many additions, relative to
#: sum_i |r_i h_ij|, the largest possible value of the sum.
STATIONARITY = 1e-10

#: Relative gap that is requested of solvers if a test needs "the" optimum.
TIGHT = 1e-9

#: Two problems with the same optimum, both solved to a relative gap of `TIGHT`: each is at most that far above it.
SAME_OPTIMUM = 2 * TIGHT + NEGATIVE_GAP

#: A fit ends when no price is above 1e-6 of sum |duals|. Each of the (at most some hundred) columns left out would
#: lower the objective P by at most price^2 / 2, and sum |duals| is at most twice P: 100 * (2e-6 P)^2 / 2 / P, with P
#: up to some tens.
POOL_SLACK = 1e-8

#: Equivalence with scikit-learn's SVC on the kernel of the pool, as required.
SVC_OBJECTIVE = 1e-5
SVC_DECISION = 1e-3

#: Relative gap at which HiGHS's interior point method stops without crossover: 1e-8, and some room.
INTERIOR = 1e-6

#: LIBSVM's stopping tolerance (KKT violation, absolute) if it is the reference.
LIBSVM_TOL = 1e-10

#: LIBSVM's objective at that tolerance, relative: violation times the sum of the duals over the objective.
LIBSVM_OBJECTIVE = 1e-7

#: Quality on MNIST odd/even with 10^4 rows and 500 stumps, as required.
MNIST_ERROR = 0.102
MNIST_GAP = 1e-3

#: Seconds from Ctrl-C to KeyboardInterrupt, as required.
INTERRUPT_SECONDS = 1.0

#: Between rounds the hinge loss is solved to a relative gap of 3e-3 from the last solution: two fits may find different
#: columns, and the objectives of as many columns differ by some times that.
LOOSE_ROUNDS = 0.02

#: sqrt(2) cos of a phase in float32: a number up to sqrt(2) is rounded to 6e-8, and a phase of 1e4 to 1e-12.
COSINE = 1e-7

#: Decisions of two models whose float32 columns are the same numbers rounded differently: each response is rounded to
#: 1e-7, and the weights of some ten correlated columns change by ten times that.
RESPONSE = 1e-5

#: Standard errors of a mean over random learners. Seeds are fixed, and a hundred such means are compared at once: one
#: in two million is further off.
SIGMAS = 5.0

#: Directions are learned in float32: 6e-8 per number, in sums of some thousand that mostly cancel.
ASCENT = 1e-4

#: Objectives of quantile and support vector regression and of the one-class SVM, against independent solvers, as
#: required.
BOX_OBJECTIVE = 1e-6
