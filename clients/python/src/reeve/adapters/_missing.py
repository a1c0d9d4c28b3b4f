"""What an adapter says without its framework."""


def missing(extra: str, error: ImportError) -> ImportError:
    module = f"reeve.adapters.{extra.replace('-', '_')}"
    return ImportError(f"{module} needs its framework ({error}): pip install 'reeve-gateway[{extra}]'", name=error.name)
