// The messages of grpc_testing.proto. Answers of unary and streaming calls have the same form.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Empty {}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Payload {
    #[prost(bytes = "vec", tag = "2")]
    pub body: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct EchoStatus {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SimpleRequest {
    #[prost(int32, tag = "2")]
    pub response_size: i32,
    #[prost(message, optional, tag = "3")]
    pub payload: Option<Payload>,
    #[prost(message, optional, tag = "7")]
    pub response_status: Option<EchoStatus>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Answer {
    #[prost(message, optional, tag = "1")]
    pub payload: Option<Payload>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct InputRequest {
    #[prost(message, optional, tag = "1")]
    pub payload: Option<Payload>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct InputResponse {
    #[prost(int32, tag = "1")]
    pub aggregated_payload_size: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ResponseParameters {
    #[prost(int32, tag = "1")]
    pub size: i32,
    #[prost(int32, tag = "2")]
    pub interval_us: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct OutputRequest {
    #[prost(message, repeated, tag = "2")]
    pub response_parameters: Vec<ResponseParameters>,
    #[prost(message, optional, tag = "3")]
    pub payload: Option<Payload>,
    #[prost(message, optional, tag = "7")]
    pub response_status: Option<EchoStatus>,
}
