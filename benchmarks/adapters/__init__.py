"""Systems of the leaderboard, a file each. `benchmarks.leaderboard.adapters` says what such a file is."""
