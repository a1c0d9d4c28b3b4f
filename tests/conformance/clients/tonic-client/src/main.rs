// Runs interop cases with tonic: PORT CERTIFICATE CASE... It prints one line of JSON for each case.
// CERTIFICATE is the file that the server's certificate is checked against, or empty for plain text.
mod messages;

use messages::*;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{client::Grpc, Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

const LARGE_REQUEST: usize = 271_828;
const LARGE_RESPONSE: usize = 314_159;
const REQUESTS: [usize; 4] = [27_182, 8, 1828, 45_904];
const RESPONSES: [usize; 4] = [31_415, 9, 2653, 58_979];
const SPECIAL: &str = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";
const INITIAL: &str = "x-grpc-test-echo-initial";
const TRAILING: &str = "x-grpc-test-echo-trailing-bin";

type Outcome = Result<(), String>;
type Outputs = Result<Response<Streaming<Answer>>, Status>;

fn expect<T: PartialEq + std::fmt::Debug>(actual: T, wanted: T) -> Outcome {
    if actual == wanted {
        return Ok(());
    }
    Err(format!("{actual:?} instead of {wanted:?}"))
}

fn told(status: Status) -> String {
    format!("{:?}: {}", status.code(), status.message())
}

fn path(method: &str) -> PathAndQuery {
    PathAndQuery::try_from(format!("/grpc.testing.{method}")).expect("a path")
}

async fn ready(channel: &Channel) -> Result<Grpc<Channel>, String> {
    let mut grpc = Grpc::new(channel.clone());
    grpc.ready().await.map_err(|error| error.to_string())?;
    Ok(grpc)
}

async fn simple(channel: &Channel, request: Request<SimpleRequest>) -> Result<Response<Answer>, Status> {
    let mut grpc = ready(channel).await.map_err(Status::unavailable)?;
    grpc.unary(request, path("TestService/UnaryCall"), ProstCodec::default()).await
}

async fn empty(channel: &Channel, method: &str) -> Result<Response<Empty>, Status> {
    let mut grpc = ready(channel).await.map_err(Status::unavailable)?;
    grpc.unary(Request::new(Empty {}), path(method), ProstCodec::default()).await
}

async fn duplex(channel: &Channel, request: Request<ReceiverStream<OutputRequest>>) -> Outputs {
    let mut grpc = ready(channel).await.map_err(Status::unavailable)?;
    grpc.streaming(request, path("TestService/FullDuplexCall"), ProstCodec::default()).await
}

fn output(size: usize, response: usize, interval_us: i32) -> OutputRequest {
    OutputRequest {
        response_parameters: vec![ResponseParameters { size: response as i32, interval_us }],
        payload: Some(Payload { body: vec![0; size] }),
        response_status: None,
    }
}

/// A stream that has all its requests from the start, and then ends.
fn ended(requests: Vec<OutputRequest>) -> Request<ReceiverStream<OutputRequest>> {
    let (sender, receiver) = mpsc::channel(8);
    for request in requests {
        sender.try_send(request).expect("room");
    }
    Request::new(ReceiverStream::new(receiver))
}

fn body_of(answer: Option<Answer>) -> Option<usize> {
    answer.map(|answer| answer.payload.unwrap_or_default().body.len())
}

async fn next(answers: &mut Streaming<Answer>) -> Result<Option<usize>, String> {
    answers.message().await.map(body_of).map_err(told)
}

fn large_request() -> SimpleRequest {
    let payload = Some(Payload { body: vec![0; LARGE_REQUEST] });
    SimpleRequest { response_size: LARGE_RESPONSE as i32, payload, response_status: None }
}

fn failing(message: &str) -> Option<EchoStatus> {
    Some(EchoStatus { code: Code::Unknown as i32, message: message.into() })
}

async fn failure_of_simple(channel: &Channel, message: &str) -> Outcome {
    let request = SimpleRequest { response_status: failing(message), ..Default::default() };
    match simple(channel, Request::new(request)).await {
        Ok(_) => Err("no failure".into()),
        Err(status) => expect((status.code(), status.message()), (Code::Unknown, message)),
    }
}

fn with_own_metadata<T>(mut request: Request<T>) -> Request<T> {
    request.metadata_mut().insert(INITIAL, MetadataValue::from_static("test_initial_metadata_value"));
    request.metadata_mut().insert_bin(TRAILING, MetadataValue::from_bytes(&[0xab; 3]));
    request
}

fn expect_initial(metadata: &MetadataMap) -> Outcome {
    let value = metadata.get(INITIAL).and_then(|value| value.to_str().ok());
    expect(value, Some("test_initial_metadata_value"))
}

fn expect_trailing(metadata: &MetadataMap) -> Outcome {
    let value = metadata.get_bin(TRAILING).and_then(|value| value.to_bytes().ok());
    expect(value.as_deref(), Some(&[0xab; 3][..]))
}

async fn run(name: &str, channel: &Channel) -> Outcome {
    match name {
        "empty_unary" => empty(channel, "TestService/EmptyCall").await.map(|_| ()).map_err(told),
        "large_unary" => {
            let answer = simple(channel, Request::new(large_request())).await.map_err(told)?;
            expect(body_of(Some(answer.into_inner())), Some(LARGE_RESPONSE))
        }
        "client_streaming" => {
            let requests = REQUESTS.map(|size| InputRequest { payload: Some(Payload { body: vec![0; size] }) });
            let request = Request::new(tokio_stream::iter(requests));
            let codec: ProstCodec<InputRequest, InputResponse> = ProstCodec::default();
            let call = path("TestService/StreamingInputCall");
            let answer = ready(channel).await?.client_streaming(request, call, codec).await.map_err(told)?;
            expect(answer.into_inner().aggregated_payload_size as usize, REQUESTS.iter().sum())
        }
        "server_streaming" => {
            let response_parameters =
                RESPONSES.map(|size| ResponseParameters { size: size as i32, interval_us: 0 }).to_vec();
            let request = Request::new(OutputRequest { response_parameters, ..Default::default() });
            let call = path("TestService/StreamingOutputCall");
            let codec = ProstCodec::default();
            let answers = ready(channel).await?.server_streaming(request, call, codec).await.map_err(told)?;
            let mut answers: Streaming<Answer> = answers.into_inner();
            for size in RESPONSES {
                expect(next(&mut answers).await?, Some(size))?;
            }
            expect(next(&mut answers).await?, None)
        }
        "ping_pong" => {
            let (sender, receiver) = mpsc::channel(1);
            sender.send(output(REQUESTS[0], RESPONSES[0], 0)).await.map_err(|error| error.to_string())?;
            let answers = duplex(channel, Request::new(ReceiverStream::new(receiver))).await.map_err(told)?;
            let mut answers = answers.into_inner();
            expect(next(&mut answers).await?, Some(RESPONSES[0]))?;
            for (size, response) in REQUESTS.into_iter().zip(RESPONSES).skip(1) {
                sender.send(output(size, response, 0)).await.map_err(|error| error.to_string())?;
                expect(next(&mut answers).await?, Some(response))?;
            }
            drop(sender);
            expect(next(&mut answers).await?, None)
        }
        "empty_stream" => {
            let mut answers = duplex(channel, ended(vec![])).await.map_err(told)?.into_inner();
            expect(next(&mut answers).await?, None)
        }
        "timeout_on_sleeping_server" => {
            let mut request = ended(vec![output(27_182, 9, 500_000)]);
            request.set_timeout(Duration::from_millis(50));
            let code = match duplex(channel, request).await {
                Err(status) => status.code(),
                Ok(answers) => answers.into_inner().message().await.err().map_or(Code::Ok, |status| status.code()),
            };
            // Its own timer of the client says "cancelled", the server says "deadline exceeded".
            if code == Code::Cancelled || code == Code::DeadlineExceeded {
                return Ok(());
            }
            Err(format!("{code:?} instead of a deadline"))
        }
        "cancel_after_begin" => {
            let (sender, receiver) = mpsc::channel::<InputRequest>(1);
            let request = Request::new(ReceiverStream::new(receiver));
            let codec: ProstCodec<InputRequest, InputResponse> = ProstCodec::default();
            let mut grpc = ready(channel).await?;
            let call = grpc.client_streaming(request, path("TestService/StreamingInputCall"), codec);
            let begun = tokio::time::timeout(Duration::from_millis(50), call).await;
            drop(sender);
            expect(begun.is_err(), true)?;
            // The connection goes on.
            empty(channel, "TestService/EmptyCall").await.map(|_| ()).map_err(told)
        }
        "cancel_after_first_response" => {
            let (sender, receiver) = mpsc::channel(1);
            sender.send(output(REQUESTS[0], RESPONSES[0], 0)).await.map_err(|error| error.to_string())?;
            let answers = duplex(channel, Request::new(ReceiverStream::new(receiver))).await.map_err(told)?;
            let mut answers = answers.into_inner();
            expect(next(&mut answers).await?, Some(RESPONSES[0]))?;
            drop(answers);
            empty(channel, "TestService/EmptyCall").await.map(|_| ()).map_err(told)
        }
        "status_code_and_message" => {
            failure_of_simple(channel, "test status message").await?;
            let asked = OutputRequest { response_status: failing("test status message"), ..Default::default() };
            let status = match duplex(channel, ended(vec![asked])).await {
                Err(status) => status,
                Ok(answers) => answers.into_inner().message().await.err().ok_or("no failure")?,
            };
            expect((status.code(), status.message()), (Code::Unknown, "test status message"))
        }
        "special_status_message" => failure_of_simple(channel, SPECIAL).await,
        "custom_metadata" => {
            let answer = simple(channel, with_own_metadata(Request::new(large_request()))).await.map_err(told)?;
            // Of a unary call, tonic gives header and trailers as one.
            expect_initial(answer.metadata())?;
            expect_trailing(answer.metadata())?;
            let request = with_own_metadata(ended(vec![output(LARGE_REQUEST, LARGE_RESPONSE, 0)]));
            let answers = duplex(channel, request).await.map_err(told)?;
            expect_initial(answers.metadata())?;
            let mut answers = answers.into_inner();
            expect(next(&mut answers).await?, Some(LARGE_RESPONSE))?;
            expect(next(&mut answers).await?, None)?;
            expect_trailing(&answers.trailers().await.map_err(told)?.unwrap_or_default())
        }
        "unimplemented_method" | "unimplemented_service" => {
            let service = if name == "unimplemented_method" { "TestService" } else { "UnimplementedService" };
            let failed = empty(channel, &format!("{service}/UnimplementedCall")).await.err();
            expect(failed.map(|status| status.code()), Some(Code::Unimplemented))
        }
        _ => Err("there is no such case".into()),
    }
}

async fn connected(port: &str, certificate: &str) -> Result<Channel, Box<dyn std::error::Error>> {
    if certificate.is_empty() {
        return Ok(Endpoint::try_from(format!("http://127.0.0.1:{port}"))?.connect().await?);
    }
    let trusted = Certificate::from_pem(std::fs::read(certificate)?);
    let tls = ClientTlsConfig::new().ca_certificate(trusted).domain_name("localhost");
    Ok(Endpoint::try_from(format!("https://127.0.0.1:{port}"))?.tls_config(tls)?.connect().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, certificate, cases @ ..] = arguments.as_slice() else { return Err("PORT CERTIFICATE CASE...".into()) };
    let channel = connected(port, certificate).await?;
    for name in cases {
        let outcome = tokio::time::timeout(Duration::from_secs(25), run(name, &channel)).await;
        let failure = match outcome {
            Ok(Ok(())) => "null".into(),
            Ok(Err(failure)) => format!("{:?}", failure.replace(|each: char| !each.is_ascii_graphic() && each != ' ', "?")),
            Err(_) => "\"no result within 25 s\"".into(),
        };
        println!("{{\"name\":\"{name}\",\"failure\":{failure}}}");
    }
    Ok(())
}
