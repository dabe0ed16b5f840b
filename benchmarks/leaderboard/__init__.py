"""The leaderboard: private learners on many tables, at the same (ε, δ), bounds and splits; everybody may join."""
