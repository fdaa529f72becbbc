"""Networks and their training; nothing here imports a search or an outside solver, engines join them."""
