"""What groups promise about confidential values, beside their size."""
