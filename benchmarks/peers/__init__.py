"""What a user would pick instead: each runs as a process of its own, in the environment that `make peers` makes."""
