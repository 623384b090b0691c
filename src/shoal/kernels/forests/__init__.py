"""Trees that join records: grown, spanned and cut."""
