"""The automatic model: families chosen and weighed by honest errors, without cross-validation."""
