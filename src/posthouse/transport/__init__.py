"""Doors between offices and to other systems, behind one port."""
