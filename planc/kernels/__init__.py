"""CUDA C++, PTX and cubin files to one kind of artifact."""
