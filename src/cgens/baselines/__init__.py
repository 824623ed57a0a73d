"""The methods that the paper compares with: other master problems in the same loop, with the same weak learners.

`KernelSVC` and `RandomFourierSVC`, which are not ensembles, wrap scikit-learn's SVMs.
"""

from cgens.baselines.adaboost import AdaBoostClassifier
from cgens.baselines.adaboost_ecc import AdaBoostECCClassifier
from cgens.baselines.adaboost_mh import AdaBoostMHClassifier
from cgens.baselines.kernel_svc import KernelSVC
from cgens.baselines.lpboost import LPBoostClassifier
from cgens.baselines.multiboost import MultiBoostClassifier
from cgens.baselines.random_fourier_svc import RandomFourierSVC

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "KernelSVC",
    "LPBoostClassifier",
    "MultiBoostClassifier",
    "RandomFourierSVC",
]
