"""Searches for the best weak learner: in pools drawn once or every round, and among learners made to order."""
