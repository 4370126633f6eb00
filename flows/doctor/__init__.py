"""The doctor: what is wrong with an installation, what to do about it, and the part of it that can be done safely."""
