"""Masking methods, one file each."""
