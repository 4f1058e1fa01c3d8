"""What commands do: everything here may use the store."""
