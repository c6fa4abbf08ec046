"""The half of Inkling that computes; it never sees a window."""

VERSION = "0.1.0"
