"""How a rule runs: a row's algebra, the compiled passes, and the cache of what was compiled."""
