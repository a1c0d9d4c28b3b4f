"""The wire, generated from the protos by tools/generate.py."""
