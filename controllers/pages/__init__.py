"""The pages: one module for each; all of them read here and write through the use cases."""
