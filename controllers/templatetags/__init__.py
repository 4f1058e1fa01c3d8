"""Template tags of the pages about controllers."""
