"""An agent of Pydantic AI under policy. The model is scripted: no key, no network.

npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
REEVE_API_KEY=rvk_… python examples/python/pydantic_ai.py
"""

import sys

# A script's folder comes first in the search path, and this file has the name of the package.
sys.path.pop(0)

from pydantic_ai import Agent, FunctionToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from reeve import Reeve
from reeve.adapters.pydantic_ai import govern, govern_model


def search_docs(q: str) -> str:
    """Searches the handbook."""
    return f"{q}.md says: five days."


def delete_customer(customer: int) -> str:
    """Deletes a customer."""
    return f"customer {customer} is gone"


def scripted(messages, info):
    """Calls two tools, and then says so."""
    if len(messages) > 1:
        return ModelResponse([TextPart("Five days. I may not delete.")])
    return ModelResponse(
        [ToolCallPart("search_docs", {"q": "refunds"}), ToolCallPart("delete_customer", {"customer": 17})]
    )


with Reeve() as reeve:  # REEVE_GRPC_ADDR and REEVE_API_KEY
    agent = reeve.register("acme", "support", "pydantic-ai-python-example", framework="pydantic-ai")
    toolset = govern(agent, FunctionToolset([search_docs, delete_customer]))
    model = govern_model(agent, FunctionModel(scripted, model_name="scripted-mini"))
    result = Agent(model, toolsets=[toolset]).run_sync("How long do refunds take? And delete customer 17.")
    for message in result.all_messages():
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                print(f"{part.tool_name}: {part.content}")
    print(result.output)
