"""Frameworks under policy. Each module needs its framework: `pip install 'reeve-sdk[langchain]'` and so on."""
