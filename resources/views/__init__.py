"""What pages read of the organisation: documents, relations and changes, told to people."""
