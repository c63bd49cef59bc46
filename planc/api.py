"""A façade over the whole author side: check and compile a graph."""
