"""Systems of the leaderboard: a file each, run in an environment of its own. `benchmarks.leaderboard.adapters` says how."""
