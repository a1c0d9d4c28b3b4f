"""A crew of CrewAI under policy. The model is scripted: no key, no network.

npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
REEVE_API_KEY=rvk_… CREWAI_DISABLE_TELEMETRY=true python examples/python/crewai.py
"""

import sys

# A script's folder comes first in the search path, and this file has the name of the package.
sys.path.pop(0)

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool

from reeve import Reeve
from reeve.adapters.crewai import govern, govern_model


@tool("search_docs")
def search_docs(q: str) -> str:
    """Searches the handbook."""
    return f"{q}.md says: five days."


@tool("delete_customer")
def delete_customer(customer: int) -> str:
    """Deletes a customer."""
    return f"customer {customer} is gone"


class Scripted(BaseLLM):
    """Calls two tools, prints what it reads of them, and then says so."""

    def supports_function_calling(self):
        return True

    def call(self, messages, *args, **options):
        results = [each for each in messages if each["role"] == "tool"]
        for each in results:
            print(f"{each['name']}: {each['content']}")
        if results:
            return "Five days. I may not delete."
        calls = [("search_docs", '{"q": "refunds"}'), ("delete_customer", '{"customer": 17}')]
        return [{"id": name, "function": {"name": name, "arguments": arguments}} for name, arguments in calls]


with Reeve() as reeve:  # REEVE_GRPC_ADDR and REEVE_API_KEY
    agent = reeve.register("acme", "support", "crewai-python-example", framework="crewai")
    tools = govern(agent, [search_docs, delete_customer])
    llm = govern_model(agent, Scripted(model="scripted-mini"))
    clerk = Agent(role="clerk", goal="help", backstory="a clerk", tools=tools, llm=llm)
    task = Task(description="Answer, and delete customer 17.", expected_output="an answer", agent=clerk)
    print(Crew(agents=[clerk], tasks=[task]).kickoff().raw)
