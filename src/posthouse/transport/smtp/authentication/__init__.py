"""Whether a mail comes from whom it says: SPF, DKIM, DMARC and ARC, asked when it arrives."""
