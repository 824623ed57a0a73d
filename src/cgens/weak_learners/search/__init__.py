"""Searches for the best weak learner: in pools drawn once or in each round, or among learners fitted to the duals."""
