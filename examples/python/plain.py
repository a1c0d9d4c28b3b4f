"""Two tools under policy with the plain SDK.

npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
REEVE_API_KEY=rvk_… python examples/python/plain.py
"""

from reeve import ActionDenied, Reeve

with Reeve() as reeve:  # REEVE_GRPC_ADDR and REEVE_API_KEY
    agent = reeve.register("acme", "support", "plain-python-example")

    @agent.guard()
    def search_docs(q: str) -> str:
        return f"{q}.md says: five days."

    @agent.guard()
    def delete_customer(customer: int) -> str:
        return f"customer {customer} is gone"

    print("search_docs:", search_docs("refunds"))
    try:
        print("delete_customer:", delete_customer(17))
    except ActionDenied as error:
        print("delete_customer: Denied by policy:", error.answer.reason)
