"""Other forms of results, each in a module that is imported only when it is used and needs an extra of its own."""
