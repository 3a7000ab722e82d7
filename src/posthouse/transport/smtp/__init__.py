"""Mail by SMTP and its kin: the doors that take mail in and those that bring it out."""
