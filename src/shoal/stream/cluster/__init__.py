"""A table that many workers anonymize together: tasks that are pure functions of files, and who hands them out."""
