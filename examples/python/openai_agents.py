"""Tools of the OpenAI Agents SDK under policy. The model is scripted: no key, no network.

npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
REEVE_API_KEY=rvk_… python examples/python/openai_agents.py
"""

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from reeve import Reeve
from reeve.adapters.openai_agents import govern, govern_model


@function_tool
def search_docs(q: str) -> str:
    """Searches the handbook."""
    return f"{q}.md says: five days."


@function_tool
def delete_customer(customer: int) -> str:
    """Deletes a customer."""
    return f"customer {customer} is gone"


def call(number: int, name: str, arguments: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(name=name, arguments=arguments, call_id=str(number), type="function_call")


class Scripted(Model):
    """Calls two tools, and then says so."""

    model = "scripted-mini"
    asked = False

    async def get_response(self, *args, **options):
        text = ResponseOutputText(text="Five days. I may not delete.", type="output_text", annotations=[])
        said = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
        calls = [call(1, "search_docs", '{"q": "refunds"}'), call(2, "delete_customer", '{"customer": 17}')]
        output, self.asked = [said] if self.asked else calls, True
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *args, **options):
        raise NotImplementedError


with Reeve() as reeve:  # REEVE_GRPC_ADDR and REEVE_API_KEY
    agent = reeve.register("acme", "support", "openai-agents-python-example", framework="openai-agents")
    tools = govern(agent, [search_docs, delete_customer])
    support = Agent("support", tools=tools, model=govern_model(agent, Scripted()))
    result = Runner.run_sync(support, "And delete customer 17.", run_config=RunConfig(tracing_disabled=True))
    for each, item in zip(tools, (i for i in result.new_items if i.type == "tool_call_output_item"), strict=True):
        print(f"{each.name}: {item.output}")
    print(result.final_output)
