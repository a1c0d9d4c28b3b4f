// Cedar behind tonic, on one thread: takes a request as JSON and answers with the decision as text.
// Usage: cedar FILE, where FILE has the policies.
use bytes::Bytes;
use cedar_policy::{Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request as Question};
use std::convert::Infallible;
use std::future::{ready, Ready};
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context as Waker, Poll};
use tonic::codegen::{http, BoxFuture, Service};
use tonic::{body::Body, server::Grpc, server::NamedService, Request, Response, Status};
use tonic_servers::{serve, Raw};

struct Rules {
    policies: PolicySet,
    authorizer: Authorizer,
    entities: Entities,
}

#[derive(serde::Deserialize)]
struct Call {
    principal: String,
    action: String,
    resource: String,
    context: serde_json::Value,
}

impl Rules {
    fn decide(&self, message: &[u8]) -> Result<&'static str, Box<dyn std::error::Error>> {
        let call: Call = serde_json::from_slice(message)?;
        let uid = |text: &str| EntityUid::from_str(text);
        let context = Context::from_json_value(call.context, None)?;
        let question = Question::new(uid(&call.principal)?, uid(&call.action)?, uid(&call.resource)?, context, None)?;
        let answer = self.authorizer.is_authorized(&question, &self.policies, &self.entities);
        Ok(if answer.decision() == Decision::Allow { "allow" } else { "deny" })
    }
}

#[derive(Clone)]
struct Cedar(Arc<Rules>);

impl NamedService for Cedar {
    const NAME: &'static str = "cedar.Authorizer";
}

impl Service<Request<Bytes>> for Cedar {
    type Response = Response<Bytes>;
    type Error = Status;
    type Future = Ready<Result<Response<Bytes>, Status>>;
    fn poll_ready(&mut self, _: &mut Waker<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let decided = self.0.decide(request.get_ref()).map_err(|error| Status::invalid_argument(error.to_string()));
        ready(decided.map(|decision| Response::new(Bytes::from_static(decision.as_bytes()))))
    }
}

impl Service<http::Request<Body>> for Cedar {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;
    fn poll_ready(&mut self, _: &mut Waker<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = self.clone();
        Box::pin(async move { Ok(Grpc::new(Raw).unary(answer, request).await) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let file = std::env::args().nth(1).expect("the file of the policies");
    let text = std::fs::read_to_string(file).expect("policies");
    let policies = PolicySet::from_str(&text).expect("policies of Cedar");
    serve(Cedar(Arc::new(Rules { policies, authorizer: Authorizer::new(), entities: Entities::empty() }))).await;
}
