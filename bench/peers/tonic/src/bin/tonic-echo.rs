// A bare tonic server on one thread: takes a message as bytes and answers with fixed bytes.
// Usage: tonic-echo HEX, where HEX is the answer.
use bytes::Bytes;
use std::convert::Infallible;
use std::future::{ready, Ready};
use std::task::{Context, Poll};
use tonic::codegen::{http, BoxFuture, Service};
use tonic::{body::Body, server::Grpc, server::NamedService, Request, Response, Status};
use tonic_servers::{serve, Raw};

#[derive(Clone)]
struct Answer(Bytes);

impl Service<Request<Bytes>> for Answer {
    type Response = Response<Bytes>;
    type Error = Status;
    type Future = Ready<Result<Response<Bytes>, Status>>;
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        ready(Ok(Response::new(self.0.clone())))
    }
}

#[derive(Clone)]
struct Echo(Answer);

impl NamedService for Echo {
    const NAME: &'static str = "reeve.v1.PolicyService";
}

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = self.0.clone();
        Box::pin(async move { Ok(Grpc::new(Raw).unary(answer, request).await) })
    }
}

fn from_hex(text: &str) -> Bytes {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).expect("hexadecimal digits"))
        .collect::<Vec<u8>>()
        .into()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let answer = from_hex(&std::env::args().nth(1).unwrap_or_default());
    serve(Echo(Answer(answer))).await;
}
