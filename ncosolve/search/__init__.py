"""Classical heuristics on plain arrays, Numba-jitted: arrays in, arrays out, no files, no problem classes."""
