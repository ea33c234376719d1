"""Every noun of apftop but the two of `apf.objects`, frozen and without formatting."""
