"""What can run: one module an engine. Each joins problems with search kernels, networks or an outside solver."""
