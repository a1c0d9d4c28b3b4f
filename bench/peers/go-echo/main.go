// A bare grpc-go server on one thread of Go code: takes a message as bytes and answers with fixed bytes.
// Usage: go-echo HEX, where HEX is the answer.
package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"runtime"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

type raw struct{}

func (raw) Name() string { return "raw" }

func (raw) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

func (raw) Unmarshal(bytes mem.BufferSlice, message any) error {
	*message.(*[]byte) = bytes.Materialize()
	return nil
}

func main() {
	runtime.GOMAXPROCS(1)
	answer, err := hex.DecodeString(os.Args[1])
	if err != nil {
		panic(err)
	}
	check := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var request []byte
		if err := decode(&request); err != nil {
			return nil, err
		}
		return answer, nil
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(raw{}))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "reeve.v1.PolicyService",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "CheckAction", Handler: check}},
	}, struct{}{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("{\"event\":\"listening\",\"grpc\":\"%s\"}\n", listener.Addr())
	if err := server.Serve(listener); err != nil {
		panic(err)
	}
}
