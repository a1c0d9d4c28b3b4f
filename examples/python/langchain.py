"""An agent of LangChain under policy: its tools and its model. The model is scripted: no key, no network.

npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
REEVE_API_KEY=rvk_… python examples/python/langchain.py
"""

import sys

# A script's folder comes first in the search path, and this file has the name of the package.
sys.path.pop(0)

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from reeve import Reeve
from reeve.adapters.langchain import GovernMiddleware


@tool
def search_docs(q: str) -> str:
    """Searches the handbook."""
    return f"{q}.md says: five days."


@tool
def delete_customer(customer: int) -> str:
    """Deletes a customer."""
    return f"customer {customer} is gone"


class Scripted(GenericFakeChatModel):
    """Calls two tools, and then says so."""

    model_name: str = "scripted-mini"

    def bind_tools(self, tools, **options):
        return self


calls = [
    {"name": "search_docs", "args": {"q": "refunds"}, "id": "1"},
    {"name": "delete_customer", "args": {"customer": 17}, "id": "2"},
]
model = Scripted(messages=iter([AIMessage("", tool_calls=calls), AIMessage("Five days. I may not delete.")]))

with Reeve() as reeve:  # REEVE_GRPC_ADDR and REEVE_API_KEY
    agent = reeve.register("acme", "support", "langchain-python-example", framework="langchain")
    graph = create_agent(model, [search_docs, delete_customer], middleware=[GovernMiddleware(agent)])
    result = graph.invoke({"messages": [("user", "How long do refunds take? And delete customer 17.")]})
    for message in result["messages"]:
        if isinstance(message, ToolMessage):
            print(f"{message.name}: {message.content}")
    print(result["messages"][-1].content)
