"""The benchmark suite: what a cycle costs against the least that could do its work."""
