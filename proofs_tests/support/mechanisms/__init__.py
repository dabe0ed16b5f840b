"""Mechanisms, closed forms and neighbouring samples that several tests use."""
