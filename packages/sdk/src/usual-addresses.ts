/** Where gateways are, for an agent that names none: by `REEVE_GRPC_ADDR`, separated by commas, or on this machine. */
export function usualAddresses(): readonly string[] {
  const named = (process.env['REEVE_GRPC_ADDR'] ?? '').split(',').filter((part) => part.trim() !== '');
  return named.length === 0 ? ['127.0.0.1:50051'] : named;
}
