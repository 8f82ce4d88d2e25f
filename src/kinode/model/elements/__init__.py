"""Force elements, and friction, brakes and clutches in joints."""
