"""What a kernel reads and writes, from its PTX."""
