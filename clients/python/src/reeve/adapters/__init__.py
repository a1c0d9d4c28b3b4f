"""Frameworks under policy. Each module needs its framework: `pip install 'reeve-gateway[langchain]'` and so on."""
