"""Time and memory of Sluice, beside what a user would pick instead where there is such a thing."""
