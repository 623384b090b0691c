"""What makes partitions better."""
