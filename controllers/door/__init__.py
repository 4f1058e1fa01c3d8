"""The rules of the door: who is kept waiting, who is signed in where, and how fresh that is."""
