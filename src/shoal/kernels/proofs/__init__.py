"""Groups that undercut their prices, and the cheapest cover: what lower bounds rest on."""
