"""One file for each claim: ours and its peers in one run; `make bench` runs them."""
