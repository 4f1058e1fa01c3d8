"""The door as people see it: signing in, proving it again, second factors, and being let out."""
