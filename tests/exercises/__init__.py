"""What a newcomer adds, each as one file: the exercise copies the checkout and puts it there."""
