"""Programs that `benchmarks.peers.peers` starts, one per package that it measures, each by an interpreter that has it.

They read a line of JSON per question and write one per answer (`serve`), and none but ours imports our packages.
"""
