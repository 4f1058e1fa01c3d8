"""The pages as people use them."""
