"""Records to cells of given sizes at the least cost, with the prices that prove it."""
